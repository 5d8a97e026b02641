"""The repair that all algorithms share: from any groups to groups that are safe for every model.

Steps. (1) Groups are laid out in blocks of neighbours: cut again and again at the median of the attribute in which
their centres spread most. (2) In every block with an unsafe group the kernel exchanges, gives, takes or merges, at
the least loss per unit of deficit removed, until all are safe or no step helps (`shoal.kernels.repair`). (3) What is
still unsafe is tried again in other and larger blocks, and at last among all groups, where a group that finds no
better step is merged with its nearest one. With monotone models this always ends safe if the whole table is safe.

Cost: O(groups log groups) to lay out the blocks, and for each step O(groups of the block) to find neighbours plus
O(members of both groups) to weigh the exchanges; blocks have a fixed size, so the work grows with the number of
unsafe groups. Blocks run on all threads; they do not share records, so threads do not change the result.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.geometry import table_geometry
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem
from shoal.kernels.geometry import Geometry
from shoal.kernels.repair import Block, Outline, Search, repair_block
from shoal.kernels.safety import Safety
from shoal.models.base import Requirement
from shoal.models.feasible import raise_if_impossible
from shoal.models.safety import bind_safety, empty_row

HELPERS = 8  # groups that can help an unsafe group and are tried
MERGERS = 8  # nearest groups with which a merger is tried
REACH = 64  # nearest groups among which helpers are looked for
MOST_MOVING = 40  # members of a large group that may be exchanged
BLOCKS = (128, 256, 1024, 8192)  # groups per block in the first passes; the last pass takes all


def repair(table: EncodedTable, clustering: Clustering, requirement: Requirement, context: Context) -> Clustering:
    """Groups that are all safe. The clustering itself comes back if it is safe already."""
    if not requirement.monotone:
        names = ", ".join(model.public_spec() for model in requirement.models if not model.monotone)
        message = f"not monotone, so merging groups cannot repair it: {names}"
        raise InputError(Problem("not-monotone", message))
    groups, count = _numbered(clustering.groups)
    unsafe = requirement.deficits(table, groups, count) > 0
    if not unsafe.any():
        return clustering
    raise_if_impossible(requirement, table)
    safety = bind_safety(requirement, table)
    geometry = table_geometry(table)
    for number, block_size in enumerate((*BLOCKS, count)):
        forced = block_size >= count
        spread = context.random(4_001, number).uniform(0.5, 1.0, table.width) if number else np.ones(table.width)
        groups, count = _repair_pass(
            table, geometry, safety, groups, unsafe, min(block_size, count), spread, forced, context
        )
        unsafe = requirement.deficits(table, groups, count) > 0
        context.report((number + 1) / (len(BLOCKS) + 1), note=f"repair: {int(unsafe.sum())} unsafe groups left")
        if forced or not unsafe.any():
            break
    if unsafe.any():
        groups = _merge_on(table, geometry, requirement, groups, count)
    return replace(clustering, groups=groups, boxes=None)


def _numbered(groups: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Groups numbered 0..count-1 without gaps, in the order of their numbers before."""
    kept, numbers = np.unique(groups, return_inverse=True)
    return numbers.astype(np.int32).reshape(groups.shape), int(kept.shape[0])


def _repair_pass(
    table: EncodedTable,
    geometry: Geometry,
    safety: Safety,
    groups: NDArray[np.int32],
    unsafe: NDArray[np.bool_],
    block_size: int,
    spread: NDArray[np.float64],
    forced: bool,
    context: Context,
) -> tuple[NDArray[np.int32], int]:
    """One pass over the blocks that have an unsafe group."""
    order = np.argsort(groups, kind="stable").astype(np.int32)
    sizes = np.bincount(groups, minlength=unsafe.shape[0])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    blocks = cut_blocks(group_centres(table, groups, sizes) * spread, block_size)
    blocks = [block for block in blocks if unsafe[block].any()]

    def work(block: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        records = np.concatenate([order[starts[group] : starts[group + 1]] for group in block])
        local = _repair_records(table, geometry, safety, records, sizes[block], forced)
        return records, block[local].astype(np.int32)

    groups = groups.copy()
    for records, numbers in context.map(work, blocks):
        groups[records] = numbers
    return _numbered(groups)


def _repair_records(
    table: EncodedTable,
    geometry: Geometry,
    safety: Safety,
    records: NDArray[np.int32],
    sizes: NDArray[np.int64],
    forced: bool,
) -> NDArray[np.int32]:
    """(records,) the number within the block of every record's group, after the repair of one block."""
    count = sizes.shape[0]
    ends = np.cumsum(sizes)
    following = np.arange(1, records.shape[0] + 1, dtype=np.int64)
    following[ends - 1] = -1
    block = Block(
        codes=np.ascontiguousarray(table.codes[:, table.row_of_record[records]].T),
        sorts=_sorts(safety.codes[:, records]),
        following=following,
        first=(ends - sizes).astype(np.int64),
        sizes=sizes.astype(np.int64),
        low=np.zeros((table.width, count), dtype=np.int32),
        high=np.zeros((table.width, count), dtype=np.int32),
        losses=np.zeros(count),
        deficits=np.zeros(count),
    )
    local = safety._replace(codes=np.ascontiguousarray(safety.codes[:, records]))
    here, there = (_outline(geometry, safety, table.width) for _ in range(2))
    given_up = np.zeros(count, dtype=np.uint8)
    repair_block(geometry, local, block, here, there, _search(count), forced, given_up)
    return _read_groups(block, records.shape[0])


def _outline(geometry: Geometry, safety: Safety, width: int) -> Outline:
    codes = int(geometry.code_offsets[-1])
    return Outline(
        edges=np.zeros((4, width), dtype=np.int32),
        counts=np.zeros(codes, dtype=np.int32),
        distinct=np.zeros(width, dtype=np.int32),
        row=empty_row(safety),
        members=np.zeros(MOST_MOVING, dtype=np.int64),
        without=np.zeros(MOST_MOVING + 1),
        member_sorts=np.zeros(MOST_MOVING, dtype=np.int64),
        sort_records=np.zeros(MOST_MOVING, dtype=np.int64),
        marks=np.zeros(codes, dtype=np.int64),
    )


def _search(groups: int) -> Search:
    reach = max(1, min(REACH, groups))
    return Search(
        nearest=np.zeros(reach, dtype=np.int64),
        prices=np.zeros(reach),
        gains=np.zeros((MOST_MOVING + 1, MOST_MOVING + 1)),
        listed=np.zeros(2, dtype=np.int64),
        sorts=np.zeros(2, dtype=np.int64),
        helpers=HELPERS,
        mergers=MERGERS,
    )


def _sorts(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Equal numbers for records that have the same value in every column that a rule looks at."""
    if codes.shape[0] == 0:
        return np.zeros(codes.shape[1], dtype=np.int32)
    return np.unique(codes, axis=1, return_inverse=True)[1].astype(np.int32).reshape(-1)


def _read_groups(block: Block, records: int) -> NDArray[np.int32]:
    """The group of every record, by following the lists of all groups at once, one step at a time."""
    numbers = np.empty(records, dtype=np.int32)
    group = np.flatnonzero(block.first >= 0).astype(np.int32)
    record = block.first[group]
    while record.size:
        numbers[record] = group
        record = block.following[record]
        group, record = group[record >= 0], record[record >= 0]
    return numbers


def group_centres(table: EncodedTable, groups: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """(groups, attributes) the mean position of every group's members, times the weight of the attribute."""
    centres = np.empty((sizes.shape[0], table.width))
    for number, attribute in enumerate(table.attributes):
        positions = np.minimum(1.5, attribute.positions)[table.codes[number]][table.row_of_record]
        centres[:, number] = np.bincount(groups, weights=positions, minlength=sizes.shape[0]) / np.maximum(1, sizes)
    return centres * table.attribute_weights


def cut_blocks(centres: NDArray[np.float64], size: int) -> list[NDArray[np.int64]]:
    """Pieces of at most `size` neighbours: halves at the median of the widest attribute, again and again."""
    pieces = [np.arange(centres.shape[0])]
    blocks: list[NDArray[np.int64]] = []
    while pieces:
        piece = pieces.pop()
        if piece.shape[0] <= max(2, size):
            blocks.append(piece)
            continue
        values = centres[piece]
        attribute = int(np.argmax(values.std(axis=0)))
        ordered = piece[np.argsort(values[:, attribute], kind="stable")]
        half = ordered.shape[0] // 2
        pieces += [ordered[half:], ordered[:half]]
    return blocks


def _merge_on(
    table: EncodedTable, geometry: Geometry, requirement: Requirement, groups: NDArray[np.int32], count: int
) -> NDArray[np.int32]:
    """For models that are no rules on histograms: unsafe groups double by merging until every one is safe."""
    block_size = BLOCKS[0]
    while True:
        unsafe = requirement.deficits(table, groups, count) > 0
        if not unsafe.any() or count == 1:
            return groups
        sizes = np.bincount(groups, minlength=count)
        target = np.arange(count)
        for block in cut_blocks(group_centres(table, groups, sizes), block_size):
            for place in np.flatnonzero(unsafe[block]):
                neighbour = place + 1 if place + 1 < block.shape[0] else place - 1
                target[block[place]] = target[block[neighbour]]
        groups, count = _numbered(target[groups].astype(np.int32))
