"""The nearest rows of every row of a block, under the loss of the box that two rows span."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.flagship_random import random_below

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
def nearest_rows(columns: Any, numbers: Any, step: Any, number_weight: Any, cost: Any, best: Any, nearest: Any) -> None:
    """The nearest rows of every row, by comparing all with all.

    IN  columns  int32 (layers, rows), numbers float64 (intervals, rows)
    OUT nearest  int64 (rows, wanted); cost float64 (rows,), best float64 (wanted,): scratch
    """
    rows = nearest.shape[0]
    wanted = nearest.shape[1]
    for row in range(rows):
        for other in range(rows):
            cost[other] = 0.0
        for layer in range(columns.shape[0]):
            line = columns[layer]
            feature = line[row]
            price = step[feature]
            for other in range(rows):
                cost[other] += price if line[other] != feature else 0.0
        for interval in range(numbers.shape[0]):
            line = numbers[interval]
            number = line[row]
            price = number_weight[interval]
            for other in range(rows):
                cost[other] += price * min(1.0, abs(line[other] - number))
        cost[row] = -1.0
        found = 0
        for other in range(rows):
            if found < wanted or cost[other] < best[wanted - 1]:
                place = found if found < wanted else wanted - 1
                while place > 0 and best[place - 1] > cost[other]:
                    best[place] = best[place - 1]
                    nearest[row, place] = nearest[row, place - 1]
                    place -= 1
                best[place] = cost[other]
                nearest[row, place] = other
                if found < wanted:
                    found += 1
        for place in range(found, wanted):
            nearest[row, place] = -1


@kernel
def neighbour_group(state: Any, near: Any, item: Any, random: Any) -> Any:
    """A group near an item, or -1: that of an item of a near row, or one of the candidate groups."""
    if random_below(random, 16) < near.share[0]:
        row = near.nearest[near.row[item], random_below(random, near.nearest.shape[1])]
        if row < 0:
            return np.int64(-1)
        return state.group[near.first[row] + random_below(random, near.count[row])]
    return near.candidates[item, random_below(random, near.candidates.shape[1])]
