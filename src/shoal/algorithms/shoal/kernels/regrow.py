"""Groups grown anew from a few items, and what they lose: the inner loop of destroy and repair.

Randomised greedy construction: a group grows record by record, each time by the one that costs least. What an item y
adds to a growing group with first member x is exact: a flat layer costs its step if the group does not have y's value
yet; a tree layer costs x's step if it is still pure and y is under another node; an interval costs what the range
grows by. These costs are kept up to date: when a member brings something new, only the layer that this concerns is
gone through. (All values of a flat layer have the same step.)

The items lie column by column and never move, and one that has a group costs more than any that has none, so that
every loop runs over all items without a branch and the compiler can do several at a time. A cost is a whole number
whose last bits are the place of the item: the lowest of them says at once who it is.

The groups are measured on the bench itself: a set of groups that is no better has touched nothing else.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.algorithms.shoal.kernels.guard import TAKEN, begin_group, end_group, grow_with, last_place
from shoal.kernels.compile import kernel
from shoal.kernels.inline import inlined
from shoal.kernels.random import random_below, random_unit

_LANES = 32  # loops run over a multiple of this, so that nothing is left to be done one by one
_NOTHING = np.int32(0)
_MEMBER = np.int32((1 << 31) - 1)

Bench = namedtuple(
    "Bench",
    [
        "columns",  # int32 (layers, items) features
        "numbers",  # float64 (intervals, items)
        "weight",  # int64 (items,)
        "worth",  # float64 (items,) the prices of the items (`state`)
        "noise",  # int32 (items,) what a cost begins with: a little noise, and the place
        "cost",  # int32 (items,) what each would add to the growing group, and the place
        "price",  # int32 (features,) the steps in the unit of the costs
        "number_price",  # float64 (intervals,) the same for a range over the whole domain, without the bits of places
        "bits",  # int32 (1,) how many bits a place takes
        "unit",  # float64 (1,) what a loss of 1 is, without the bits of places
        "farthest",  # float64 (1,) what two items can lose together at most
        "group",  # int64 (items,) the answer
        "size",  # int64 (groups,) total weight
        "held",  # int64 (groups,) how many items
        "room",  # int64 (groups,) how many are allowed
        "energy",  # float64 (groups,)
        "pure",  # int32 (groups, layers) the one feature of a tree layer, -1 when mixed
        "spread",  # float64 (groups, layers) how mixed: 0 or 1 for a tree layer, values - 1 for a flat one
        "have",  # uint8 (groups, features) the values of flat layers; zero between two calls
        "reach",  # float64 (groups, layers) the sum of the members' steps
        "range",  # float64 (2, groups, intervals) lowest and highest number
    ],
)


def make_bench(items: int, groups: int, layers: int, step: Any, number_weight: Any, farthest: float) -> Bench:
    """A bench for so many items and groups, with room to fill up the last lanes.

    A cost and its noise reach up to twice what two items can lose together, `farthest`.
    """
    items = -(-items // _LANES) * _LANES
    intervals = number_weight.shape[0]
    bits = int(items - 1).bit_length()
    unit = 2.0 ** (29 - bits) / max(1e-9, farthest)
    return Bench(
        columns=np.zeros((layers, items), dtype=np.int32),
        numbers=np.zeros((intervals, items)),
        weight=np.ones(items, dtype=np.int64),
        worth=np.zeros(items),
        noise=np.zeros(items, dtype=np.int32),
        cost=np.zeros(items, dtype=np.int32),
        price=(unit * step).astype(np.int32) << bits,
        number_price=unit * number_weight,
        bits=np.array([bits], dtype=np.int32),
        unit=np.array([unit]),
        farthest=np.array([farthest]),
        group=np.full(items, -1, dtype=np.int64),
        size=np.zeros(groups, dtype=np.int64),
        held=np.zeros(groups, dtype=np.int64),
        room=np.full(groups, items, dtype=np.int64),
        energy=np.zeros(groups),
        pure=np.zeros((groups, layers), dtype=np.int32),
        spread=np.zeros((groups, layers)),
        have=np.zeros((groups, step.shape[0]), dtype=np.uint8),
        reach=np.zeros((groups, layers)),
        range=np.zeros((2, groups, intervals)),
    )


@inlined
def _open_group(bench: Any, group: Any, seed: Any, width: Any, step: Any, saturates: Any) -> None:
    """Start a group with the item at `seed`: what all others would add."""
    bits = bench.bits[0]
    for place in range(width):
        bench.cost[place] = bench.noise[place] if bench.group[place] < 0 else TAKEN
    for layer in range(bench.columns.shape[0]):
        feature = bench.columns[layer, seed]
        bench.pure[group, layer] = feature
        bench.reach[group, layer] = bench.weight[seed] * step[feature]
        price = bench.price[feature]
        for place in range(width):
            bench.cost[place] += price if bench.columns[layer, place] != feature else _NOTHING
        bench.spread[group, layer] = 0.0
        if not saturates[layer]:
            bench.have[group, feature] = 1
    for interval in range(bench.numbers.shape[0]):
        number = bench.numbers[interval, seed]
        price = bench.number_price[interval]
        bench.range[0, group, interval] = bench.range[1, group, interval] = number
        for place in range(width):
            bench.cost[place] += np.int32(price * min(1.0, abs(bench.numbers[interval, place] - number))) << bits


@inlined
def _join_group(bench: Any, group: Any, item: Any, width: Any, step: Any, saturates: Any) -> None:
    """Let an item join the growing group; the costs of the others change where it brings something new."""
    bits = bench.bits[0]
    for layer in range(bench.columns.shape[0]):
        feature = bench.columns[layer, item]
        bench.reach[group, layer] += bench.weight[item] * step[feature]
        if saturates[layer]:
            first = bench.pure[group, layer]
            if first >= 0 and feature != first:
                bench.pure[group, layer] = -1
                bench.spread[group, layer] = 1.0
                price = bench.price[first]
                for place in range(width):
                    bench.cost[place] -= price if bench.columns[layer, place] != first else _NOTHING
        elif bench.have[group, feature] == 0:
            bench.have[group, feature] = 1
            bench.spread[group, layer] += 1.0
            price = bench.price[feature]
            for place in range(width):
                bench.cost[place] -= price if bench.columns[layer, place] == feature else _NOTHING
    for interval in range(bench.numbers.shape[0]):
        low, high = bench.range[0, group, interval], bench.range[1, group, interval]
        new_low, new_high = min(low, bench.numbers[interval, item]), max(high, bench.numbers[interval, item])
        if new_low < low or new_high > high:
            price = bench.number_price[interval]
            change = min(1.0, high - low) - min(1.0, new_high - new_low)
            for place in range(width):
                number = bench.numbers[interval, place]
                wider = min(1.0, max(new_high, number) - min(new_low, number))
                before = min(1.0, max(high, number) - min(low, number))
                bench.cost[place] += np.int32(price * (wider - before + change)) << bits
            bench.range[0, group, interval], bench.range[1, group, interval] = new_low, new_high


@inlined
def _lowest(cost: Any, width: Any) -> Any:
    """The lowest of the first costs."""
    least = _MEMBER
    for place in range(width):
        value = cost[place]
        least = value if value < least else least
    return least


@kernel
def regrow(
    bench: Any,
    guard: Any,
    count: Any,
    step: Any,
    saturates: Any,
    k: Any,
    limit: Any,
    tries: Any,
    noise: Any,
    random: Any,
) -> Any:
    """Groups of at least k from the first `count` items of the bench. Returns the number of groups.

    Items that are left when fewer than k remain, or when there are `limit` groups, get the group -1. Of `tries`
    random items the one farthest from the last group opens the next one. Up to `noise` is added to what an item costs.
    Items with high prices, which fit few groups, are taken before others that fit as well: a k-th part of what an item
    is worth less than the dearest is added to its cost. With a guard, who joins last makes the group safe, if anybody
    can at a price; while it is not, it may grow to 2k.
    """
    total = 0
    strength = min(noise, bench.farthest[0]) * bench.unit[0]
    left = bench.farthest[0] * bench.unit[0] - strength
    dearest = bench.worth[0]
    for place in range(count):
        dearest = max(dearest, bench.worth[place])
    for place in range(count):
        total += bench.weight[place]
        bench.group[place] = -1
        drawn = np.int32(strength * random_unit(random)) if noise > 0.0 else _NOTHING
        drawn += np.int32(min(left, (dearest - bench.worth[place]) / k * bench.unit[0]))
        bench.noise[place] = (drawn << bench.bits[0]) | np.int32(place)
    mask = (1 << bench.bits[0]) - 1
    width = (count + _LANES - 1) // _LANES * _LANES
    for place in range(count, width):
        bench.group[place] = 0
    groups = 0
    while total >= k and groups < limit:
        chosen: Any = np.int64(-1)
        for _ in range(1 + (tries if groups > 0 else 0)):
            other = random_below(random, count)
            while bench.group[other] >= 0:
                other = random_below(random, count)
            if chosen < 0 or bench.cost[other] > bench.cost[chosen]:
                chosen = other
        _open_group(bench, groups, chosen, width, step, saturates)
        size = held = 0
        if guard is not None:
            begin_group(guard)
        while True:
            size += bench.weight[chosen]
            held += 1
            bench.group[chosen] = groups
            bench.cost[chosen] = _MEMBER
            if guard is None:
                if size >= k:
                    break
                chosen = np.int64(_lowest(bench.cost, width) & mask)
            else:
                grow_with(guard, bench, chosen, held - 1)
                chosen = np.int64(_lowest(bench.cost, width) & mask)
                if size + 1 >= k or bench.group[chosen] >= 0:
                    chosen = last_place(guard, bench, chosen, count, size, k)
                    if chosen < 0:
                        break
            _join_group(bench, groups, chosen, width, step, saturates)
        if guard is not None:
            end_group(guard, held)
        bench.size[groups] = size
        bench.held[groups] = held
        total -= size
        groups += 1
    return groups


@kernel
def _place_rest(bench: Any, groups: Any, count: Any, step: Any, saturates: Any, number_weight: Any, price: Any) -> None:
    """Let the items that are left (-1, weight 1) join the group that they make least worse."""
    layers, intervals = bench.columns.shape[0], bench.numbers.shape[0]
    for item in range(count):
        if bench.group[item] >= 0:
            continue
        best, least, after = -1, np.inf, 0.0
        for group in range(groups):
            if bench.held[group] >= bench.room[group]:
                continue
            size = bench.size[group] + 1
            energy = price * size * size
            for layer in range(layers):
                feature = bench.columns[layer, item]
                apart = 1.0 if feature != bench.pure[group, layer] else 0.0
                more = bench.spread[group, layer] + 1.0 - bench.have[group, feature]
                energy += (bench.reach[group, layer] + step[feature]) * (apart if saturates[layer] else more)
            for interval in range(intervals):
                low = min(bench.range[0, group, interval], bench.numbers[interval, item])
                high = max(bench.range[1, group, interval], bench.numbers[interval, item])
                energy += size * number_weight[interval] * min(1.0, high - low)
            if energy - bench.energy[group] < least:
                best, least, after = group, energy - bench.energy[group], energy
        bench.group[item] = best
        bench.energy[best] = after
        bench.size[best] += 1
        bench.held[best] += 1
        for layer in range(layers):
            feature = bench.columns[layer, item]
            bench.reach[best, layer] += step[feature]
            if not saturates[layer]:
                bench.spread[best, layer] += 1.0 - bench.have[best, feature]
                bench.have[best, feature] = 1
            elif bench.pure[best, layer] != feature:
                bench.pure[best, layer] = -1
                bench.spread[best, layer] = 1.0
        for interval in range(intervals):
            bench.range[0, best, interval] = min(bench.range[0, best, interval], bench.numbers[interval, item])
            bench.range[1, best, interval] = max(bench.range[1, best, interval], bench.numbers[interval, item])


@kernel
def measure(bench: Any, groups: Any, count: Any, step: Any, saturates: Any, number_weight: Any, price: Any) -> Any:
    """Let the items that are left (-1) join where they cost least; returns the energy of all groups.

    There must be a group with room for every item.
    """
    for group in range(groups):
        size = bench.size[group]
        energy = price * size * size
        for layer in range(bench.columns.shape[0]):
            energy += bench.reach[group, layer] * bench.spread[group, layer]
        for interval in range(bench.numbers.shape[0]):
            wide = bench.range[1, group, interval] - bench.range[0, group, interval]
            energy += size * number_weight[interval] * min(1.0, wide)
        bench.energy[group] = energy
    _place_rest(bench, groups, count, step, saturates, number_weight, price)
    total = 0.0
    for group in range(groups):
        total += bench.energy[group]
    return total


@kernel
def forget_values(bench: Any, count: Any, saturates: Any) -> None:
    """Take back what the groups have of the flat layers, for the next groups."""
    for layer in range(bench.columns.shape[0]):
        if not saturates[layer]:
            for place in range(count):
                if bench.group[place] >= 0:
                    bench.have[bench.group[place], bench.columns[layer, place]] = 0
