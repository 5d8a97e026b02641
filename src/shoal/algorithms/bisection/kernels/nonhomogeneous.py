"""Non-homogeneous generalization in compiled form: partitions, rings, boxes and random assignments."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.algorithms.bisection.kernels.split import balance, grow_halves
from shoal.algorithms.bisection.kernels.split_work import load_group, part_halves
from shoal.kernels.compile import kernel
from shoal.kernels.geometry import range_cost
from shoal.kernels.random import next_bits, random_below

ONE = np.uint64(1)
SEED_STEPS = 3  # how often the seeds move to the record farthest from the other one


@kernel
def pair_loss(geometry: Any, codes: Any, one: int, other: int) -> float:
    """Weighted loss of the box of two records."""
    total = 0.0
    for attribute in range(codes.shape[0]):
        low, high = int(codes[attribute, one]), int(codes[attribute, other])
        if low != high:
            total += geometry.weights[attribute] * range_cost(geometry, attribute, min(low, high), max(low, high))
    return total


@kernel
def farthest(geometry: Any, codes: Any, size: int, record: int) -> int:
    """The record of the group whose box with this one loses most; the first of equals."""
    found, most = record, -1.0
    for other in range(size):
        loss = pair_loss(geometry, codes, record, other)
        if loss > most:
            found, most = other, loss
    return found


@kernel
def far_seeds(geometry: Any, work: Any, size: int, state: Any) -> None:
    """Two records far from each other as the centres of the halves."""
    one = other = random_below(state, size)
    for _ in range(SEED_STEPS):
        one = other
        other = farthest(geometry, work.codes, size, one)
    for attribute in range(work.codes.shape[0]):
        offset = geometry.code_offsets[attribute]
        work.centres[attribute, 0] = geometry.positions[offset + work.codes[attribute, one]]
        work.centres[attribute, 1] = geometry.positions[offset + work.codes[attribute, other]]


@kernel
def partition_records(
    geometry: Any,
    codes: Any,
    order: Any,
    begin: int,
    end: int,
    seed: Any,
    k: int,
    most: int,
    once: bool,
    work: Any,
    last: Any,
    seeds: Any,
) -> int:
    """Split order[begin:end] until no partition has more than `most` records; or only `once`. As `cb.bisect_groups`."""
    depth = (end - begin) // k + 4
    stack = np.empty((depth, 2), np.int64)
    stack_seeds = np.empty(depth, np.uint64)
    stack[0, 0], stack[0, 1], stack_seeds[0] = begin, end, seed
    state = np.empty(1, np.uint64)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        left, right = stack[waiting, 0], stack[waiting, 1]
        size = right - left
        state[0] = stack_seeds[waiting] | ONE
        seeds[0], seeds[1] = next_bits(state), next_bits(state)
        if size <= most or size < 2 * k:
            last[right - 1] = 1
            continue
        load_group(codes, order, left, size, work, state)
        far_seeds(geometry, work, size, state)
        first, _ = grow_halves(geometry, work, size, False, state)
        first = balance(work, size, first, k)
        part_halves(order, left, size, work.side, work.turn)
        if once:
            return first
        stack[waiting, 0], stack[waiting, 1], stack_seeds[waiting] = left, left + first, seeds[0]
        stack[waiting + 1, 0], stack[waiting + 1, 1], stack_seeds[waiting + 1] = left + first, right, seeds[1]
        waiting += 2
    return 0


@kernel
def make_ring(geometry: Any, codes: Any, order: Any, begin: int, end: int, local: Any, spare: Any) -> None:
    """Put the records of a partition into a ring in which neighbours are alike.

    A chain goes from each record to the nearest one left. The ring takes every other record of the chain on the way
    out and the rest on the way back, so that its two ends meet. Cost O(size^2).
    WORK local int32 (attributes, size), spare int64 (size,)
    """
    size = end - begin
    for place in range(size):
        for attribute in range(codes.shape[0]):
            local[attribute, place] = codes[attribute, order[begin + place]]
        spare[place] = place
    for done in range(1, size):
        chosen, least = done, np.inf
        for place in range(done, size):
            loss = pair_loss(geometry, local, spare[done - 1], spare[place])
            if loss < least:
                chosen, least = place, loss
        spare[done], spare[chosen] = spare[chosen], spare[done]
    for place in range(size):
        spare[place] = order[begin + spare[place]]
    for place in range(size):
        target = place // 2 if place % 2 == 0 else size - 1 - place // 2
        order[begin + target] = spare[place]


@kernel
def ring_boxes(codes: Any, order: Any, begin: int, end: int, k: int, low: Any, high: Any) -> None:
    """The box at each place of the ring covers the record there and the k - 1 that follow it.

    OUT low, high  int32 (attributes, records): entries begin..end
    """
    size = end - begin
    for attribute in range(codes.shape[0]):
        for place in range(size):
            bottom = codes[attribute, order[begin + place]]
            top = bottom
            for step in range(1, k):
                code = codes[attribute, order[begin + (place + step) % size]]
                bottom, top = min(bottom, code), max(top, code)
            low[attribute, begin + place] = bottom
            high[attribute, begin + place] = top


@kernel
def random_assignment(size: int, k: int, state: Any, used: Any, step_of: Any, taker: Any, choice: Any) -> None:
    """One of k disjoint perfect matchings of records and boxes: each of the k boxes of a record is equally likely.

    The record at a place may take the box `step` places before it, 0 <= step < k. Matchings are drawn one after
    another and their pairs removed from the graph, which stays regular; the last one drawn counts. A record without
    a box walks: it picks one of its boxes at random, and if that is taken, its taker walks on.
    OUT step_of  int64 (size,) the box of each record; WORK used uint8 (size, k), taker, choice int64 (size,)
    """
    for record in range(size):
        for step in range(k):
            used[record, step] = 0
    draws = 1 + random_below(state, k)
    for draw in range(draws):
        for record in range(size):
            step_of[record] = -1
            taker[record] = -1
        for record in range(size):
            walker = record
            while walker >= 0:
                step = random_below(state, k)
                while used[walker, step] or step == step_of[walker]:
                    step = random_below(state, k)
                choice[walker] = step
                walker = taker[(walker - step + size) % size]
            walker = record
            while walker >= 0:  # along the last choices: loops of the walk fall out by themselves
                box = (walker - choice[walker] + size) % size
                step_of[walker] = choice[walker]
                following = taker[box]
                taker[box] = walker
                walker = following
        if draw < draws - 1:
            for record in range(size):
                used[record, step_of[record]] = 1


@kernel
def box_rings(
    geometry: Any,
    codes: Any,
    order: Any,
    starts: Any,
    first: int,
    last: int,
    seeds: Any,
    k: int,
    low: Any,
    high: Any,
    box_of_record: Any,
) -> None:
    """Ring, boxes and assignment of the partitions first..last.

    IN     starts         int64 (partitions + 1,); seeds uint64 (partitions,)
    IN/OUT order          int64 (records,) by partition; then in the order of the rings
    OUT    low, high      int32 (attributes, records) the box at every place
    OUT    box_of_record  int32 (records,)
    """
    widest = 0
    for partition in range(first, last):
        widest = max(widest, starts[partition + 1] - starts[partition])
    local, spare = np.empty((codes.shape[0], widest), np.int32), np.empty(widest, np.int64)
    used, state = np.zeros((widest, k), np.uint8), np.empty(1, np.uint64)
    step_of, taker = np.empty(widest, np.int64), np.empty(widest, np.int64)
    for partition in range(first, last):
        begin, end = starts[partition], starts[partition + 1]
        size = end - begin
        make_ring(geometry, codes, order, begin, end, local, spare)
        covered = min(k, size)
        ring_boxes(codes, order, begin, end, covered, low, high)
        state[0] = seeds[partition] | ONE
        random_assignment(size, covered, state, used, step_of, taker, spare)
        for place in range(size):
            box_of_record[order[begin + place]] = begin + (place - step_of[place] + size) % size
