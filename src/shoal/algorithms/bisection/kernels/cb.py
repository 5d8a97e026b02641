"""Clustering by repeated bisection in compiled form.

The records of a group stand side by side in `order`; a split puts one half before the other. Every node of the tree
of splits has its own random stream, which it hands on to its halves, so the result does not depend on which thread
works on which node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.bisection.kernels.split import balance, deal, grow_halves, measure
from shoal.algorithms.bisection.kernels.split_score import TINY, halves_diverse, halves_loss, move_centres
from shoal.algorithms.bisection.kernels.split_work import load_group, part_halves
from shoal.kernels.compile import kernel
from shoal.kernels.random import next_bits, random_below

ONE = np.uint64(1)
CENTRES, INCREASE, TOTAL = 0, 1, 2  # what decides which half a record joins


@kernel
def random_centres(geometry: Any, work: Any, size: int, state: Any) -> None:
    """Two different records of the group as centres."""
    first = random_below(state, size)
    second = random_below(state, size - 1)
    if second >= first:
        second += 1
    for attribute in range(work.codes.shape[0]):
        offset = geometry.code_offsets[attribute]
        work.centres[attribute, 0] = geometry.positions[offset + work.codes[attribute, first]]
        work.centres[attribute, 1] = geometry.positions[offset + work.codes[attribute, second]]


@kernel
def bisect(
    geometry: Any,
    codes: Any,
    order: Any,
    begin: int,
    size: int,
    k: int,
    rounds: int,
    join: int,
    state: Any,
    diversity: Any,
    work: Any,
) -> int:
    """Split order[begin:begin + size] in two; returns the size of the first half, 0 if no split was allowed.

    IN     codes  int32 (attributes, records)
    IN/OUT order  int64 (records,)
    IN/OUT state  uint64 (1,) random stream of this node
    """
    load_group(codes, order, begin, size, work, state)
    random_centres(geometry, work, size, state)
    best, chosen, settled = np.inf, 0, False
    for number in range(rounds):
        if number > 0:
            move_centres(geometry, work, size)
        if join != CENTRES:
            first, tie = grow_halves(geometry, work, size, join == TOTAL, state)
        else:
            measure(geometry, work, size)
            first, tie = deal(work, size, state)
        first = balance(work, size, first, k)
        # Without ties the same halves have the same centres and give the same halves again: all rounds left are equal.
        settled = number > 0 and not tie
        for place in range(size):
            settled = settled and work.side[place] == work.last[place]
            work.last[place] = work.side[place]
        if settled:
            break
        loss = halves_loss(geometry, work, size, first)
        if loss < best and halves_diverse(diversity, order, begin, work, size, first):
            best, chosen = loss, first
            for place in range(size):
                work.best[place] = work.side[place]
    if chosen > 0:
        part_halves(order, begin, size, work.best, work.turn)
    return chosen


@kernel
def bisect_groups(
    geometry: Any,
    codes: Any,
    order: Any,
    begin: int,
    end: int,
    seed: Any,
    k: int,
    rounds: int,
    join: int,
    once: bool,
    diversity: Any,
    work: Any,
    last: Any,
    seeds: Any,
) -> int:
    """Split order[begin:end] until every group has fewer than 2k records or cannot be split; or only `once`.

    IN  seed   uint64, that of this node of the tree of splits
    OUT last   uint8 (records,): set to 1 where the last record of a finished group stands
    OUT seeds  uint64 (2,) with `once`: the seeds of the halves
    Returns the size of the first half with `once`, if there was a split; else 0.
    """
    depth = (end - begin) // k + 4
    stack = np.empty((depth, 2), np.int64)
    stack_seeds = np.empty(depth, np.uint64)
    stack[0, 0], stack[0, 1], stack_seeds[0] = begin, end, seed
    state = np.empty(1, np.uint64)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        left, right = stack[waiting, 0], stack[waiting, 1]
        state[0] = stack_seeds[waiting] | ONE
        seeds[0], seeds[1] = next_bits(state), next_bits(state)
        first = 0
        if right - left >= 2 * k:
            first = bisect(geometry, codes, order, left, right - left, k, rounds, join, state, diversity, work)
        if first == 0:
            last[right - 1] = 1
            continue
        if once:
            return first
        stack[waiting, 0], stack[waiting, 1], stack_seeds[waiting] = left, left + first, seeds[0]
        waiting += 1
        stack[waiting, 0], stack[waiting, 1], stack_seeds[waiting] = left + first, right, seeds[1]
        waiting += 1
    return 0


@kernel
def parts_diverse(diversity: Any, order: Any, begin: int, end: int, parts: int, counts: Any) -> bool:
    """True if dealing order[begin:end] in turn to so many parts makes each of them diverse."""
    good = True
    for column in range(diversity.codes.shape[0]):
        codes = diversity.codes[column]
        for part in range(parts):
            size = (end - begin - part + parts - 1) // parts
            limit = diversity.shares[column] * size + TINY
            for place in range(begin + part, end, parts):
                counts[0, codes[order[place]]] += 1
                if counts[0, codes[order[place]]] > limit:
                    good = False
            for place in range(begin + part, end, parts):
                counts[0, codes[order[place]]] = 0
            if not good:
                return False
    return good


@kernel
def deal_round_robin(diversity: Any, order: Any, starts: Any, smallest: int, largest: int, groups: Any) -> int:
    """Split every group further: its records, ordered by sensitive value, are dealt in turn to as many parts as can be.

    IN  order     int64 (records,) by group, and inside by sensitive value
    IN  starts    int64 (groups + 1,)
    IN  smallest  no part may have fewer records
    OUT groups    int32 (records,) the part of each record, numbered over all groups
    Returns the number of parts. A number of parts that is not diverse is lowered by one, later by half.
    """
    counts = np.zeros((1, largest), np.int64)
    made = 0
    for group in range(starts.shape[0] - 1):
        begin, end = starts[group], starts[group + 1]
        parts, tried = max(1, (end - begin) // smallest), 0
        while parts > 1 and not parts_diverse(diversity, order, begin, end, parts, counts):
            tried += 1
            parts = parts - 1 if tried < 32 else parts // 2
        for place in range(begin, end):
            groups[order[place]] = made + (place - begin) % parts
        made += parts
    return made
