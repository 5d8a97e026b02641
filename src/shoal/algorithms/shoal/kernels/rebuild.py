"""Destroy and repair: dissolve a few neighbouring groups, grow new ones from their members, keep what is better."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.shoal.kernels.guard import bench_penalty, charge, lay_out, penalty, refill_guard
from shoal.algorithms.shoal.kernels.near import neighbour_group
from shoal.algorithms.shoal.kernels.regrow import forget_values, measure, regrow
from shoal.algorithms.shoal.kernels.state import NOBODY, clear_group, energy_after, insert_item, remove_item, waste
from shoal.kernels.compile import kernel
from shoal.kernels.random import random_below, random_unit

_RIVALS = 3  # a group that wastes much is chosen more often: the one that wastes most of these and one more

_UNSAFE_FEWER = 8  # of 16 rebuilds with an unsafe group, so many make one group less


@kernel
def _choose(state: Any, near: Any, guard: Any, wanted: Any, chosen: Any, most: Any, random: Any) -> Any:
    """Up to `wanted` neighbouring groups of single records with at most `most` members together."""
    items = state.group.shape[0]
    group = state.group[random_below(random, items)]
    for _ in range(_RIVALS):
        rival = state.group[random_below(random, items)]
        worse = waste(state, rival) - waste(state, group)
        if guard is not None:
            worse += charge(guard, rival) - charge(guard, group)
        if worse > 0.0:
            group = rival
    if state.size[group] > state.held[group] or state.held[group] > most:
        return 0
    chosen[0] = group
    found = 1
    members = state.held[group]
    for _ in range(2 * wanted):
        if found == wanted:
            break
        one = chosen[random_below(random, found)]
        item = state.members[state.first[one] + random_below(random, state.held[one])]
        group = neighbour_group(state, near, item, random)
        if group < 0 or state.size[group] > state.held[group] or state.held[group] == 0:
            continue
        fresh = members + state.held[group] <= most
        for number in range(found):
            if chosen[number] == group:
                fresh = False
        if fresh:
            chosen[found] = group
            found += 1
            members += state.held[group]
    return found


@kernel
def gather_members(state: Any, bench: Any, chosen: Any, found: Any, items: Any, before: Any) -> Any:
    """Lay the members of the chosen groups on the bench; remember where they were."""
    count = 0
    for number in range(found):
        start = state.first[chosen[number]]
        for place in range(start, start + state.held[chosen[number]]):
            item = state.members[place]
            items[count] = item
            before[count] = chosen[number]
            bench.worth[count] = state.price[item]
            for layer in range(state.features.shape[1]):
                bench.columns[layer, count] = state.features[item, layer]
            for interval in range(state.numbers.shape[1]):
                bench.numbers[interval, count] = state.numbers[item, interval]
            count += 1
    return count


@kernel
def _name_groups(
    state: Any, bench: Any, chosen: Any, total: Any, groups: Any, before: Any, count: Any, common: Any, after: Any
) -> Any:
    """Give each group of the bench the name of a chosen group, one with which it has many members in common.

    OUT common  int64 (groups + 1, groups): scratch
    OUT after   int64 (items,) the group of every item on the bench; returns whether any item moves
    """
    names = common[groups]
    for group in range(groups):
        for number in range(total):
            common[group, number] = 0
    old = 0
    for place in range(count):
        while chosen[old] != before[place]:
            old += 1
        common[bench.group[place], old] += 1
    for group in range(groups):
        best = -1
        for number in range(total):
            fits = common[group, number] >= 0 and bench.held[group] <= state.room[chosen[number]]
            if fits and (best < 0 or common[group, number] > common[group, best]):
                best = number
        if best < 0:  # the groups were grown with the room of the chosen ones in this order
            for number in range(groups):
                names[number] = chosen[number]
            break
        names[group] = chosen[best]
        for later in range(group + 1, groups):
            common[later, best] = -1
    moves = False
    for place in range(count):
        after[place] = names[bench.group[place]]
        moves |= after[place] != before[place]
    return moves


@kernel
def place_members(state: Any, chosen: Any, total: Any, items: Any, before: Any, after: Any, count: Any) -> None:
    """Move the items of the chosen groups that change their group."""
    for place in range(count):
        if before[place] != after[place]:
            remove_item(state, items[place])
    for place in range(count):
        if before[place] != after[place]:
            insert_item(state, items[place], after[place])
    for number in range(total):
        if state.size[chosen[number]] > 0:
            state.energy[chosen[number]] = energy_after(state, chosen[number], NOBODY, NOBODY)
        else:
            clear_group(state, chosen[number])


@kernel
def _penalties(guard: Any, chosen: Any, total: Any) -> Any:
    """The penalties of the deficits of the chosen groups together."""
    unsafe = 0.0
    for number in range(total):
        unsafe += penalty(guard.deficit[chosen[number]])
    return unsafe


@kernel
def rebuild(
    state: Any,
    bench: Any,
    near: Any,
    guard: Any,
    k: Any,
    most: Any,
    trials: Any,
    widest: Any,
    noise: Any,
    fewer: Any,
    heat: Any,
    random: Any,
) -> Any:
    """Dissolve and rebuild `trials` sets of 2 to `widest` neighbouring groups; returns how often this was kept.

    A set has at most `most` members. Kept is what is no worse, and at a temperature `heat` also what is a little
    worse, the less likely the worse.

    IN/OUT bench  where new groups are tried, so that a failure touches nothing else
    """
    chosen = np.empty(bench.size.shape[0], dtype=np.int64)
    items = np.empty(most, dtype=np.int64)
    before = np.empty(most, dtype=np.int64)
    after = np.empty(most, dtype=np.int64)
    common = np.empty((chosen.shape[0] + 1, chosen.shape[0]), dtype=np.int64)
    spare = np.empty(state.size.shape[0], dtype=np.int64)
    spares = 0
    for group in range(state.size.shape[0]):
        if state.size[group] == 0:
            spare[spares] = group
            spares += 1
    taken = 0
    for _ in range(trials):
        found = _choose(state, near, guard, 2 + random_below(random, widest - 1), chosen, most, random)
        old = 0.0
        for number in range(found):
            old += state.energy[chosen[number]]
        unsafe = 0.0
        if guard is not None:
            unsafe = _penalties(guard, chosen, found)
        if old <= 0.0 and unsafe <= 0.0:
            continue
        count = gather_members(state, bench, chosen, found, items, before)
        total = found
        while total < count // k and spares > 0:
            spares -= 1
            chosen[total] = spare[spares]
            total += 1
        if guard is not None:
            lay_out(guard, items, count)
        limit = total
        if count < (total + 1) * k and random_below(random, 16) < (fewer if unsafe <= 0.0 else _UNSAFE_FEWER):
            limit = max(1, total - 1)
        for number in range(total):
            bench.room[number] = state.room[chosen[number]]
        strength = noise * old / count * random_unit(random)
        prices = state.step, state.saturates, state.number_weight
        groups = regrow(
            bench, guard, count, state.step, state.saturates, k, limit, random_below(random, 4), strength, random
        )
        new = measure(bench, groups, count, *prices, state.size_price[0])
        allowed = old - heat * np.log(random_unit(random)) if heat > 0.0 else old
        if guard is not None:
            allowed += guard.price[0] * unsafe
            if new <= allowed:
                new += guard.price[0] * bench_penalty(guard, bench, groups, count)
        if new <= allowed:
            if _name_groups(state, bench, chosen, total, groups, before, count, common, after):
                place_members(state, chosen, total, items, before, after, count)
                if guard is not None:
                    refill_guard(guard, state, chosen, total)
                taken += 1
        forget_values(bench, count, state.saturates)
        for number in range(total):
            if state.size[chosen[number]] == 0:
                spare[spares] = chosen[number]
                spares += 1
    return taken
