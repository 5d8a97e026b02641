"""A branch and bound over all groups of any attributes, by their dearest record: the anchor.

Rows stand in a fixed order, by the prices at the start of a sweep. Every group belongs to its last member, which is no
cheaper than the others, so a group that loses what the anchor's price was at the start is fine. The rest is looked
for by the cost of the farthest member: with the rows up to that cost, and the box that it makes with the anchor.

Beyond a number of nodes, or too deep, all rows up to a cost are taken together at that cost. This is never too much.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.lower_bound.kernels.anchored import (
    cost_with,
    first_box,
    make_nodes,
    make_things,
    mark_doubts,
    reduce_rows,
    same_box,
    sort_rows,
    wider_box,
)
from shoal.lower_bound.kernels.counted import make_heap
from shoal.lower_bound.kernels.prices import Family, cut_window

_EXACT = 1e-12
_PROJECTIONS = 8


@kernel
def _near_rows(records: Any, nodes: Any, prices: Any, order: Any, place: Any) -> None:
    """The rows before the anchor that lose less with it than its price was, as those of the first node."""
    anchor = order[place]
    most, size = prices[anchor], 0
    first_box(records, nodes, anchor)
    for other in range(place):
        row = order[other]
        cost = cost_with(records, nodes, 0, row, most)
        if cost < most:
            nodes.rows[0, size], nodes.price[0, size] = row, cost
            size += 1
    nodes.size[0] = size


@kernel
def _cut_rows(family: Any, prices: Any, heap: Any, anchor: Any, rows: Any, cost: Any, pool: Any, pooled: Any) -> Any:
    """Cut the anchor and some rows to a cost; they are added to the pool. Returns how much they were above it."""
    stop = pooled + rows.shape[0] + 1
    entries = pool[pooled:stop] if stop <= pool.shape[0] else np.empty(rows.shape[0] + 1, dtype=np.int32)
    entries[0] = anchor
    entries[1:] = rows
    begin = np.zeros(2, dtype=np.int64)
    part = Family(family.k, entries, begin, family.cost, family.position, 0.0, family.weights)
    return cut_window(part, prices, heap, 0, rows.shape[0], cost, _PROJECTIONS, True)


@kernel
def _child(records: Any, prices: Any, nodes: Any, depth: Any, place: Any, group: Any, anchor: Any) -> None:
    """The node with the box and the row at a place, and the rows that cost no more; `group` is one after these."""
    row, cost = nodes.rows[depth, place], nodes.price[depth, place]
    wider_box(records, nodes, depth, row, cost)
    most, size = prices[anchor], 0
    for other in range(group):
        most = max(most, prices[nodes.rows[depth, other]])
    for other in range(group):
        both = cost_with(records, nodes, depth + 1, nodes.rows[depth, other], most)
        if both < most:
            nodes.rows[depth + 1, size], nodes.price[depth + 1, size] = nodes.rows[depth, other], both
            size += 1
    nodes.size[depth + 1] = size


@kernel
def _next_child(records: Any, nodes: Any, depth: Any, cursor: Any) -> Any:
    """The next place from a cursor on whose box is to be looked at, and where its cost ends; -1 if there is none."""
    size = nodes.size[depth]
    while cursor < size:
        first = last = cursor
        while first > 0 and nodes.price[depth, first - 1] == nodes.price[depth, cursor]:
            first -= 1
        while last + 1 < size and nodes.price[depth, last + 1] == nodes.price[depth, cursor]:
            last += 1
        if nodes.doubt[depth, last] == 0:
            cursor = last + 1
            continue
        known = False
        for other in range(first, cursor):
            known |= same_box(records, nodes, depth, nodes.rows[depth, other], nodes.rows[depth, cursor])
        if not known:
            return cursor, last + 1
        cursor += 1
    return -1, -1


@kernel
def sweep_anchored(
    family: Any,
    records: Any,
    prices: Any,
    before: Any,
    order: Any,
    part: Any,
    limits: Any,
    mend: Any,
    most: Any,
    holds: Any,
    found: Any,
    pool: Any,
    pool_cost: Any,
) -> Any:
    """Look at all groups of some anchors that may be exceeded; cut them if `mend`, else only note whose they are.

    IN/OUT prices  float64 (rows,)
    IN     before  float64 (rows,) prices at the start of the sweep; order int64 (rows,) the rows by these
    IN     part    int64 (2,) the first anchor, and the one after the last
    IN     limits  int64 (2,) nodes of an anchor, and depths, at the most
    IN/OUT holds   float64 (rows,) by place in the order: infinite if nothing is exceeded; the others are mended
    OUT    found   int64 (room, 3) number of a box, and where its rows begin and end in the pool
    OUT    pool    int32 (room,), pool_cost float64 (room,) of each box
    Returns how many boxes were found and how many rows were looked at: if more than `most`, it was given up.
    """
    nodes, things, heap = make_nodes(records, limits[1] + 1), make_things(records), make_heap(family.k)
    cursor, inside = np.zeros(limits[1] + 1, dtype=np.int64), 0
    cuts = pooled = steps = 0
    for place in range(part[0], part[1]):
        anchor = order[place]
        if mend and holds[place] == np.inf:
            continue
        holds[place] = np.inf
        if before[anchor] <= 0.0:
            continue
        _near_rows(records, nodes, before, order, place)
        steps += place
        depth, visited, fresh = 0, 0, True
        while depth >= 0:
            if steps > most:
                return cuts, steps
            if fresh:
                visited += 1
                cursor[depth] = nodes.size[depth]
                steps += 4 * nodes.size[depth] + 1
                open_node = reduce_rows(family, records, prices, nodes, things, heap, depth, anchor)
                if open_node and 4 * nodes.size[depth] < 3 * cursor[depth]:
                    open_node = reduce_rows(family, records, prices, nodes, things, heap, depth, anchor)
                if open_node:
                    sort_rows(nodes, depth)
                    exceeded, inside, others = mark_doubts(family, prices, nodes, heap, depth, anchor)
                    stuck = others and (visited >= limits[0] or depth == limits[1])
                    if not mend and (exceeded or stuck):
                        holds[place] = -np.inf
                        break
                    if exceeded:
                        rows = nodes.rows[depth, :inside]
                        above = _cut_rows(family, prices, heap, anchor, rows, nodes.cost[depth], pool, pooled)
                        if above > 1e-6 and cuts < found.shape[0] and pooled + inside + 1 <= pool.shape[0]:
                            found[cuts, 0], found[cuts, 1], found[cuts, 2] = cuts, pooled, pooled + inside
                            pool_cost[cuts] = nodes.cost[depth]
                            cuts += 1
                            pooled += inside + 1
                    if stuck:
                        for last in range(inside, nodes.size[depth]):
                            if nodes.doubt[depth, last]:
                                rows = nodes.rows[depth, : last + 1]
                                _cut_rows(family, prices, heap, anchor, rows, nodes.price[depth, last], pool, pooled)
                                steps += last
                    elif others:
                        cursor[depth] = inside
            fresh = False
            child, group = _next_child(records, nodes, depth, cursor[depth])
            if child < 0:
                depth -= 1
                continue
            cursor[depth] = child + 1
            steps += group
            _child(records, prices, nodes, depth, child, group, anchor)
            depth += 1
            fresh = True
    return cuts, steps
