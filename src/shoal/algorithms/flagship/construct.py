"""A first grouping: grow groups record by record in blocks of the table."""

from __future__ import annotations

import numpy as np

from shoal.algorithms.base import Context
from shoal.algorithms.flagship.blocks import count_values, cut_table, local_features, make_state, random_state
from shoal.algorithms.flagship.problem import IntegerArray, SearchProblem
from shoal.kernels.flagship_grow import grow_groups, make_pool
from shoal.kernels.flagship_state import place_rest

_ALL = 1 << 40  # no limit


def grown_groups(problem: SearchProblem, context: Context, block_size: int) -> IntegerArray:
    """The group of every item; all groups have at least k records."""
    blocks = cut_table(problem, block_size, 0.0, context.random(1))

    def work(number: int) -> IntegerArray:
        return _grow_block(problem, blocks[number], context.random(2, number))

    group = np.full(problem.items, -1, dtype=np.int32)
    used = 0
    for block, local in zip(blocks, context.map(work, range(len(blocks))), strict=True):
        group[block] = np.where(local >= 0, local + used, -1)
        used += int(local.max(initial=-1)) + 1
    return place_leftovers(problem, np.arange(problem.items, dtype=np.int32), group)


def _grow_block(problem: SearchProblem, items: IntegerArray, generator: np.random.Generator) -> IntegerArray:
    """Groups numbered from 0; the few that are left over join the nearest, unless there is no group at all (-1)."""
    rows = problem.item_row[items]
    features, step = local_features(problem, rows)
    pool = make_pool(items.shape[0], features.shape[1], problem.numbers.shape[1], step.shape[0])
    pool.columns[:] = features.T
    pool.numbers[:] = problem.numbers[rows].T
    pool.names[:] = np.arange(items.shape[0])
    pool.weights[:] = problem.item_weight[items]
    group = np.full(items.shape[0], -1, dtype=np.int32)
    grow_groups(
        pool,
        items.shape[0],
        step,
        problem.saturates,
        problem.number_weight,
        problem.k,
        _ALL,
        0,
        0.0,
        random_state(generator),
        group,
    )
    return place_leftovers(problem, items, group)


def place_leftovers(problem: SearchProblem, items: IntegerArray, group: IntegerArray) -> IntegerArray:
    """Let items without a group (-1) join the group that they make least worse, if there is any group."""
    if group.max(initial=-1) < 0 or group.min() >= 0:
        return group
    largest = int(problem.item_weight[items].sum())
    state = make_state(problem, items, group, count_values(problem.k, 0.0, largest))
    while place_rest(state):  # groups have room for 2k more; make new room if that was not enough
        state = make_state(problem, items, state.group, count_values(problem.k, 0.0, largest))
    return np.asarray(state.group)
