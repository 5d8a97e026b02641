"""Does a release keep the clusters? The same answer for the release of any algorithm, ours or another tool's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shoal.errors import InputError, Problem, did_you_mean
from shoal.evaluation.usefulness.clustering.agreement import ClusterComparison, compare_clusterings
from shoal.evaluation.usefulness.clustering.clusterers import Clusterer, Labels, cluster_features
from shoal.evaluation.usefulness.clustering.features import DEFAULT_ENCODING, Encoding, table_features
from shoal.released.domain import Domain


@dataclass(frozen=True, eq=False)
class ReleaseComparison:
    """The clusters of the raw and of the released table, record by record, and how alike they are."""

    raw_labels: Labels
    masked_labels: Labels
    comparison: ClusterComparison


def cluster_table(
    frame: pl.DataFrame,
    domains: Mapping[str, Domain],
    clusterer: str | Clusterer,
    clusters: int,
    *,
    seed: int = 0,
    columns: Sequence[str] | None = None,
    encoding: Encoding = DEFAULT_ENCODING,
) -> Labels:
    """Cluster a raw or released table on the given columns, all that have a domain by default."""
    chosen = list(domains) if columns is None else list(columns)
    missing = [
        Problem("unknown-column", "the table has no such column to cluster on", name, did_you_mean(name, frame.columns))
        for name in chosen
        if name not in frame.columns or name not in domains
    ]
    if missing:
        raise InputError(missing)
    if not chosen or frame.height == 0:
        raise InputError(Problem("nothing-to-cluster", "there are no columns or no records to cluster"))
    return cluster_features(table_features(frame, chosen, domains, encoding), clusterer, clusters, seed)


def compare_release(
    original: pl.DataFrame,
    release: pl.DataFrame,
    domains: Mapping[str, Domain],
    *,
    clusters: int = 6,
    clusterer: str | Clusterer = "kmeans",
    masked_clusterer: str | Clusterer | None = None,
    seed: int = 0,
    columns: Sequence[str] | None = None,
    encoding: Encoding = DEFAULT_ENCODING,
    raw_labels: Labels | None = None,
) -> ReleaseComparison:
    """Cluster both tables in the same way and compare. The rows must be those of the original, in its order.

    `masked_clusterer` is for the case that the recipient clusters in another way than the publisher. `raw_labels`
    saves clustering the original again when several releases of it are compared.
    """
    if original.height != release.height:
        message = f"the original has {original.height} records, the release {release.height}"
        hint = "clusters can be compared only where the rows belong together"
        raise InputError(Problem("different-records", message, hint=hint))
    chosen = [name for name in (columns or domains) if name in release.columns]
    if raw_labels is None:
        raw_labels = cluster_table(original, domains, clusterer, clusters, seed=seed, columns=chosen, encoding=encoding)
    masked_labels = cluster_table(
        release, domains, masked_clusterer or clusterer, clusters, seed=seed, columns=chosen, encoding=encoding
    )
    return ReleaseComparison(raw_labels, masked_labels, compare_clusterings(raw_labels, masked_labels))
