"""Greedy k-member clustering over distinct rows with weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.geometry import fill_add_costs


@kernel
def open_group(geometry: Any, alive: Any, slot: int, low: Any, high: Any, present: Any, costs: Any) -> None:
    """Start a group with the row in a slot.

    IN  alive    int32 (attributes, rows)
    OUT low, high (attributes,), present (all codes,), costs (all codes,)
    """
    present[:] = 0
    for attribute in range(alive.shape[0]):
        code = alive[attribute, slot]
        low[attribute] = code
        high[attribute] = code
        present[geometry.code_offsets[attribute] + code] = 1
        fill_add_costs(geometry, attribute, code, code, present, costs)


@kernel
def add_to_group(geometry: Any, alive: Any, slot: int, low: Any, high: Any, present: Any, costs: Any) -> None:
    """Grow a group by the row in a slot; only attributes that grow get new tables."""
    for attribute in range(alive.shape[0]):
        code = alive[attribute, slot]
        place = geometry.code_offsets[attribute] + code
        if code >= low[attribute] and code <= high[attribute] and present[place]:
            continue
        present[place] = 1
        low[attribute] = min(low[attribute], code)
        high[attribute] = max(high[attribute], code)
        fill_add_costs(geometry, attribute, low[attribute], high[attribute], present, costs)


@kernel
def best_slot(geometry: Any, alive: Any, count: int, costs: Any) -> int:
    """The alive row of least extra cost; the first of equals."""
    attributes = alive.shape[0]
    best = np.inf
    found = 0
    for slot in range(count):
        total = 0.0
        for attribute in range(attributes):
            total += costs[geometry.code_offsets[attribute] + alive[attribute, slot]]
            if total >= best:
                break
        if total < best:
            best = total
            found = slot
            if best == 0.0:
                break
    return found


@kernel
def worst_slot(geometry: Any, alive: Any, count: int, costs: Any) -> int:
    """The alive row of greatest extra cost; the first of equals."""
    worst = -1.0
    found = 0
    for slot in range(count):
        total = 0.0
        for attribute in range(alive.shape[0]):
            total += costs[geometry.code_offsets[attribute] + alive[attribute, slot]]
        if total > worst:
            worst = total
            found = slot
    return found


@kernel
def remove_slot(alive: Any, left: Any, row_of_slot: Any, slot: int, count: int) -> None:
    """Fill the slot with the last alive row."""
    last = count - 1
    for attribute in range(alive.shape[0]):
        alive[attribute, slot] = alive[attribute, last]
    left[slot] = left[last]
    row_of_slot[slot] = row_of_slot[last]


@kernel
def k_member_groups(
    geometry: Any,
    alive: Any,
    left: Any,
    row_of_slot: Any,
    state: Any,
    k: int,
    stop_after: int,
    out_row: Any,
    out_group: Any,
    out_take: Any,
    low: Any,
    high: Any,
    present: Any,
    costs: Any,
) -> int:
    """Build up to `stop_after` groups of k records; call again until fewer than k records are left.

    IN/OUT alive        int32 (attributes, rows): rows not used up, in the first state[0] slots
    IN/OUT left         int64 (rows,): records left of each alive row
    IN/OUT row_of_slot  int32 (rows,)
    IN/OUT state        int64 (5,): alive slots, records left, groups built, takes written, slot of the first seed
    OUT    out_row, out_group, out_take  (takes,): so many records of this row went into this group
    work   low, high (attributes,), present, costs (all codes,): hold the last group between calls
    Returns the number of groups built in this call. Cost: one scan of the alive rows per record of each group.
    """
    built = 0
    while state[1] >= k and built < stop_after:
        count = state[0]
        seed = state[4] if state[2] == 0 else worst_slot(geometry, alive, count, costs)
        open_group(geometry, alive, seed, low, high, present, costs)
        slot = seed
        need = k
        while True:
            take = min(need, left[slot])
            out_row[state[3]] = row_of_slot[slot]
            out_group[state[3]] = state[2]
            out_take[state[3]] = take
            state[3] += 1
            left[slot] -= take
            need -= take
            state[1] -= take
            if left[slot] == 0:
                remove_slot(alive, left, row_of_slot, slot, state[0])
                state[0] -= 1
            if need == 0:
                break
            slot = best_slot(geometry, alive, state[0], costs)
            add_to_group(geometry, alive, slot, low, high, present, costs)
        state[2] += 1
        built += 1
    return built
