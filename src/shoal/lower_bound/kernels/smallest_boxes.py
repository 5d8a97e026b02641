"""The smallest boxes that hold a row and k records, one choice of levels after the other.

At given levels of the categories, rows whose values agree form a class. A box at these levels lies inside one class.
On every interval it is at least as wide as the narrowest range that holds the row and k records of the class. The proof
is in docs/lower_bound.md.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel

_SPREAD = np.uint64(11400714819323198485)

Boxes = namedtuple(
    "Boxes",
    [
        "keys",  # uint64 (steps, rows) a random number for the value of each row at each step of each attribute
        "costs",  # float64 (steps, rows) what the row loses there
        "positions",  # float64 (intervals, rows)
        "order",  # int64 (intervals, rows) the rows by position
        "prices",  # float64 (intervals,)
        "weights",  # int64 (rows,)
    ],
)


@kernel
def number_classes(key: Any, weights: Any, places: Any, of_place: Any, size: Any, class_of: Any) -> Any:
    """Number the distinct keys by first appearance and weigh their rows; returns how many there are.

    OUT places    uint64 (a power of two, at least twice the rows), of_place int64 (same,): scratch
    OUT size      int64 (rows,) records per class; class_of int64 (rows,)
    """
    bits = 0
    while (1 << bits) < places.shape[0]:
        bits += 1
    shift, mask = np.uint64(64 - bits), places.shape[0] - 1
    of_place[:] = -1
    classes = 0
    for row in range(key.shape[0]):
        place = np.int64((key[row] * _SPREAD) >> shift)
        while of_place[place] >= 0 and places[place] != key[row]:
            place = (place + 1) & mask
        if of_place[place] < 0:
            places[place] = key[row]
            of_place[place] = classes
            size[classes] = 0
            classes += 1
        class_of[row] = of_place[place]
        size[of_place[place]] += weights[row]
    return classes


@kernel
def _narrowest_ranges(
    position: Any, weight: Any, start: Any, stop: Any, k: Any, last: Any, queue: Any, width: Any
) -> None:
    """For every entry of a sorted part, the width of the narrowest range that holds it and k records.

    The ranges to look at begin at some entry and end where k records are reached, or at the entry itself. The ones
    that begin later than the last that is full when it reaches the entry are kept in a queue of rising widths.

    IN  position  float64 (entries,) rising from start to stop; weight int64 (entries,), at least k together
    OUT last      int64 (entries,) where k records are reached; queue int64 (entries,): scratch
    OUT width     float64 (entries,)
    """
    held, end = 0, start - 1
    for first in range(start, stop):
        while held < k and end + 1 < stop:
            end += 1
            held += weight[end]
        last[first] = end if held >= k else stop
        held -= weight[first]
    head = tail = start
    full = start - 1
    for entry in range(start, stop):
        if last[entry] < stop:
            wide = position[last[entry]] - position[entry]
            while tail > head and position[last[queue[tail - 1]]] - position[queue[tail - 1]] >= wide:
                tail -= 1
            queue[tail] = entry
            tail += 1
        while full < entry and last[full + 1] <= entry:
            full += 1
        while head < tail and queue[head] <= full:
            head += 1
        least = position[entry] - position[full] if full >= start else np.inf
        if head < tail:
            least = min(least, position[last[queue[head]]] - position[queue[head]])
        width[entry] = least


@kernel
def sort_by_class(class_of: Any, classes: Any, order: Any, begin: Any, sorted_rows: Any) -> None:
    """The rows by class, in the given order within a class.

    OUT begin  int64 (classes + 1,): a class ends where it says (and begins where the one before ends)
    """
    begin[: classes + 1] = 0
    for row in range(class_of.shape[0]):
        begin[class_of[row] + 1] += 1
    for number in range(classes):
        begin[number + 1] += begin[number]
    for place in range(class_of.shape[0]):
        row = order[place]
        sorted_rows[begin[class_of[row]]] = row
        begin[class_of[row]] += 1


@kernel
def smallest_at_levels(boxes: Any, choices: Any, k: Any, best: Any) -> None:
    """Try some choices of levels.

    IN     choices  int64 (choices, attributes) the step of each attribute, as a line of keys and costs
    IN/OUT best     float64 (rows,) the least loss of a box that holds the row and k records, so far
    """
    rows = boxes.weights.shape[0]
    places = 4
    while places < 2 * rows:
        places *= 2
    table, of_place = np.empty(places, dtype=np.uint64), np.empty(places, dtype=np.int64)
    size, class_of = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    key, loss = np.empty(rows, dtype=np.uint64), np.empty(rows)
    begin, sorted_rows = np.empty(rows + 1, dtype=np.int64), np.empty(rows, dtype=np.int64)
    position, weight = np.empty(rows), np.empty(rows, dtype=np.int64)
    last, queue, width = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64), np.empty(rows)
    for choice in range(choices.shape[0]):
        key[:] = np.uint64(0)
        loss[:] = 0.0
        for attribute in range(choices.shape[1]):
            step = choices[choice, attribute]
            for row in range(rows):
                key[row] += boxes.keys[step, row]
                loss[row] += boxes.costs[step, row]
        classes = number_classes(key, boxes.weights, table, of_place, size, class_of)
        for interval in range(boxes.positions.shape[0]):
            sort_by_class(class_of, classes, boxes.order[interval], begin, sorted_rows)
            for entry in range(rows):
                position[entry] = boxes.positions[interval, sorted_rows[entry]]
                weight[entry] = boxes.weights[sorted_rows[entry]]
            start = 0
            for number in range(classes):
                stop = begin[number]
                if size[number] >= k:
                    _narrowest_ranges(position, weight, start, stop, k, last, queue, width)
                    for entry in range(start, stop):
                        loss[sorted_rows[entry]] += boxes.prices[interval] * min(1.0, width[entry])
                start = stop
        for row in range(rows):
            if size[class_of[row]] >= k and loss[row] < best[row]:
                best[row] = loss[row]
