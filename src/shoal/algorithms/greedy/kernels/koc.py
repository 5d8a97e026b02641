"""KOC in compiled form: growing clusters around given centres.

The loss of a cluster never falls when a record joins. So the loss that a candidate would have caused earlier, when
the cluster was smaller, is a lower bound of what it would cause now, and a candidate is evaluated again only when its
bound can still win. That makes about one full evaluation per candidate and cluster instead of one per record added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.greedy.kernels.k_member import add_to_group, open_group
from shoal.kernels.compile import kernel

SLACK = 1e-9  # far above rounding errors, far below any difference that matters; never decides between candidates


@kernel
def first_bounds(geometry: Any, alive: Any, count: int, costs: Any, bound: Any) -> None:
    """What each alive row adds to a cluster of one record: a sum of lookups, attribute by attribute.

    OUT bound  float64 (rows,) the first `count` entries
    """
    for slot in range(count):
        bound[slot] = costs[alive[0, slot]]
    for attribute in range(1, alive.shape[0]):
        offset = geometry.code_offsets[attribute]
        for slot in range(count):
            bound[slot] += costs[offset + alive[attribute, slot]]


@kernel
def least_growth(geometry: Any, alive: Any, left: Any, count: int, costs: Any, bound: Any, loss: float) -> Any:
    """The alive row that adds least to the cluster, the first of equals, and what it adds.

    IN  loss       what the cluster costs now
    IN/OUT bound   float64 (rows,) lower bounds of the loss of the cluster with each row
    """
    best, found = np.inf, -1
    for slot in range(count):
        if bound[slot] >= loss + best + SLACK or left[slot] == 0:
            continue
        growth = 0.0
        for attribute in range(alive.shape[0]):
            growth += costs[geometry.code_offsets[attribute] + alive[attribute, slot]]
            if growth >= best:
                break
        bound[slot] = loss + growth
        if growth < best:
            best, found = growth, slot
            if best == 0.0:
                break
    return found, best


@kernel
def close_gaps(alive: Any, left: Any, row_of_slot: Any, count: int) -> int:
    """Drop the rows that are used up, keeping the order of the others; returns how many there are now."""
    kept = 0
    for slot in range(count):
        if left[slot] > 0:
            for attribute in range(alive.shape[0]):
                alive[attribute, kept] = alive[attribute, slot]
            left[kept] = left[slot]
            row_of_slot[kept] = row_of_slot[slot]
            kept += 1
    return kept


@kernel
def grow_clusters(
    geometry: Any,
    codes: Any,
    centres: Any,
    k: int,
    fixed: bool,
    stop_after: int,
    alive: Any,
    left: Any,
    row_of_slot: Any,
    state: Any,
    out_row: Any,
    out_group: Any,
    out_take: Any,
) -> None:
    """Fill up to `stop_after` clusters to k records, from the last centre to the first; call again until none is left.

    IN     codes        int32 (attributes, rows)
    IN     centres      int32 (clusters,): the row of each centre
    IN     fixed        True: the records nearest to the centre, however the cluster grows
    IN/OUT alive        int32 (attributes, rows): rows with records in no cluster, in the first state[0] slots
    IN/OUT left         int64 (rows,): records left of each alive row, not counting centres
    IN/OUT row_of_slot  int32 (rows,)
    IN/OUT state        int64 (3,): slots in use, clusters still to fill, takes written
    OUT    out_row, out_group, out_take  (takes,): so many records of this row went into this cluster
    """
    attributes = codes.shape[0]
    low, high = np.empty(attributes, np.int32), np.empty(attributes, np.int32)
    present = np.zeros(geometry.positions.shape[0], np.uint8)
    costs = np.zeros(geometry.positions.shape[0])
    bound = np.empty(left.shape[0])
    used_up = state[0]  # unknown at the start: close the gaps
    for _ in range(min(stop_after, state[1])):
        if used_up * 8 >= state[0]:
            state[0] = close_gaps(alive, left, row_of_slot, state[0])
            used_up = 0
        cluster = state[1] - 1
        open_group(geometry, codes, centres[cluster], low, high, present, costs)
        first_bounds(geometry, alive, state[0], costs, bound)
        need, loss, slot = k - 1, 0.0, -1
        while need > 0:
            slot, growth = least_growth(geometry, alive, left, state[0], costs, bound, loss)
            if not fixed:
                add_to_group(geometry, alive, slot, low, high, present, costs)
                loss += growth
            take = min(need, left[slot])
            out_row[state[2]], out_group[state[2]], out_take[state[2]] = row_of_slot[slot], cluster, take
            state[2] += 1
            need -= take
            left[slot] -= take
            if left[slot] == 0:
                used_up += 1
        state[1] = cluster
