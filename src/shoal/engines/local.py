"""The engine of one machine: an algorithm on an encoded table in memory, then the shared repair for its models."""

from __future__ import annotations

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.repair import repair
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement


def cluster_table(
    table: EncodedTable,
    requirement: Requirement,
    algorithm: Algorithm,
    context: Context,
    suppression_limit: float = 0.0,
) -> Clustering:
    """Groups that are safe for every model: the algorithm's own, mended where it knows only the group size."""
    clustering = algorithm.cluster(table, requirement, context)
    if clustering.boxes is not None or (requirement.size_only and suppression_limit == 0.0):
        return clustering
    return repair(table, clustering, requirement, context)
