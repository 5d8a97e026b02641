"""The nearest rows of every row of a block, under the loss of the box that two rows span."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.inline import inlined
from shoal.kernels.random import random_below

_NOTHING, _FARTHEST = np.uint16(0), np.uint16(2**16 - 1)
_LANES = 64  # costs that are looked at together

Near = namedtuple(
    "Near",
    [
        "row",  # int64 (items,) the row of each item within the block
        "first",  # int64 (rows,) the first item of each row; the items of a row are neighbours
        "count",  # int64 (rows,) how many items it has
        "nearest",  # int64 (rows, wanted) the nearest rows, the row itself first; -1 where there are fewer
        "candidates",  # int64 (items, wanted) the groups that each item would make least worse
        "share",  # int64 (1,) how many of 16 choices go by the nearest rows, the others by the candidate groups
    ],
)


@kernel
def _lowest(cost: Any, part: Any) -> Any:
    """The lowest of the _LANES costs of a part."""
    least = _FARTHEST
    for place in range(part * _LANES, part * _LANES + _LANES):
        value = cost[place]
        least = value if value < least else least
    return least


@kernel
def nearest_rows(columns: Any, prices: Any, numbers: Any, limits: Any, nearest: Any) -> None:
    """The nearest rows of every row, by comparing all with all.

    Distances are small whole numbers, so that the compiler does sixteen at a time. They are kept with the lowest of
    every part of them, so that the next nearest row is found in few steps.

    IN  columns  int16 (layers, rows), prices uint16 (layers, rows) what being apart costs the row
    IN  numbers  uint16 (intervals, rows), limits uint16 (intervals,); no distance may reach 2 ** 16 - 1
    OUT nearest  int64 (rows, wanted)
    """
    rows = nearest.shape[0]
    parts = -(-rows // _LANES)
    cost = np.full(parts * _LANES, _FARTHEST, dtype=np.uint16)
    lowest = np.empty(parts, dtype=np.uint16)
    for row in range(rows):
        for other in range(rows):
            cost[other] = _NOTHING
        for layer in range(columns.shape[0]):
            feature = columns[layer, row]
            price = prices[layer, row]
            for other in range(rows):
                cost[other] += price if columns[layer, other] != feature else _NOTHING
        for interval in range(numbers.shape[0]):
            number = numbers[interval, row]
            limit = limits[interval]
            for other in range(rows):
                one = numbers[interval, other]
                cost[other] += min(limit, np.uint16(max(one, number) - min(one, number)))
        nearest[row, 0] = row
        cost[row] = _FARTHEST
        for part in range(parts):
            lowest[part] = _lowest(cost, part)
        for place in range(1, nearest.shape[1]):
            best = 0
            for part in range(1, parts):
                if lowest[part] < lowest[best]:
                    best = part
            if lowest[best] == _FARTHEST:
                nearest[row, place] = -1
                continue
            other = best * _LANES
            while cost[other] != lowest[best]:
                other += 1
            nearest[row, place] = other
            cost[other] = _FARTHEST
            lowest[best] = _lowest(cost, best)


@inlined
def neighbour_group(state: Any, near: Any, item: Any, random: Any) -> Any:
    """A group near an item, or -1: that of an item of a near row, or one of the candidate groups."""
    if random_below(random, 16) < near.share[0]:
        row = near.nearest[near.row[item], random_below(random, near.nearest.shape[1])]
        if row < 0:
            return np.int64(-1)
        return state.group[near.first[row] + random_below(random, near.count[row])]
    return near.candidates[item, random_below(random, near.candidates.shape[1])]
