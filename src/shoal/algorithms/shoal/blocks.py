"""Blocks: the parts of the table that are searched at the same time, each with its own state and random stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.shoal.kernels.state import State, fill_state
from shoal.encode.items import FloatArray, IntegerArray, SearchProblem, local_features
from shoal.kernels.blocks import cut_blocks
from shoal.kernels.random import random_state


def cut_table(problem: SearchProblem, limit: int, noise: float, generator: np.random.Generator) -> list[IntegerArray]:
    """The items of every block, for a first construction. Equal rows stay together."""
    rows = problem.features.shape[0]
    weight = np.bincount(problem.item_row, minlength=rows).astype(np.int64)
    block_of_row = _cut(problem, np.arange(rows, dtype=np.int32), weight, limit, noise, generator)
    return _members(block_of_row[problem.item_row])


def cut_groups(
    problem: SearchProblem, group: IntegerArray, limit: int, noise: float, generator: np.random.Generator
) -> list[IntegerArray]:
    """The items of every block, such that no group is parted. A random member stands for its group."""
    shuffled = generator.permutation(problem.items)
    count = int(group.max()) + 1
    chosen = np.zeros(count, dtype=np.int64)
    chosen[group[shuffled]] = shuffled
    weight = np.bincount(group, minlength=count).astype(np.int64)
    block_of_group = _cut(problem, problem.item_row[chosen], weight, limit, noise, generator)
    return _members(block_of_group[group])


def _cut(
    problem: SearchProblem,
    rows: IntegerArray,
    weight: NDArray[np.int64],
    limit: int,
    noise: float,
    generator: np.random.Generator,
) -> IntegerArray:
    block = np.empty(rows.shape[0], dtype=np.int32)
    cut_blocks(
        problem.features[rows],
        problem.numbers[rows],
        weight,
        problem.step,
        problem.number_weight,
        limit,
        noise,
        random_state(generator),
        block,
    )
    return block


def _members(block: IntegerArray) -> list[IntegerArray]:
    """The items of every block in order; the largest block first, so that no thread waits for long at the end."""
    order = np.argsort(block, kind="stable").astype(np.int32)
    ends = np.cumsum(np.bincount(block))
    return sorted((part for part in np.split(order, ends[:-1]) if part.size), key=lambda part: -part.size)


def make_state(
    problem: SearchProblem, items: IntegerArray, group: IntegerArray, value_of_count: FloatArray, spare: int = 0
) -> State:
    """The state of a block with its groups numbered 0, 1, ... (-1: none yet), and spare empty groups after them.

    `value_of_count` must reach the total weight of the block + 1.
    """
    rows = problem.item_row[items]
    features, step = local_features(problem, rows)
    groups = int(group.max()) + 1 + spare
    held = np.bincount(group[group >= 0], minlength=groups)
    room = held + 3 * problem.k
    first = np.cumsum(room) - room
    layers, intervals = features.shape[1], problem.numbers.shape[1]
    state = State(
        features=features,
        numbers=problem.numbers[rows],
        weight=problem.item_weight[items],
        step=step,
        saturates=problem.saturates,
        number_weight=problem.number_weight,
        value_of_count=value_of_count,
        group=group.astype(np.int64),
        size=np.zeros(groups, dtype=np.int64),
        energy=np.zeros(groups),
        counts=np.zeros((groups, step.shape[0]), dtype=np.int32),
        spread=np.zeros((groups, layers)),
        reach=np.zeros((groups, layers)),
        extremes=np.zeros((groups, intervals, 4)),
        first=first.astype(np.int64),
        room=room.astype(np.int64),
        held=np.zeros(groups, dtype=np.int64),
        members=np.zeros(int(room.sum()), dtype=np.int64),
        slot=np.zeros(items.shape[0], dtype=np.int64),
        price=np.zeros(items.shape[0]) if problem.item_price is None else problem.item_price[items],
        worth=np.zeros(groups),
        size_price=np.array([problem.size_price]),
    )
    fill_state(state)
    return state


def count_values(k: int, power: float, largest: int) -> FloatArray:
    """f(c) for c = 0..largest: 1 for c > 0 at power 0, else (min(c, k) / k) ** power."""
    values = (np.minimum(np.arange(largest + 1), k) / k) ** power
    values[0] = 0.0
    return values
