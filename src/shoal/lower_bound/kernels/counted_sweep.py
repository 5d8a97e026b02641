"""Prices that hold in boxes of counted values (`counted`): full sweeps over all windows, passes over a list of boxes.

Each open category alone can prove that a window holds; which one did, and at what level, is remembered of each class.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.lower_bound.kernels.counted import (
    best_values,
    bits,
    cost_of_box,
    cut_box,
    least_worth,
    list_prices,
    make_heap,
    make_scratch,
    worth_above,
)
from shoal.lower_bound.kernels.prices import highest, highest_mean, list_places

_EXACT = 1e-12
_ROUNDING = 1e-6
_PROJECTIONS = 8
_TRIES = 40  # sets of values that are cut in a window before it is cut as a whole

Known = namedtuple(
    "Known",
    [
        "category",  # int64 (classes,) the category that proved most, -1: none yet
        "level",  # float64 (classes,) and at what level, less the cost of the window
    ],
)


@kernel
def _prove(
    family: Any, counted: Any, prices: Any, scratch: Any, known: Any, number: Any, first: Any, last: Any, cost: Any
) -> Any:
    """How much the records of a window can rise before k of them might be worth more than their cost.

    Returns that (below 0: not proved), the category that proves most, and how many entries were looked at.
    """
    looked = last - first + 1
    category = known.category[number]
    if category >= 0:
        worth = worth_above(family, counted, prices, scratch, category, first, last, cost + known.level[number])
        slack = cost - counted.included[number, category] - worth
        if slack >= 0.0:
            return slack, category, looked
    _, held, total = highest(family, prices, scratch.heap, first, last)
    looked += last - first + 1
    if held < family.k:
        return np.inf, -1, looked
    mean, lowest = highest_mean(family, scratch.heap, held, total), scratch.heap.price[0]
    best, best_category = cost - mean, -1
    if best >= -_EXACT:
        return best, -1, looked
    for turn in range(-1, counted.step.shape[0]):
        category = known.category[number] if turn < 0 else turn
        if category < 0 or (turn >= 0 and category == known.category[number]) or counted.included[number, category] < 0:
            continue
        looked += list_prices(family, counted, prices, scratch, category, first, last)
        looked += 8 * scratch.size.sum()
        allowed = cost - counted.included[number, category]
        low = min(lowest, allowed) - counted.step[category] * family.k
        worth, level = least_worth(scratch, family.k, counted.step[category], low, max(lowest, allowed))
        if allowed - worth > best:
            best, best_category = allowed - worth, category
        if best >= -_EXACT:
            known.category[number], known.level[number] = category, level - cost
            break
    return best, best_category, looked


@kernel
def _mend(
    family: Any,
    counted: Any,
    prices: Any,
    scratch: Any,
    number: Any,
    first: Any,
    last: Any,
    category: Any,
    cost: Any,
    mend: Any,
    found: Any,
    cuts: Any,
) -> Any:
    """Cut the sets of a window that are exceeded, with the values of a category counted; if not `mend`, only look.

    Returns the slack (below 0: exceeded), how many entries were looked at, and how many boxes were cut so far.
    """
    looked = 0
    allowed = cost - counted.included[number, category] if category >= 0 else cost
    for turn in range(_TRIES + 1):
        values, price = np.int64(0), cost
        if category >= 0 and turn < _TRIES:
            looked += list_prices(family, counted, prices, scratch, category, first, last)
            worth, values = best_values(scratch, family.k, counted.step[category])
            looked += last - first + 1 + family.k * scratch.size.sum() // 4
            if worth <= allowed + _EXACT or not mend:
                return allowed - worth, looked, cuts
            price = allowed + counted.step[category] * (bits(values) - 1)
        elif not mend:
            break
        else:
            category = -1
        above = cut_box(family, counted, prices, scratch.heap, first, last, category, values, price, _PROJECTIONS, True)
        looked += last - first + 1
        if above > 1e-6 and cuts < found.shape[0]:
            found[cuts, 0], found[cuts, 1], found[cuts, 2] = number, first, last
            found[cuts, 3], found[cuts, 4] = category, values
            cuts += 1
        if category < 0:
            return 0.0, looked, cuts
    return -1.0, looked, cuts


@kernel
def _halve(family: Any, places: Any, waiting: Any, count: Any, left: Any, right: Any, begin: Any, end: Any) -> None:
    """Put two halves of a range of windows where one was: by the places where they begin, or where they end."""
    starts = _position(family, places[right - 1]) - _position(family, places[left])
    ends = _position(family, places[end] - 1) - _position(family, places[begin])
    upper, lower = waiting[count], waiting[count + 1]
    upper[0], upper[1], upper[2], upper[3] = left, right, begin, end
    lower[:] = upper
    if right - left > 1 and (starts >= ends or end - begin == 1):
        upper[0] = lower[1] = (left + right) // 2
    else:
        upper[2] = lower[3] = (begin + end) // 2


@kernel
def _position(family: Any, entry: Any) -> Any:
    return family.position[family.entries[entry]]


@kernel
def sweep_counted(
    family: Any,
    counted: Any,
    prices: Any,
    risen: Any,
    part: Any,
    mend: Any,
    most: Any,
    known: Any,
    class_holds: Any,
    holds: Any,
    found: Any,
) -> Any:
    """Look at all windows of some classes that may be exceeded; cut them if `mend`, else only note where.

    Windows that begin in a range of places and end in another are looked at together: all are parts of the widest, and
    none is narrower than the narrowest. Only where that leaves doubt one of the ranges is halved.

    IN/OUT prices       float64 (rows,)
    IN     risen        how much any price can have risen so far
    IN     part         int64 (2,) the first class, and the one after the last
    IN/OUT known        what proved most of each class
    IN/OUT class_holds  float64 (classes,) nothing of the class is exceeded until prices have risen to this
    IN/OUT holds        float32 (entries,) the same for the windows that begin at an entry
    OUT    found        int64 (room, 5) class, first and last entry, category, values (as bits) of boxes that were cut
    Returns how many were found and how many entries were looked at: if more than `most`, it was given up.
    """
    scratch = make_scratch(family.k, counted.values)
    longest = 0
    for number in range(part[0], part[1]):
        longest = max(longest, family.begin[number + 1] - family.begin[number])
    places = np.empty(longest + 1, dtype=np.int64)
    until = np.empty(longest + 1)
    waiting = np.empty((200, 4), dtype=np.int64)
    cuts = steps = 0
    for number in range(part[0], part[1]):
        if class_holds[number] >= risen:
            continue
        start, stop, cost = family.begin[number], family.begin[number + 1], family.cost[number]
        steps += stop - start
        _, held, total = highest(family, prices, scratch.heap, start, stop - 1)
        ceiling = highest_mean(family, scratch.heap, held, total)
        if ceiling <= cost:
            class_holds[number] = risen + (cost - ceiling)
            continue
        distinct = list_places(family, start, stop, places)
        low, high = 0, distinct
        while low < high and holds[places[low]] >= risen:
            low += 1
        while low < high and holds[places[high - 1]] >= risen:
            high -= 1
        until[:distinct] = np.inf
        waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = low, high, low, distinct
        count = 1 if low < high else 0
        while count > 0:
            count -= 1
            left, right, begin, end = waiting[count, 0], waiting[count, 1], waiting[count, 2], waiting[count, 3]
            while left < right and (holds[places[left]] >= risen or until[left] == -np.inf):
                left += 1
            while left < right and (holds[places[right - 1]] >= risen or until[right - 1] == -np.inf):
                right -= 1
            begin = max(begin, left)
            right = min(right, end)
            if left >= right or begin >= end:
                continue
            width = _position(family, places[begin]) - _position(family, places[right - 1])
            price = cost + family.scale * min(1.0, max(0.0, width))
            first, last = places[left], places[end] - 1
            slack = price - ceiling
            if slack < 0.0:
                slack, category, looked = _prove(family, counted, prices, scratch, known, number, first, last, price)
                steps += looked
            if steps > most:
                return cuts, steps
            if slack < -_EXACT and right - left == 1 and end - begin == 1:
                slack, looked, cuts = _mend(
                    family, counted, prices, scratch, number, first, last, category, price, mend, found, cuts
                )
                steps += looked
                if slack < -_EXACT:
                    until[left] = -np.inf
                    continue
            if slack < -_EXACT:
                _halve(family, places, waiting, count, left, right, begin, end)
                count += 2
                continue
            for place in range(left, right):
                until[place] = min(until[place], max(0.0, slack))
        least = np.inf
        for place in range(distinct):
            if low <= place < high and holds[places[place]] < risen:
                reach = risen + until[place]
                holds[places[place]] = reach - abs(reach) * _ROUNDING if abs(reach) < np.inf else reach
            least = min(least, holds[places[place]])
        class_holds[number] = least
    return cuts, steps


@kernel
def cut_boxes(
    family: Any,
    counted: Any,
    prices: Any,
    listed: Any,
    cost: Any,
    risen: Any,
    holds: Any,
    idle: Any,
    round_number: Any,
    backward: Any,
) -> Any:
    """Go once over a list of boxes and cut those that are exceeded; returns how many entries were looked at.

    IN     listed  int64 (boxes, 5) as `found` of `sweep_counted`; cost float64 (boxes,)
    IN/OUT holds   float64 (boxes,) not exceeded until prices have risen to this
    OUT    idle    int64 (boxes,) the round of the last cut
    """
    heap = make_heap(family.k)
    boxes = listed.shape[0]
    steps = 0
    for step in range(boxes):
        place = boxes - 1 - step if backward else step
        if holds[place] >= risen:
            continue
        first, last = listed[place, 1], listed[place, 2]
        category, values, price = listed[place, 3], listed[place, 4], cost[place]
        above = cut_box(family, counted, prices, heap, first, last, category, values, price, 3, False)
        steps += last - first + 1
        if above > _EXACT:
            idle[place] = round_number
            steps += last - first + 1
        else:
            holds[place] = risen - above
    return steps


@kernel
def costs_of_boxes(family: Any, counted: Any, listed: Any, cost: Any) -> None:
    """What the boxes of a list cost.

    OUT cost  float64 (boxes,)
    """
    for box in range(listed.shape[0]):
        cost[box] = cost_of_box(
            family, counted, listed[box, 0], listed[box, 1], listed[box, 2], listed[box, 3], listed[box, 4]
        )
