"""Boxes of categories without a hierarchy in which the values of one category are counted.

A class (`price_classes`) leaves some categories open: its rows may have several values there, at the cost of one more
value at least. Here the values of one open category are counted. A set G of k records of a window, with m values there,
costs what the window costs without the category, and m - 1 steps. So nothing is exceeded if the largest of

    (mean price of G) - step * (m - 1)      over all sets G of k records of the window

is at most the cost without the category. What it is at most is told by any level L: G is worth no more than L + step +
the sum over its values v of S(v) / k - step, where S(v) is what the k highest prices of v are above L. What it is comes
from taking values one by one, for every number of records (a knapsack). The proof is in docs/lower_bound.md.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.lower_bound.kernels.prices import Heap, add_row, highest_mean, project

MOST_VALUES = 62  # sets of values are bits of a number
_EXACT = 1e-12
_HALVINGS = 14

Counted = namedtuple(
    "Counted",
    [
        "value",  # uint8 (categories, rows) of the categories that can be counted
        "step",  # float64 (categories,) what one more value costs
        "included",  # float64 (classes, categories) what the cost of the class has for it; -1: its rows agree there
        "values",  # int: the most values that one of them has
    ],
)

Scratch = namedtuple(
    "Scratch",
    [
        "price",  # float64 (values, k) the highest prices of each value, falling
        "size",  # int64 (values,) how many these are
        "above",  # float64 (values,) by how much they are above a level, in all
        "score",  # float64 (2, k + 1) what the best sets of so many records are worth
        "taken",  # int64 (values, k + 1) how many records of the last value such a set has
        "heap",  # the k highest prices of a window
    ],
)


@kernel
def make_heap(k: Any) -> Any:
    return Heap(np.empty(k + 2), np.empty(k + 2, dtype=np.int64), np.empty(k + 2, dtype=np.int64))


@kernel
def make_scratch(k: Any, values: Any) -> Any:
    return Scratch(
        np.empty((values, k)),
        np.empty(values, dtype=np.int64),
        np.empty(values),
        np.empty((2, k + 1)),
        np.empty((values, k + 1), dtype=np.int64),
        make_heap(k),
    )


@kernel
def worth_above(
    family: Any, counted: Any, prices: Any, scratch: Any, category: Any, first: Any, last: Any, level: Any
) -> Any:
    """No k records of a window are worth more than this, by a level that is given; one quick pass."""
    scratch.above[:] = 0.0
    for entry in range(first, last + 1):
        row = family.entries[entry]
        if prices[row] > level:
            copies = min(family.weights[row], family.k)
            scratch.above[counted.value[category, row]] += copies * (prices[row] - level)
    worth = level + counted.step[category]
    for value in range(scratch.above.shape[0]):
        worth += max(0.0, scratch.above[value] / family.k - counted.step[category])
    return worth


@kernel
def list_prices(family: Any, counted: Any, prices: Any, scratch: Any, category: Any, first: Any, last: Any) -> Any:
    """The k highest prices of each value of a category in a window; returns the steps made."""
    k = family.k
    scratch.size[:] = 0
    steps = last - first + 1
    for entry in range(first, last + 1):
        row = family.entries[entry]
        value, price = counted.value[category, row], prices[row]
        for _ in range(min(family.weights[row], k)):
            size = scratch.size[value]
            if size == k and price <= scratch.price[value, k - 1]:
                break
            place = size if size < k else k - 1
            scratch.size[value] = place + 1
            while place > 0 and scratch.price[value, place - 1] < price:
                scratch.price[value, place] = scratch.price[value, place - 1]
                place -= 1
            scratch.price[value, place] = price
            steps += 1 + (scratch.size[value] - place) // 2
    return steps


@kernel
def least_worth(scratch: Any, k: Any, step: Any, low: Any, high: Any) -> Any:
    """The least that a level between two tells k listed records to be worth at most, and that level."""
    least, best = np.inf, low
    for _ in range(_HALVINGS):
        level = (low + high) / 2
        worth, used = level + step, 0
        for value in range(scratch.size.shape[0]):
            above, count = 0.0, 0
            while count < scratch.size[value] and scratch.price[value, count] > level:
                above += scratch.price[value, count] - level
                count += 1
            if above > step * k:
                worth += above / k - step
                used += count
        if worth < least:
            least, best = worth, level
        if used >= k:
            low = level
        else:
            high = level
    return least, best


@kernel
def best_values(scratch: Any, k: Any, step: Any) -> Any:
    """What k records are worth at most, and the values of the best set as bits."""
    score, other = scratch.score[0], scratch.score[1]
    score[:] = -np.inf
    score[0] = 0.0
    reached = 0
    for value in range(scratch.size.shape[0]):
        scratch.taken[value] = 0
        if scratch.size[value] == 0:
            continue
        other[:] = score
        worth = -step * k
        most = min(k, reached + scratch.size[value])
        for count in range(1, scratch.size[value] + 1):
            worth += scratch.price[value, count - 1]
            for before in range(min(reached, k - count) + 1):
                if score[before] + worth > other[before + count]:
                    other[before + count] = score[before] + worth
                    scratch.taken[value, before + count] = count
        score, other = other, score
        reached = most
    mask, left = np.int64(0), k
    for value in range(scratch.size.shape[0] - 1, -1, -1):
        if left > 0 and scratch.taken[value, left] > 0:
            mask |= np.int64(1) << np.int64(value)
            left -= scratch.taken[value, left]
    return score[k] / k + step, mask


@kernel
def _highest_of(
    family: Any, counted: Any, prices: Any, heap: Any, first: Any, last: Any, category: Any, mask: Any
) -> Any:
    """The k highest of the rows of a window whose value is in the mask; returns as `add_row`."""
    count, held, total = 0, 0, 0.0
    for entry in range(first, last + 1):
        row = family.entries[entry]
        if held >= family.k and prices[row] <= heap.price[0]:
            continue
        if category >= 0 and (mask >> np.int64(counted.value[category, row])) & 1 == 0:
            continue
        count, held, total = add_row(family, prices, heap, row, count, held, total)
    return count, held, total


@kernel
def cut_box(
    family: Any,
    counted: Any,
    prices: Any,
    heap: Any,
    first: Any,
    last: Any,
    category: Any,
    mask: Any,
    cost: Any,
    most: Any,
    finish: Any,
) -> Any:
    """Project up to `most` times; with `finish` the box then holds. Returns how much it was above its cost."""
    count, held, total = _highest_of(family, counted, prices, heap, first, last, category, mask)
    if held < family.k:
        return -np.inf
    above = was = highest_mean(family, heap, held, total) - cost
    while above > _EXACT and most > 0:
        project(family, prices, heap, count, held, above)
        count, held, total = _highest_of(family, counted, prices, heap, first, last, category, mask)
        above = highest_mean(family, heap, held, total) - cost
        most -= 1
    if finish and above > _EXACT:  # the k highest fall by what is missing and no other stays above them
        level = heap.price[0]
        for entry in range(first, last + 1):
            row = family.entries[entry]
            if category >= 0 and (mask >> np.int64(counted.value[category, row])) & 1 == 0:
                continue
            prices[row] = prices[row] - above if prices[row] >= level else min(prices[row], level - above)
    return was


@kernel
def bits(mask: Any) -> Any:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def cost_of_box(family: Any, counted: Any, number: Any, first: Any, last: Any, category: Any, mask: Any) -> Any:
    width = family.position[family.entries[last]] - family.position[family.entries[first]]
    cost = family.cost[number] + family.scale * min(1.0, width)
    if category >= 0:
        cost += counted.step[category] * (bits(mask) - 1) - counted.included[number, category]
    return cost
