"""Publishing for cluster analysis in five steps: label, mask, cluster again, compare, release.

B. C. M. Fung, K. Wang, L. Wang, P. C. K. Hung, Privacy-preserving data publishing for cluster analysis, Data and
Knowledge Engineering 68(6), 2009. The clusters of the raw table become class labels; masking keeps what tells the
classes apart; clustering the masked table shows what was kept.

This is a purpose of the usual way of the data (`pipeline/run.py`): the same plan, checks, certificate and staging.
The cluster labels are not part of the release unless asked for: they say a little about every record.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from shoal.algorithms.base import Algorithm, Clustering
from shoal.cluster_release.cut import grown_taxonomies, released_cut, with_half_open_intervals
from shoal.cluster_release.result import ClusterRelease
from shoal.cluster_release.settings import ClusterSettings, at_threshold
from shoal.cluster_release.sweep import Case, quality_of
from shoal.encode.encoded_table import EncodedColumn
from shoal.errors import Problem
from shoal.evaluation.usefulness.clustering.agreement import compare_clusterings
from shoal.evaluation.usefulness.clustering.clusterers import Clusterer, Labels
from shoal.evaluation.usefulness.clustering.comparison import cluster_table
from shoal.job.draft import Draft
from shoal.models.base import Requirement
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import Purpose, recoded, safe_clustering
from shoal.pipeline.result import Result
from shoal.pipeline.run import make_release
from shoal.pipeline.sources import ReadSource
from shoal.progress import Watch
from shoal.released.domain import Domain

LABEL_COLUMN = "cluster"


def publish_clusters(
    draft: Draft, read: ReadSource, settings: ClusterSettings, watch: Watch, details: Path | None = None
) -> ClusterRelease:
    """From a draft and its table to a verified release whose clusters are like those of the table.

    `details` is a place for cut, taxonomies, steps and scores, as JSON.
    """
    problems = (*draft.problems, *settings.problems(), *_modes_problems(draft, settings))
    draft = replace(draft, problems=tuple(dict.fromkeys(problems)), described=settings.cluster_on or ())
    purpose = ForClusterAnalysis(settings, details)
    result = make_release(draft, read, watch, purpose)
    assert purpose.found is not None
    return replace(purpose.found, result=result)


def _modes_problems(draft: Draft, settings: ClusterSettings) -> list[Problem]:
    """Only an algorithm with modes can be swept over them."""
    if not settings.swept.modes or draft.algorithm is None or _has(draft.algorithm, "mode"):
        return []
    message = f"algorithm '{draft.algorithm.name}' has no modes to sweep"
    return [Problem("bad-option", message, hint="leave them out, or mask with tdr")]


class ForClusterAnalysis(Purpose):
    """Masks guided by the clusters of the raw table, and tells how well they survived."""

    def __init__(self, settings: ClusterSettings, details: Path | None = None) -> None:
        self.settings = settings
        self.places = {"details": details} if details is not None else {}
        self.found: ClusterRelease | None = None
        self._labels: Labels | None = None
        self._domains: dict[str, Domain] = {}
        self._clustering: Clustering | None = None

    def cluster(self, prepared: Prepared, watch: Watch) -> Clustering:
        """Label and mask."""
        columns = self._columns(prepared)
        self._domains = prepared.plan.domains(prepared.frame, columns)
        self._labels = self._clusters_of(prepared.frame, prepared, self.settings.clusterer)
        self._clustering = self._mask(prepared, self._labels, prepared.requirement, watch)
        return self._clustering

    def finish(self, prepared: Prepared, released: pl.DataFrame) -> pl.DataFrame:
        if not self.settings.release_labels:
            return released
        return released.with_columns(pl.Series(_free_name(released.columns, "_"), self._labels))

    def documents(
        self, prepared: Prepared, released: pl.DataFrame, result: Result, wanted: Collection[str], watch: Watch
    ) -> dict[str, str]:
        """Cluster again and compare; the page and the details about it."""
        found = self.found = self._compared(prepared, released, result, watch)
        texts = {}
        if "report" in wanted:
            texts["report"] = found.report()
        if "details" in wanted:
            texts["details"] = json.dumps(found.as_dict(), indent=1, ensure_ascii=False) + "\n"
        return texts

    def _compared(self, prepared: Prepared, released: pl.DataFrame, result: Result, watch: Watch) -> ClusterRelease:
        assert self._labels is not None
        assert self._clustering is not None
        labels, settings = self._labels, self.settings
        recipient = settings.recipient or settings.clusterer

        masked_labels = self._clusters_of(released, prepared, recipient)
        taxonomies = grown_taxonomies(self._clustering, prepared.codebook, settings.interval_text, settings.ranges)
        return ClusterRelease(
            result=result,
            raw_labels=labels,
            masked_labels=masked_labels,
            comparison=compare_clusterings(labels, masked_labels),
            cut=released_cut(released, prepared.job.quasi),
            taxonomies=taxonomies,
            sweep=self._swept(prepared, watch),
            hierarchies={
                name: [tree.path(leaf) for leaf in range(len(tree.leaves))]
                for name, tree in prepared.plan.hierarchies.items()
                if name in prepared.job.quasi and name not in taxonomies
            },
        )

    def _swept(self, prepared: Prepared, watch: Watch) -> list[dict[str, Any]]:
        """The quality in other settings; what the release has is kept where a case says nothing."""
        recipient = self.settings.recipient or self.settings.clusterer
        labels_of = cache(lambda clusterer, clusters: self._raw_labels(prepared, clusterer, clusters))

        def labels(case: Case) -> Labels:
            return labels_of(case.clusterer, case.clusters)

        def masked(case: Case) -> pl.DataFrame:
            models = at_threshold(prepared.requirement.models, case.h, prepared.job.person)
            how = in_mode(prepared, case.mode)
            return recoded(prepared, self._mask(how, labels(case), Requirement.of(models), watch))

        def cluster_again(case: Case, table: pl.DataFrame) -> Labels:
            return self._clusters_of(table, prepared, case.clusterer or recipient, case.clusters)

        cases = self.settings.swept.cases(prepared.requirement.k)
        return quality_of(cases, labels, masked, cluster_again, watch.progress)

    def _raw_labels(self, prepared: Prepared, clusterer: str | None, clusters: int | None) -> Labels:
        """The clusters of the raw table, by another clusterer or in another number than the release's if named."""
        if clusterer is None and clusters is None and self._labels is not None:
            return self._labels
        return self._clusters_of(prepared.frame, prepared, clusterer or self.settings.clusterer, clusters)

    def _columns(self, prepared: Prepared) -> tuple[str, ...]:
        if self.settings.cluster_on is not None:
            return self.settings.cluster_on
        dropped = set(prepared.plan.dropped)
        return tuple(name for name in prepared.frame.columns if name not in dropped)

    def _clusters_of(
        self, frame: pl.DataFrame, prepared: Prepared, clusterer: str | Clusterer, clusters: int | None = None
    ) -> Labels:
        return cluster_table(
            frame,
            self._domains,
            clusterer,
            clusters or self.settings.clusters,
            seed=prepared.job.seed,
            columns=self._columns(prepared),
            encoding=self.settings.encoding,
        )

    def _mask(self, prepared: Prepared, labels: Labels, requirement: Requirement, watch: Watch) -> Clustering:
        clustering = mask(prepared, labels, requirement, watch)
        if self.settings.interval_text == "half-open":
            clustering = with_half_open_intervals(clustering, prepared.codebook, self.settings.ranges)
        return clustering


def mask(prepared: Prepared, labels: Labels, requirement: Requirement, watch: Watch) -> Clustering:
    """The labels become the class that guides the masking; what the algorithm leaves unsafe is repaired."""
    name = _free_name(prepared.table.columns, "'")
    column = EncodedColumn(name, labels, int(labels.max()) + 1)
    table = replace(prepared.table, columns={**prepared.table.columns, name: column})
    return safe_clustering(
        replace(prepared, table=table, algorithm=_guided_by(prepared.algorithm, name)), requirement, watch
    )


def in_mode(prepared: Prepared, mode: str | None) -> Prepared:
    """The same with another mode of masking, if the algorithm has modes."""
    if mode is None or not _has(prepared.algorithm, "mode"):
        return prepared
    changed = replace(prepared.algorithm, mode="auto" if mode == "information" else mode)  # type: ignore[call-arg]
    return replace(prepared, algorithm=changed)


def _guided_by(algorithm: Algorithm, column: str) -> Algorithm:
    """The algorithm with the clusters as its class, if it takes one."""
    takes = _has(algorithm, "class_column")
    return replace(algorithm, class_column=column) if takes else algorithm  # type: ignore[call-arg]


def _has(algorithm: Algorithm, parameter: str) -> bool:
    return any(item.name == parameter for item in fields(algorithm))


def _free_name(taken: Collection[str], mark: str) -> str:
    name = LABEL_COLUMN
    while name in taken:
        name += mark
    return name
