"""Prices of records that no box may exceed: cut where a box is exceeded, by full sweeps or over a list of boxes.

A box is a class (`price_classes`) and a window of its rows in the order of the interval. It is exceeded if the mean of
the k highest prices of its records is above its cost. Cutting lowers prices only, so a box that is not exceeded stays
so: one full sweep ends with prices that hold everywhere. The proof is in docs/lower_bound.md.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel

_EXACT = 1e-12  # so little above its cost is no violation; the bound is lowered by far more
_PROJECTIONS = 8
_ROUNDING = 1e-6  # more than a number of 32 bits is rounded by, as a part of it

Family = namedtuple(
    "Family",
    [
        "k",  # int
        "entries",  # int32 (entries,) rows of the classes, one class after the other, by position
        "begin",  # int64 (classes + 1,)
        "cost",  # float64 (classes,)
        "position",  # float64 (rows,)
        "scale",  # float: what the width 1 of the interval costs
        "weights",  # int64 (rows,)
    ],
)

Heap = namedtuple(
    "Heap",
    [
        "price",  # float64 (k + 2,) the highest prices of a window, the lowest of them first
        "row",  # int64 (k + 2,)
        "copies",  # int64 (k + 2,)
    ],
)


@kernel
def _push(heap: Any, count: Any, price: Any, row: Any, copies: Any) -> None:
    place = count
    while place > 0:
        above = (place - 1) // 2
        if heap.price[above] <= price:
            break
        heap.price[place], heap.row[place], heap.copies[place] = heap.price[above], heap.row[above], heap.copies[above]
        place = above
    heap.price[place], heap.row[place], heap.copies[place] = price, row, copies


@kernel
def _pop(heap: Any, count: Any) -> None:
    last = count - 1
    price, row, copies = heap.price[last], heap.row[last], heap.copies[last]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        if below + 1 < last and heap.price[below + 1] < heap.price[below]:
            below += 1
        if heap.price[below] >= price:
            break
        heap.price[place], heap.row[place], heap.copies[place] = heap.price[below], heap.row[below], heap.copies[below]
        place = below
    heap.price[place], heap.row[place], heap.copies[place] = price, row, copies


@kernel
def add_row(family: Any, prices: Any, heap: Any, row: Any, count: Any, held: Any, total: Any) -> Any:
    """Take a row into the k highest; returns rows and records of the heap and the sum of their prices."""
    price = prices[row]
    if held >= family.k and price <= heap.price[0]:
        return count, held, total
    copies = min(family.weights[row], family.k)
    _push(heap, count, price, row, copies)
    count, held, total = count + 1, held + copies, total + copies * price
    while held - heap.copies[0] >= family.k:
        held -= heap.copies[0]
        total -= heap.copies[0] * heap.price[0]
        _pop(heap, count)
        count -= 1
    return count, held, total


@kernel
def highest(family: Any, prices: Any, heap: Any, first: Any, last: Any) -> Any:
    """The k highest of a window, entries first to last; returns as `add_row`."""
    count, held, total = 0, 0, 0.0
    for entry in range(first, last + 1):
        count, held, total = add_row(family, prices, heap, family.entries[entry], count, held, total)
    return count, held, total


@kernel
def highest_mean(family: Any, heap: Any, held: Any, total: Any) -> Any:
    return (total - (held - family.k) * heap.price[0]) / family.k


@kernel
def class_means(family: Any, prices: Any, means: Any) -> None:
    """What the k highest prices of each class are on average.

    OUT means  float64 (classes,)
    """
    heap = Heap(np.empty(family.k + 2), np.empty(family.k + 2, dtype=np.int64), np.empty(family.k + 2, dtype=np.int64))
    for number in range(means.shape[0]):
        _, held, total = highest(family, prices, heap, family.begin[number], family.begin[number + 1] - 1)
        means[number] = highest_mean(family, heap, held, total)


@kernel
def project(family: Any, prices: Any, heap: Any, count: Any, held: Any, above: Any) -> None:
    """Lower the k highest by as little as makes up for `above`, in the metric of records."""
    squares = 0.0
    for place in range(count):
        used = heap.copies[place] - (held - family.k if place == 0 else 0)
        squares += used * used / family.weights[heap.row[place]]
    step = above * family.k / squares
    for place in range(count):
        used = heap.copies[place] - (held - family.k if place == 0 else 0)
        prices[heap.row[place]] -= step * used / family.weights[heap.row[place]]


@kernel
def cut_window(family: Any, prices: Any, heap: Any, first: Any, last: Any, cost: Any, most: Any, finish: Any) -> Any:
    """Project up to `most` times; with `finish` the window then holds. Returns how much it was above its cost."""
    count, held, total = highest(family, prices, heap, first, last)
    above = was = highest_mean(family, heap, held, total) - cost
    while above > _EXACT and most > 0:
        project(family, prices, heap, count, held, above)
        count, held, total = highest(family, prices, heap, first, last)
        above = highest_mean(family, heap, held, total) - cost
        most -= 1
    if finish and above > _EXACT:  # the k highest fall by what is missing and no other stays above them
        level = heap.price[0]
        for entry in range(first, last + 1):
            row = family.entries[entry]
            prices[row] = prices[row] - above if prices[row] >= level else min(prices[row], level - above)
    return was


@kernel
def _scan(
    family: Any, prices: Any, heap: Any, first: Any, stop: Any, here: Any, cost: Any, ceiling: Any, margin: Any
) -> Any:
    """Let a window grow from an entry to the right, its width counted from `here`, until it costs all that prices can.

    Returns the least slack of these windows (below 0: one is exceeded, and the scan ended there), and how many entries
    were looked at.
    """
    least = np.inf
    count, held, total = 0, 0, 0.0
    for last in range(first, stop):
        count, held, total = add_row(family, prices, heap, family.entries[last], count, held, total)
        there = family.position[family.entries[last]]
        if last + 1 < stop and family.position[family.entries[last + 1]] == there:
            continue
        price = cost + family.scale * min(1.0, max(0.0, there - here))
        if price >= ceiling + margin:
            return min(least, price - ceiling), last - first + 1
        if held >= family.k:
            least = min(least, price - highest_mean(family, heap, held, total))
            if least < -_EXACT:
                return least, last - first + 1
    return least, stop - first


@kernel
def _mend(
    family: Any,
    prices: Any,
    heap: Any,
    number: Any,
    first: Any,
    stop: Any,
    ceiling: Any,
    margin: Any,
    found: Any,
    cuts: Any,
) -> Any:
    """Cut all windows that begin at an entry and are exceeded; returns as `_scan`, and how many were cut so far.

    OUT found  int64 (room, 3) class, first and last entry of the windows that were cut, `cuts` of them so far
    """
    least = np.inf
    cost, here = family.cost[number], family.position[family.entries[first]]
    count, held, total, steps = 0, 0, 0.0, 0
    for last in range(first, stop):
        count, held, total = add_row(family, prices, heap, family.entries[last], count, held, total)
        steps += 1
        there = family.position[family.entries[last]]
        if last + 1 < stop and family.position[family.entries[last + 1]] == there:
            continue
        price = cost + family.scale * min(1.0, there - here)
        if price >= ceiling + margin:
            least = min(least, price - ceiling)
            break
        if held < family.k:
            continue
        above = highest_mean(family, heap, held, total) - price
        if above > _EXACT:
            steps += last - first
            cut_window(family, prices, heap, first, last, price, _PROJECTIONS, True)
            count, held, total = highest(family, prices, heap, first, last)
            least = 0.0
            if above > 1e-6 and cuts < found.shape[0]:
                found[cuts, 0], found[cuts, 1], found[cuts, 2] = number, first, last
                cuts += 1
        else:
            least = min(least, -above)
    return least, steps, cuts


@kernel
def list_places(family: Any, start: Any, stop: Any, places: Any) -> Any:
    """The first entry of each distinct position of a class, and where the class ends; returns how many positions."""
    count = 0
    for entry in range(start, stop):
        if entry == start or family.position[family.entries[entry]] != family.position[family.entries[entry - 1]]:
            places[count] = entry
            count += 1
    places[count] = stop
    return count


@kernel
def sweep(
    family: Any,
    prices: Any,
    risen: Any,
    margin: Any,
    part: Any,
    mend: Any,
    most: Any,
    class_holds: Any,
    holds: Any,
    found: Any,
) -> Any:
    """Look at all windows of some classes that may be exceeded; cut them if `mend`, else only note where.

    Windows that begin in a range of places are looked at together: they are parts of those that begin at the first
    place, and no narrower than from the last. Only where that leaves doubt the range is halved.

    IN/OUT prices       float64 (rows,)
    IN     risen        how much any price can have risen so far; margin: look for windows within this of their cost
    IN     part         int64 (2,) the first class, and the one after the last
    IN/OUT class_holds  float64 (classes,) no window of the class is exceeded until prices have risen to this
    IN/OUT holds        float32 (entries,) the same for the windows that begin at an entry
    OUT    found        int64 (room, 3) class, first and last entry of windows that were cut
    Returns how many were found and how many entries were looked at: if more than `most`, it was given up.
    """
    heap = Heap(np.empty(family.k + 2), np.empty(family.k + 2, dtype=np.int64), np.empty(family.k + 2, dtype=np.int64))
    longest = 0
    for number in range(part[0], part[1]):
        longest = max(longest, family.begin[number + 1] - family.begin[number])
    places = np.empty(longest + 1, dtype=np.int64)
    waiting = np.empty((80, 2), dtype=np.int64)
    cuts = steps = 0
    for number in range(part[0], part[1]):
        if class_holds[number] >= risen:
            continue
        start, stop, cost = family.begin[number], family.begin[number + 1], family.cost[number]
        steps += stop - start
        _, held, total = highest(family, prices, heap, start, stop - 1)
        ceiling = highest_mean(family, heap, held, total)
        if ceiling <= cost:
            class_holds[number] = risen + (cost - ceiling)
            continue
        class_least = np.inf
        waiting[0, 0], waiting[0, 1] = 0, list_places(family, start, stop, places)
        count = 1
        while count > 0:
            count -= 1
            low, high = waiting[count, 0], waiting[count, 1]
            while low < high and holds[places[low]] >= risen:
                class_least = min(class_least, holds[places[low]])
                low += 1
            while low < high and holds[places[high - 1]] >= risen:
                high -= 1
                class_least = min(class_least, holds[places[high]])
            if low == high:
                continue
            first = places[low]
            if high - low > 1 or not mend:
                here = family.position[family.entries[places[high - 1]]]
                least, looked = _scan(family, prices, heap, first, stop, here, cost, ceiling, margin)
            else:
                least, looked, cuts = _mend(family, prices, heap, number, first, stop, ceiling, margin, found, cuts)
            steps += looked
            if steps > most:
                return cuts, steps
            if least < -_EXACT and high - low > 1:
                middle = (low + high) // 2
                waiting[count, 0], waiting[count, 1] = middle, high
                waiting[count + 1, 0], waiting[count + 1, 1] = low, middle
                count += 2
                continue
            until = risen + least if least >= -_EXACT else -np.inf
            until -= abs(until) * _ROUNDING if abs(until) < np.inf else 0.0
            for place in range(low, high):
                holds[places[place]] = until
            class_least = min(class_least, until)
        class_holds[number] = class_least
    return cuts, steps


@kernel
def cut_listed(
    family: Any, prices: Any, listed: Any, risen: Any, holds: Any, idle: Any, round_number: Any, backward: Any
) -> Any:
    """Go once over a list of windows and cut those that are exceeded; returns how many entries were looked at.

    IN     listed  int64 (windows, 3) as `found` of `sweep`
    IN/OUT holds   float64 (windows,) not exceeded until prices have risen to this
    OUT    idle    int64 (windows,) the round of the last cut
    """
    heap = Heap(np.empty(family.k + 2), np.empty(family.k + 2, dtype=np.int64), np.empty(family.k + 2, dtype=np.int64))
    windows = listed.shape[0]
    steps = 0
    for step in range(windows):
        place = windows - 1 - step if backward else step
        if holds[place] >= risen:
            continue
        number, first, last = listed[place, 0], listed[place, 1], listed[place, 2]
        width = family.position[family.entries[last]] - family.position[family.entries[first]]
        cost = family.cost[number] + family.scale * min(1.0, width)
        above = cut_window(family, prices, heap, first, last, cost, 3, False)
        steps += last - first + 1
        if above > _EXACT:
            idle[place] = round_number
            steps += last - first + 1
        else:
            holds[place] = risen - above
    return steps
