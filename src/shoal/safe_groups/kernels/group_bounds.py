"""Groups as linked lists of records, and the detail of one group: what it costs when a record leaves or joins.

Shared by the repair and by suppression. The records of a block are numbered 0..records-1. All numbers of records and
groups are int64, so that every function is compiled once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int32, Int64
from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost
from shoal.kernels.safety import add_record, group_deficit, remove_record

NOBODY = np.int64(-1)
NEXT, SORT = 0, 1
FIRST, SIZE = 0, 1
LOW, HIGH = 0, 1
LOSS, DEFICIT = 0, 1
DISTINCT = 4
COUNT, MARK = 0, 1
MEMBER, KIND, EXAMPLE = 0, 1, 2


class Block(NamedTuple):
    """The groups of a block while they change. Few arrays, because every one of them costs compile time."""

    codes: Int32  # (records, attributes)
    chain: Int64  # (2, records): the NEXT record of the same group or -1; the SORT, equal if alike for every rule
    groups: Int64  # (2, groups): the FIRST record of each group, or -1 once it was merged away; its SIZE
    box: Int32  # (2, attributes, groups): the LOW and HIGH code
    scores: Float64  # (2, groups): the LOSS of one record of the group, and the DEFICIT


class GroupDetail(NamedTuple):
    """One group in enough detail to tell what it costs after a record left or joined."""

    edges: Int32  # (5, attributes): lowest, second lowest, highest, second highest code; DISTINCT codes (FLAT)
    codes: Int64  # (2, all codes): how often (COUNT) a FLAT code occurs; a MARK to count another group's codes once
    row: Int32  # (row length,) counts for the rules
    listing: Int64  # (3, most members): MEMBERs that may move; each member's number of sort (KIND); an EXAMPLE of each
    without: Float64  # (most members + 1,) loss of one record after each of them left; the last: nobody left
    growth: Float64  # (most members + 1,) how much that loss grows when each member of another group joins


@kernel
def fill_detail(geometry: Any, safety: Any, block: Any, group: Any, detail: Any) -> Any:
    """Fill the detail of a group; the number of members that may move is returned."""
    attributes = block.codes.shape[1]
    edges = detail.edges
    for attribute in range(attributes):
        edges[0, attribute] = np.iinfo(np.int32).max
        edges[1, attribute] = np.iinfo(np.int32).max
        edges[2, attribute] = -1
        edges[3, attribute] = -1
        edges[DISTINCT, attribute] = 0
    most = detail.listing.shape[1]
    stride = (block.groups[SIZE, group] + most - 1) // most
    listed = 0
    place = 0
    record = block.groups[FIRST, group]
    while record >= 0:
        add_record(safety, detail.row, record)
        if place % stride == 0:
            detail.listing[MEMBER, listed] = record
            listed += 1
        place += 1
        for attribute in range(attributes):
            code = block.codes[record, attribute]
            if geometry.kinds[attribute] == FLAT:
                slot = geometry.code_offsets[attribute] + code
                if detail.codes[COUNT, slot] == 0:
                    edges[DISTINCT, attribute] += 1
                detail.codes[COUNT, slot] += 1
            if code < edges[0, attribute]:
                edges[1, attribute] = edges[0, attribute]
                edges[0, attribute] = code
            elif code < edges[1, attribute]:
                edges[1, attribute] = code
            if code > edges[2, attribute]:
                edges[3, attribute] = edges[2, attribute]
                edges[2, attribute] = code
            elif code > edges[3, attribute]:
                edges[3, attribute] = code
        record = block.chain[NEXT, record]
    return listed


@kernel
def clear_detail(geometry: Any, safety: Any, block: Any, group: Any, detail: Any) -> None:
    """Take out again what `fill_detail` counted, before the group changes."""
    record = block.groups[FIRST, group]
    while record >= 0:
        remove_record(safety, detail.row, record)
        for attribute in range(block.codes.shape[1]):
            if geometry.kinds[attribute] == FLAT:
                detail.codes[COUNT, geometry.code_offsets[attribute] + block.codes[record, attribute]] = 0
        record = block.chain[NEXT, record]


@kernel
def changed_loss(geometry: Any, block: Any, detail: Any, leaving: Any, joining: Any) -> Any:
    """The loss of one record of the group after `leaving` left and `joining` joined (-1: nobody)."""
    total = 0.0
    for attribute in range(block.codes.shape[1]):
        out = np.int64(block.codes[leaving, attribute]) if leaving >= 0 else NOBODY
        new = np.int64(block.codes[joining, attribute]) if joining >= 0 else NOBODY
        start = geometry.code_offsets[attribute]
        if geometry.kinds[attribute] == FLAT:
            codes = detail.edges[DISTINCT, attribute]
            if out != new:
                if out >= 0 and detail.codes[COUNT, start + out] == 1:
                    codes -= 1
                if new >= 0 and detail.codes[COUNT, start + new] == 0:
                    codes += 1
            size = geometry.code_offsets[attribute + 1] - start
            if size > 1:
                total += geometry.weights[attribute] * (codes - 1) / (size - 1)
            continue
        low: Any = np.int64(detail.edges[1 if out == detail.edges[0, attribute] else 0, attribute])
        high: Any = np.int64(detail.edges[3 if out == detail.edges[2, attribute] else 2, attribute])
        if new >= 0:
            low = min(low, new)
            high = max(high, new)
        if low < high:
            total += geometry.weights[attribute] * range_cost(geometry, attribute, low, high)
    return total


@kernel
def refresh(geometry: Any, safety: Any, block: Any, group: Any, detail: Any) -> None:
    """Box, loss and deficit of a group after it changed."""
    fill_detail(geometry, safety, block, group, detail)
    for attribute in range(block.codes.shape[1]):
        block.box[LOW, attribute, group] = detail.edges[0, attribute]
        block.box[HIGH, attribute, group] = detail.edges[2, attribute]
    block.scores[LOSS, group] = changed_loss(geometry, block, detail, NOBODY, NOBODY)
    block.scores[DEFICIT, group] = group_deficit(safety, detail.row, block.groups[SIZE, group])
    clear_detail(geometry, safety, block, group, detail)


@kernel
def deficit_after(safety: Any, row: Any, size: Any, leaving: Any, joining: Any) -> Any:
    """The deficit with one record out and another in (-1: nobody); the row is left as it was."""
    if leaving >= 0:
        remove_record(safety, row, leaving)
    if joining >= 0:
        add_record(safety, row, joining)
    deficit = group_deficit(safety, row, size - (leaving >= 0) + (joining >= 0))
    if joining >= 0:
        remove_record(safety, row, joining)
    if leaving >= 0:
        add_record(safety, row, leaving)
    return deficit


@kernel
def unlink(block: Any, group: Any, record: Any) -> None:
    if block.groups[FIRST, group] == record:
        block.groups[FIRST, group] = block.chain[NEXT, record]
        return
    before = block.groups[FIRST, group]
    while block.chain[NEXT, before] != record:
        before = block.chain[NEXT, before]
    block.chain[NEXT, before] = block.chain[NEXT, record]


@kernel
def _link(block: Any, group: Any, record: Any) -> None:
    block.chain[NEXT, record] = block.groups[FIRST, group]
    block.groups[FIRST, group] = record


@kernel
def move_record(block: Any, source: Any, target: Any, record: Any) -> None:
    unlink(block, source, record)
    _link(block, target, record)
    block.groups[SIZE, source] -= 1
    block.groups[SIZE, target] += 1


@kernel
def merge_groups(block: Any, group: Any, other: Any) -> None:
    """The other group's records join the group; the other group is gone."""
    last = block.groups[FIRST, other]
    while block.chain[NEXT, last] >= 0:
        last = block.chain[NEXT, last]
    block.chain[NEXT, last] = block.groups[FIRST, group]
    block.groups[FIRST, group] = block.groups[FIRST, other]
    block.groups[FIRST, other] = -1
    block.groups[SIZE, group] += block.groups[SIZE, other]
    block.groups[SIZE, other] = 0
    block.scores[DEFICIT, other] = 0.0
