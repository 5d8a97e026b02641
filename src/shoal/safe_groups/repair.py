"""The repair that all algorithms share: from any groups to groups that are safe for every model.

Steps. (1) Groups are laid out in blocks of neighbours: cut again and again at the median of the attribute in which
their centres spread most (`shoal.safe_groups.repair_blocks`). (2) In every block with an unsafe group the kernel
exchanges, gives, takes or merges, at the least loss per unit of deficit removed, until all are safe or no step helps
(`kernels/repair`). (3) What is still unsafe is tried again in other and larger blocks; what is unsafe even then
is dissolved and cut anew, with groups that have to spare what it lacks (`shoal.safe_groups.repair_pool`). With monotone
models this always ends safe if the whole table is safe. (4) Where the deficits are large, groups are also made anew
from the whole table (`shoal.safe_groups.stratified`), and taken as soon as the mended ones lose more. (5) Safe
neighbours exchange records as long as that lowers the loss and both stay safe.

Cost: O(groups log groups) to lay out the blocks, and for each step O(groups of the block) to find neighbours plus
O(members of both groups) to weigh the exchanges; blocks have a fixed size and take at most as many steps as they have
records, so the work grows with the number of unsafe groups. Blocks run on all threads; they do not share records, so
threads do not change the result.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, Context
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem
from shoal.kernels.geometry import Geometry
from shoal.kernels.safety import Safety
from shoal.models.base import Requirement
from shoal.models.feasible import raise_if_impossible
from shoal.models.safety import bind_safety
from shoal.safe_groups.kernels.group_bounds import Block, GroupDetail
from shoal.safe_groups.kernels.repair import polish_block, repair_block
from shoal.safe_groups.kernels.repair_steps import Search
from shoal.safe_groups.repair_blocks import (
    MOST_MOVING,
    Workbench,
    cut_blocks,
    find_sorts,
    group_centres,
    renumber,
)
from shoal.safe_groups.repair_pool import dissolve_stuck
from shoal.safe_groups.stratified import stratified_groups
from shoal.safe_groups.suppress import suppress_outliers

HELPERS = 8  # groups that can help an unsafe group and are tried
MERGERS = 8  # nearest groups with which a merger is tried
MOST_SORTS = 256  # with more sorts of records than this, what a group gains by an exchange is not remembered
NEAREST_GROUPS = (64, 64, 128)  # nearest groups among which helpers are looked for, in each pass
WORTH_A_LOOK = 0.03  # deficit per record from which groups made anew are compared with mended ones
BEYOND_REPAIR = 0.19  # ... and from which they are taken without mending
BLOCKS = (128, 256, 1024)  # groups per block, in each pass
POLISH_PASSES = 2
POLISH_ROUNDS = 2
POLISH_STEPS = 4
POLISH_HELPERS = 6


def repair(
    table: EncodedTable,
    clustering: Clustering,
    requirement: Requirement,
    context: Context,
    suppression_limit: float = 0.0,
    *,
    polish: bool = True,
) -> Clustering:
    """Groups that are all safe; with a limit above 0, records that cost less suppressed than released are suppressed.

    The clustering itself comes back if it is safe already and nothing is to be suppressed. A search that follows
    needs no `polish`.
    """
    if not requirement.monotone:
        names = ", ".join(model.public_spec() for model in requirement.models if not model.monotone)
        raise InputError(Problem("not-monotone", f"merging groups cannot repair models that are not monotone: {names}"))
    groups, count = renumber(clustering.groups)
    deficits = requirement.deficits(table, groups, count)
    if (deficits > 0).any():
        raise_if_impossible(requirement, table)
        safe = _make_safe(table, groups, deficits, requirement, context, polish)
        clustering = replace(clustering, groups=safe, boxes=None)
    return suppress_outliers(table, clustering, requirement, suppression_limit)


def _make_safe(
    table: EncodedTable,
    groups: NDArray[np.int32],
    deficits: NDArray[np.float64],
    requirement: Requirement,
    context: Context,
    polish: bool,
) -> NDArray[np.int32]:
    """Mend the groups, or take those made anew where they lose less; then polish."""
    safety = bind_safety(requirement, table)
    bench = Workbench.of(table, safety, context)
    missing = deficits.sum() / table.records
    anew = None
    if safety.complete and missing > WORTH_A_LOOK:
        made = stratified_groups(table.record_codes, bench.geometry, safety, find_sorts(safety.codes), requirement.k)
        anew = renumber(made)[0]
    if anew is not None and missing > BEYOND_REPAIR:
        groups = anew
    else:
        groups = _mend(bench, groups, deficits > 0, requirement, anew)
    return _polish(bench, groups) if safety.complete and polish else groups


def _mend(
    bench: Workbench,
    groups: NDArray[np.int32],
    unsafe: NDArray[np.bool_],
    requirement: Requirement,
    anew: NDArray[np.int32] | None,
) -> NDArray[np.int32]:
    """Pass after pass, in ever larger blocks, until every group is safe; `anew` instead once it loses less."""
    count = unsafe.shape[0]
    most = np.inf if anew is None else bench.loss(anew)
    for number, block_size in enumerate(BLOCKS):
        if not unsafe.any():
            return groups
        groups, count = _repair_pass(bench, groups, unsafe, number)
        if anew is not None and bench.loss(groups) >= most:
            return anew
        unsafe = requirement.deficits(bench.table, groups, count) > 0
        bench.context.report((number + 1) / (len(BLOCKS) + 2), note=f"repair: {int(unsafe.sum())} unsafe groups left")
        if block_size >= count:
            break
    if unsafe.any():
        groups, count = renumber(dissolve_stuck(bench, groups, requirement.k))
    if anew is not None and bench.loss(groups) >= most:
        return anew
    return _merge_on(bench.table, requirement, groups, count)


def _repair_pass(
    bench: Workbench, groups: NDArray[np.int32], unsafe: NDArray[np.bool_], number: int
) -> tuple[NDArray[np.int32], int]:
    """The groups after every block with an unsafe one was mended, and their number."""
    width, count = bench.table.width, unsafe.shape[0]
    stretch = bench.context.random(4_001, number).uniform(0.5, 1.0, width) if number else np.ones(width)
    action = partial(_repair_action, most_nearest=NEAREST_GROUPS[number])
    return bench.change_blocks(groups, unsafe, min(BLOCKS[number], count), stretch, action)


def _repair_action(
    geometry: Geometry, safety: Safety, block: Block, here: GroupDetail, there: GroupDetail, *, most_nearest: int
) -> None:
    groups = block.groups.shape[1]
    given_up = np.zeros(groups, dtype=np.uint8)
    repair_block(geometry, safety, block, here, there, _search(block, HELPERS, most_nearest), given_up)


def _polish(bench: Workbench, groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """Exchange records between safe neighbours as long as that lowers the loss, in different layouts of blocks."""
    for number in range(POLISH_PASSES):
        stretch = bench.context.random(4_002, number).uniform(0.5, 1.0, bench.table.width)
        every = np.ones(int(groups.max()) + 1, dtype=np.bool_)
        groups, _ = bench.change_blocks(groups, every, BLOCKS[0], stretch, _polish_action)
    return groups


def _polish_action(geometry: Geometry, safety: Safety, block: Block, here: GroupDetail, there: GroupDetail) -> None:
    search = _search(block, POLISH_HELPERS, POLISH_HELPERS)
    polish_block(geometry, safety, block, here, there, search, POLISH_ROUNDS, POLISH_STEPS)


def _search(block: Block, helpers: int, most_nearest: int) -> Search:
    most_nearest = max(1, min(most_nearest, block.groups.shape[1]))
    sorts = int(block.chain[1].max()) + 1
    known = sorts + 1 if sorts <= MOST_SORTS else 1
    return Search(
        nearest=np.zeros(most_nearest, dtype=np.int64),
        prices=np.zeros(most_nearest),
        gains=np.zeros((MOST_MOVING + 1, MOST_MOVING + 1)),
        own=np.zeros((known, known)),
        tally=np.zeros(4, dtype=np.int64),
        helpers=helpers,
        mergers=MERGERS,
    )


def _merge_on(
    table: EncodedTable, requirement: Requirement, groups: NDArray[np.int32], count: int
) -> NDArray[np.int32]:
    """For models that are no rules on histograms: unsafe groups merge with a neighbour until every one is safe."""
    while True:
        unsafe = requirement.deficits(table, groups, count) > 0
        if not unsafe.any() or count == 1:
            return groups
        sizes = np.bincount(groups, minlength=count)
        target = np.arange(count)
        for block in cut_blocks(group_centres(table, groups, sizes), BLOCKS[0]):
            _join_neighbours(block, unsafe, target)
        groups, count = renumber(target[groups].astype(np.int32))


def _join_neighbours(block: NDArray[np.int64], unsafe: NDArray[np.bool_], target: NDArray[np.int64]) -> None:
    """Every unsafe group of a block joins the next one, or the one before if it is the last; `target` is changed."""
    place = 0
    while place < block.shape[0]:
        if not unsafe[block[place]]:
            place += 1
        elif place + 1 < block.shape[0]:
            target[block[place + 1]] = target[block[place]]
            place += 2
        else:
            target[block[place]] = target[block[place - 1]]
            place += 1
