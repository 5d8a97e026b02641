"""Groups with a small sum of squared distances to their means: swaps, moves, and rebuilding of neighbouring groups.

The squares of a group are the sum of |x|^2 over its members less |sum of x|^2 / size, so that size and sum of a group
are all that a step needs: a swap or a move costs one pass over the attributes of two records.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.random import random_below, random_unit

Squares = namedtuple(
    "Squares",
    [
        "points",  # float64 (items, attributes)
        "group",  # int64 (items,)
        "slot",  # int64 (items,) place among the members of the group
        "members",  # int64 (groups, room)
        "held",  # int64 (groups,)
        "sums",  # float64 (groups, attributes)
        "near",  # int64 (items, wanted) the nearest items
    ],
)


@kernel
def find_nearest(points: Any, near: Any) -> None:
    """The nearest other items of every item, by comparing all with all.

    OUT near  int64 (items, wanted); the item itself where there are fewer
    """
    wanted = near.shape[1]
    far = np.empty(wanted)
    for item in range(points.shape[0]):
        found = 0
        for other in range(points.shape[0]):
            if other == item:
                continue
            distance = 0.0
            for axis in range(points.shape[1]):
                distance += (points[item, axis] - points[other, axis]) ** 2
            if found < wanted or distance < far[wanted - 1]:
                place = found if found < wanted else wanted - 1
                while place > 0 and far[place - 1] > distance:
                    far[place] = far[place - 1]
                    near[item, place] = near[item, place - 1]
                    place -= 1
                far[place] = distance
                near[item, place] = other
                found = min(wanted, found + 1)
        for place in range(found, wanted):
            near[item, place] = item


@kernel
def _add(state: Any, item: Any, group: Any) -> None:
    place = state.held[group]
    state.members[group, place] = item
    state.slot[item] = place
    state.held[group] = place + 1
    state.group[item] = group
    for axis in range(state.points.shape[1]):
        state.sums[group, axis] += state.points[item, axis]


@kernel
def _remove(state: Any, item: Any) -> None:
    group = state.group[item]
    last = state.held[group] - 1
    moved = state.members[group, last]
    state.members[group, state.slot[item]] = moved
    state.slot[moved] = state.slot[item]
    state.held[group] = last
    for axis in range(state.points.shape[1]):
        state.sums[group, axis] -= state.points[item, axis]


@kernel
def fill_squares(state: Any) -> None:
    """Members and sums from `state.group`."""
    state.held[:] = 0
    state.sums[:] = 0.0
    for item in range(state.group.shape[0]):
        _add(state, item, state.group[item])


@kernel
def _swap_change(state: Any, one: Any, two: Any) -> Any:
    """How the squares change when two items of different groups change places."""
    here, there = state.group[one], state.group[two]
    apart = along_here = along_there = 0.0
    for axis in range(state.points.shape[1]):
        step = state.points[two, axis] - state.points[one, axis]
        apart += step * step
        along_here += step * state.sums[here, axis]
        along_there += step * state.sums[there, axis]
    return -(2.0 * along_here + apart) / state.held[here] + (2.0 * along_there - apart) / state.held[there]


@kernel
def _move_change(state: Any, item: Any, group: Any) -> Any:
    """How the squares change when an item moves to another group."""
    here = state.group[item]
    size, other = state.held[here], state.held[group]
    away = towards = 0.0
    for axis in range(state.points.shape[1]):
        away += (state.points[item, axis] - state.sums[here, axis] / size) ** 2
        towards += (state.points[item, axis] - state.sums[group, axis] / other) ** 2
    return towards * other / (other + 1) - away * size / (size - 1)


@kernel
def anneal_squares(state: Any, k: Any, trials: Any, hot: Any, cold: Any, random: Any) -> None:
    """Moves and swaps of single items with groups of items near them, at a temperature that falls from hot to cold."""
    items = state.group.shape[0]
    room = state.members.shape[1]
    cooling = (cold / hot) ** (1.0 / max(1, trials)) if hot > 0.0 else 1.0
    temperature = hot
    for _ in range(trials):
        temperature *= cooling
        item = random_below(random, items)
        other = state.group[state.near[item, random_below(random, state.near.shape[1])]]
        group = state.group[item]
        if other == group:
            continue
        limit = -temperature * np.log(random_unit(random)) if temperature > 0.0 else 0.0
        if state.held[group] > k and state.held[other] < room and _move_change(state, item, other) <= limit:
            _remove(state, item)
            _add(state, item, other)
            continue
        partner = state.members[other, random_below(random, state.held[other])]
        if _swap_change(state, item, partner) <= limit:
            _remove(state, item)
            _remove(state, partner)
            _add(state, item, other)
            _add(state, partner, group)


@kernel
def _distance(points: Any, item: Any, centre: Any) -> Any:
    total = 0.0
    for axis in range(points.shape[1]):
        total += (points[item, axis] - centre[axis]) ** 2
    return total


@kernel
def _farthest(points: Any, pool: Any, taken: Any, count: Any, centre: Any) -> Any:
    """The place of the free item of a pool that is farthest from a point."""
    best, most = -1, -1.0
    for place in range(count):
        if taken[place] < 0:
            distance = _distance(points, pool[place], centre)
            if distance > most:
                best, most = place, distance
    return best


@kernel
def grow_squares(points: Any, pool: Any, count: Any, k: Any, limit: Any, chance: Any, random: Any, taken: Any) -> Any:
    """Groups of k from the first `count` items of a pool, each around an item far from the middle of those left.

    The others join where they add least. Returns the number of groups and their squares, all together.

    IN  limit   at most so many groups; chance: how often, of 16, the first item of a group is any item
    OUT taken   int64 (count,) the group of each item of the pool
    """
    axes = points.shape[1]
    centre, left = np.zeros(axes), count
    for place in range(count):
        taken[place] = -1
    sums, sizes = np.zeros((limit, axes)), np.zeros(limit, dtype=np.int64)
    groups = 0
    while groups < limit and left >= k:
        centre[:] = 0.0
        for place in range(count):
            if taken[place] < 0:
                for axis in range(axes):
                    centre[axis] += points[pool[place], axis] / left
        chosen = _farthest(points, pool, taken, count, centre)
        if random_below(random, 16) < chance:
            chosen = random_below(random, count)
            while taken[chosen] >= 0:
                chosen = random_below(random, count)
        from_first = random_below(random, 2) == 0  # nearest to the first member, or to the mean so far
        for axis in range(axes):
            centre[axis] = points[pool[chosen], axis]
        while True:
            taken[chosen] = groups
            sizes[groups] += 1
            for axis in range(axes):
                sums[groups, axis] += points[pool[chosen], axis]
                if not from_first:
                    centre[axis] = sums[groups, axis] / sizes[groups]
            if sizes[groups] == k:
                break
            least = np.inf
            for place in range(count):
                if taken[place] < 0:
                    distance = _distance(points, pool[place], centre)
                    if distance < least:
                        chosen, least = place, distance
        left -= k
        groups += 1
    for place in range(count):
        if taken[place] < 0:
            best, least = 0, np.inf
            for group in range(groups):
                distance = 0.0
                for axis in range(axes):
                    distance += (points[pool[place], axis] - sums[group, axis] / sizes[group]) ** 2
                distance *= sizes[group] / (sizes[group] + 1.0)
                if distance < least:
                    best, least = group, distance
            taken[place] = best
            sizes[best] += 1
            for axis in range(axes):
                sums[best, axis] += points[pool[place], axis]
    squares = 0.0
    for place in range(count):
        for axis in range(axes):
            squares += (points[pool[place], axis] - sums[taken[place], axis] / sizes[taken[place]]) ** 2
    return groups, squares


@kernel
def squares_of(state: Any, group: Any) -> Any:
    """The squares of one group."""
    total = 0.0
    for place in range(state.held[group]):
        for axis in range(state.points.shape[1]):
            mean = state.sums[group, axis] / state.held[group]
            total += (state.points[state.members[group, place], axis] - mean) ** 2
    return total


@kernel
def rebuild_squares(state: Any, k: Any, trials: Any, widest: Any, heat: Any, random: Any) -> None:
    """Dissolve 2 to `widest` neighbouring groups and grow new ones from their members; keep what is no worse.

    At a temperature `heat` also what is a little worse is kept, the less likely the worse.
    """
    items, room = state.group.shape[0], state.members.shape[1]
    most_groups = widest * (room // k + 1)
    chosen = np.empty(most_groups, dtype=np.int64)
    pool = np.empty(widest * room, dtype=np.int64)
    taken = np.empty(widest * room, dtype=np.int64)
    sizes = np.empty(most_groups, dtype=np.int64)
    free = np.empty(state.held.shape[0], dtype=np.int64)
    frees = 0
    for group in range(state.held.shape[0]):
        if state.held[group] == 0:
            free[frees] = group
            frees += 1
    for _ in range(trials):
        wanted = 2 + random_below(random, widest - 1)
        chosen[0] = state.group[random_below(random, items)]
        found = 1
        for _ in range(2 * wanted):
            one = chosen[random_below(random, found)]
            item = state.members[one, random_below(random, state.held[one])]
            other = state.group[state.near[item, random_below(random, state.near.shape[1])]]
            fresh = found < wanted
            for number in range(found):
                fresh = fresh and chosen[number] != other
            if fresh:
                chosen[found] = other
                found += 1
        count, old = 0, 0.0
        for number in range(found):
            old += squares_of(state, chosen[number])
            for place in range(state.held[chosen[number]]):
                pool[count] = state.members[chosen[number], place]
                count += 1
        limit = count // k
        if limit > 1 and random_below(random, 4) == 0:
            limit -= 1
        if limit - found > frees:
            continue
        groups, new = grow_squares(state.points, pool, count, k, limit, 8, random, taken)
        sizes[:groups] = 0
        for place in range(count):
            sizes[taken[place]] += 1
        allowed = old - heat * np.log(random_unit(random)) if heat > 0.0 else old
        if new > allowed or sizes[:groups].max() > room:
            continue
        for number in range(found, groups):
            frees -= 1
            chosen[number] = free[frees]
        for number in range(max(found, groups)):
            state.held[chosen[number]] = 0
            state.sums[chosen[number]] = 0.0
        for place in range(count):
            _add(state, pool[place], chosen[taken[place]])
        for number in range(groups, found):
            free[frees] = chosen[number]
            frees += 1
