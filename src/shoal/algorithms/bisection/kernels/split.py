"""Splitting a group in two: distances to the centres, dealing, growing, topping up.

Shared by the algorithms that split from the top (`cb`, `nonhomogeneous`). The group at hand is in a `Work`
(`shoal.algorithms.bisection.kernels.split_work`); `side` says for each of its records which half it is in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.bisection.kernels.split_work import LARGE
from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost
from shoal.kernels.random import random_below


@kernel
def nearer(position: float, centres: Any) -> Any:
    """Width of the range from the first centre to a position minus that from the second, in one attribute."""
    return min(1.0, abs(position - centres[0])) - min(1.0, abs(position - centres[1]))


@kernel
def measure(geometry: Any, work: Any, size: int) -> None:
    """Fill `delta`: below 0 is nearer to the first centre. Large groups look each code up once."""
    delta = work.delta
    for place in range(size):
        delta[place] = 0.0
    for attribute in range(work.codes.shape[0]):
        weight = geometry.weights[attribute]
        centres = work.centres[attribute]
        offset = geometry.code_offsets[attribute]
        domain = geometry.code_offsets[attribute + 1] - offset
        if size < domain:
            for place in range(size):
                position = geometry.positions[offset + work.codes[attribute, place]]
                delta[place] += weight * nearer(position, centres)
        else:
            for code in range(domain):
                work.table[code] = weight * nearer(geometry.positions[offset + code], centres)
            for place in range(size):
                delta[place] += work.table[work.codes[attribute, place]]


@kernel
def deal(work: Any, size: int, state: Any) -> Any:
    """Shuffle, then give each record to its nearer centre, to the smaller half on a tie.

    Returns the size of the first half and whether there was a tie.
    """
    turn = work.turn
    for last in range(size - 1, 0, -1):
        other = random_below(state, last + 1)
        turn[last], turn[other] = turn[other], turn[last]
    first, tie = 0, False
    for number in range(size):
        place = turn[number]
        delta = work.delta[place]
        if delta == 0.0:
            tie = True
            work.side[place] = 0 if first * 2 <= number else 1
        else:
            work.side[place] = 0 if delta < 0.0 else 1
        if work.side[place] == 0:
            first += 1
    return first, tie


@kernel
def open_halves(geometry: Any, work: Any) -> None:
    """Two boxes, each of the code nearest to a centre."""
    for attribute in range(work.codes.shape[0]):
        offset, end = geometry.code_offsets[attribute], geometry.code_offsets[attribute + 1]
        for side in range(2):
            centre = work.centres[attribute, side]
            left, right = offset, end - 1  # the first code at or after the centre
            while left < right:
                middle = (left + right) // 2
                if geometry.positions[middle] < centre:
                    left = middle + 1
                else:
                    right = middle
            if left > offset and centre - geometry.positions[left - 1] < geometry.positions[left] - centre:
                left -= 1
            work.low[attribute, side] = left - offset
            work.high[attribute, side] = left - offset
            work.present[side, left] = 1
            work.costs[attribute, side] = 0.0


@kernel
def close_halves(geometry: Any, work: Any, size: int) -> None:
    """Forget which codes the halves have: those of the group and of the centres, not the whole domain."""
    for attribute in range(work.codes.shape[0]):
        offset = geometry.code_offsets[attribute]
        for side in range(2):
            work.present[side, offset + work.low[attribute, side]] = 0  # FLAT: still the code nearest to the centre
            if geometry.kinds[attribute] == FLAT:
                for place in range(size):
                    work.present[side, offset + work.codes[attribute, place]] = 0


@kernel
def extend_half(geometry: Any, codes: Any, side: int, low: Any, high: Any, present: Any, costs: Any) -> None:
    """Grow the box of a half by the codes of a record: int32 (attributes,)."""
    for attribute in range(codes.shape[0]):
        code = np.int64(codes[attribute])
        if geometry.kinds[attribute] == FLAT:
            present[side, geometry.code_offsets[attribute] + code] = 1
        elif code < low[attribute, side] or code > high[attribute, side]:
            bottom, top = min(low[attribute, side], code), max(high[attribute, side], code)
            low[attribute, side], high[attribute, side] = bottom, top
            costs[attribute, side] = geometry.weights[attribute] * range_cost(geometry, attribute, bottom, top)


@kernel
def grow_halves(geometry: Any, work: Any, size: int, total: bool, state: Any) -> Any:
    """In random order let each record join the half whose total loss it raises less, the smaller one on a tie.

    With `total`: the half whose total loss is lower once it has the record.
    A group that was shuffled when it was loaded is read in that order, from a random place on.
    IN  work.centres: where the boxes start. OUT work.side, work.delta.
    Returns the size of the first half and True, for with another shuffle the halves would be others.
    """
    open_halves(geometry, work)
    # Local names: handing the tuples to a function for every cell would cost far more than the work itself.
    turn, rows, low, high, present, costs = work.turn, work.rows, work.low, work.high, work.present, work.costs
    kinds, offsets, weights, steps = geometry.kinds, geometry.code_offsets, geometry.weights, work.steps
    loss_one, loss_other, first, start = 0.0, 0.0, 0, random_below(state, size)
    for number in range(size):
        if size > LARGE:
            place = start + number if start + number < size else start + number - size
        else:
            chosen = number + random_below(state, size - number)
            turn[number], turn[chosen] = turn[chosen], turn[number]
            place = turn[number]
        one, other = 0.0, 0.0
        new_to_one, new_to_other = False, False
        for attribute in range(rows.shape[1]):
            code = np.int64(rows[place, attribute])
            if kinds[attribute] == FLAT:
                if present[0, offsets[attribute] + code] == 0:
                    new_to_one = True
                    one += steps[attribute]
                if present[1, offsets[attribute] + code] == 0:
                    new_to_other = True
                    other += steps[attribute]
                continue
            bottom, top = low[attribute, 0], high[attribute, 0]
            if code < bottom or code > top:
                new_to_one = True
                cost = range_cost(geometry, attribute, min(bottom, code), max(top, code))
                one += weights[attribute] * cost - costs[attribute, 0]
            bottom, top = low[attribute, 1], high[attribute, 1]
            if code < bottom or code > top:
                new_to_other = True
                cost = range_cost(geometry, attribute, min(bottom, code), max(top, code))
                other += weights[attribute] * cost - costs[attribute, 1]
        delta = loss_one + (first + 1) * one - loss_other - (number - first + 1) * other
        if total:
            delta += first * loss_one - (number - first) * loss_other
        work.delta[place] = delta
        side = 0 if delta < 0.0 or (delta == 0.0 and first * 2 <= number) else 1
        work.side[place] = side
        if side == 0:
            first += 1
            loss_one += one
        else:
            loss_other += other
        if (new_to_one and side == 0) or (new_to_other and side == 1):
            extend_half(geometry, rows[place], side, low, high, present, costs)
    close_halves(geometry, work, size)
    return first, True


@kernel
def top_up(work: Any, size: int, side: int, need: int) -> None:
    """Move the `need` records of the other half that lose least by it to this side, found with a heap of that size."""
    sign = 1.0 if side == 0 else -1.0
    heap, count = work.heap, 0
    for place in range(size):
        if work.side[place] == side:
            continue
        price = sign * work.delta[place]
        if count == need:
            if price >= sign * work.delta[heap[0]]:
                continue
            hole = 0  # replace the dearest, then let it sink
            while True:
                child = 2 * hole + 1
                if child >= count:
                    break
                if child + 1 < count and sign * work.delta[heap[child + 1]] > sign * work.delta[heap[child]]:
                    child += 1
                if price >= sign * work.delta[heap[child]]:
                    break
                heap[hole] = heap[child]
                hole = child
        else:
            hole = count
            count += 1
            while hole > 0 and sign * work.delta[heap[(hole - 1) // 2]] < price:
                heap[hole] = heap[(hole - 1) // 2]
                hole = (hole - 1) // 2
        heap[hole] = place
    for number in range(count):
        work.side[heap[number]] = side


@kernel
def balance(work: Any, size: int, first: int, k: int) -> int:
    """Top the half up that has fewer than k records; returns the size of the first half."""
    side = 0 if first < size - first else 1
    have = first if side == 0 else size - first
    if have < k:
        top_up(work, size, side, k - have)
        have = k
    return have if side == 0 else size - have
