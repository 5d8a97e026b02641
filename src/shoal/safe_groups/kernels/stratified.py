"""Cut a table in two, again and again, so that both halves of every cut are safe and cost least.

The records stand in one line per attribute, ordered by code, and in one more line ordered by sort (records that are
alike for every rule). A node is the same stretch of all lines. A cut parts every line and keeps its order, so nothing
is ever sorted again: at the median of an attribute, the lower half is the front of that attribute's line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Int32, Int64, UInt8
from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost
from shoal.kernels.safety import add_record, group_deficit, remove_record


class Nodes(NamedTuple):
    """The lines, and room for one cut."""

    codes: Int32  # (attributes, records)
    sorts: Int64  # (records,) numbers of the sorts, from 0
    lines: Int32  # (attributes + 1, records) the records by the code of each attribute; the last line: by sort
    side: UInt8  # (2, records) which half each record is in: of the cut at hand, of the best one
    going_left: Int64  # (2, sorts) how many of each sort go left, how many went; 0 between uses
    marks: Int64  # (2, all codes) the last cut in which each half had a FLAT code
    row: Int32  # (row length,) counts for the rules, 0 between uses
    spare: Int32  # (records,)


@kernel
def mark_front(line: Any, begin: Any, end: Any, front: Any, side: Any) -> None:
    """The first `front` records of a stretch go left."""
    for place in range(begin, end):
        side[line[place]] = 0 if place < begin + front else 1


@kernel
def share_out_sorts(nodes: Any, begin: Any, end: Any) -> None:
    """How many of every sort go left: half of them; of odd ones every second time one more."""
    line, sorts, going_left = nodes.lines[-1], nodes.sorts, nodes.going_left
    odd = 0
    place = begin
    while place < end:
        sort = sorts[line[place]]
        first = place
        while place < end and sorts[line[place]] == sort:
            place += 1
        count = place - first
        odd += count % 2
        going_left[0, sort] = (count + (count % 2) * (odd % 2)) // 2


@kernel
def mark_in_sorts(nodes: Any, attribute: Any, begin: Any, end: Any) -> Any:
    """The lower half of every sort goes left, by the codes of an attribute; how many went left is returned."""
    line, sorts, going_left, side = nodes.lines[attribute], nodes.sorts, nodes.going_left, nodes.side[0]
    left = 0
    for place in range(begin, end):
        record = line[place]
        sort = sorts[record]
        if going_left[1, sort] < going_left[0, sort]:
            going_left[1, sort] += 1
            side[record] = 0
            left += 1
        else:
            side[record] = 1
    for place in range(begin, end):
        going_left[1, sorts[line[place]]] = 0
    return left


@kernel
def halves_loss(geometry: Any, nodes: Any, begin: Any, end: Any, left: Any, most: Any, stamp: Any) -> Any:
    """The loss of both halves of the cut at hand; stops early, with a larger number, once above `most`.

    The lines are in the order of the codes: the first and last record of a side are its lowest and highest code.
    """
    total, side = 0.0, nodes.side[0]
    for attribute in range(nodes.codes.shape[0]):
        line, codes = nodes.lines[attribute], nodes.codes[attribute]
        for half in range(2):
            size = left if half == 0 else end - begin - left
            low, high = begin, end - 1
            if geometry.kinds[attribute] == FLAT:
                start = geometry.code_offsets[attribute]
                distinct = 0
                for place in range(begin, end):
                    slot = start + codes[line[place]]
                    if side[line[place]] == half and nodes.marks[half, slot] != stamp:
                        nodes.marks[half, slot] = stamp
                        distinct += 1
                domain = geometry.code_offsets[attribute + 1] - start
                total += size * geometry.weights[attribute] * (distinct - 1) / max(1, domain - 1)
                continue
            while side[line[low]] != half:
                low += 1
            while side[line[high]] != half:
                high -= 1
            bottom: Any = np.int64(codes[line[low]])
            top: Any = np.int64(codes[line[high]])
            if bottom < top:
                total += size * geometry.weights[attribute] * range_cost(geometry, attribute, bottom, top)
        if total >= most:
            return total
    return total


@kernel
def half_is_safe(safety: Any, nodes: Any, begin: Any, end: Any, half: Any, size: Any) -> Any:
    """True if one half of the cut at hand holds every rule."""
    line, side, row = nodes.lines[-1], nodes.side[0], nodes.row
    for place in range(begin, end):
        if side[line[place]] == half:
            add_record(safety, row, np.int64(line[place]))
    deficit = group_deficit(safety, row, size)
    for place in range(begin, end):
        if side[line[place]] == half:
            remove_record(safety, row, np.int64(line[place]))
    return deficit == 0.0


@kernel
def plain_front(nodes: Any, attribute: Any, begin: Any, end: Any, with_median: Any) -> Any:
    """How many records of a node have a code below the median of an attribute, or up to it."""
    line, codes = nodes.lines[attribute], nodes.codes[attribute]
    middle = begin + (end - begin) // 2
    median = codes[line[middle]]
    place = middle
    if with_median:
        while place < end and codes[line[place]] == median:
            place += 1
    else:
        while place > begin and codes[line[place - 1]] == median:
            place -= 1
    return place - begin


@kernel
def best_cut(
    geometry: Any, safety: Any, numbers: Any, nodes: Any, begin: Any, end: Any, smallest: Any, stamp: Any
) -> Any:
    """The cut of least loss with two safe going_left, into nodes.side[1]; the size of its left half is returned, or 0.

    IN  numbers  float64 (2, rules, 2) the rules' numbers for plain cuts and for cuts within every sort
    """
    size = end - begin
    best, best_left = np.inf, 0
    share_out_sorts(nodes, begin, end)
    for attribute in range(nodes.codes.shape[0]):
        line, codes = nodes.lines[attribute], nodes.codes[attribute]
        if codes[line[begin]] == codes[line[end - 1]]:
            continue
        for kind in range(3):
            if kind < 2:
                left = plain_front(nodes, attribute, begin, end, kind == 1)
                mark_front(line, begin, end, left, nodes.side[0])
            else:
                left = mark_in_sorts(nodes, attribute, begin, end)
            if min(left, size - left) < smallest:
                continue
            loss = halves_loss(geometry, nodes, begin, end, left, best, stamp + 3 * attribute + kind)
            if loss >= best:
                continue
            safety.numbers[:, :] = numbers[0 if kind < 2 else 1]
            if half_is_safe(safety, nodes, begin, end, 0, left) and half_is_safe(
                safety, nodes, begin, end, 1, size - left
            ):
                best, best_left = loss, left
                for place in range(begin, end):
                    nodes.side[1, line[place]] = nodes.side[0, line[place]]
    return best_left


@kernel
def part_lines(nodes: Any, begin: Any, end: Any) -> None:
    """Every line: the left half of the best cut, then the right one, each in the order it had."""
    for number in range(nodes.lines.shape[0]):
        line = nodes.lines[number]
        kept, moved = begin, 0
        for place in range(begin, end):
            record = line[place]
            if nodes.side[1, record] == 0:
                line[kept] = record
                kept += 1
            else:
                nodes.spare[moved] = record
                moved += 1
        for place in range(moved):
            line[kept + place] = nodes.spare[place]


@kernel
def stratify(geometry: Any, safety: Any, numbers: Any, nodes: Any, smallest: Any, stack: Any, groups: Any) -> Any:
    """Cut the whole table until no node has a safe cut; the number of groups is returned.

    IN  stack   int64 (depth, 2) room for the nodes that are still open: at most one more than there are records
    OUT groups  int32 (records,)
    """
    stack[0, 0], stack[0, 1] = 0, groups.shape[0]
    depth, count, stamp = 1, 0, np.int64(1)
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        left: Any = np.int64(0)
        if end - begin >= 2 * smallest:
            left = best_cut(geometry, safety, numbers, nodes, begin, end, smallest, stamp)
            stamp += 3 * nodes.codes.shape[0]
        if left == 0:
            for place in range(begin, end):
                groups[nodes.lines[0, place]] = count
            count += 1
            continue
        part_lines(nodes, begin, end)
        stack[depth, 0], stack[depth, 1] = begin, begin + left
        stack[depth + 1, 0], stack[depth + 1, 1] = begin + left, end
        depth += 2
    return count
