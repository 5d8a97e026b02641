"""What mending leaves unsafe is dissolved, together with groups that have to spare what it lacks, and cut anew.

A group is stuck when no exchange or merger with its neighbours makes it safer: they have nothing to spare either.
Looking farther and farther, or merging on and on, would take time without bound and end in huge groups. Instead all
records of the stuck groups form a pool. Groups join it, first those near by that bring most of what the pool lacks,
until the pool as one group is safe; then it is cut into safe groups (`shoal.safe_groups.stratified`). Pools of several
sizes are tried, because a pool with more to spare can be cut finer, and the one with the least loss is taken.

Cost: the sizes grow by a factor, so that all cuts together cost O(records log records).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.safety import Safety
from shoal.models.safety import deficits_of_groups, empty_row
from shoal.safe_groups.kernels.group_bounds import NOBODY, deficit_after
from shoal.safe_groups.repair_blocks import Workbench, find_sorts, group_centres, renumber
from shoal.safe_groups.stratified import stratified_groups

FIRST_SHARES = (0.0, 0.25, 0.5)  # groups that join the pool, for each stuck one; from then on twice as many every time
LANDMARKS = 64  # stuck groups from which distances are measured
MOST_VALUES = 256  # columns with more values than this do not say what a record is worth to the pool
MOST_SORTS = 4_096  # with more sorts of records than this, only the distance counts
SPARE_WEIGHT = 2.0  # what a record to spare is worth, as a distance


def dissolve_stuck(bench: Workbench, groups: NDArray[np.int32], smallest: int) -> NDArray[np.int32]:
    """Groups that hold all rules on histograms, if the whole table does."""
    groups, count = renumber(groups)
    stuck = deficits_of_groups(bench.safety, groups, count) > 0
    if not stuck.any():
        return groups
    order = _joining_order(bench, groups, stuck)
    sorts = find_sorts(bench.safety.codes)
    best, least = groups, np.inf
    for size in _pool_sizes(int(stuck.sum()), count):
        chosen = np.zeros(count, dtype=np.bool_)
        chosen[order[:size]] = True
        pooled = _cut_anew(bench, groups, np.flatnonzero(chosen[groups]), sorts, smallest)
        if pooled is None:
            continue
        loss = bench.loss(pooled)
        if loss < least:
            best, least = pooled, loss
    return best


def _pool_sizes(stuck: int, count: int) -> list[int]:
    """How many groups are tried as a pool: rising, the last one all of them."""
    sizes = [stuck + int(np.ceil(share * stuck)) for share in FIRST_SHARES]
    joining = stuck
    while stuck + joining < count:
        sizes.append(stuck + joining)
        joining *= 2
    return [*sorted({size for size in sizes if size < count}), count]


def _cut_anew(
    bench: Workbench, groups: NDArray[np.int32], records: NDArray[np.int64], sorts: NDArray[np.int64], smallest: int
) -> NDArray[np.int32] | None:
    """The groups after these records were cut anew; None if they are not safe even as one group."""
    local = bench.safety._replace(codes=np.ascontiguousarray(bench.safety.codes[:, records]))
    if deficits_of_groups(local, np.zeros(records.shape[0], dtype=np.int32), 1)[0] > 0:
        return None
    codes = np.ascontiguousarray(bench.table.record_codes[:, records])
    changed = groups.copy()
    changed[records] = groups.max() + 1 + stratified_groups(codes, bench.geometry, local, sorts[records], smallest)
    return renumber(changed)[0]


def _joining_order(bench: Workbench, groups: NDArray[np.int32], stuck: NDArray[np.bool_]) -> NDArray[np.int64]:
    """All groups: the stuck ones, then the others, those that are near and have to spare what the pool lacks first."""
    sizes = np.bincount(groups, minlength=stuck.shape[0])
    worth = np.bincount(groups, weights=_worth_of_records(bench.safety, stuck[groups])) / sizes
    centres = group_centres(bench.table, groups, sizes)
    everywhere = np.flatnonzero(stuck)
    landmarks = everywhere[np.linspace(0, everywhere.shape[0] - 1, min(LANDMARKS, everywhere.shape[0])).astype(int)]
    distance = np.full(stuck.shape[0], np.inf)
    for landmark in landmarks:
        distance = np.minimum(distance, np.abs(centres - centres[landmark]).sum(axis=1))
    return np.argsort(np.where(stuck, -np.inf, distance - SPARE_WEIGHT * worth), kind="stable")


def _worth_of_records(safety: Safety, pooled: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(records,) how much the deficit of the pool falls when one more record like this one joins it.

    Columns with very many values (persons) tell nothing about that: the pool has enough of them.
    """
    narrow = np.diff(safety.starts) <= MOST_VALUES
    examples, sort = np.unique(find_sorts(safety.codes[narrow]), return_index=True, return_inverse=True)[1:]
    if examples.shape[0] > MOST_SORTS:
        return np.zeros(pooled.shape[0])
    row, size = _row_of(safety, pooled), np.int64(pooled.sum())
    now = deficit_after(safety, row, size, NOBODY, NOBODY)
    worth = np.array([now - deficit_after(safety, row, size, NOBODY, np.int64(example)) for example in examples])
    return worth[sort.reshape(-1)]


def _row_of(safety: Safety, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The counts of these records as one group."""
    row = empty_row(safety)
    distinct = int(safety.starts[-1])
    for column, codes in enumerate(safety.codes):
        begin, end = int(safety.starts[column]), int(safety.starts[column + 1])
        counts = np.bincount(codes[chosen], minlength=end - begin)
        row[begin:end] = counts
        row[distinct + column] = np.count_nonzero(counts)
    return row
