"""The engine of one machine: an algorithm on an encoded table in memory, then what all algorithms share.

The repair and the suppression are imported where they are used: most runs need neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.safe_groups import several_sets as multi_qid

if TYPE_CHECKING:
    from shoal.safe_groups.suppress import Hidden


def cluster_table(
    table: EncodedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    suppression_limit: float = 0.0,
    hidden: Hidden | None = None,
) -> Clustering:
    """Groups that are safe for every model: the algorithm's own, mended where it knows only the group size.

    Several quasi-identifier sets are clustered one after the other, unless the algorithm has its own way with them.
    Where a share of the records may be suppressed, outliers leave their groups at the end; `hidden` tells which records
    a clustering releases as `*` in every attribute, for they are one class with the suppressed ones.
    """
    if multi_qid.applies(requirement) and not algorithm.takes_sets:
        return multi_qid.cluster_sets(table, requirement, algorithm, context)
    clustering = algorithm.cluster(table, requirement, replace(context, may_suppress=suppression_limit > 0))
    if clustering.boxes is not None:  # the algorithm decides about the released values, and answers for all models
        return clustering
    if not requirement.size_only:
        from shoal.safe_groups.repair import repair

        clustering = repair(table, clustering, requirement, context)
    if suppression_limit > 0:
        from shoal.safe_groups.suppress import suppress_outliers

        clustering = suppress_outliers(table, clustering, requirement, suppression_limit, hidden)
    return clustering
