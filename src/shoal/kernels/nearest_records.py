"""The nearest records of every row, with their number of copies, found block by block.

Rows stand sorted by block. A block is skipped when the least that any of its rows could cost is no better than what
has been found, so that most rows are never looked at. The proof of the bound that this serves is in
docs/lower_bound.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int32, Int64, UInt8
from shoal.kernels.compile import kernel


class BlockedRows(NamedTuple):
    """Rows sorted by block; layers and steps as in the flagship's search."""

    columns: Int32  # (layers, rows)
    numbers: Float64  # (intervals, rows)
    weights: Int64  # (rows,) records per row
    step: Float64  # (features,)
    number_weight: Float64  # (intervals,)
    starts: Int64  # (blocks + 1,)
    absent: UInt8  # (features, blocks) 1 where no row of the block has the feature
    low: Float64  # (intervals, blocks)
    high: Float64  # (intervals, blocks)
    reached: Float64  # (rows,) what is known about each row: its group loses at least this
    most_reached: Float64  # (blocks,) the highest of `reached` in each block


@kernel
def fill_blocks(rows: Any) -> None:
    """Fill absent, low, high and most_reached."""
    for feature in range(rows.absent.shape[0]):
        for block in range(rows.absent.shape[1]):
            rows.absent[feature, block] = 1
    for block in range(rows.starts.shape[0] - 1):
        start, stop = rows.starts[block], rows.starts[block + 1]
        for layer in range(rows.columns.shape[0]):
            for row in range(start, stop):
                rows.absent[rows.columns[layer, row], block] = 0
        for interval in range(rows.numbers.shape[0]):
            low, high = np.inf, -np.inf
            for row in range(start, stop):
                low = min(low, rows.numbers[interval, row])
                high = max(high, rows.numbers[interval, row])
            rows.low[interval, block] = low
            rows.high[interval, block] = high
        most = 0.0
        for row in range(start, stop):
            most = max(most, rows.reached[row])
        rows.most_reached[block] = most


@kernel
def block_distances(rows: Any, row: Any, least: Any) -> None:
    """least[block] = no row of the block is nearer to the row than this."""
    for block in range(least.shape[0]):
        least[block] = 0.0
    for layer in range(rows.columns.shape[0]):
        feature = rows.columns[layer, row]
        price = rows.step[feature]
        absent = rows.absent[feature]
        for block in range(least.shape[0]):
            least[block] += price * absent[block]
    for interval in range(rows.numbers.shape[0]):
        number = rows.numbers[interval, row]
        for block in range(least.shape[0]):
            gap = max(0.0, rows.low[interval, block] - number, number - rows.high[interval, block])
            least[block] += rows.number_weight[interval] * min(1.0, gap)


@kernel
def row_distances(rows: Any, row: Any, start: Any, stop: Any, cost: Any) -> None:
    """cost[0 : stop - start] = the loss of the box that the row spans with each row of a block."""
    for place in range(stop - start):
        cost[place] = 0.0
    for layer in range(rows.columns.shape[0]):
        line = rows.columns[layer]
        feature = line[row]
        price = rows.step[feature]
        for other in range(start, stop):
            cost[other - start] += price if line[other] != feature else 0.0
    for interval in range(rows.numbers.shape[0]):
        line = rows.numbers[interval]
        number = line[row]
        price = rows.number_weight[interval]
        for other in range(start, stop):
            cost[other - start] += price * min(1.0, abs(line[other] - number))


@kernel
def _push(values: Any, copies: Any, count: Any, value: Any, weight: Any) -> None:
    """Add to a heap with the largest value on top that has `count` entries."""
    place = count
    while place > 0:
        parent = (place - 1) // 2
        if values[parent] >= value:
            break
        values[place], copies[place] = values[parent], copies[parent]
        place = parent
    values[place], copies[place] = value, weight


@kernel
def _pop(values: Any, copies: Any, count: Any) -> None:
    """Remove the top of a heap of `count` entries."""
    last = count - 1
    value, weight = values[last], copies[last]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= last:
            break
        if child + 1 < last and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[place], copies[place] = values[child], copies[child]
        place = child
    values[place], copies[place] = value, weight


@kernel
def nearest_records(rows: Any, wanted: Any, chosen: Any, block_of: Any, slack: Any, last: Any, total: Any) -> None:
    """For every chosen row the `wanted` records that cost least: the highest cost and the sum.

    The cost of a record y for x is d(x, y), or with `slack` max(d(x, y), reached x, reached y) - reached y. Other
    records of x's own row cost 0.

    IN  wanted    k - 1, at least 1; the table has more records than that
    IN  chosen    int64 (some,) rows; block_of int32 (rows,)
    OUT last, total  float64 (some,)
    """
    blocks = rows.starts.shape[0] - 1
    least = np.empty(blocks)
    widest = 0
    for block in range(blocks):
        widest = max(widest, rows.starts[block + 1] - rows.starts[block])
    cost = np.empty(widest)
    values = np.empty(wanted + 1)
    copies = np.empty(wanted + 1, dtype=np.int64)
    for number in range(chosen.shape[0]):
        row = chosen[number]
        have = min(wanted, rows.weights[row] - 1)
        count = 0
        if have > 0:
            values[0], copies[0] = 0.0, have
            count = 1
        reached = rows.reached[row] if slack else 0.0
        if have < wanted:
            block_distances(rows, row, least)
        for turn in range(2 if have < wanted else 0):  # the near blocks first
            for block in range(blocks):
                if (turn == 0) != (least[block] == 0.0 or block == block_of[row]):
                    continue
                floor = max(0.0, max(least[block], reached) - rows.most_reached[block]) if slack else least[block]
                if have >= wanted and floor >= values[0]:
                    continue
                start, stop = rows.starts[block], rows.starts[block + 1]
                row_distances(rows, row, start, stop, cost)
                for other in range(start, stop):
                    value = cost[other - start]
                    if slack:
                        value = max(value, reached, rows.reached[other]) - rows.reached[other]
                    if other == row or (have >= wanted and value >= values[0]):
                        continue
                    weight = min(wanted, rows.weights[other])
                    _push(values, copies, count, value, weight)
                    count += 1
                    have += weight
                    while count > 1 and have - copies[0] >= wanted:
                        have -= copies[0]
                        _pop(values, copies, count)
                        count -= 1
        last[number] = values[0]
        summed = -(have - wanted) * values[0]
        for place in range(count):
            summed += values[place] * copies[place]
        total[number] = summed
