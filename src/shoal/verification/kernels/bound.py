"""Do prices of records hold in every box? One pass over all boxes, by going down from everything to its parts.

A box is a way to generalize each attribute, one after the other, and at last a window of one number. Going down, the
records become fewer and the cost does not fall: once the k highest prices of a class are worth no more than it costs
already, none of its parts has to be looked at. Where a window is worth more than it costs, and a category without a
hierarchy is open in it, its values are counted (`counted_values`).
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.verification.kernels.counted_values import counted_windows

Ways = namedtuple(
    "Ways",
    [
        "node",  # int32 (ways, rows) what the value of a row is generalized to; rows by the position of the number
        "loss",  # float64 (ways, rows) what that costs
        "first",  # int64 (attributes + 1,) the first way of each attribute
        "position",  # float64 (rows,) of the number, rising; all 0 if there is none
        "scale",  # float: what the width 1 of the number costs
        "column",  # int64 (ways,) the category whose values can be counted where this way leaves them open, else -1
        "value",  # int32 (categories, rows) of those
        "size",  # int64 (categories,) how many values they have
        "step",  # float64 (categories,) what one more value costs
        "most",  # int: the most values of any of them, at least 1
    ],
)


@kernel
def _insert(highest: Any, price: Any, copies: Any) -> None:
    """Keep the k highest prices in falling order, and let in one more, so many times."""
    k = highest.shape[0]
    for _ in range(min(copies, k)):
        if price <= highest[k - 1]:
            return
        place = k - 1
        while place > 0 and highest[place - 1] < price:
            highest[place] = highest[place - 1]
            place -= 1
        highest[place] = price


@kernel
def _mean_of_highest(prices: Any, weights: Any, rows: Any, highest: Any) -> Any:
    """The mean of the k highest prices of some rows; minus infinity if they are fewer than k records."""
    highest[:] = -np.inf
    for row in rows:
        _insert(highest, prices[row], weights[row])
    return highest.mean()


@kernel
def _windows(ways: Any, prices: Any, weights: Any, rows: Any, cost: Any, ceiling: Any, highest: Any) -> Any:
    """How much the prices of a window of these rows are above its cost at most."""
    worst = -np.inf
    for first in range(rows.shape[0]):
        begin = ways.position[rows[first]]
        if first > 0 and ways.position[rows[first - 1]] == begin:
            continue
        highest[:] = -np.inf
        for last in range(first, rows.shape[0]):
            end = ways.position[rows[last]]
            _insert(highest, prices[rows[last]], weights[rows[last]])
            if last + 1 < rows.shape[0] and ways.position[rows[last + 1]] == end:
                continue
            price = cost + ways.scale * min(1.0, end - begin)
            if price >= ceiling:
                break
            worst = max(worst, highest.mean() - price)
    return worst


@kernel
def _split(node: Any, rows: Any, counter: Any, parts: Any, ends: Any) -> Any:
    """The rows by their node, in the order they have; returns how many parts there are.

    OUT counter  int64 (nodes,) all 0 before and after; parts int32 (rows,); ends int64 (rows,) where the parts end
    """
    count = 0
    for row in rows:
        if counter[node[row]] == 0:
            ends[count] = node[row]
            count += 1
        counter[node[row]] += 1
    start = 0
    for part in range(count):
        name = ends[part]
        size = counter[name]
        counter[name] = start
        start += size
        ends[part] = name
    for row in rows:
        parts[counter[node[row]]] = row
        counter[node[row]] += 1
    for part in range(count):
        name = ends[part]
        ends[part] = counter[name]
        counter[name] = 0
    return count


@kernel
def _least_loss(ways: Any, way: Any, rows: Any) -> Any:
    least = np.inf
    for row in rows:
        least = min(least, ways.loss[way, row])
    return least


@kernel
def _agree(node: Any, rows: Any) -> Any:
    for row in rows:
        if node[row] != node[rows[0]]:
            return False
    return True


@kernel
def _counts(ways: Any, used: Any) -> Any:
    for way in used:
        if ways.column[way] >= 0:
            return True
    return False


@kernel
def largest_excess(ways: Any, prices: Any, weights: Any, k: Any, most: Any) -> Any:
    """How much the k highest prices of a box are above its cost at most, and how many rows were looked at.

    If that would be more than `most`, it is given up, and the excess is infinite.
    """
    rows, depths = prices.shape[0], ways.first.shape[0] - 1
    highest = np.empty(k)
    counter = np.zeros(int(ways.node.max()) + 1 if depths else 1, dtype=np.int64)
    order = np.empty((depths + 1, rows), dtype=np.int32)
    ends = np.empty((depths + 1, rows), dtype=np.int64)
    count, part = np.zeros(depths + 1, dtype=np.int64), np.zeros(depths + 1, dtype=np.int64)
    way, low, high = (
        np.zeros(depths + 1, dtype=np.int64),
        np.zeros(depths + 1, dtype=np.int64),
        np.zeros(depths + 1, dtype=np.int64),
    )
    cost = np.zeros(depths + 1)
    order[0] = np.arange(rows)
    high[0] = rows
    if depths:
        way[0] = ways.first[0] - 1
    worst, looked, depth = -np.inf, 0, 0
    while depth >= 0:
        here = order[depth, low[depth] : high[depth]]
        if depth == depths:
            ceiling = _mean_of_highest(prices, weights, here, highest)
            if ceiling > cost[depth]:
                looked += 2 * here.shape[0]
                excess = _windows(ways, prices, weights, here, cost[depth], ceiling, highest)
                if excess > 0.0 and _counts(ways, way[:depths]):
                    excess, more = counted_windows(ways, prices, weights, here, way[:depths], cost[depth], k)
                    looked += more
                worst = max(worst, excess)
            depth -= 1
            continue
        if part[depth] == count[depth]:
            way[depth] += 1
            if way[depth] == ways.first[depth + 1]:
                depth -= 1
                continue
            looked += here.shape[0]
            if looked > most:
                return np.inf, looked
            count[depth] = _split(ways.node[way[depth]], here, counter, order[depth + 1], ends[depth])
            part[depth] = 0
            continue
        start = 0 if part[depth] == 0 else ends[depth, part[depth] - 1]
        stop = ends[depth, part[depth]]
        part[depth] += 1
        members = order[depth + 1, start:stop]
        price, lower = _least_loss(ways, way[depth], members), np.inf
        looked += members.shape[0]
        if way[depth] > ways.first[depth] and _agree(ways.node[way[depth] - 1], members):
            lower = _least_loss(ways, way[depth] - 1, members)
        if lower <= price:  # the way before has the same records, and perhaps more, for no more
            continue
        price += cost[depth]
        if _mean_of_highest(prices, weights, members, highest) <= price:
            continue
        depth += 1
        low[depth], high[depth], cost[depth] = start, stop, price
        count[depth] = part[depth] = 0
        if depth < depths:
            way[depth] = ways.first[depth] - 1
    return worst, looked
