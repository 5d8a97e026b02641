"""The state of a search in one block: groups with their counts, spread and energy, and what a move would change.

An item is a record of the block (weight 1, free to move) or the bulk of a row that occurs very often (weight above
1, stays in its group). The values of an item are

- features: one number per layer. A flat attribute is one layer, a tree has one layer per level below its root; a
  feature is a value (or node) of the layer, numbered over all layers of the block.
- numbers: the position of every interval attribute.

The energy of a group is its size times the loss of its box. Per layer it is `reach * spread`: `reach` is the sum of
the members' steps (what one more value, or the next level of the tree, costs a record) and `spread` says how mixed
the layer is. With counts c of the features in the group, spread = sum f(c) - 1, limited to 1 for tree layers. With
f(c) = 1 for c > 0 this is the true loss: values - 1 for a flat attribute; for a tree every level below the lowest
common ancestor adds its step. With f(c) = (min(c, k) / k) ** p a rare value counts less than a frequent one, so the
search can see that it is on the way to getting rid of a value.

Items have prices (`lower_bound.prices`), whose sum no grouping can lose less than: what a group loses more than its
members are worth is what can be gained at it at most.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.inline import inlined

NOBODY = np.int64(-1)

State = namedtuple(
    "State",
    [
        "features",  # int32 (items, layers)
        "numbers",  # float64 (items, intervals)
        "weight",  # int64 (items,)
        "step",  # float64 (features,) loss of one record for one more value or level
        "saturates",  # uint8 (layers,) 1 for the layers of trees
        "number_weight",  # float64 (intervals,)
        "value_of_count",  # float64 (largest size + 2,) the function f
        "group",  # int64 (items,)
        "size",  # int64 (groups,) total weight
        "energy",  # float64 (groups,)
        "counts",  # int32 (groups, features)
        "spread",  # float64 (groups, layers) sum of f over the layer's features
        "reach",  # float64 (groups, layers)
        "extremes",  # float64 (groups, intervals, 4) lowest, second lowest, second highest, highest
        "first",  # int64 (groups,) where the members of a group start
        "room",  # int64 (groups,) how many members fit
        "held",  # int64 (groups,) how many there are
        "members",  # int64 (slots,)
        "slot",  # int64 (items,) position within the group's members
        "price",  # float64 (items,) what a record has to cost, by a lower bound; 0 where none is known
        "worth",  # float64 (groups,) the sum of the prices of its members
        "size_price",  # float64 (1,) what a record costs for each record of its group; 0 if only the box counts
    ],
)


@inlined
def waste(state: Any, group: Any) -> Any:
    """What a group loses more than its members have to: its reduced cost in the linear program of all groups."""
    return state.energy[group] - state.worth[group]


@kernel
def widen(extremes: Any, group: Any, interval: Any, number: Any) -> None:
    """Take one more number into the extremes of a group."""
    if number < extremes[group, interval, 0]:
        extremes[group, interval, 1] = extremes[group, interval, 0]
        extremes[group, interval, 0] = number
    elif number < extremes[group, interval, 1]:
        extremes[group, interval, 1] = number
    if number > extremes[group, interval, 3]:
        extremes[group, interval, 2] = extremes[group, interval, 3]
        extremes[group, interval, 3] = number
    elif number > extremes[group, interval, 2]:
        extremes[group, interval, 2] = number


@kernel
def scan_extremes(state: Any, group: Any) -> None:
    """Find the two lowest and two highest numbers of a group anew."""
    start = state.first[group]
    for interval in range(state.numbers.shape[1]):
        state.extremes[group, interval, 0] = state.extremes[group, interval, 1] = np.inf
        state.extremes[group, interval, 2] = state.extremes[group, interval, 3] = -np.inf
        for place in range(start, start + state.held[group]):
            item = state.members[place]
            number = state.numbers[item, interval]
            for _ in range(min(2, state.weight[item])):
                widen(state.extremes, group, interval, number)


@kernel
def clear_group(state: Any, group: Any) -> None:
    """Forget all members of a group."""
    start = state.first[group]
    for place in range(start, start + state.held[group]):
        item = state.members[place]
        for layer in range(state.features.shape[1]):
            state.counts[group, state.features[item, layer]] = 0
    for layer in range(state.features.shape[1]):
        state.spread[group, layer] = 0.0
        state.reach[group, layer] = 0.0
    for interval in range(state.numbers.shape[1]):
        state.extremes[group, interval, 0] = state.extremes[group, interval, 1] = np.inf
        state.extremes[group, interval, 2] = state.extremes[group, interval, 3] = -np.inf
    state.size[group] = 0
    state.held[group] = 0
    state.energy[group] = 0.0
    state.worth[group] = 0.0


@kernel
def fill_state(state: Any) -> None:
    """Sizes, counts, members and energies of a state that is all zeros from `state.group` (-1: in no group yet)."""
    layers = state.features.shape[1]
    smoothed = state.value_of_count[1] < 1.0
    for group in range(state.size.shape[0]):
        for interval in range(state.numbers.shape[1]):
            state.extremes[group, interval, 0] = state.extremes[group, interval, 1] = np.inf
            state.extremes[group, interval, 2] = state.extremes[group, interval, 3] = -np.inf
    for item in range(state.group.shape[0]):
        group = state.group[item]
        if group < 0:
            continue
        place = state.held[group]
        state.members[state.first[group] + place] = item
        state.slot[item] = place
        state.held[group] = place + 1
        weight = state.weight[item]
        state.size[group] += weight
        state.worth[group] += weight * state.price[item]
        for layer in range(layers):
            feature = state.features[item, layer]
            count = state.counts[group, feature]
            state.spread[group, layer] += 1.0 if count == 0 else 0.0
            state.counts[group, feature] = count + weight
            state.reach[group, layer] += weight * state.step[feature]
        for interval in range(state.numbers.shape[1]):
            for _ in range(min(2, weight)):
                widen(state.extremes, group, interval, state.numbers[item, interval])
    if smoothed:
        measure_all(state)
        return
    for group in range(state.size.shape[0]):
        state.energy[group] = energy_after(state, group, NOBODY, NOBODY)


@kernel
def measure_all(state: Any) -> None:
    """Spread and energy of every group from its counts, with the present `value_of_count`."""
    for group in range(state.size.shape[0]):
        start = state.first[group]
        for layer in range(state.features.shape[1]):
            total = 0.0
            for place in range(start, start + state.held[group]):  # each feature once: at its first member in order
                feature = state.features[state.members[place], layer]
                count = state.counts[group, feature]
                if count > 0:
                    total += state.value_of_count[count]
                    state.counts[group, feature] = -count
            for place in range(start, start + state.held[group]):
                feature = state.features[state.members[place], layer]
                if state.counts[group, feature] < 0:
                    state.counts[group, feature] = -state.counts[group, feature]
            state.spread[group, layer] = total
        state.energy[group] = energy_after(state, group, NOBODY, NOBODY)


@kernel
def energy_after(state: Any, group: Any, leaving: Any, coming: Any) -> Any:
    """The energy of a group if one item (weight 1) leaves and another comes; -1 for nobody."""
    energy = 0.0
    for layer in range(state.features.shape[1]):
        spread = state.spread[group, layer] - 1.0
        reach = state.reach[group, layer]
        out = state.features[leaving, layer] if leaving >= 0 else -1
        into = state.features[coming, layer] if coming >= 0 else -1
        if out != into:
            if out >= 0:
                count = state.counts[group, out]
                spread += state.value_of_count[count - 1] - state.value_of_count[count]
                reach -= state.step[out]
            if into >= 0:
                count = state.counts[group, into]
                spread += state.value_of_count[count + 1] - state.value_of_count[count]
                reach += state.step[into]
        if state.saturates[layer] and spread > 1.0:
            spread = 1.0
        energy += reach * spread
    size = state.size[group]
    if leaving >= 0:
        size -= 1
    if coming >= 0:
        size += 1
    energy += state.size_price[0] * size * size
    for interval in range(state.numbers.shape[1]):
        low = state.extremes[group, interval, 0]
        high = state.extremes[group, interval, 3]
        if leaving >= 0:
            number = state.numbers[leaving, interval]
            if number == low:
                low = state.extremes[group, interval, 1]
            if number == high:
                high = state.extremes[group, interval, 2]
        if coming >= 0:
            number = state.numbers[coming, interval]
            low = min(low, number)
            high = max(high, number)
        if high > low:
            energy += size * state.number_weight[interval] * min(1.0, high - low)
    return energy


@kernel
def place_rest(state: Any) -> Any:
    """Put every item without a group where it costs least. Returns how many found no room."""
    left = 0
    for item in range(state.group.shape[0]):
        if state.group[item] >= 0:
            continue
        best: Any = NOBODY
        least, after = np.inf, 0.0
        for group in range(state.size.shape[0]):
            if state.size[group] > 0 and state.held[group] < state.room[group]:
                energy = energy_after(state, group, NOBODY, item)
                if energy - state.energy[group] < least:
                    best, least, after = group, energy - state.energy[group], energy
        if best < 0:
            left += 1
        else:
            insert_item(state, item, best)
            state.energy[best] = after
    return left


@kernel
def remove_item(state: Any, item: Any) -> None:
    """Take an item of weight 1 out of its group; the energy is left to the caller."""
    group = state.group[item]
    for layer in range(state.features.shape[1]):
        feature = state.features[item, layer]
        count = state.counts[group, feature]
        state.spread[group, layer] += state.value_of_count[count - 1] - state.value_of_count[count]
        state.counts[group, feature] = count - 1
        state.reach[group, layer] -= state.step[feature]
    state.size[group] -= 1
    state.worth[group] -= state.price[item]
    last = state.held[group] - 1
    moved = state.members[state.first[group] + last]
    state.members[state.first[group] + state.slot[item]] = moved
    state.slot[moved] = state.slot[item]
    state.held[group] = last
    for interval in range(state.numbers.shape[1]):
        number = state.numbers[item, interval]
        if number <= state.extremes[group, interval, 1] or number >= state.extremes[group, interval, 2]:
            scan_extremes(state, group)
            break


@inlined
def insert_item(state: Any, item: Any, group: Any) -> None:
    """Put an item of weight 1 into a group that has room; the energy is left to the caller."""
    for layer in range(state.features.shape[1]):
        feature = state.features[item, layer]
        count = state.counts[group, feature]
        state.spread[group, layer] += state.value_of_count[count + 1] - state.value_of_count[count]
        state.counts[group, feature] = count + 1
        state.reach[group, layer] += state.step[feature]
    state.size[group] += 1
    state.worth[group] += state.price[item]
    place = state.held[group]
    state.members[state.first[group] + place] = item
    state.slot[item] = place
    state.held[group] = place + 1
    state.group[item] = group
    for interval in range(state.numbers.shape[1]):
        number = state.numbers[item, interval]
        widen(state.extremes, group, interval, number)


@inlined
def _layer_change(state: Any, group: Any, layer: Any, out: Any, into: Any) -> Any:
    """How the energy of a group changes on one layer when the feature `out` is replaced by `into`."""
    values = state.value_of_count
    leaving, coming = state.counts[group, out], state.counts[group, into]
    old = state.spread[group, layer] - 1.0
    new = old + (values[leaving - 1] - values[leaving]) + (values[coming + 1] - values[coming])
    if state.saturates[layer]:
        old = min(1.0, old)
        new = min(1.0, new)
    reach = state.reach[group, layer]
    return (reach - state.step[out] + state.step[into]) * new - reach * old


@inlined
def _range_change(state: Any, group: Any, interval: Any, out: Any, into: Any) -> Any:
    """How the energy of a group changes on one interval when the number `out` is replaced by `into`."""
    low = state.extremes[group, interval, 0]
    high = state.extremes[group, interval, 3]
    new_low = min(state.extremes[group, interval, 1] if out == low else low, into)
    new_high = max(state.extremes[group, interval, 2] if out == high else high, into)
    change = min(1.0, new_high - new_low) - min(1.0, high - low)
    return change * state.size[group] * state.number_weight[interval]


@inlined
def swap_changes(state: Any, group: Any, item: Any, other: Any, partner: Any) -> Any:
    """How the energies of two groups change when an item of the one and a partner of the other change places."""
    here = there = 0.0
    for layer in range(state.features.shape[1]):
        one, two = state.features[item, layer], state.features[partner, layer]
        if one != two:
            here += _layer_change(state, group, layer, one, two)
            there += _layer_change(state, other, layer, two, one)
    for interval in range(state.numbers.shape[1]):
        first, second = state.numbers[item, interval], state.numbers[partner, interval]
        if first != second:
            here += _range_change(state, group, interval, first, second)
            there += _range_change(state, other, interval, second, first)
    return here, there


@kernel
def replace_feature(state: Any, group: Any, layer: Any, out: Any, into: Any) -> None:
    """Take one record with the feature `out` for one with the feature `into`."""
    values = state.value_of_count
    leaving, coming = state.counts[group, out], state.counts[group, into]
    state.spread[group, layer] += values[leaving - 1] - values[leaving] + values[coming + 1] - values[coming]
    state.reach[group, layer] += state.step[into] - state.step[out]
    state.counts[group, out] = leaving - 1
    state.counts[group, into] = coming + 1


@kernel
def swap_items(state: Any, item: Any, partner: Any) -> None:
    """Let two items of weight 1 change places; the energies are left to the caller."""
    group, other = state.group[item], state.group[partner]
    for layer in range(state.features.shape[1]):
        one, two = state.features[item, layer], state.features[partner, layer]
        if one != two:
            replace_feature(state, group, layer, one, two)
            replace_feature(state, other, layer, two, one)
    state.group[item], state.group[partner] = other, group
    more = state.price[partner] - state.price[item]
    state.worth[group] += more
    state.worth[other] -= more
    state.slot[item], state.slot[partner] = state.slot[partner], state.slot[item]
    state.members[state.first[other] + state.slot[item]] = item
    state.members[state.first[group] + state.slot[partner]] = partner
    for interval in range(state.numbers.shape[1]):
        if state.numbers[item, interval] != state.numbers[partner, interval]:
            scan_extremes(state, group)
            scan_extremes(state, other)
            break
