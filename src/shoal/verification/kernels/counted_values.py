"""Do prices hold in the windows of a class if the values of one category without a hierarchy are counted?

k records of a window that have m values there cost as much as the window without the category, and m - 1 steps. Windows
that begin in a range of places and end in another hold if the widest of them does at the width of the narrowest; if
that cannot be told, one range is cut in two. For a single window the answer is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel

_TRIALS = 24


@kernel
def _collect(value: Any, prices: Any, weights: Any, rows: Any, k: Any, top: Any, count: Any) -> None:
    """The k highest prices of every value, falling."""
    count[:] = 0
    for row in rows:
        v = value[row]
        for _ in range(min(weights[row], k)):
            if count[v] < k:
                place = count[v]
                count[v] += 1
            elif prices[row] > top[v, k - 1]:
                place = k - 1
            else:
                break
            while place > 0 and top[v, place - 1] < prices[row]:
                top[v, place] = top[v, place - 1]
                place -= 1
            top[v, place] = prices[row]


@kernel
def _at_level(top: Any, count: Any, k: Any, step: Any, level: Any) -> Any:
    """No k records, less a step for each value beyond the first, are worth more than this on average."""
    worth = level + step
    for v in range(count.shape[0]):
        above = 0.0
        for place in range(count[v]):
            if top[v, place] <= level:
                break
            above += top[v, place] - level
        worth += max(0.0, above / k - step)
    return worth


@kernel
def _at_most(top: Any, count: Any, k: Any, step: Any) -> Any:
    """The least of `_at_level`: it is convex, so thirds are cut off."""
    low, high = np.inf, -np.inf
    for v in range(count.shape[0]):
        if count[v] > 0:
            low, high = min(low, top[v, count[v] - 1]), max(high, top[v, 0])
    low -= step * k
    for _ in range(_TRIALS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        if _at_level(top, count, k, step, one) < _at_level(top, count, k, step, two):
            high = two
        else:
            low = one
    return _at_level(top, count, k, step, (low + high) / 2)


@kernel
def _exactly(top: Any, count: Any, k: Any, step: Any, best: Any) -> Any:
    """The most that k records are worth on average, less a step for each value beyond the first."""
    best[:] = -np.inf
    best[0] = 0.0
    for v in range(count.shape[0]):
        for size in range(k, 0, -1):
            worth = 0.0
            for more in range(1, min(size, count[v]) + 1):
                worth += top[v, more - 1]
                best[size] = max(best[size], best[size - more] + worth - step * k)
    return best[k] / k + step


@kernel
def _mean(prices: Any, weights: Any, rows: Any, highest: Any) -> Any:
    k = highest.shape[0]
    highest[:] = -np.inf
    for row in rows:
        for _ in range(min(weights[row], k)):
            if prices[row] <= highest[k - 1]:
                break
            place = k - 1
            while place > 0 and highest[place - 1] < prices[row]:
                highest[place] = highest[place - 1]
                place -= 1
            highest[place] = prices[row]
    return highest.mean()


@kernel
def _excess(
    ways: Any,
    prices: Any,
    weights: Any,
    rows: Any,
    used: Any,
    cost: Any,
    highest: Any,
    top: Any,
    count: Any,
    single: Any,
) -> Any:
    """How much k records are worth more than they cost at most, by the category that tells least; exact if `single`."""
    least = _mean(prices, weights, rows, highest) - cost
    for depth in range(used.shape[0]):
        column = ways.column[used[depth]]
        if least <= 0.0:
            break
        if column < 0:
            continue
        without = cost - ways.loss[used[depth], rows[0]]
        values = count[: ways.size[column]]
        _collect(ways.value[column], prices, weights, rows, highest.shape[0], top, values)
        worth = _at_most(top, values, highest.shape[0], ways.step[column])
        if single and worth > without:
            worth = min(
                worth, _exactly(top, values, highest.shape[0], ways.step[column], np.empty(highest.shape[0] + 1))
            )
        least = min(least, worth - without)
    return least


@kernel
def counted_windows(ways: Any, prices: Any, weights: Any, rows: Any, used: Any, cost: Any, k: Any) -> Any:
    """How much the records of a window are worth more than it costs at most, and how many rows were looked at.

    IN  rows  int (members,) of a class, by position; used int64 (attributes,) the way of each attribute
    """
    start = np.empty(rows.shape[0] + 1, dtype=np.int64)
    places = 0
    for entry in range(rows.shape[0]):
        if entry == 0 or ways.position[rows[entry]] != ways.position[rows[entry - 1]]:
            start[places] = entry
            places += 1
    start[places] = rows.shape[0]
    highest, count = np.empty(k), np.zeros(ways.most, dtype=np.int64)
    top = np.empty((ways.most, k))
    open_ranges = np.zeros((400, 4), dtype=np.int64)
    open_ranges[0, 1] = open_ranges[0, 3] = places
    ranges, worst, looked = 1, -np.inf, 0
    while ranges > 0:
        ranges -= 1
        a, b = open_ranges[ranges, 0], open_ranges[ranges, 1]  # begins in places a to b
        c, d = open_ranges[ranges, 2], open_ranges[ranges, 3]  # ends in c to d
        c, b = max(a, c), min(b, d)
        if a >= b or c >= d:
            continue
        width = max(0.0, ways.position[rows[start[c]]] - ways.position[rows[start[b - 1]]])
        single = b - a == 1 and d - c == 1
        members = rows[start[a] : start[d]]
        price = cost + ways.scale * min(1.0, width)
        excess = _excess(ways, prices, weights, members, used, price, highest, top, count, single)
        looked += members.shape[0]
        if excess <= 0.0 or single:
            worst = max(worst, excess)
        else:
            halves = open_ranges[ranges : ranges + 2]
            halves[:, 0], halves[:, 1], halves[:, 2], halves[:, 3] = a, b, c, d
            if b - a >= d - c:
                halves[0, 1] = halves[1, 0] = (a + b) // 2
            else:
                halves[0, 3] = halves[1, 2] = (c + d) // 2
            ranges += 2
    return worst, looked
