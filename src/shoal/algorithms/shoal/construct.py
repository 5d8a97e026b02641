"""First groupings: grown record by record, or from classes of generalized rows. The better one is the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.blocks import count_values, cut_table, make_state
from shoal.algorithms.shoal.kernels.grow import make_pool
from shoal.algorithms.shoal.kernels.regrow import make_bench, measure, regrow
from shoal.algorithms.shoal.kernels.state import place_rest
from shoal.algorithms.shoal.kernels.wide import grow_wide, join_leftovers
from shoal.algorithms.shoal.levels import Prices, level_classes
from shoal.encode.blocked_rows import blocked_rows
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.encode.items import IntegerArray, SearchProblem, local_features
from shoal.encode.levels import interval_levels
from shoal.kernels.random import random_state

_SMALL_BLOCK = 128
_ENERGY_PIECE = 100_000


def grown_groups(problem: SearchProblem, context: Context, reach: int, parts: int) -> IntegerArray:
    """Grow groups record by record, each from the `reach` items nearest to its first member.

    The table is cut into that many parts, which are grown at the same time.
    """
    limit = -(-problem.items // parts)
    blocks = cut_table(problem, limit, 0.0, context.random(1)) if parts > 1 else [_everything(problem)]

    def work(number: int) -> IntegerArray:
        return _grow_wide(problem, blocks[number], reach, context.random(2, number))

    return _joined(problem, blocks, context.map(work, range(len(blocks))))


def _everything(problem: SearchProblem) -> IntegerArray:
    return np.arange(problem.items, dtype=np.int32)


def _grow_wide(problem: SearchProblem, items: IntegerArray, reach: int, generator: np.random.Generator) -> IntegerArray:
    """Groups numbered from 0, or -1 for all if there are fewer than k records."""
    rows, block_of, order = blocked_rows(
        problem, problem.item_row[items], problem.item_weight[items], _SMALL_BLOCK, generator
    )
    count = items.shape[0]
    room = min(count, max(reach, 4 * problem.k))
    pool = make_pool(room, rows.columns.shape[0], rows.numbers.shape[0], rows.step.shape[0])
    group = np.full(count, -1, dtype=np.int64)
    living, place_of = np.arange(count), np.arange(count)
    alive = np.diff(rows.starts)
    shuffled = generator.permutation(count)
    random = random_state(generator)
    place, some = 0, max(1, 2_000_000 // (room + 20 * problem.k))
    while place < count:
        place = grow_wide(
            rows,
            block_of,
            pool,
            problem.saturates,
            problem.k,
            some,
            place,
            shuffled,
            living,
            place_of,
            alive,
            random,
            group,
        )
    if group.max(initial=-1) >= 0:
        join_leftovers(rows, block_of, group)
    found = np.empty(count, dtype=np.int32)
    found[order] = group
    return found


def classed_groups(
    table: EncodedTable, problem: SearchProblem, context: Context, block_size: int, prices: Prices
) -> IntegerArray | None:
    """Groups from classes of generalized rows, in blocks; None if no class reaches k anywhere."""
    blocks = cut_table(problem, block_size, 0.0, context.random(5))
    attributes = [_with_fine_levels(one) for one in table.attributes]

    def work(number: int) -> IntegerArray:
        return _class_block(attributes, table.codes, problem, blocks[number], prices, context.random(6, number))

    group = _joined(problem, blocks, context.map(work, range(len(blocks))))
    return group if group.max(initial=-1) >= 0 else None


def _with_fine_levels(attribute: EncodedAttribute) -> EncodedAttribute:
    """Numbers are released as ranges, so nested halves serve better than the few levels of a user's hierarchy."""
    if attribute.kind is not Kind.INTERVAL:
        return attribute
    ancestors, level_cost = interval_levels(attribute.positions, None)
    return replace(attribute, ancestors=ancestors, level_cost=level_cost)


def _class_block(
    attributes: Sequence[EncodedAttribute],
    codes: IntegerArray,
    problem: SearchProblem,
    items: IntegerArray,
    prices: Prices,
    generator: np.random.Generator,
) -> IntegerArray:
    row = problem.item_row[items]  # equal ones are neighbours
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    rows, row_of_item = row[starts], np.repeat(np.arange(starts.shape[0]), np.diff(starts, append=row.shape[0]))
    weights = np.add.reduceat(problem.item_weight[items], starts)
    present = np.ascontiguousarray(codes[:, rows])
    classes = level_classes(attributes, present, weights, problem.k, prices, generator)
    group = classes[row_of_item].astype(np.int32)
    return _split_large(problem, items, place_leftovers(problem, items, group), generator)


def _joined(problem: SearchProblem, blocks: list[IntegerArray], parts: list[IntegerArray]) -> IntegerArray:
    """Number the groups of all blocks; blocks without any group join groups of others."""
    group = np.full(problem.items, -1, dtype=np.int32)
    used = 0
    for block, local in zip(blocks, parts, strict=True):
        group[block] = np.where(local >= 0, local + used, -1)
        used += int(local.max(initial=-1)) + 1
    return place_leftovers(problem, _everything(problem), group)


def _grow(problem: SearchProblem, items: IntegerArray, generator: np.random.Generator) -> IntegerArray:
    """Groups numbered from 0 of items that weigh at least k; the few that are left over join where they cost least."""
    rows, count = problem.item_row[items], items.shape[0]
    features, step = local_features(problem, rows)
    groups, layers = -(-count // problem.k), features.shape[1]
    bench = make_bench(count, groups, layers, step, problem.number_weight, problem.farthest)
    bench.columns[:, :count] = features.T
    bench.numbers[:, :count] = problem.numbers[rows].T
    bench.weight[:count] = problem.item_weight[items]
    groups = regrow(bench, None, count, step, problem.saturates, problem.k, count, 0, 0.0, random_state(generator))
    measure(bench, groups, count, step, problem.saturates, problem.number_weight, problem.size_price)
    return np.asarray(bench.group[:count], dtype=np.int32)


def _split_large(
    problem: SearchProblem, items: IntegerArray, group: IntegerArray, generator: np.random.Generator
) -> IntegerArray:
    """Groups of more than 4k items are grown anew inside; a part of a group never loses more than the whole."""
    if group.max(initial=-1) < 0:
        return group
    held = np.bincount(group)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(held)
    used = held.shape[0]
    parted = group.copy()
    for large in np.flatnonzero(held > 4 * problem.k):
        members = order[ends[large] - held[large] : ends[large]]
        local = _grow(problem, items[members], generator)
        parted[members] = np.where(local == 0, large, local + used - 1)
        used += int(local.max())
    return parted


def place_leftovers(problem: SearchProblem, items: IntegerArray, group: IntegerArray) -> IntegerArray:
    """Let items without a group (-1) join the group that they make least worse, if there is any group."""
    if group.max(initial=-1) < 0 or group.min() >= 0:
        return group
    largest = int(problem.item_weight[items].sum())
    state = make_state(problem, items, group, count_values(problem.k, 0.0, largest))
    while place_rest(state):  # every group has some room; make new room if that was not enough
        state = make_state(
            problem, items, np.asarray(state.group, dtype=np.int32), count_values(problem.k, 0.0, largest)
        )
    return np.asarray(state.group, dtype=np.int32)


def total_energy(problem: SearchProblem, group: IntegerArray, context: Context) -> float:
    """The energy of all groups with the true cost; the sum is made in the same order on any number of threads."""
    pieces = 1 + problem.items // _ENERGY_PIECE
    edges = np.linspace(0, int(group.max()) + 1, pieces + 1).astype(np.int32)

    def work(piece: int) -> float:
        items = np.flatnonzero((group >= edges[piece]) & (group < edges[piece + 1])).astype(np.int32)
        if items.size == 0:
            return 0.0
        largest = int(problem.item_weight[items].sum())
        state = make_state(problem, items, group[items] - edges[piece], count_values(problem.k, 0.0, largest + 1))
        return float(state.energy.sum())

    return sum(context.map(work, range(pieces)))
