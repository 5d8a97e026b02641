"""Which pairs of classes lie inside other pairs: whoever is at such a place may as well be in the other pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel


@kernel
def _subset(
    inner: NDArray[np.float64], place: int, end: int, outer: NDArray[np.float64], start: int, stop: int
) -> bool:
    """Whether every member of a sorted set is in another one."""
    while place < end:
        while start < stop and outer[start] < inner[place]:
            start += 1
        if start == stop or outer[start] != inner[place]:
            return False
        place += 1
    return True


@kernel
def _cell_inside(
    inner: int,
    outer: int,
    at: int,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    missing: NDArray[np.uint8],
    set_start: NDArray[np.int64],
    set_end: NDArray[np.int64],
    members: NDArray[np.float64],
    other_low: NDArray[np.float64],
    other_high: NDArray[np.float64],
    other_missing: NDArray[np.uint8],
    other_start: NDArray[np.int64],
    other_end: NDArray[np.int64],
    other_members: NDArray[np.float64],
) -> bool:
    """Whether all that a cell covers is covered by a cell of the other release."""
    if missing[inner, at] == 1 and other_missing[outer, at] == 0:
        return False
    if low[inner, at] > high[inner, at]:  # it covers missing values only
        return True
    if low[inner, at] < other_low[outer, at] or high[inner, at] > other_high[outer, at]:
        return False
    if other_start[outer, at] < 0:
        return True
    if set_start[inner, at] >= 0:
        return _subset(
            members, set_start[inner, at], set_end[inner, at], other_members, other_start[outer, at],
            other_end[outer, at],
        )  # fmt: skip
    if low[inner, at] != high[inner, at]:  # a range may cover what a scattered set leaves out
        return False
    for place in range(other_start[outer, at], other_end[outer, at]):
        if other_members[place] == low[inner, at]:
            return True
    return False


@kernel
def classes_inside(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    missing: NDArray[np.uint8],
    set_start: NDArray[np.int64],
    set_end: NDArray[np.int64],
    members: NDArray[np.float64],
    other_low: NDArray[np.float64],
    other_high: NDArray[np.float64],
    other_missing: NDArray[np.uint8],
    other_start: NDArray[np.int64],
    other_end: NDArray[np.int64],
    other_members: NDArray[np.float64],
    inside: NDArray[np.uint8],
) -> None:
    """For pairs of classes: whether the first lies inside the second. Arrays as in `fitting_pairs`.

    OUT  inside  (pairs,)
    """
    for pair in range(first.shape[0]):
        inside[pair] = 1
        for at in range(low.shape[1]):
            if not _cell_inside(
                first[pair], second[pair], at, low, high, missing, set_start, set_end, members, other_low,
                other_high, other_missing, other_start, other_end, other_members,
            ):  # fmt: skip
                inside[pair] = 0
                break


@kernel
def inside_others(
    asked: NDArray[np.int64],
    mine: NDArray[np.int32],
    theirs: NDArray[np.int32],
    start: NDArray[np.int64],
    slots: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    missing: NDArray[np.uint8],
    set_start: NDArray[np.int64],
    set_end: NDArray[np.int64],
    members: NDArray[np.float64],
    other_low: NDArray[np.float64],
    other_high: NDArray[np.float64],
    other_missing: NDArray[np.uint8],
    other_start: NDArray[np.int64],
    other_end: NDArray[np.int64],
    other_members: NDArray[np.float64],
    by: NDArray[np.int64],
) -> None:
    """For pairs (g, h): whether a good pair (g, h') holds every value that g and h share. Arrays as in `fitting_pairs`.

    IN   asked         (some,) numbers of pairs
    IN   mine, theirs  (pairs,) g and h of every pair; low ... are those of g's release, other_low ... of h's
    IN   start, slots  the good pairs of each g: slots[start[g]] to slots[start[g + 1]]
    OUT  by            (some,) the number of the first such pair; -1: none

    An attribute is held if h' reaches over the range that g and h share or, where h' is a scattered set, over all of
    g's or all of h's cell.
    """
    for place in range(asked.shape[0]):
        pair = asked[place]
        by[place] = -1
        g, h = mine[pair], theirs[pair]
        for slot in range(start[g], start[g + 1]):
            if slots[slot] == pair:
                continue
            wide, held = theirs[slots[slot]], True
            for at in range(low.shape[1]):
                both_missing = missing[g, at] == 1 and other_missing[h, at] == 1
                if both_missing and other_missing[wide, at] == 0:
                    held = False
                    break
                lowest, highest = max(low[g, at], other_low[h, at]), min(high[g, at], other_high[h, at])
                if lowest > highest:
                    continue
                if other_start[wide, at] < 0:
                    held = other_low[wide, at] <= lowest and other_high[wide, at] >= highest
                else:
                    held = _cell_inside(
                        g, wide, at, low, high, missing, set_start, set_end, members, other_low, other_high,
                        other_missing, other_start, other_end, other_members,
                    ) or _cell_inside(
                        h, wide, at, other_low, other_high, other_missing, other_start, other_end, other_members,
                        other_low, other_high, other_missing, other_start, other_end, other_members,
                    )  # fmt: skip
                if not held:
                    break
            if held:
                by[place] = slots[slot]
                break
