"""Publishing for cluster analysis in five steps: label, mask, cluster again, compare, release.

B. C. M. Fung, K. Wang, L. Wang, P. C. K. Hung, Privacy-preserving data publishing for cluster analysis, Data and
Knowledge Engineering 68(6), 2009. The clusters of the raw table become class labels; masking keeps what tells the
classes apart; clustering the masked table shows what was kept.

Nothing is released unless the released values hold what was asked of them, which is checked on them alone. The
cluster labels are not part of the release unless asked for: they say a little about every record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.registry import algorithm_class, make_algorithm
from shoal.algorithms.tdr.tdr import Tdr
from shoal.cluster_release.cut import Range, grown_taxonomies, released_cut, with_half_open_intervals
from shoal.cluster_release.prepare import Prepared, Qids, prepare, required_models
from shoal.cluster_release.report import cluster_charts, cluster_report
from shoal.cluster_release.sweep import check_sweep, quality_at
from shoal.encode.encoded_table import EncodedColumn, EncodedTable
from shoal.engines.local import cluster_table as safe_groups
from shoal.errors import InputError, InternalError, Problem
from shoal.evaluation.usefulness.clustering.agreement import ClusterComparison, compare_clusterings
from shoal.evaluation.usefulness.clustering.clusterers import Clusterer, Labels
from shoal.evaluation.usefulness.clustering.comparison import cluster_table
from shoal.evaluation.usefulness.clustering.features import DEFAULT_ENCODING, Encoding
from shoal.models.base import Model, Requirement
from shoal.progress import ProgressCallback, silent
from shoal.recode.release import RecodeOptions, recode
from shoal.reports.charts.draw import save_pictures
from shoal.tables.frames.frames import to_polars
from shoal.tables.schema import Scale, as_names
from shoal.verification.check import Verification, verify_release

LABEL_COLUMN = "cluster"
INTERVAL_TEXTS = ("closed", "half-open")


@dataclass(frozen=True, eq=False)
class ClusterRelease:
    """A release made for cluster analysis, with what the recipient may get besides."""

    release: Any  # the kind of frame that came in
    raw_labels: Labels  # the cluster of every record in the raw table
    masked_labels: Labels  # and in the released table
    comparison: ClusterComparison
    cut: Mapping[str, list[dict[str, Any]]]  # released values of every quasi-identifier with their records
    steps: Sequence[Mapping[str, Any]]  # what was refined, in order, with scores
    taxonomies: Mapping[str, list[dict[str, Any]]]  # the intervals grown for numbers
    groups: NDArray[np.int32]
    verification: Verification
    details: Mapping[str, Any] = field(default_factory=dict)
    sweep: Sequence[Mapping[str, Any]] = ()  # how well clusters survive at other thresholds
    hierarchies: Mapping[str, list[tuple[str, ...]]] = field(default_factory=dict)  # given taxonomies: leaf to root
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)  # what the check needs besides the release

    def report(self) -> str:
        """One offline HTML page with charts."""
        return cluster_report(self.as_dict())

    def charts(self) -> dict[str, dict[str, Any]]:
        """Every chart by name, as Vega-Lite."""
        return cluster_charts(self.as_dict())

    def save_charts(self, folder: str | Path, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
        """Write every chart into a folder; returns the files."""
        return save_pictures(self.charts(), folder, formats)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the tables and labels, ready for JSON."""
        return {
            "comparison": self.comparison.as_dict(),
            "cut": dict(self.cut),
            "taxonomies": dict(self.taxonomies),
            "hierarchies": {name: [list(path) for path in paths] for name, paths in self.hierarchies.items()},
            "steps": [dict(step) for step in self.steps],
            "qids": list(self.details.get("qids", [])),
            "mode": self.details.get("mode"),
            "classes": int(self.groups.max()) + 1,
            "smallest_group": int(np.bincount(self.groups).min()),
            "sweep": [dict(row) for row in self.sweep],
            "verification": self.verification.as_dict(),
        }


def publish_for_clustering(
    frame: Any,
    *,
    quasi: Sequence[str],
    clusters: int = 6,
    h: int | None = 50,
    qids: Qids | None = None,
    models: Sequence[Model] = (),
    hierarchies: Mapping[str, Any] | None = None,
    scales: Mapping[str, Scale | str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    identifiers: Sequence[str] = (),
    missing: Sequence[str] = (),
    cluster_on: Sequence[str] | None = None,
    clusterer: str | Clusterer = "kmeans",
    masked_clusterer: str | Clusterer | None = None,
    encoding: Encoding = DEFAULT_ENCODING,
    mode: str = "information",
    algorithm: Algorithm | str | None = None,
    interval_text: str = "closed",
    ranges: Mapping[str, Range] | None = None,
    release_labels: bool = False,
    sweep: Sequence[int] = (),
    seed: int = 0,
    threads: int = 1,
    progress: ProgressCallback = silent,
) -> ClusterRelease:
    """Mask a table so that its clusters survive, and say how well they did.

    `h` is the threshold of the one QID of all quasi-identifiers; `qids` (columns, threshold), ... replaces it. With
    None there is no such threshold, only what the `models` ask for.
    `orders` gives the values of ordered categories from low to high.
    `cluster_on` are the columns to cluster on: all but the identifiers by default, sensitive ones included.
    `masked_clusterer` is the recipient's if it is another one. `algorithm` masks with another algorithm than TDR.
    Groups that break a model are mended as in every other release.
    `ranges` states the ends of domains for half-open intervals: {"age": (1, 99)}.
    `sweep` are other thresholds (of every QID) for which only the quality is found out.
    """
    if interval_text not in INTERVAL_TEXTS:
        message = f"intervals can be written {' or '.join(INTERVAL_TEXTS)}, not '{interval_text}'"
        raise InputError(Problem("unknown-interval-text", message))
    raw, restore = to_polars(frame)
    quasi, identifiers = as_names(quasi), as_names(identifiers)
    cluster_on = as_names(cluster_on) if cluster_on is not None else None
    wanted = required_models(h, qids, models)
    ready = prepare(raw, quasi, wanted, hierarchies or {}, scales or {}, identifiers, missing, cluster_on, orders)
    labels = cluster_table(
        raw, ready.domains, clusterer, clusters, seed=seed, columns=ready.cluster_on, encoding=encoding
    )
    check_sweep(sweep)
    context = Context(seed=seed, threads=threads, progress=progress)

    def masked(models: tuple[Model, ...]) -> tuple[Clustering, pl.DataFrame]:
        clustering = mask(ready.table, labels, Requirement.of(models), mode, algorithm, context)
        if interval_text == "half-open":
            clustering = with_half_open_intervals(clustering, ready.codebook, ranges)
        return clustering, recode(raw, ready.table, ready.codebook, clustering, list(identifiers), RecodeOptions())

    def masked_at(threshold: int) -> pl.DataFrame:
        sizes = [(columns, threshold) for columns, _ in qids] if qids else None
        return masked(required_models(threshold, sizes, models))[1]

    def cluster_again(table: pl.DataFrame) -> Labels:
        way = masked_clusterer or clusterer
        return cluster_table(
            table, ready.domains, way, clusters, seed=seed, columns=ready.cluster_on, encoding=encoding
        )

    clustering, release = masked(wanted)
    evidence = _evidence(release, ready, wanted, raw, orders or {}, missing)
    verification = _verified(release, ready, wanted, evidence)
    masked_labels = cluster_again(release)
    comparison = compare_clusterings(labels, masked_labels)
    cut = released_cut(release, quasi)
    taxonomies = grown_taxonomies(clustering, ready.codebook)
    if release_labels:
        release = release.with_columns(pl.Series(_free_name(release), labels))
    return ClusterRelease(
        release=restore.restore(release),
        raw_labels=labels,
        masked_labels=masked_labels,
        comparison=comparison,
        cut=cut,
        steps=clustering.details.get("steps", ()),
        taxonomies=taxonomies,
        groups=clustering.groups,
        verification=verification,
        details=clustering.details,
        sweep=quality_at(sweep, masked_at, cluster_again, labels, progress),
        hierarchies={
            name: [tree.path(leaf) for leaf in range(len(tree.leaves))]
            for name, tree in ready.hierarchies.items()
            if name in quasi and name not in taxonomies
        },
        evidence=evidence,
    )


def mask(
    table: EncodedTable,
    labels: Labels,
    requirement: Requirement,
    mode: str,
    algorithm: Algorithm | str | None,
    context: Context,
) -> Clustering:
    """Step 2: the labels become the class that guides the masking; what the algorithm leaves unsafe is repaired."""
    name = LABEL_COLUMN
    while name in table.columns:
        name += "'"
    column = EncodedColumn(name, labels, int(labels.max()) + 1)
    labelled = replace(table, columns={**table.columns, name: column})
    if algorithm is None:
        try:
            algorithm = Tdr(class_column=name, mode=mode)
        except ValueError as error:
            raise InputError(Problem("bad-parameter", str(error))) from None
    elif isinstance(algorithm, str):
        guided = {"class_column": name} if "class_column" in algorithm_class(algorithm).__dataclass_fields__ else {}
        algorithm = make_algorithm(algorithm, **guided)
    return safe_groups(labelled, requirement, algorithm, context)


def _evidence(
    release: pl.DataFrame,
    ready: Prepared,
    models: Sequence[Model],
    raw: pl.DataFrame,
    orders: Mapping[str, Sequence[str]],
    missing: Sequence[str],
) -> dict[str, Any]:
    """What a model looks at and the release does not tell: dropped columns, orders, hierarchies, what means missing."""
    looked_at = dict.fromkeys(name for model in models for name in model.columns())
    hidden = [name for name in looked_at if name not in release.columns]
    return {
        "hidden": raw.select(hidden) if hidden else None,
        "orders": orders,
        "hierarchies": ready.hierarchies,
        "missing": missing,
    }


def _verified(
    release: pl.DataFrame, ready: Prepared, models: Sequence[Model], evidence: Mapping[str, Any]
) -> Verification:
    """What was asked must hold on the released values alone."""
    quasi = [attribute.name for attribute in ready.table.attributes]
    verification = verify_release(release, quasi, models, **evidence)
    if not verification.passed:
        failed = ", ".join(check.model for check in verification.failures())
        message = f"the masked table does not hold {failed}; nothing is released"
        raise InternalError(Problem("not-verified", message))
    return verification


def _free_name(release: pl.DataFrame) -> str:
    name = LABEL_COLUMN
    while name in release.columns:
        name += "_"
    return name
