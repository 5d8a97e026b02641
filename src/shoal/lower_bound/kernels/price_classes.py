"""All classes of rows that agree at some choice of rungs: the boxes that prices are held against.

A class is kept if it holds k records and no lower choice of rungs has the same rows for no more. Its cost is the least
of its rows' costs, so it is right also where levels were joined, or if two classes ever get the same hash.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.lower_bound.kernels.smallest_boxes import number_classes, sort_by_class

Lines = namedtuple(
    "Lines",
    [
        "keys",  # uint64 (lines, rows) a random number for the part of each row, for each partition of each rung
        "costs",  # float64 (lines, rows) what the row loses there
        "weights",  # int64 (rows,)
    ],
)


@kernel
def _same_one_lower(lines: Any, step: Any, rows: Any) -> Any:
    """Whether the rows agree already in the line before, and lose no more there."""
    lower = lines.keys[step - 1, rows[0]]
    for row in rows:
        if lines.keys[step - 1, row] != lower or lines.costs[step - 1, row] > lines.costs[step, row]:
            return False
    return True


@kernel
def classes_at_levels(
    lines: Any, choices: Any, lowest: Any, order: Any, k: Any, entries: Any, ends: Any, cost: Any, chosen: Any
) -> Any:
    """List the classes of some choices of levels; returns how many there are and how many entries they have.

    IN  choices  int64 (choices, attributes) a line for each; lowest int64 (attributes,) the first line of each
    IN  order    int64 (rows,) the rows by the position on the interval
    OUT entries  int32 (choices * rows,) rows of the classes, one class after the other, each in the given order
    OUT ends     int64 (choices * rows // k,) where the classes end; cost float64 (same,)
    OUT chosen   int32 (same,) which choice they belong to
    """
    rows = lines.weights.shape[0]
    places = 4
    while places < 2 * rows:
        places *= 2
    table, of_place = np.empty(places, dtype=np.uint64), np.empty(places, dtype=np.int64)
    size, class_of = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    key, loss = np.empty(rows, dtype=np.uint64), np.empty(rows)
    begin, sorted_rows = np.empty(rows + 1, dtype=np.int64), np.empty(rows, dtype=np.int64)
    found = filled = 0
    for choice in range(choices.shape[0]):
        key[:] = np.uint64(0)
        loss[:] = 0.0
        for attribute in range(choices.shape[1]):
            step = choices[choice, attribute]
            for row in range(rows):
                key[row] += lines.keys[step, row]
                loss[row] += lines.costs[step, row]
        classes = number_classes(key, lines.weights, table, of_place, size, class_of)
        sort_by_class(class_of, classes, order, begin, sorted_rows)
        start = 0
        for number in range(classes):
            stop = begin[number]
            kept = size[number] >= k
            if kept:
                for attribute in range(choices.shape[1]):
                    step = choices[choice, attribute]
                    if step > lowest[attribute] and _same_one_lower(lines, step, sorted_rows[start:stop]):
                        kept = False
                        break
            if kept:
                least = np.inf
                for entry in range(start, stop):
                    least = min(least, loss[sorted_rows[entry]])
                    entries[filled] = sorted_rows[entry]
                    filled += 1
                ends[found] = filled
                cost[found] = least
                chosen[found] = choice
                found += 1
            start = stop
    return found, filled
