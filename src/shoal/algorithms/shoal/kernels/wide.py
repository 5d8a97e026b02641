"""Greedy growth over a whole table: every group grows from the items of the blocks nearest to its first member."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.shoal.kernels.grow import join_group, open_group, take_item
from shoal.kernels.compile import kernel
from shoal.kernels.nearest_records import block_distances, row_distances
from shoal.kernels.random import random_below


@kernel
def _nearest_block(least: Any, alive: Any) -> Any:
    """The nearest block that still has items; it will not be found again. -1 if there is none."""
    best: Any = np.int64(-1)
    for block in range(least.shape[0]):
        if alive[block] > 0 and least[block] < np.inf and (best < 0 or least[block] < least[best]):
            best = block
    if best >= 0:
        least[best] = np.inf
    return best


@kernel
def _fill_pool(rows: Any, pool: Any, least: Any, alive: Any, order: Any) -> Any:
    """Copy the items of the nearest blocks into the pool until it is full; returns how many there are."""
    count = 0
    room = pool.names.shape[0]
    while count < room:
        block = _nearest_block(least, alive)
        if block < 0:
            break
        start = rows.starts[block]
        for place in range(start, start + min(alive[block], room - count)):
            item = order[place]
            for layer in range(rows.columns.shape[0]):
                pool.columns[layer, count] = rows.columns[layer, item]
            for interval in range(rows.numbers.shape[0]):
                pool.numbers[interval, count] = rows.numbers[interval, item]
            pool.names[count] = item
            pool.weights[count] = rows.weights[item]
            count += 1
    return count


@kernel
def _use_item(rows: Any, item: Any, block_of: Any, alive: Any, order: Any, place_of: Any) -> None:
    """Move an item that has a group behind the living ones of its block."""
    block = block_of[item]
    alive[block] -= 1
    last = rows.starts[block] + alive[block]
    place = place_of[item]
    moved = order[last]
    order[place], order[last] = moved, item
    place_of[moved], place_of[item] = place, last


@kernel
def _join_nearest(rows: Any, item: Any, block_of: Any, group: Any, cost: Any) -> Any:
    """The group of the nearest item that has one, in the nearest block that has any."""
    blocks = rows.starts.shape[0] - 1
    least = np.empty(blocks)
    block_distances(rows, item, least)
    least[block_of[item]] = -1.0
    everywhere = np.ones(blocks, dtype=np.int64)
    while True:
        block = _nearest_block(least, everywhere)
        if block < 0:
            return -1
        start, stop = rows.starts[block], rows.starts[block + 1]
        row_distances(rows, item, start, stop, cost)
        best = -1
        for other in range(start, stop):
            if group[other] >= 0 and (best < 0 or cost[other - start] < cost[best - start]):
                best = other
        if best >= 0:
            return group[best]


@kernel
def grow_wide(
    rows: Any,
    block_of: Any,
    pool: Any,
    saturates: Any,
    k: Any,
    most: Any,
    first: Any,
    shuffled: Any,
    order: Any,
    place_of: Any,
    alive: Any,
    random: Any,
    group: Any,
) -> Any:
    """Grow up to `most` groups of k; call again with the returned place until it is past the end of `shuffled`.

    IN     rows      BlockedRows of the items
    IN     shuffled  int64 (items,) the order in which items may open a group; `first` where to go on
    IN/OUT order, place_of  int64 (items,), alive int64 (blocks,): which items have no group yet, by block
    OUT    group     int64 (items,), -1 at the beginning
    """
    blocks = rows.starts.shape[0] - 1
    least = np.empty(blocks)
    step, number_weight = rows.step, rows.number_weight
    groups = 0
    for item in range(group.shape[0]):
        groups = max(groups, group[item] + 1)
    made = 0
    place = first
    while place < shuffled.shape[0] and made < most:
        seed = shuffled[place]
        place += 1
        if group[seed] >= 0:
            continue
        block_distances(rows, seed, least)
        least[block_of[seed]] = -1.0
        count = _fill_pool(rows, pool, least, alive, order)
        total = 0
        chosen = 0
        for number in range(count):
            total += pool.weights[number]
            if pool.names[number] == seed:
                chosen = number
        if total < k or pool.names[chosen] != seed:
            continue
        open_group(pool, chosen, count, step, saturates, number_weight, 0.0, random)
        size = 0
        while True:
            size += pool.weights[chosen]
            group[pool.names[chosen]] = groups
            _use_item(rows, pool.names[chosen], block_of, alive, order, place_of)
            count -= 1
            take_item(pool, chosen, count)
            if size >= k:
                break
            chosen = random_below(random, count)
            lowest = pool.cost[chosen]
            for number in range(count):
                if pool.cost[number] < lowest:
                    lowest = pool.cost[number]
                    chosen = number
            join_group(pool, chosen, count, step, saturates, number_weight)
        groups += 1
        made += 1
    return place


@kernel
def join_leftovers(rows: Any, block_of: Any, group: Any) -> None:
    """Items that have no group join that of the nearest item that has one."""
    widest = 0
    for block in range(rows.starts.shape[0] - 1):
        widest = max(widest, rows.starts[block + 1] - rows.starts[block])
    cost = np.empty(widest)
    for item in range(group.shape[0]):
        if group[item] < 0:
            group[item] = _join_nearest(rows, item, block_of, group, cost)
