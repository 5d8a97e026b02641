"""Merging of equivalence classes with their nearest class (KACA).

The distance of two classes is the cost of lifting both to where they meet, each weighted by its size. Classes stand
in blocks (see kernels/climbing.py); a block is looked into only if no class of it is certain to be farther away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int32, Int64
from shoal.kernels.climbing import fill_costs, next_random, take_out
from shoal.kernels.compile import kernel


class Classes(NamedTuple):
    """Equivalence classes. A merged class keeps the number, and the codes, of the one that took the other in."""

    codes: Int32  # (classes, attributes) a code below each cell, flat numbering
    lifts: Float64  # (classes, attributes) cost of the level of each cell
    sizes: Int64  # (classes,)


class Line(NamedTuple):
    """The classes that wait to be merged."""

    queue: Int32  # (classes,)
    queued: Int32  # (classes,) where a class stands in queue, -1 if it does not wait
    counters: Int64  # (2,) how many wait; how many classes there are


@kernel
def distance_within(classes: Any, own: Any, other: Any, costs: Any, limit: Any) -> Any:
    """Distance of two classes; as soon as it is not below the limit, some number that is not below it either.

    IN  costs  of the class `own`, see fill_costs
    """
    codes, lifts, sizes = classes
    own_size = float(sizes[own])
    other_size = float(sizes[other])
    total = 0.0
    for attribute in range(codes.shape[1]):
        lift = lifts[other, attribute]
        top = max(costs[codes[other, attribute]], lift)
        total += own_size * (top - lifts[own, attribute]) + other_size * (top - lift)
        if total >= limit:
            break
    return total


@kernel
def absorb(classes: Any, own: Any, other: Any, costs: Any) -> None:
    """Lift the class `other` to where it meets `own`, and add own's records to it."""
    for attribute in range(classes.codes.shape[1]):
        met = costs[classes.codes[other, attribute]]
        if met > classes.lifts[other, attribute]:
            classes.lifts[other, attribute] = met
    classes.sizes[other] += classes.sizes[own]


@kernel
def _nearest(classes: Any, own: Any, blocks: Any, block_lifts: Any, costs: Any, nearest: Any) -> Any:
    """The nearest other class: the first one found of equals, own's block first.

    A block is skipped when no class of it can be nearer, since no size is below 1 and the code of the block's range
    that is nearest in the tree is the end on own's side, or own's code itself. One long function, because calls
    with many arrays cost more than the work that they would do here.

    OUT nearest  int64 (1,)
    Returns the number of comparisons.
    """
    codes, lifts, sizes = classes
    first, counts, members, _, homes, low, high = blocks
    own_size = float(sizes[own])
    home = homes[own]
    best = np.inf
    nearest[0] = -1
    looked = counts.shape[0]
    for step in range(-1, counts.shape[0]):
        block = home if step < 0 else step
        if step == home or counts[block] == 0:
            continue
        bound = 0.0
        if step >= 0:
            for attribute in range(codes.shape[1]):
                code = min(max(codes[own, attribute], low[block, attribute]), high[block, attribute])
                top = costs[code]
                bound += own_size * (top - lifts[own, attribute]) + max(0.0, top - block_lifts[block, attribute])
                if bound >= best:
                    break
        if bound >= best:
            continue
        looked += counts[block]
        for position in range(first[block], first[block] + counts[block]):
            other = members[position]
            if other == own:
                continue
            other_size = float(sizes[other])
            total = 0.0
            for attribute in range(codes.shape[1]):
                lift = lifts[other, attribute]
                top = max(costs[codes[other, attribute]], lift)
                total += own_size * (top - lifts[own, attribute]) + other_size * (top - lift)
                if total >= best:
                    break
            if total < best:
                best = total
                nearest[0] = other
    return looked


@kernel
def leave_line(line: Any, number: Any) -> None:
    """Take a class out of the line; the last one takes its place."""
    line.counters[0] -= 1
    moved = line.queue[line.counters[0]]
    line.queue[line.queued[number]] = moved
    line.queued[moved] = line.queued[number]
    line.queued[number] = -1


@kernel
def merge_classes(
    ladder: Any,
    classes: Any,
    blocks: Any,
    block_lifts: Any,
    line: Any,
    target: Any,
    state: Any,
    parent: Any,
    budget: Any,
) -> None:
    """Merge classes that wait, drawn at random, with their nearest class, until none waits or the budget is spent.

    IN/OUT classes, blocks  merged classes are taken out of their blocks
    IN/OUT block_lifts      float64 (blocks, attributes) the highest lift in each block
    IN/OUT line             who waits; a partner stops waiting when it has `target` records (0: at once)
    IN/OUT state            uint64 (1,) of the random numbers
    IN/OUT parent           int32 (classes,) the class each was merged into
    IN  budget              comparisons after which to return, so that a caller can report and be interrupted
    """
    costs = np.empty(ladder.join_costs.shape[0], np.float64)
    nearest = np.empty(1, np.int64)
    while line.counters[0] > 0 and line.counters[1] > 1 and budget > 0:
        own = line.queue[int(next_random(state) % np.uint64(line.counters[0]))]
        fill_costs(ladder, classes.codes[own], classes.lifts[own], costs)
        budget -= _nearest(classes, own, blocks, block_lifts, costs, nearest)
        other = nearest[0]
        absorb(classes, own, other, costs)
        home = blocks.homes[other]
        for attribute in range(classes.codes.shape[1]):
            block_lifts[home, attribute] = max(block_lifts[home, attribute], classes.lifts[other, attribute])
        parent[own] = other
        take_out(blocks, own)
        line.counters[1] -= 1
        leave_line(line, own)
        if line.queued[other] >= 0 and classes.sizes[other] >= target:
            leave_line(line, other)
