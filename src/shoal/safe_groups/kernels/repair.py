"""Make unsafe groups safe inside one block of neighbouring groups, at the least loss that local steps find.

An unsafe group takes the step that pays the least loss for each unit of deficit it removes
(`repair_steps`). The records of a block are numbered 0..records-1; a group is a linked list of them.
All numbers of records and groups are int64, so that every function is compiled once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.safe_groups.kernels.group_bounds import (
    DEFICIT,
    FIRST,
    LOSS,
    NOBODY,
    SIZE,
    clear_detail,
    fill_detail,
    merge_groups,
    move_record,
    refresh,
)
from shoal.safe_groups.kernels.repair_steps import (
    EXCHANGE,
    GIVE,
    LEAST_GAIN,
    MERGE,
    NOTHING,
    TAKE,
    fill_gains,
    fill_without,
    find_nearest,
    forget_own,
    list_sorts,
    weigh_merge,
    weigh_steps,
)


@kernel
def best_step(
    geometry: Any, safety: Any, block: Any, group: Any, here: Any, there: Any, search: Any, stamp: Any, polish: Any,
    best: Any,
) -> None:  # fmt: skip
    """The best step of a group, into `best`: the nearest groups that can help are tried, up to a number.

    With `polish` the group is safe, and a step is wanted that lowers the loss. Outlines are clear before and after.
    """
    best[0] = -LEAST_GAIN if polish else np.inf
    best[1] = NOTHING
    best[2] = NOBODY
    tally = search.tally
    tally[0] = fill_detail(geometry, safety, block, group, here)
    tally[2] = list_sorts(block, here, tally[0])
    fill_without(geometry, block, here, tally[0])
    forget_own(block, here, tally[2], search.own)
    found = find_nearest(geometry, block, here, group, search.nearest, search.prices, stamp)
    helpers = 0
    for place in range(found):
        other = search.nearest[place]
        tally[1] = fill_detail(geometry, safety, block, other, there)
        if place < search.mergers and not polish:
            weigh_merge(safety, block, group, other, here, search.prices[place], best)
        tally[3] = list_sorts(block, there, tally[1])
        if search.helpers > 0 and fill_gains(safety, block, group, other, here, there, search, polish):
            weigh_steps(geometry, safety, block, group, other, here, there, search, best)
            helpers += 1
        clear_detail(geometry, safety, block, other, there)
        if helpers >= search.helpers and place + 1 >= search.mergers:
            break
    clear_detail(geometry, safety, block, group, here)


@kernel
def take_step(geometry: Any, safety: Any, block: Any, group: Any, detail: Any, best: Any) -> None:
    """Do what `best` says."""
    kind = np.int64(best[1])
    other = np.int64(best[2])
    if kind == MERGE:
        merge_groups(block, group, other)
    if kind == EXCHANGE or kind == GIVE:
        move_record(block, group, other, np.int64(best[3]))
    if kind == EXCHANGE or kind == TAKE:
        move_record(block, other, group, np.int64(best[4]))
    refresh(geometry, safety, block, group, detail)
    if block.groups[FIRST, other] >= 0:
        refresh(geometry, safety, block, other, detail)


@kernel
def repair_block(geometry: Any, safety: Any, block: Any, here: Any, there: Any, search: Any, given_up: Any) -> Any:
    """Step after step until every group is safe or no step helps; returns how many groups are still unsafe.

    There are at most as many steps as records: steps that remove less and less deficit would have no end.
    OUT  given_up  uint8 (groups,) 1 where a group found no step
    The block changes in place.
    """
    groups = block.groups.shape[1]
    best = np.empty(5, dtype=np.float64)
    stamp = np.int64(1)
    for group in range(groups):
        refresh(geometry, safety, block, group, here)
    for _ in range(block.codes.shape[0]):
        worst: Any = np.int64(-1)
        for group in range(groups):
            if block.scores[DEFICIT, group] > 0.0 and given_up[group] == 0:
                if worst < 0 or block.groups[SIZE, group] < block.groups[SIZE, worst]:
                    worst = group
        if worst < 0:
            break
        best_step(geometry, safety, block, worst, here, there, search, stamp, False, best)
        stamp += groups
        if best[1] == NOTHING:
            given_up[worst] = 1
            continue
        take_step(geometry, safety, block, worst, here, best)
    unsafe = 0
    for group in range(groups):
        if block.scores[DEFICIT, group] > 0.0:
            unsafe += 1
    return unsafe


@kernel
def polish_block(
    geometry: Any, safety: Any, block: Any, here: Any, there: Any, search: Any, rounds: Any, steps: Any
) -> Any:
    """Steps between safe groups that lower the loss and leave both safe; returns how many were taken.

    IN  rounds  how often every group is looked at
    IN  steps   how many steps a group may take in one round
    The block changes in place.
    """
    groups = block.groups.shape[1]
    best = np.empty(5, dtype=np.float64)
    stamp = np.int64(1)
    taken = 0
    for group in range(groups):
        refresh(geometry, safety, block, group, here)
    for _ in range(rounds):
        before = taken
        for group in range(groups):
            for _ in range(steps):
                if block.scores[LOSS, group] == 0.0 or block.scores[DEFICIT, group] > 0.0:
                    break
                best_step(geometry, safety, block, group, here, there, search, stamp, True, best)
                stamp += groups
                if best[1] == NOTHING:
                    break
                take_step(geometry, safety, block, group, here, best)
                taken += 1
        if taken == before:
            break
    return taken
