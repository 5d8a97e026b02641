"""A second search without the records that cost more than they are worth, where some may be suppressed.

After the first search every record has its share in what its group loses. Those that the others would be better off
without, even if their group became smaller than allowed, are left out, and the rest is grouped anew: the groups that
were kept wide by them close up. The better of the two releases counts, so suppression never makes the loss larger.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.encode.some_records import some_records
from shoal.kernels.group_loss import group_losses
from shoal.models.base import Requirement
from shoal.models.feasible import impossible
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import silent
from shoal.safe_groups.repair import repair
from shoal.safe_groups.suppress import Hidden, suppress_outliers


def search_without_outliers(
    table: EncodedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    limit: float,
    hidden: Hidden | None,
    first: Clustering,
    suppressed: Clustering,
) -> Clustering:
    """`suppressed`, the clustering `first` without outliers, or one of a second search, whichever loses less.

    With models besides k those that are left must be able to hold them on their own: what is left out is exempt.
    """
    smaller = Requirement.of([KAnonymity(max(2, (requirement.k + 1) // 2))])
    leaving = suppress_outliers(table, first, smaller, limit).suppressed
    if leaving is None or not leaving.any() or table.records - int(leaving.sum()) < requirement.k:
        return suppressed
    kept = _some_records(table, ~leaving) if requirement.size_only else some_records(table, np.flatnonzero(~leaving))
    if not requirement.size_only and impossible(requirement, kept):
        return suppressed
    quiet = replace(context, suppression_limit=0.0, wants_bound=False, progress=silent)
    rest = _safe_groups(kept, requirement, algorithm, quiet)
    groups = np.full(table.records, int(rest.max()) + 1, dtype=np.int32)
    groups[~leaving] = rest
    found = replace(first, groups=groups, suppressed=leaving)
    if hidden is not None and int(hidden(found).sum()) > int(leaving.sum()):
        return suppressed  # some groups look like the suppressed records: leave that to the first way
    return found if total_loss(table, found) < total_loss(table, suppressed) else suppressed


def may_search_again(requirement: Requirement) -> bool:
    """Whether groups of some of the records are as safe as groups of all of them, if each of them is safe."""
    return requirement.monotone and all(model.rules() is not None for model in requirement.models)


def _safe_groups(
    table: EncodedTable, requirement: Requirement, algorithm: Algorithm, context: Context
) -> NDArray[np.int32]:
    found = algorithm.cluster(table, requirement, context)
    return found.groups if requirement.size_only else repair(table, found, requirement, context).groups


def total_loss(table: EncodedTable, clustering: Clustering) -> float:
    """What all records lose together; suppressed ones lose everything."""
    left_out = np.zeros(table.records, dtype=np.bool_) if clustering.suppressed is None else clustering.suppressed
    kept = np.flatnonzero(~left_out)
    groups = np.unique(clustering.groups[kept], return_inverse=True)[1].reshape(-1)
    members = kept[np.argsort(groups, kind="stable")].astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int64)
    geometry = table_geometry(table)
    marks = np.full(int(geometry.code_offsets[-1]), -1, dtype=np.int64)
    losses = np.zeros(starts.shape[0] - 1)
    group_losses(geometry, table.record_codes, members, starts, marks, losses)
    return float(losses.sum()) + float(table.attribute_weights.sum()) * int(left_out.sum())


def _some_records(table: EncodedTable, kept: NDArray[np.bool_]) -> EncodedTable:
    """The table of some of its records, with the rows that are left."""
    rows, row_of_record, weights = np.unique(table.row_of_record[kept], return_inverse=True, return_counts=True)
    columns = {name: replace(column, codes=column.codes[kept]) for name, column in table.columns.items()}
    codes = np.ascontiguousarray(table.codes[:, rows])
    return EncodedTable(
        table.attributes, codes, weights.astype(np.int64), row_of_record.reshape(-1).astype(np.int32), columns
    )
