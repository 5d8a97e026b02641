"""Moves and swaps that are made only if they cost little enough and break no model."""

from __future__ import annotations

from typing import Any

from shoal.algorithms.shoal.kernels.guard import guarded_exchange
from shoal.algorithms.shoal.kernels.state import (
    NOBODY,
    energy_after,
    insert_item,
    remove_item,
    swap_changes,
    swap_items,
)
from shoal.kernels.inline import inlined


@inlined
def try_move(state: Any, guard: Any, item: Any, other: Any, limit: Any) -> Any:
    """Move an item to another group if the energy does not rise by more than `limit`; True if it moved."""
    group = state.group[item]
    less = energy_after(state, group, item, NOBODY)
    more = energy_after(state, other, NOBODY, item)
    change = less + more - state.energy[group] - state.energy[other]
    if guard is None:
        if change > limit:
            return False
    elif not guarded_exchange(guard, state, group, item, other, NOBODY, change, limit):
        return False
    remove_item(state, item)
    insert_item(state, item, other)
    state.energy[group] = less
    state.energy[other] = more
    return True


@inlined
def try_swap(state: Any, guard: Any, item: Any, partner: Any, limit: Any) -> Any:
    """Let two items change places if the energy does not rise by more than `limit`; True if they did."""
    group, other = state.group[item], state.group[partner]
    here, there = swap_changes(state, group, item, other, partner)
    if guard is None:
        if here + there > limit:
            return False
    elif not guarded_exchange(guard, state, group, item, other, partner, here + there, limit):
        return False
    swap_items(state, item, partner)
    state.energy[group] += here
    state.energy[other] += there
    return True
