"""Randomised greedy construction: grow a group record by record, each time the one that costs least.

What an item y adds to a growing group with first member x is exact: a flat layer costs its step if the group does not
have y's value yet; a tree layer costs x's step if it is still pure and y is under another node; an interval costs
what the range grows by. These costs are kept up to date: when a member brings something new, only the items that
this concerns are changed. All lists are kept column by column, and an item that has been placed is replaced by the
last one, so that the scans stay dense.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.random import random_unit

Pool = namedtuple(
    "Pool",
    [
        "columns",  # int32 (layers, items) features of the items that are left
        "numbers",  # float64 (intervals, items)
        "names",  # int64 (items,) what to call them in the answer
        "weights",  # int64 (items,)
        "cost",  # float64 (items,) what each would add to the group
        "have",  # uint8 (features,) the features of the group
        "pure",  # int32 (layers,) the one feature of a tree layer, -1 when mixed
        "range",  # float64 (2, intervals) lowest and highest number of the group
    ],
)


def make_pool(items: int, layers: int, intervals: int, features: int) -> Pool:
    return Pool(
        columns=np.zeros((layers, items), dtype=np.int32),
        numbers=np.zeros((intervals, items)),
        names=np.zeros(items, dtype=np.int64),
        weights=np.ones(items, dtype=np.int64),
        cost=np.zeros(items),
        have=np.zeros(features, dtype=np.uint8),
        pure=np.zeros(layers, dtype=np.int32),
        range=np.zeros((2, intervals)),
    )


@kernel
def open_group(
    pool: Any, seed: Any, count: Any, step: Any, saturates: Any, number_weight: Any, noise: Any, random: Any
) -> None:
    """Start a group with the item at `seed`: what all others would add, and a little noise."""
    for place in range(count):
        pool.cost[place] = noise * random_unit(random) if noise > 0.0 else 0.0
    for feature in range(pool.have.shape[0]):
        pool.have[feature] = 0
    for layer in range(pool.columns.shape[0]):
        line = pool.columns[layer]
        feature = line[seed]
        pool.have[feature] = 1
        pool.pure[layer] = feature
        price = step[feature]
        for place in range(count):
            if line[place] != feature:
                pool.cost[place] += price if saturates[layer] else step[line[place]]
    for interval in range(pool.numbers.shape[0]):
        line = pool.numbers[interval]
        number = line[seed]
        pool.range[0, interval] = pool.range[1, interval] = number
        for place in range(count):
            pool.cost[place] += number_weight[interval] * min(1.0, abs(line[place] - number))


@kernel
def join_group(pool: Any, chosen: Any, count: Any, step: Any, saturates: Any, number_weight: Any) -> None:
    """Let the item at `chosen` join the group; the costs of the others change where it brings something new."""
    for layer in range(pool.columns.shape[0]):
        line = pool.columns[layer]
        feature = line[chosen]
        if saturates[layer]:
            first = pool.pure[layer]
            if first >= 0 and feature != first:
                pool.pure[layer] = -1
                price = step[first]
                for place in range(count):
                    if line[place] != first:
                        pool.cost[place] -= price
        elif not pool.have[feature]:
            pool.have[feature] = 1
            price = step[feature]
            for place in range(count):
                if line[place] == feature:
                    pool.cost[place] -= price
    for interval in range(pool.numbers.shape[0]):
        line = pool.numbers[interval]
        low, high = pool.range[0, interval], pool.range[1, interval]
        new_low, new_high = min(low, line[chosen]), max(high, line[chosen])
        if new_low < low or new_high > high:
            change = min(1.0, high - low) - min(1.0, new_high - new_low)
            for place in range(count):
                number = line[place]
                wider = min(1.0, max(new_high, number) - min(new_low, number))
                before = min(1.0, max(high, number) - min(low, number))
                pool.cost[place] += number_weight[interval] * (wider - before + change)
            pool.range[0, interval], pool.range[1, interval] = new_low, new_high


@kernel
def take_item(pool: Any, place: Any, last: Any) -> None:
    """Close the gap at `place` with the last remaining item."""
    for layer in range(pool.columns.shape[0]):
        pool.columns[layer, place] = pool.columns[layer, last]
    for interval in range(pool.numbers.shape[0]):
        pool.numbers[interval, place] = pool.numbers[interval, last]
    pool.names[place] = pool.names[last]
    pool.weights[place] = pool.weights[last]
    pool.cost[place] = pool.cost[last]
