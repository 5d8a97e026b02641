"""The repair that all algorithms share: from any groups to groups that are safe for every model.

Steps. (1) Groups are laid out in blocks of neighbours: cut again and again at the median of the attribute in which
their centres spread most. (2) In every block with an unsafe group the kernel exchanges, gives, takes or merges, at
the least loss per unit of deficit removed, until all are safe or no step helps (`shoal.kernels.repair`). (3) What is
still unsafe is tried again in other and larger blocks, and at last among all groups, where a group that finds no
better step is merged with its nearest one. With monotone models this always ends safe if the whole table is safe.
(4) Where the deficits are so large that mending would ruin the groups, they are made anew from the whole table first
(`shoal.algorithms.stratified`).

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
from shoal.algorithms.stratified import stratified_groups
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem
from shoal.kernels.geometry import Geometry
from shoal.kernels.outline import Block, Outline
from shoal.kernels.repair import Search, repair_block
from shoal.kernels.safety import Safety
from shoal.models.base import Requirement
from shoal.models.feasible import raise_if_impossible
from shoal.models.safety import bind_safety, empty_row

HELPERS = 8  # groups that can help an unsafe group and are tried
MERGERS = 8  # nearest groups with which a merger is tried
REACH = 64  # nearest groups among which helpers are looked for
MOST_MOVING = 40  # members of a large group that may be exchanged
BEYOND_REPAIR = 0.12  # deficit per record from which groups are made anew
BLOCKS = (128, 256, 1024, 8192)  # groups per block in the first passes; the last pass takes all


def repair(
    table: EncodedTable,
    clustering: Clustering,
    requirement: Requirement,
    context: Context,
    suppression_limit: float = 0.0,
) -> Clustering:
    """Groups that are all safe; with a limit above 0, records that cost less suppressed than released are suppressed.

    The clustering itself comes back if it is safe already and nothing is to be suppressed.
    """
    from shoal.algorithms.suppress import suppress_outliers  # builds on the blocks of this module

    safe = _repair(table, clustering, requirement, context)
    return suppress_outliers(table, safe, requirement, suppression_limit)


def _repair(table: EncodedTable, clustering: Clustering, requirement: Requirement, context: Context) -> Clustering:
    if not requirement.monotone:
        names = ", ".join(model.public_spec() for model in requirement.models if not model.monotone)
        message = f"not monotone, so merging groups cannot repair it: {names}"
        raise InputError(Problem("not-monotone", message))
    groups, count = _numbered(clustering.groups)
    deficits = requirement.deficits(table, groups, count)
    if not (deficits > 0).any():
        return clustering
    raise_if_impossible(requirement, table)
    safety = bind_safety(requirement, table)
    if deficits.sum() > BEYOND_REPAIR * table.records:
        groups, count = _numbered(stratified_groups(table, safety, _sorts(safety.codes), requirement.k))
        deficits = requirement.deficits(table, groups, count)
    groups = _repair_groups(table, safety, groups, deficits > 0, requirement, context)
    return replace(clustering, groups=groups, boxes=None)


def _repair_groups(
    table: EncodedTable,
    safety: Safety,
    groups: NDArray[np.int32],
    unsafe: NDArray[np.bool_],
    requirement: Requirement,
    context: Context,
) -> NDArray[np.int32]:
    """Pass after pass, in ever larger blocks, until every group is safe."""
    geometry = table_geometry(table)
    count = unsafe.shape[0]
    for number, block_size in enumerate((*BLOCKS, count)):
        if not unsafe.any():
            return groups
        forced = block_size >= count
        spread = context.random(4_001, number).uniform(0.5, 1.0, table.width) if number else np.ones(table.width)
        groups, count = _repair_pass(
            table, geometry, safety, groups, unsafe, min(block_size, count), spread, forced, context
        )
        unsafe = requirement.deficits(table, groups, count) > 0
        context.report((number + 1) / (len(BLOCKS) + 1), note=f"repair: {int(unsafe.sum())} unsafe groups left")
        if forced:
            break
    return _merge_on(table, requirement, groups, count)


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
    block = make_block(table, safety, records, sizes)
    local = safety._replace(codes=np.ascontiguousarray(safety.codes[:, records]))
    here, there = (make_outline(geometry, safety, table.width, MOST_MOVING) for _ in range(2))
    given_up = np.zeros(sizes.shape[0], dtype=np.uint8)
    repair_block(geometry, local, block, here, there, _search(sizes.shape[0]), forced, given_up)
    return _read_groups(block, records.shape[0])


def make_block(table: EncodedTable, safety: Safety, records: NDArray[np.int32], sizes: NDArray[np.int64]) -> Block:
    """Groups of the given sizes, one after the other in `records`, as the kernels take them."""
    ends = np.cumsum(sizes)
    following = np.arange(1, records.shape[0] + 1, dtype=np.int64)
    following[ends - 1] = -1
    return Block(
        codes=np.ascontiguousarray(table.codes[:, table.row_of_record[records]].T),
        chain=np.stack([following, _sorts(safety.codes[:, records])]),
        groups=np.stack([ends - sizes, sizes]).astype(np.int64),
        box=np.zeros((2, table.width, sizes.shape[0]), dtype=np.int32),
        scores=np.zeros((2, sizes.shape[0])),
    )


def make_outline(geometry: Geometry, safety: Safety, width: int, members: int) -> Outline:
    """Room for one group, with at most so many members listed."""
    return Outline(
        edges=np.zeros((5, width), dtype=np.int32),
        codes=np.zeros((2, int(geometry.code_offsets[-1])), dtype=np.int64),
        row=empty_row(safety),
        listing=np.zeros((3, members), dtype=np.int64),
        without=np.zeros(members + 1),
    )


def _search(groups: int) -> Search:
    reach = max(1, min(REACH, groups))
    return Search(
        nearest=np.zeros(reach, dtype=np.int64),
        prices=np.zeros(reach),
        gains=np.zeros((MOST_MOVING + 1, MOST_MOVING + 1)),
        tally=np.zeros(4, dtype=np.int64),
        helpers=HELPERS,
        mergers=MERGERS,
    )


def _sorts(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Equal numbers for records that have the same value in every column that a rule looks at."""
    if codes.shape[0] == 0:
        return np.zeros(codes.shape[1], dtype=np.int64)
    return np.unique(codes, axis=1, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _read_groups(block: Block, records: int) -> NDArray[np.int32]:
    """The group of every record, by following the lists of all groups at once, one step at a time."""
    numbers = np.empty(records, dtype=np.int32)
    first, following = block.groups[0], block.chain[0]
    group = np.flatnonzero(first >= 0).astype(np.int32)
    record = first[group]
    while record.size:
        numbers[record] = group
        record = following[record]
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
    table: EncodedTable, requirement: Requirement, groups: NDArray[np.int32], count: int
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
