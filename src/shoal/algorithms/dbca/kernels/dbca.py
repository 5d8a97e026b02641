"""Density-based clustering over hierarchies: nearest neighbours with pruning, clusters around centres, leftovers.

Units are equal records, several of them each. They stand in blocks of similar units (see kernels/climbing.py). The cost
of lifting to where two units meet is half their distance; everything here is in halves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int32, Int64
from shoal.kernels.climbing import fill_attribute, take_out
from shoal.kernels.compile import kernel


class Nearest(NamedTuple):
    """The nearest units so far, sorted by distance, as many as are needed to have enough records."""

    distances: Float64  # (records needed + 1,)
    units: Int32  # (records needed + 1,)
    amounts: Int64  # (records needed + 1,) records of each unit
    length: Int64  # (1,)


class Centres(NamedTuple):
    """What choosing centres goes on with."""

    neighbour_distance: Float64  # (units,) mean distance to the k nearest
    following: Int32  # (units + 1,) the next unit with records left, densest first; the last entry is the first one
    before: Int32  # (units,) the one before
    left: Int64  # (units,) records that are in no group yet
    counters: Int64  # (5,) records left, groups, entries of takes, centres without room, the last centre (-1: none)
    takes: Int64  # (units + groups, 3) unit, group, number of records


@kernel
def _fill_changed(ladder: Any, codes: Any, own: Any, filled: Any, costs: Any) -> None:
    """The costs of a unit, as in fill_costs, for the attributes where it differs from the unit they were filled for.

    IN/OUT filled  int32 (attributes,) codes that `costs` was filled for, -1 for none
    """
    for attribute in range(codes.shape[1]):
        if filled[attribute] != codes[own, attribute]:
            filled[attribute] = codes[own, attribute]
            fill_attribute(ladder, attribute, codes[own, attribute], 0.0, costs)


@kernel
def nearest_units(own: Any, blocks: Any, codes: Any, left: Any, costs: Any, need: Any, nearest: Any) -> None:
    """The nearest `need` records to a unit, itself left out; of equals those found first, the unit's block first.

    A block is skipped when its bound is not below the farthest of enough records. One long function, because calls
    with many arrays cost more than the work that they would do here.

    IN  left      int64 (units,) records of each unit that count
    OUT nearest
    """
    first, counts, members, _, homes, low, high = blocks
    distances, units, amounts, _ = nearest
    home = homes[own]
    limit = np.inf
    length = 0
    have = 0
    for step in range(-1, counts.shape[0]):
        block = home if step < 0 else step
        if step == home or counts[block] == 0:
            continue
        bound = 0.0
        if limit < np.inf:
            for attribute in range(codes.shape[1]):
                bound += costs[min(max(codes[own, attribute], low[block, attribute]), high[block, attribute])]
                if bound >= limit:
                    break
        if bound >= limit:
            continue
        for position in range(first[block], first[block] + counts[block]):
            unit = members[position]
            total = 0.0
            for attribute in range(codes.shape[1]):
                total += costs[codes[unit, attribute]]
                if total >= limit:
                    break
            if total >= limit or unit == own:
                continue
            place = length
            while place > 0 and distances[place - 1] > total:
                distances[place] = distances[place - 1]
                units[place] = units[place - 1]
                amounts[place] = amounts[place - 1]
                place -= 1
            distances[place] = total
            units[place] = unit
            amounts[place] = left[unit]
            length += 1
            have += left[unit]
            while have - amounts[length - 1] >= need:
                length -= 1
                have -= amounts[length]
            if have >= need:
                limit = distances[length - 1]
    nearest.length[0] = length


@kernel
def neighbour_costs(
    ladder: Any, codes: Any, weights: Any, blocks: Any, nearest: Any, k: Any, begin: Any, end: Any, found: Any
) -> None:
    """The mean cost to the k nearest other records, for the units begin..end-1.

    IN  codes    int32 (units, attributes), flat numbering; weights int64 (units,)
    OUT found    float64 (units,)
    Scratch: nearest
    """
    costs = np.zeros(ladder.join_costs.shape[0], np.float64)
    filled = np.full(codes.shape[1], -1, np.int32)
    for own in range(begin, end):
        same = min(k, weights[own] - 1)  # the other records of the unit, at distance 0
        found[own] = 0.0
        if same == k:
            continue
        need = k - same
        _fill_changed(ladder, codes, own, filled, costs)
        nearest_units(own, blocks, codes, weights, costs, need, nearest)
        counted = 0
        for place in range(nearest.length[0]):
            amount = min(nearest.amounts[place], need - counted)
            found[own] += amount * nearest.distances[place]
            counted += amount
        found[own] /= max(1, same + counted)


@kernel
def _next_centre(codes: Any, costs: Any, centres: Any) -> Any:
    """The densest unit left that is farther from the last centre than both their reaches together, -1 if none is.

    IN  costs  of the last centre
    """
    neighbour_distance = centres.neighbour_distance
    last = centres.counters[4]
    unit = centres.following[codes.shape[0]]
    while unit >= 0:
        limit = neighbour_distance[last] + neighbour_distance[unit]
        total = 0.0
        for attribute in range(codes.shape[1]):
            total += costs[codes[unit, attribute]]
            if total > limit:
                return unit
        unit = centres.following[unit]
    return -1


@kernel
def _take(unit: Any, amount: Any, blocks: Any, centres: Any) -> None:
    """Put records of a unit into the present group; a unit without any left leaves its block and the list."""
    entry = centres.counters[2]
    centres.takes[entry, 0] = unit
    centres.takes[entry, 1] = centres.counters[1]
    centres.takes[entry, 2] = amount
    centres.counters[2] += 1
    centres.counters[0] -= amount
    centres.left[unit] -= amount
    if centres.left[unit] == 0:
        take_out(blocks, unit)
        after = centres.following[unit]
        centres.following[centres.before[unit]] = after
        if after >= 0:
            centres.before[after] = centres.before[unit]


@kernel
def group_around_centres(ladder: Any, codes: Any, blocks: Any, nearest: Any, k: Any, centres: Any, groups: Any) -> None:
    """Form groups of k records around centres until fewer than k records are left or `groups` were formed.

    IN/OUT blocks, centres
    Scratch: nearest
    """
    costs = np.zeros(ladder.join_costs.shape[0], np.float64)
    filled = np.full(codes.shape[1], -1, np.int32)
    counters = centres.counters
    if counters[4] >= 0:
        _fill_changed(ladder, codes, counters[4], filled, costs)
    while counters[0] >= k and groups > 0:
        centre = -1
        if counters[4] >= 0:
            centre = _next_centre(codes, costs, centres)
            if centre < 0:
                counters[3] += 1
        if centre < 0:
            centre = centres.following[codes.shape[0]]
        counters[4] = centre
        _fill_changed(ladder, codes, centre, filled, costs)
        need = k - min(k, centres.left[centre])
        nearest.length[0] = 0
        if need > 0:
            nearest_units(centre, blocks, codes, centres.left, costs, need, nearest)
        _take(centre, k - need, blocks, centres)
        for place in range(nearest.length[0]):
            amount = min(nearest.amounts[place], need)
            _take(nearest.units[place], amount, blocks, centres)
            need -= amount
        counters[1] += 1
        groups -= 1


@kernel
def _cost_with(join_costs: Any, low: Any, high: Any, lift: Any, code: Any) -> Any:
    """The cost of the common node of low..high (which is `lift`) and one more code."""
    for place in range(code, low):
        lift = max(lift, join_costs[place])
    for place in range(high, code):
        lift = max(lift, join_costs[place])
    return lift


@kernel
def place_records(
    ladder: Any,
    codes: Any,
    labels: Any,
    low: Any,
    high: Any,
    lifts: Any,
    sizes: Any,
    majority: Any,
    penalty: Any,
    placed: Any,
) -> None:
    """Put every record into the group whose distortion it raises least, one after the other.

    IN  codes             int32 (records, attributes); labels int32 (records,)
    IN/OUT low, high      int32 (groups, attributes) lowest and highest code; lifts float64, cost of their common node
    IN/OUT sizes          int64 (groups,)
    IN  majority          int32 (groups,) commonest label; `penalty` is charged for another one
    OUT placed            int32 (records,)
    """
    join_costs = ladder.join_costs
    for record in range(codes.shape[0]):
        best = np.inf
        for group in range(low.shape[0]):
            total = penalty if labels[record] != majority[group] else 0.0
            for attribute in range(codes.shape[1]):
                lift = lifts[group, attribute]
                top = _cost_with(
                    join_costs, low[group, attribute], high[group, attribute], lift, codes[record, attribute]
                )
                total += sizes[group] * (top - lift) + top
                if total >= best:
                    break
            if total < best:
                best = total
                placed[record] = group
        group = placed[record]
        sizes[group] += 1
        for attribute in range(codes.shape[1]):
            code = codes[record, attribute]
            lift = lifts[group, attribute]
            lifts[group, attribute] = _cost_with(join_costs, low[group, attribute], high[group, attribute], lift, code)
            low[group, attribute] = min(low[group, attribute], code)
            high[group, attribute] = max(high[group, attribute], code)
