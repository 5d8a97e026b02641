"""Annealing of moves and swaps between the groups of a block, and the candidate groups of every item."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.shoal.kernels.guard import charge
from shoal.algorithms.shoal.kernels.moves import try_move, try_swap
from shoal.algorithms.shoal.kernels.near import neighbour_group
from shoal.algorithms.shoal.kernels.state import waste
from shoal.kernels.compile import kernel
from shoal.kernels.random import random_below, random_unit

_UNSAFE_PARTNERS = 12  # whom a record of an unsafe group may change places with, per trial


@kernel
def joining_costs(state: Any, costs: Any) -> None:
    """What one more item costs a group on one layer, for every feature and group.

    OUT costs  float32 (features, groups)
    """
    layers = state.features.shape[1]
    layer_of = np.zeros(costs.shape[0], dtype=np.int32)
    for item in range(state.features.shape[0]):
        for layer in range(layers):
            layer_of[state.features[item, layer]] = layer
    for feature in range(costs.shape[0] if layers > 0 else 0):
        layer = layer_of[feature]
        for group in range(costs.shape[1]):
            count = state.counts[group, feature]
            spread = state.spread[group, layer] - 1.0
            after = spread + state.value_of_count[count + 1] - state.value_of_count[count]
            if state.saturates[layer]:
                spread = min(1.0, spread)
                after = min(1.0, after)
            reach = state.reach[group, layer]
            costs[feature, group] = reach * (after - spread)


@kernel
def find_candidates(state: Any, costs: Any, first: Any, last: Any, candidates: Any, scores: Any, best: Any) -> None:
    """For the items first..last-1 the groups, other than their own, whose energy grows least by taking them.

    IN  costs       float32 (features, groups) of joining_costs
    OUT candidates  int64 (items, wanted), best first; -1 where there are fewer groups
    OUT scores      float32 (groups,), best float32 (wanted,): scratch
    """
    wanted = candidates.shape[1]
    groups = state.size.shape[0]
    for item in range(first, last):
        for place in range(wanted):
            candidates[item, place] = -1
        if state.weight[item] > 1:
            continue
        for group in range(groups):
            scores[group] = 0.0
        for layer in range(state.features.shape[1]):
            line = costs[state.features[item, layer]]
            for group in range(groups):
                scores[group] += line[group]
        for interval in range(state.numbers.shape[1]):
            number = state.numbers[item, interval]
            price = state.number_weight[interval]
            for group in range(groups):
                low, high = state.extremes[group, interval, 0], state.extremes[group, interval, 3]
                wider = min(1.0, max(high, number) - min(low, number))
                scores[group] += price * state.size[group] * (wider - min(1.0, high - low))
        found = 0
        own = state.group[item]
        for group in range(groups):
            score = scores[group]
            if (found < wanted or score < best[wanted - 1]) and group != own and state.size[group] > 0:
                place = found if found < wanted else wanted - 1
                while place > 0 and best[place - 1] > score:
                    best[place] = best[place - 1]
                    candidates[item, place] = candidates[item, place - 1]
                    place -= 1
                best[place] = score
                candidates[item, place] = group
                if found < wanted:
                    found += 1


@kernel
def anneal(
    state: Any,
    near: Any,
    guard: Any,
    k: Any,
    trials: Any,
    hot: Any,
    cold: Any,
    partners: Any,
    random: Any,
) -> Any:
    """Try moves and swaps at a temperature that falls from hot to cold; returns how many were taken.

    A trial takes a random item, of two the one whose group wastes more, and a group near it. If its group can spare
    it, it may move; otherwise it may change places with one of a few random members of that group. At no temperature
    nothing gets worse.
    """
    items = state.group.shape[0]
    taken = 0
    cooling = (cold / hot) ** (1.0 / max(1, trials)) if hot > 0.0 else 1.0
    temperature = hot
    for _ in range(trials):
        temperature *= cooling
        item = random_below(random, items)
        rival = random_below(random, items)
        worse = waste(state, state.group[rival]) - waste(state, state.group[item])
        if guard is not None:
            worse += charge(guard, state.group[rival]) - charge(guard, state.group[item])
        if worse > 0.0:
            item = rival
        other = neighbour_group(state, near, item, random)
        group = state.group[item]
        if other < 0 or other == group or state.weight[item] > 1 or state.held[other] == 0:
            continue
        limit = -temperature * np.log(random_unit(random)) if temperature > 0.0 else 0.0
        if (
            state.size[group] > k
            and state.held[other] < state.room[other]
            and try_move(state, guard, item, other, limit)
        ):
            taken += 1
            continue
        tries = partners
        if guard is not None:
            if guard.deficit[group] > 0.0:
                tries = _UNSAFE_PARTNERS
        for _ in range(tries):
            partner = state.members[state.first[other] + random_below(random, state.held[other])]
            if state.weight[partner] == 1 and try_swap(state, guard, item, partner, limit):
                taken += 1
                break
    return taken
