"""Which classes of two releases can hold the same person: their cells share a value on every attribute.

The classes of the other release come in blocks of neighbours, each with the box around them, so that most are passed
over by the block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel


@kernel
def _range_meets_set(low: float, high: float, members: NDArray[np.float64], start: int, end: int) -> bool:
    """Whether a sorted set has a member in a range."""
    stop = end
    while start < stop:
        middle = (start + stop) // 2
        if members[middle] < low:
            start = middle + 1
        else:
            stop = middle
    return start < end and members[start] <= high


@kernel
def _sets_meet(
    one: NDArray[np.float64], place: int, end: int, other: NDArray[np.float64], other_place: int, other_end: int
) -> bool:
    """Whether two sorted sets have a member in common."""
    while place < end and other_place < other_end:
        if one[place] == other[other_place]:
            return True
        if one[place] < other[other_place]:
            place += 1
        else:
            other_place += 1
    return False


@kernel
def _sets_fit(
    one: int,
    other: int,
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
    """Whether two classes whose ranges meet share a value where one of the cells is a scattered set."""
    for at in range(low.shape[1]):
        if missing[one, at] == 1 and other_missing[other, at] == 1:
            continue
        start, end = set_start[one, at], set_end[one, at]
        from_other, to_other = other_start[other, at], other_end[other, at]
        fits = True
        if start >= 0 and from_other >= 0:
            fits = _sets_meet(members, start, end, other_members, from_other, to_other)
        elif start >= 0:
            fits = _range_meets_set(other_low[other, at], other_high[other, at], members, start, end)
        elif from_other >= 0:
            fits = _range_meets_set(low[one, at], high[one, at], other_members, from_other, to_other)
        if not fits:
            return False
    return True


@kernel
def fitting_pairs(
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
    order: NDArray[np.int64],
    block_start: NDArray[np.int64],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
) -> int:
    """The pairs of classes that share a value on every attribute.

    IN   low, high      (classes, attributes) positions that a class's cell covers; low above high: none
    IN   missing        (classes, attributes) 1 where the cell covers missing values
    IN   set_start/end  (classes, attributes) the cell's values in `members` where it is a scattered set, else -1
    IN   members        sorted positions of scattered sets
    IN   other_...      the same of the other release
    IN   order          (other classes,) neighbours next to each other
    IN   block_start    (blocks + 1,) where each block of `order` begins
    OUT  first, second  (pairs,) class in each release, as many as there is room for

    Returns the number of pairs, also those without room.
    """
    blocks, width = block_start.shape[0] - 1, low.shape[1]
    around_low, around_high = np.full((blocks, width), np.inf), np.full((blocks, width), -np.inf)
    around_missing = np.zeros((blocks, width), dtype=np.uint8)
    for block in range(blocks):
        for place in range(block_start[block], block_start[block + 1]):
            other = order[place]
            for at in range(width):
                around_low[block, at] = min(around_low[block, at], other_low[other, at])
                around_high[block, at] = max(around_high[block, at], other_high[other, at])
                around_missing[block, at] |= other_missing[other, at]
    found = 0
    for one in range(low.shape[0]):
        for block in range(blocks):
            near = True
            for at in range(width):
                if low[one, at] > around_high[block, at] or around_low[block, at] > high[one, at]:
                    if missing[one, at] == 0 or around_missing[block, at] == 0:
                        near = False
                        break
            if not near:
                continue
            for place in range(block_start[block], block_start[block + 1]):
                other, near = order[place], True
                for at in range(width):
                    if low[one, at] > other_high[other, at] or other_low[other, at] > high[one, at]:
                        if missing[one, at] == 0 or other_missing[other, at] == 0:
                            near = False
                            break
                if near and _sets_fit(
                    one, other, low, high, missing, set_start, set_end, members, other_low, other_high,
                    other_missing, other_start, other_end, other_members,
                ):  # fmt: skip
                    if found < first.shape[0]:
                        first[found] = one
                        second[found] = other
                    found += 1
    return found
