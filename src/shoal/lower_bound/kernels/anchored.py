"""Boxes around an anchor: the steps of a branch and bound over groups of any attributes (`anchored_sweep`).

A node is a box B around the anchor x, and the rows that may still join. What a row y costs is the loss of B and y
together. Groups of the node are the anchor and k - 1 or more of the rows.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.lower_bound.kernels.prices import add_row, highest_mean

_EXACT = 1e-12
_PIECES = 4  # of the way that a number's range can grow on one side

Records = namedtuple(
    "Records",
    [
        "features",  # int32 (rows, layers)
        "numbers",  # float64 (rows, intervals)
        "step",  # float64 (features,) what one more value costs, or to be mixed
        "saturates",  # uint8 (layers,) being mixed costs the step once
        "number_weight",  # float64 (intervals,)
    ],
)

Nodes = namedtuple(
    "Nodes",
    [
        "values",  # int32 (depths, layers, depths + 1) the features that the box has; of a tree: that of the anchor
        "count",  # int64 (depths, layers) how many; of a tree: 2 if it is mixed
        "low",  # float64 (depths, intervals)
        "high",  # float64 (depths, intervals)
        "cost",  # float64 (depths,) of the box
        "rows",  # int32 (depths, rows) that may join, the cheapest first
        "price",  # float64 (depths, rows) what the box costs with each of them
        "size",  # int64 (depths,)
        "doubt",  # uint8 (depths, rows) the rows up to here are worth more than the cost of the last
    ],
)

Things = namedtuple(
    "Things",
    [
        "needed",  # int64 (features,) how many records need one more value
        "mixed",  # int64 (layers,) how many records mix a tree
        "beyond",  # int64 (intervals, 2, pieces) how many records are beyond a piece of the way
        "ends",  # float64 (intervals, 2) how far the rows reach on both sides
        "worth",  # float64 (rows,) the price of each row less its part of what it needs
    ],
)


@kernel
def make_nodes(records: Any, depths: Any) -> Any:
    rows, layers = records.features.shape
    intervals = records.numbers.shape[1]
    return Nodes(
        np.empty((depths, layers, depths + 1), dtype=np.int32),
        np.empty((depths, layers), dtype=np.int64),
        np.empty((depths, intervals)),
        np.empty((depths, intervals)),
        np.empty(depths),
        np.empty((depths, rows), dtype=np.int32),
        np.empty((depths, rows)),
        np.zeros(depths, dtype=np.int64),
        np.empty((depths, rows), dtype=np.uint8),
    )


@kernel
def make_things(records: Any) -> Any:
    intervals = records.numbers.shape[1]
    return Things(
        np.zeros(records.step.shape[0], dtype=np.int64),
        np.zeros(records.features.shape[1], dtype=np.int64),
        np.zeros((intervals, 2, _PIECES), dtype=np.int64),
        np.zeros((intervals, 2)),
        np.empty(records.features.shape[0]),
    )


@kernel
def lacks(records: Any, nodes: Any, depth: Any, layer: Any, row: Any) -> Any:
    """Whether the box would have one more value with a row, or be mixed where it is not."""
    feature = records.features[row, layer]
    if records.saturates[layer]:
        return nodes.count[depth, layer] == 1 and feature != nodes.values[depth, layer, 0]
    for place in range(nodes.count[depth, layer]):
        if nodes.values[depth, layer, place] == feature:
            return False
    return True


@kernel
def step_of(records: Any, nodes: Any, depth: Any, layer: Any) -> Any:
    """What it costs to lack; of a tree that is told by the anchor."""
    return records.step[nodes.values[depth, layer, 0]]


@kernel
def cost_with(records: Any, nodes: Any, depth: Any, row: Any, most: Any) -> Any:
    """What the box and a row cost together; some number from `most` on if it is that much."""
    cost = nodes.cost[depth]
    for interval in range(records.numbers.shape[1]):
        low, high, here = nodes.low[depth, interval], nodes.high[depth, interval], records.numbers[row, interval]
        if here < low or here > high:
            wide = min(1.0, max(high, here) - min(low, here)) - min(1.0, high - low)
            cost += records.number_weight[interval] * wide
    for layer in range(records.features.shape[1]):
        if cost >= most:
            break
        if lacks(records, nodes, depth, layer, row):
            cost += step_of(records, nodes, depth, layer)
    return cost


@kernel
def first_box(records: Any, nodes: Any, anchor: Any) -> None:
    """The box of the anchor alone, at depth 0."""
    nodes.values[0, :, 0] = records.features[anchor]
    nodes.count[0, :] = 1
    nodes.low[0] = records.numbers[anchor]
    nodes.high[0] = records.numbers[anchor]
    nodes.cost[0] = 0.0


@kernel
def wider_box(records: Any, nodes: Any, depth: Any, row: Any, cost: Any) -> None:
    """The box at a depth and a row, one deeper."""
    below = depth + 1
    for layer in range(records.features.shape[1]):
        count = nodes.count[depth, layer]
        nodes.values[below, layer, :count] = nodes.values[depth, layer, :count]
        nodes.count[below, layer] = count
        if lacks(records, nodes, depth, layer, row):
            nodes.count[below, layer] = count + 1
            if not records.saturates[layer]:
                nodes.values[below, layer, count] = records.features[row, layer]
    for interval in range(records.numbers.shape[1]):
        here = records.numbers[row, interval]
        nodes.low[below, interval] = min(nodes.low[depth, interval], here)
        nodes.high[below, interval] = max(nodes.high[depth, interval], here)
    nodes.cost[below] = cost


@kernel
def same_box(records: Any, nodes: Any, depth: Any, one: Any, other: Any) -> Any:
    """Whether the box becomes the same with either of two rows."""
    for interval in range(records.numbers.shape[1]):
        low, high = nodes.low[depth, interval], nodes.high[depth, interval]
        here, there = records.numbers[one, interval], records.numbers[other, interval]
        if min(low, here) != min(low, there) or max(high, here) != max(high, there):
            return False
    for layer in range(records.features.shape[1]):
        lack = lacks(records, nodes, depth, layer, one)
        if lack != lacks(records, nodes, depth, layer, other):
            return False
        if lack and not records.saturates[layer] and records.features[one, layer] != records.features[other, layer]:
            return False
    return True


@kernel
def _sink(rows: Any, price: Any, place: Any, size: Any) -> None:
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and price[below + 1] > price[below]:
            below += 1
        if price[below] <= price[place]:
            break
        rows[place], rows[below] = rows[below], rows[place]
        price[place], price[below] = price[below], price[place]
        place = below


@kernel
def sort_rows(nodes: Any, depth: Any) -> None:
    """The rows of a node by cost (heap sort)."""
    rows, price, size = nodes.rows[depth], nodes.price[depth], nodes.size[depth]
    for place in range(size // 2 - 1, -1, -1):
        _sink(rows, price, place, size)
    for last in range(size - 1, 0, -1):
        rows[0], rows[last] = rows[last], rows[0]
        price[0], price[last] = price[last], price[0]
        _sink(rows, price, 0, last)


@kernel
def _count_things(records: Any, nodes: Any, things: Any, depth: Any, weights: Any, keep: Any) -> None:
    """How many records need each thing beyond the box: a value, a tree mixed; all is forgotten if not `keep`."""
    for place in range(nodes.size[depth]):
        row = nodes.rows[depth, place]
        for layer in range(records.features.shape[1]):
            if lacks(records, nodes, depth, layer, row):
                if records.saturates[layer]:
                    things.mixed[layer] = things.mixed[layer] + weights[row] if keep else 0
                else:
                    feature = records.features[row, layer]
                    things.needed[feature] = things.needed[feature] + weights[row] if keep else 0


@kernel
def _count_ways(records: Any, nodes: Any, things: Any, depth: Any, weights: Any) -> None:
    """How many records are beyond each piece of the ways on both sides of a number's range."""
    things.beyond[:] = 0
    things.ends[:] = 0.0
    for interval in range(records.numbers.shape[1]):
        low, high = nodes.low[depth, interval], nodes.high[depth, interval]
        for place in range(nodes.size[depth]):
            here = records.numbers[nodes.rows[depth, place], interval]
            things.ends[interval, 0] = max(things.ends[interval, 0], low - here)
            things.ends[interval, 1] = max(things.ends[interval, 1], here - high)
        if things.ends[interval].sum() + high - low > 1.0 + 1e-9:  # missing values and others: their width is cut off
            things.ends[interval] = 0.0
        for place in range(nodes.size[depth]):
            row = nodes.rows[depth, place]
            here = records.numbers[row, interval]
            for side in range(2):
                way = (low - here) if side == 0 else (here - high)
                for piece in range(_reached(way, things.ends[interval, side])):
                    things.beyond[interval, side, piece] += weights[row]


@kernel
def _reached(way: Any, end: Any) -> Any:
    """How many whole pieces of a way a row is beyond."""
    if way <= 0.0 or end <= 0.0:
        return 0
    return min(_PIECES, int(way / end * _PIECES * (1.0 + 1e-12)))


@kernel
def _part_of(records: Any, nodes: Any, things: Any, depth: Any, row: Any, k: Any) -> Any:
    """What a row pays of the things that it needs, if as many as can of k records share each of them."""
    part = 0.0
    for layer in range(records.features.shape[1]):
        if lacks(records, nodes, depth, layer, row):
            tree = records.saturates[layer]
            sharing = things.mixed[layer] if tree else things.needed[records.features[row, layer]]
            part += step_of(records, nodes, depth, layer) * k / min(k, sharing)
    for interval in range(records.numbers.shape[1]):
        low, high, here = nodes.low[depth, interval], nodes.high[depth, interval], records.numbers[row, interval]
        for side in range(2):
            end = things.ends[interval, side]
            for piece in range(_reached((low - here) if side == 0 else (here - high), end)):
                sharing = min(k, things.beyond[interval, side, piece])
                part += records.number_weight[interval] * end / _PIECES * (1.0 - 1e-9) * k / sharing
    return part


@kernel
def reduce_rows(
    family: Any, records: Any, prices: Any, nodes: Any, things: Any, heap: Any, depth: Any, anchor: Any
) -> Any:
    """Leave out rows that no group worth more than its cost can have; returns whether there can be such a group."""
    k, cost = family.k, nodes.cost[depth]
    _count_things(records, nodes, things, depth, family.weights, True)
    _count_ways(records, nodes, things, depth, family.weights)
    things.worth[anchor] = prices[anchor]
    count, held, total = add_row(family, things.worth, heap, anchor, 0, 0, 0.0)
    for place in range(nodes.size[depth]):
        row = nodes.rows[depth, place]
        things.worth[row] = prices[row] - _part_of(records, nodes, things, depth, row, k)
        count, held, total = add_row(family, things.worth, heap, row, count, held, total)
    _count_things(records, nodes, things, depth, family.weights, False)
    if held < k or highest_mean(family, heap, held, total) <= cost:
        return False
    others = k * highest_mean(family, heap, held, total) - heap.price[0]
    kept = 0
    for place in range(nodes.size[depth]):
        row = nodes.rows[depth, place]
        if others + things.worth[row] > k * cost:
            nodes.rows[depth, kept], nodes.price[depth, kept] = row, nodes.price[depth, place]
            kept += 1
    nodes.size[depth] = kept
    return True


@kernel
def mark_doubts(family: Any, prices: Any, nodes: Any, heap: Any, depth: Any, anchor: Any) -> Any:
    """Where the anchor and the rows up to some cost are worth more than that cost.

    Returns whether the rows inside the box are, how many these are, and whether others are too.
    """
    size, inside = nodes.size[depth], 0
    count, held, total = add_row(family, prices, heap, anchor, 0, 0, 0.0)
    while inside < size and nodes.price[depth, inside] <= nodes.cost[depth]:
        count, held, total = add_row(family, prices, heap, nodes.rows[depth, inside], count, held, total)
        inside += 1
    exceeded = held >= family.k and highest_mean(family, heap, held, total) > nodes.cost[depth] + _EXACT
    others = False
    for place in range(inside, size):
        count, held, total = add_row(family, prices, heap, nodes.rows[depth, place], count, held, total)
        cost = nodes.price[depth, place]
        ends = place + 1 == size or nodes.price[depth, place + 1] > cost
        doubt = ends and held >= family.k and highest_mean(family, heap, held, total) > cost + _EXACT
        nodes.doubt[depth, place] = doubt
        others |= doubt
    return exceeded, inside, others
