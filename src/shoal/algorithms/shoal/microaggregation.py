"""The objective `squares`: small squared distances to the mean of the group, for releases of group means.

Known as microaggregation. The measure is SSE: over all records and attributes the squared distance to the mean of the
group, in standard deviations of the attribute. The groups start as in MDAV (J. Domingo-Ferrer and V. Torra, Data
Mining and Knowledge Discovery 11, 2005): k records around the one farthest from the middle, again and again, in blocks
of the table. Then rounds, in blocks that are cut differently each time: records move and change places between
neighbouring groups while a temperature falls, and neighbouring groups are dissolved and grown anew.

Blocks have a bounded size, so the time grows like n log n (the cuts).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.blocks import cut_groups, cut_table
from shoal.algorithms.shoal.kernels.microaggregation import (
    Squares,
    anneal_squares,
    fill_squares,
    find_nearest,
    grow_squares,
    rebuild_squares,
)
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.encode.items import FloatArray, IntegerArray, SearchProblem, renumber
from shoal.errors import InputError, Problem
from shoal.kernels.random import random_state

_BLOCK = 2_000  # records that are searched together
_ROUNDS = 12
_TRIALS = 400.0  # moves and swaps per record, in all rounds
_REBUILDS = 60.0  # per record
_CHEAP_K = 10  # up to here a rebuild is cheap; its time grows like the square of k
_HOT, _COLD = 0.3, 0.01  # shares of the squares of an average record
_NEAR = 12
_WIDEST = 4
_FULL = 4_000  # records of a table in which each gets these steps; fewer in a larger one
_LEAST, _MORE = 0.02, 4.0


def check_numbers(table: EncodedTable) -> None:
    """Means need numbers."""
    problems = [
        Problem("not-a-number", "the objective 'squares' is for numbers and dates", one.name, "leave out --objective")
        for one in table.attributes
        if one.kind is not Kind.INTERVAL
    ]
    if problems:
        raise InputError(problems)


def square_groups(table: EncodedTable, k: int, steps: float, context: Context) -> tuple[IntegerArray, float]:
    """Groups of at least k records, and the mean square of a record and attribute."""
    points = _standardized(table)
    problem = _problem(points, k)
    group = _first_groups(problem, points, context)
    rounds = max(2, round(_ROUNDS * min(1.0, steps) ** 0.5))
    steps *= max(_LEAST, min(_MORE, _FULL / table.records))
    unit = _squares(points, group) / table.records
    best = group, unit
    with context.stop.listening():
        for number in range(rounds):
            if context.stop.asked:
                break
            temperatures = [_HOT * (_COLD / _HOT) ** (place / rounds) for place in (number, number + 1)]
            group = _refined(
                problem, points, group, steps / rounds, [one * unit for one in temperatures], context, number
            )
            best = min(best, (group, _squares(points, group) / table.records), key=lambda one: one[1])
            context.report(0.1 + 0.85 * (number + 1) / rounds)
    return best[0], best[1] / table.width


def _standardized(table: EncodedTable) -> FloatArray:
    """(records, attributes) numbers in standard deviations, times the root of the attribute's weight.

    If a column spans more than a float can hold, the far end of it has a position that is no number. The kernels
    compare distances, and would leave their arrays with such a one, so it is taken as the far end.
    """
    columns = []
    for number, one in enumerate(table.attributes):
        positions = np.where(np.isfinite(one.positions), one.positions, 1.0)
        values = positions[table.codes[number]][table.row_of_record]
        spread = float(values[values <= 1.0].std()) if (values <= 1.0).any() else 0.0
        columns.append(values * (np.sqrt(one.weight) / spread) if spread > 0.0 else 0.0 * values)
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _squares(points: FloatArray, group: IntegerArray) -> float:
    """The squared distances of all records to the means of their groups."""
    sizes = np.bincount(group)
    total = 0.0
    for column in points.T:
        means = np.bincount(group, weights=column) / sizes
        total += float(((column - means[group]) ** 2).sum())
    return total


def _problem(points: FloatArray, k: int) -> SearchProblem:
    """The records as the cut into blocks sees them: numbers only, none farther apart than 1."""
    records, width = points.shape
    return SearchProblem(
        features=np.empty((records, 0), dtype=np.int32),
        numbers=points / max(1e-9, float(np.ptp(points, axis=0).max())),
        step=np.zeros(1),
        saturates=np.zeros(0, dtype=np.uint8),
        number_weight=np.ones(width),
        item_row=np.arange(records, dtype=np.int32),
        item_weight=np.ones(records, dtype=np.int64),
        records=records,
        k=k,
        scale=float(records * width),
        farthest=float(width),
    )


def _first_groups(problem: SearchProblem, points: FloatArray, context: Context) -> IntegerArray:
    """Groups grown in blocks of at least k records."""
    k = problem.k
    blocks = _at_least(cut_table(problem, _block_size(k), 0.0, context.random(7)), k)

    def work(number: int) -> NDArray[np.int64]:
        items = blocks[number].astype(np.int64)
        taken = np.empty(items.shape[0], dtype=np.int64)
        random = random_state(context.random(8, number))
        grow_squares(points, items, items.shape[0], k, items.shape[0] // k, 0, random, taken)
        return taken

    return _numbered(blocks, context.map(work, range(len(blocks))))


def _block_size(k: int) -> int:
    return max(_BLOCK, 8 * k)


def _at_least(blocks: list[IntegerArray], k: int) -> list[IntegerArray]:
    """Blocks that are too small join the largest, which is the first."""
    large = [block for block in blocks if block.shape[0] >= k]
    small = [block for block in blocks if block.shape[0] < k]
    return [np.concatenate([*large[:1], *small]), *large[1:]]


def _numbered(blocks: list[IntegerArray], parts: list[NDArray[np.int64]]) -> IntegerArray:
    """The group of every record from the groups of the blocks, each numbered from 0."""
    group, used = np.empty(sum(block.shape[0] for block in blocks), dtype=np.int32), 0
    for items, local in zip(blocks, parts, strict=True):
        group[items] = local + used
        used += int(local.max()) + 1
    return group


def _refined(
    problem: SearchProblem,
    points: FloatArray,
    group: IntegerArray,
    steps: float,
    temperatures: list[float],
    context: Context,
    stream: int,
) -> IntegerArray:
    """One round: blocks of whole groups, cut differently in every round."""
    blocks = cut_groups(problem, group, _block_size(problem.k), 1.0, context.random(9, stream))

    def work(number: int) -> NDArray[np.int64]:
        items = blocks[number]
        local = renumber(group[items]).astype(np.int64)
        if context.stop.asked:
            return local
        random = random_state(context.random(10, stream, number))
        return _searched(points[items], local, problem.k, steps, temperatures, random)

    return _numbered(blocks, context.map(work, range(len(blocks))))


def _searched(
    points: FloatArray,
    group: NDArray[np.int64],
    k: int,
    steps: float,
    temperatures: list[float],
    random: NDArray[np.uint64],
) -> NDArray[np.int64]:
    """Anneal and rebuild the groups of one block."""
    records, most = group.shape[0], int(np.bincount(group).max())
    groups, room = records // k, max(3 * k, most)
    near = np.empty((records, min(_NEAR, records)), dtype=np.int64)
    find_nearest(points, near)
    state = Squares(
        points=points,
        group=group,
        slot=np.zeros(records, dtype=np.int64),
        members=np.zeros((groups, room), dtype=np.int64),
        held=np.zeros(groups, dtype=np.int64),
        sums=np.zeros((groups, points.shape[1])),
        near=near,
    )
    fill_squares(state)
    hot, cold = temperatures
    anneal_squares(state, k, int(_TRIALS * steps * records), hot, cold, random)
    rebuilds = _REBUILDS * min(1.0, (_CHEAP_K / k) ** 2)
    rebuild_squares(state, k, int(rebuilds * steps * records), _WIDEST, cold, random)
    return renumber(state.group).astype(np.int64)
