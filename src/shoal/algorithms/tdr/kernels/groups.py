"""The groups of one QID during top-down refinement: split by a refinement, then measured for the next one.

The rows of a group are one segment of `order`, and of the codes and weights, which are kept in that order: both
kernels read memory from front to back, so that the time per record does not grow with the table. The groups that hold
a cut value of an attribute form a linked list (`head` of the value, `following` per attribute and group), so a
refinement walks over its own groups and no others.

For every cut value there is a floor: the smallest part that any group would be left with if that value were refined
now. Splitting a group never raises a floor (a part of a group is cut into parts that are not larger), so floors are
kept by taking minima over the new groups alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def _reorder(array: NDArray[Any], targets: Int32s, first: int, last: int, scratch: NDArray[Any]) -> None:
    """Move the entries first .. last - 1 of an array to their targets, which are the same places in another order."""
    for position in range(first, last):
        scratch[targets[position]] = array[position]
    for position in range(first, last):
        array[position] = scratch[position]


@kernel
def split_groups(
    codes: Int32s,  # IN/OUT  (attributes of this QID, rows) int32: in the order of `order`
    weights: Int64s,  # IN/OUT  (rows,) int64: likewise
    offsets: Int64s,  # IN  (attributes of this QID,) int64: where its codes begin in the next table
    value_of_code: Int32s,  # IN  (all codes,) int32: the cut value of each code
    slot_counts: Int32s,  # IN  (values,) int32: 0 for values that are never refined again
    place: int,  # IN  the attribute that is refined, by its place in this QID
    slots: Int32s,  # IN  (size of the attribute,) int32: the child that each code goes to
    children: Int32s,  # IN  (child slots,) int32: the cut value of each child
    value: int,  # IN  the cut value that is refined
    order: Int32s,  # IN/OUT  (rows,) int32: rows, group by group
    targets: Int32s,  # scratch (rows,) int32
    scratch: Int32s,  # scratch (rows,) int32
    weight_scratch: Int64s,  # scratch (rows,) int64
    start: Int32s,  # IN/OUT  (capacity,) int32: first place of each group in `order`
    end: Int32s,  # IN/OUT  (capacity,) int32: one past its last place
    size: Int64s,  # IN/OUT  (capacity,) int64: records of each group
    head: Int32s,  # IN/OUT  (values,) int32: first group of each cut value, -1 if none
    following: Int32s,  # IN/OUT  (attributes of this QID, capacity) int32: next group with the same value, or -1
    count: int,  # IN  number of groups before
    touched: Int32s,  # OUT (capacity,) int32: the groups that come out of this
    changed: Flags,  # OUT (capacity,) bool: whether the group is new, and not only renamed
) -> tuple[int, int, int]:
    """Split every group of a cut value among its children; returns (groups now, groups touched, smallest of them)."""
    width = children.shape[0]
    row_counts = np.zeros(width, np.int64)
    record_counts = np.zeros(width, np.int64)
    places = np.zeros(width, np.int64)
    touched_count = 0
    smallest = 2**62
    column = codes[place]
    group = head[value]
    head[value] = -1
    while group >= 0:
        after = following[place, group]
        first, last = start[group], end[group]
        row_counts[:] = 0
        record_counts[:] = 0
        for position in range(first, last):
            slot = slots[column[position]]
            row_counts[slot] += 1
            record_counts[slot] += weights[position]
        filled = 0
        next_place = first
        for slot in range(width):
            places[slot] = next_place
            next_place += row_counts[slot]
            if row_counts[slot] > 0:
                filled += 1
        if filled > 1:
            for position in range(first, last):
                slot = slots[column[position]]
                targets[position] = places[slot]
                places[slot] += 1
            _reorder(order, targets, first, last, scratch)
            _reorder(weights, targets, first, last, weight_scratch)
            for other in range(codes.shape[0]):
                # Codes of a value that is never refined again all mean that value: in which order does not matter.
                if slot_counts[value_of_code[offsets[other] + codes[other, first]]] != 0:
                    _reorder(codes[other], targets, first, last, scratch)
        position = first
        parent_taken = False
        for slot in range(width):
            if row_counts[slot] == 0:
                continue
            part = group
            if parent_taken:
                part = count
                count += 1
                for other in range(following.shape[0]):  # next to its parent in the lists of all other attributes
                    if other != place:
                        following[other, part] = following[other, group]
                        following[other, group] = part
            parent_taken = True
            start[part] = position
            position += row_counts[slot]
            end[part] = position
            size[part] = record_counts[slot]
            smallest = min(smallest, record_counts[slot])
            following[place, part] = head[children[slot]]
            head[children[slot]] = part
            touched[touched_count] = part
            changed[touched_count] = filled > 1
            touched_count += 1
        group = after
    return count, touched_count, smallest


@kernel
def measure_groups(
    codes: Int32s,  # IN  (attributes of this QID, rows) int32: in the order of `order`
    weights: Int64s,  # IN  (rows,) int64: likewise
    refined: int,  # IN  place of the attribute just refined: groups that did not change are measured on it alone
    offsets: Int64s,  # IN  (attributes of this QID,) int64: where its codes begin in the two tables below
    value_of_code: Int32s,  # IN  (all codes,) int32: the cut value of each code
    slot_of_code: Int32s,  # IN  (all codes,) int32: its child slot; of a suppressed code the number of its disclosure
    slot_counts: Int32s,  # IN/OUT  (values,) int32: child slots; 0 nothing to measure, -1 suppressed values
    open_values: Flags,  # IN/OUT  (values,) bool: disclosures that are still possible; cleared if too small
    threshold: int,  # IN  records that every group of this QID needs
    start: Int32s,  # IN  (capacity,) int32
    end: Int32s,  # IN  (capacity,) int32
    size: Int64s,  # IN  (capacity,) int64
    touched: Int32s,  # IN  (capacity,) int32
    changed: Flags,  # IN  (capacity,) bool
    touched_count: int,  # IN
    counts: Int64s,  # scratch (largest attribute + 1,) int64, all zero, left all zero
    floors: Int64s,  # IN/OUT  (values,) int64: the smallest part that refining a value leaves
) -> None:
    """Lower the floors by what refinements would make of the touched groups. Reads the rows of these groups only."""
    for number in range(touched_count):
        group = touched[number]
        first, last = start[group], end[group]
        for place in range(codes.shape[0]):
            if not changed[number] and place != refined:
                continue
            column = codes[place]
            offset = offsets[place]
            value = value_of_code[offset + column[first]]
            slot_count = slot_counts[value]
            if slot_count > 0:
                for position in range(first, last):
                    counts[slot_of_code[offset + column[position]]] += weights[position]
                smallest = floors[value]
                for slot in range(slot_count):
                    if counts[slot] > 0:
                        smallest = min(smallest, counts[slot])
                    counts[slot] = 0
                floors[value] = smallest
                if smallest < threshold:
                    slot_counts[value] = 0
            elif slot_count < 0:
                for position in range(first, last):
                    counts[column[position]] += weights[position]
                for position in range(first, last):
                    code = column[position]
                    part = counts[code]
                    if part == 0:
                        continue
                    counts[code] = 0
                    disclosure = slot_of_code[offset + code]
                    if not open_values[disclosure]:
                        continue
                    if size[group] > part:
                        part = min(part, size[group] - part)
                    floors[disclosure] = min(floors[disclosure], part)
                    if part < threshold:
                        open_values[disclosure] = False


@kernel
def write_groups(
    order: Int32s,  # IN  (rows,) int32
    start: Int32s,  # IN  (capacity,) int32
    end: Int32s,  # IN  (capacity,) int32
    count: int,  # IN  number of groups
    group_of_row: Int32s,  # OUT (rows,) int32
) -> None:
    """The group number of every row."""
    for group in range(count):
        for position in range(start[group], end[group]):
            group_of_row[order[position]] = group
