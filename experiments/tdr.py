"""The experiments of the TDR paper: does masking keep the clusters?

    shoal experiment tdr

- threshold: F-measure and match point for h = 5..100 and 2, 6, 10 clusters, basic and bisecting k-means, masking
  guided by the clusters against masking guided by distortion; the QID is the top 9 attributes of a decision tree
- size: the same for the top 3 to top 9 attributes, 6 clusters
- multi: 30 random requirements of several QIDs against the union of their attributes
- mixed: the recipient clusters in another way than the publisher
- taxonomy: taxonomies of several levels against flat ones; masked: a close look at the release of the paper's Table 7
- scale (`experiments.tdr_scale`): seconds for 200,000 to 1,000,000 records with all 14 attributes, with several QIDs,
  and with values suppressed instead of generalized

Every case is one line in a CSV file; a run that was stopped goes on where it was. `experiments.tdr_report` turns the
files into tables, tests and charts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from experiments.common import Extent, Finding, adult, append_row, waiting_cases
from experiments.tdr_claims import claims
from experiments.tdr_report import report
from experiments.tdr_scale import prepared, run_scale
from experiments.tdr_tables import rank_attributes
from shoal.algorithms.base import Clustering
from shoal.cluster_release.framework import mask
from shoal.evaluation.usefulness.clustering.agreement import compare_clusterings
from shoal.evaluation.usefulness.clustering.comparison import cluster_table
from shoal.models.base import Requirement
from shoal.models.linkage import Qid
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import recoded
from shoal.progress import ProgressCallback, Watch
from shoal.released.domain import Domain

KINDS = ("kmeans", "bisecting")
PAPER_RULE = (("possible_splits", False),)
MODES: dict[str, tuple[tuple[str, Any], ...]] = {  # by the clusters as classes or without, numbers split by either rule
    "paper": PAPER_RULE,
    "distort-paper": (*PAPER_RULE, ("mode", "distort")),
    "cluster": (),
    "distort": (("mode", "distort"),),
}
GUIDED = ("paper", "cluster")
RELATIONSHIP = {  # the paper has a taxonomy of 6 leaves and 3 levels, and does not print it; ARX has none
    "*": {
        "in a family": ["Husband", "Wife", "Own-child", "Other-relative"],
        "not in a family": ["Not-in-family", "Unmarried"],
    }
}
FLAT = "flat"
AGREEMENT = ("f_measure", "match_point", "adjusted_rand", "mutual_information")
LARGE = 5000  # a threshold at which the paper says that nothing is left
CLUSTERS = (2, 6, 10)
KEYS = ("experiment", "table", "kind", "recipient", "clusters", "guided", "requirement", "h")


@dataclass(frozen=True)
class Case:
    """One masking, and one comparison of clusters."""

    experiment: str
    table: str
    kind: str  # the publisher's clusterer
    recipient: str
    clusters: int
    guided: str
    requirement: str  # its name, or that of its taxonomies
    h: int
    qids: tuple[tuple[str, ...], ...]

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(str(getattr(self, name)) for name in KEYS)


class Tables:
    """The raw tables, their clusters and their ranked attributes, each computed once."""

    def __init__(self, folder: Path) -> None:
        frame, files = adult(folder)
        self.frames = {
            "adult": frame.drop("income"),
            "crx": pl.read_csv(folder / "crx" / "crx_complete.csv").drop("A16"),
        }
        given = {name: path for name, path in files.items() if name != "income"}
        self.files: dict[str, dict[str, Any]] = {"adult": {**given, "relationship": RELATIONSHIP}, "crx": {}}
        leaves = {name: frame[name].unique().sort().to_list() for name in self.files["adult"] if name != "age"}
        self.files[FLAT] = {name: {"*": values} for name, values in leaves.items()}  # nothing between leaf and root
        self.masked_labels: dict[tuple[Any, ...], np.ndarray] = {}

    @lru_cache(maxsize=64)  # noqa: B019  (one object for the whole run)
    def prepared(
        self, table: str, quasi: tuple[str, ...], how: tuple[tuple[str, Any], ...] = (), files: str | None = None
    ) -> Prepared:
        return prepared(self.frames[table], self.files[files or table], quasi, how)

    @lru_cache(maxsize=64)  # noqa: B019
    def domains(self, table: str) -> dict[str, Domain]:
        frame = self.frames[table]
        return self.prepared(table, tuple(frame.columns)).plan.domains(frame)

    @lru_cache(maxsize=64)  # noqa: B019
    def labels(self, table: str, kind: str, clusters: int) -> np.ndarray:
        frame = self.frames[table]
        return cluster_table(frame, self.domains(table), kind, clusters)

    @lru_cache(maxsize=64)  # noqa: B019
    def ranked(self, table: str, kind: str, clusters: int) -> tuple[str, ...]:
        whole = self.prepared(table, tuple(self.frames[table].columns)).table
        return rank_attributes(whole, self.labels(table, kind, clusters), clusters)

    def cluster_release(self, release: pl.DataFrame, table: str, kind: str, clusters: int) -> np.ndarray:
        """Equal releases come out of neighbouring thresholds; they are clustered once."""
        key = (table, kind, clusters, int(release.hash_rows(seed=1).hash().sum()))
        if key not in self.masked_labels:
            self.masked_labels[key] = cluster_table(release, self.domains(table), kind, clusters)
        return self.masked_labels[key]


def run_case(case: Case, tables: Tables) -> dict[str, Any]:
    labels = tables.labels(case.table, case.kind, case.clusters)
    if case.guided == "raw":  # nothing is masked: only the two clusterers differ
        masked, classes, seconds = tables.labels(case.table, case.recipient, case.clusters), 0, 0.0
    else:
        masked, classes, seconds = masked_clusters(case, tables, labels)
    found = compare_clusterings(labels, masked)
    return {
        **dict(zip(KEYS, case.key, strict=True)),
        **{name: round(getattr(found, name), 6) for name in AGREEMENT},
        "classes": classes,
        "seconds": round(seconds, 4),
    }


def masked_clusters(case: Case, tables: Tables, labels: np.ndarray) -> tuple[np.ndarray, int, float]:
    """The clusters of the masked table, how many classes it has, and the seconds of masking."""
    quasi = tuple(name for name in tables.frames[case.table].columns if any(name in qid for qid in case.qids))
    files = FLAT if case.requirement == FLAT else None
    ready = tables.prepared(case.table, quasi, MODES[case.guided], files)
    requirement = Requirement.of([Qid(qid, case.h) for qid in case.qids])
    start = time.process_time()
    clustering = mask(ready, labels, requirement, Watch())
    seconds = time.process_time() - start
    release = recoded(ready, clustering)
    masked = tables.cluster_release(release, case.table, case.recipient, case.clusters)
    return masked, int(clustering.groups.max()) + 1, seconds


def thresholds(extent: Extent) -> tuple[int, ...]:
    """Of the figures over h; all as in the paper, for a t-test of 20 pairs."""
    return extent.pick((5, 50, 100), (5, *range(10, 101, 10)), tuple(range(5, 101, 5)))


def some_thresholds(extent: Extent) -> tuple[int, ...]:
    """Where h is not what is looked at."""
    return extent.pick((5, 50, 100), (5, 50, 100), tuple(range(5, 101, 5)))


def threshold_cases(tables: Tables, table: str, extent: Extent) -> Iterator[Case]:
    for kind in KINDS:
        for clusters in CLUSTERS:
            top = tables.ranked(table, kind, clusters)[:9]
            for h in (*thresholds(extent), *((LARGE,) if table == "adult" else ())):
                for guided in MODES:
                    yield Case("threshold", table, kind, kind, clusters, guided, "top9", h, (top,))


def size_cases(tables: Tables, table: str, extent: Extent) -> Iterator[Case]:
    for kind in KINDS:
        ranked = tables.ranked(table, kind, 6)
        for size in extent.pick((3, 6, 9), (3, 5, 7, 9), tuple(range(3, 10))):
            for h in some_thresholds(extent):
                for guided in MODES:
                    yield Case("size", table, kind, kind, 6, guided, f"top{size}", h, (ranked[:size],))


def multi_cases(tables: Tables, table: str, extent: Extent) -> Iterator[Case]:
    """Each requirement has 3 to 7 QIDs of one length between 2 and 9, drawn at random."""
    names = tables.frames[table].columns
    for number in range(extent.pick(4, 30)):
        qids = random_qids(names, number)
        union = tuple(name for name in names if any(name in qid for qid in qids))
        for kind in KINDS:
            for h in extent.pick((50,), (20, 80), (20, 50, 80)):
                for guided in extent.pick(("paper",), ("paper",), GUIDED):
                    yield Case("multi", table, kind, kind, 6, guided, f"multi-{number}", h, qids)
                    yield Case("multi", table, kind, kind, 6, guided, f"single-{number}", h, (union,))


def random_qids(names: Sequence[str], number: int) -> tuple[tuple[str, ...], ...]:
    random = np.random.default_rng([5, number])
    count, length = int(random.integers(3, 8)), int(random.integers(2, 10))
    drawn = (tuple(sorted(random.choice(names, length, replace=False).tolist())) for _ in range(count))
    return tuple(dict.fromkeys(drawn))


def mixed_cases(tables: Tables, table: str, extent: Extent) -> Iterator[Case]:
    for kind, recipient in (KINDS, KINDS[::-1]):
        for clusters in CLUSTERS:
            yield Case("mixed", table, kind, recipient, clusters, "raw", "none", 0, ())
            top = tables.ranked(table, kind, clusters)[:9]
            for h in some_thresholds(extent):
                for guided in extent.pick(("paper",), ("paper",), GUIDED):
                    yield Case("mixed", table, kind, recipient, clusters, guided, "top9", h, (top,))


def taxonomy_cases(tables: Tables, table: str, extent: Extent) -> Iterator[Case]:
    """The same attributes with ARX's taxonomies, and with taxonomies of nothing but root and leaves."""
    if table != "adult":
        return
    for kind in KINDS:
        top = tables.ranked(table, kind, 6)[:9]
        for h in extent.pick((50,), (5, 20, 50, 80, 100)):
            for taxonomies in ("tall", FLAT):
                yield Case("taxonomy", table, kind, kind, 6, "paper", taxonomies, h, (top,))


CASES = {
    "threshold": threshold_cases,
    "size": size_cases,
    "multi": multi_cases,
    "mixed": mixed_cases,
    "taxonomy": taxonomy_cases,
}


def look_closely(tables: Tables, kind: str) -> dict[str, Any]:
    """The release of the paper's Table 7, h = 120 and 6 clusters: what is masked fully, where education is split."""
    top = tables.ranked("adult", kind, 6)[:9]
    quasi = tuple(name for name in tables.frames["adult"].columns if name in top)
    ready, labels = tables.prepared("adult", quasi, PAPER_RULE), tables.labels("adult", kind, 6)
    clustering = mask(ready, labels, Requirement.of([Qid(top, 120)]), Watch())
    release = recoded(ready, clustering)
    found = compare_clusterings(labels, tables.cluster_release(release, "adult", kind, 6))
    return {
        "kind": kind,
        "f_measure": round(found.f_measure, 6),
        "match_point": round(found.match_point, 6),
        "refined": sum(release[name].n_unique() > 1 for name in top),
        "education_split": _first_split(ready, clustering, "education-num"),
    }


def _first_split(ready: Prepared, clustering: Clustering, name: str) -> int | None:
    """Where the range of a number was split first; None if it was not."""
    grown = clustering.details["taxonomies"].get(name, [])
    first = [node["low"] for node in grown if node["parent"] == grown[0]["node"]]
    return int(ready.codebook[name].texts[max(first)]) if first else None


def run(data: Path, out: Path, extent: Extent, progress: ProgressCallback) -> list[Finding]:
    """Run what is missing of all parts, write the tables, the page and the charts, and say which claims hold."""
    tables = Tables(data)
    for part, cases_of in CASES.items():
        cases = [case for table in tables.frames for case in cases_of(tables, table, extent)]
        file = out / f"tdr_{part}.csv"
        for *_, case in waiting_cases(file, KEYS, [(*case.key, case) for case in cases], progress):
            append_row(file, run_case(case, tables))
    adult_labels = tables.labels("adult", "kmeans", 6)
    requirements = [random_qids(tables.frames["adult"].columns, number) for number in range(extent.pick(2, 3, 5))]
    run_scale(tables.frames["adult"], tables.files["adult"], adult_labels, requirements, out, extent, progress)
    pl.DataFrame([look_closely(tables, kind) for kind in KINDS]).write_csv(out / "tdr_masked.csv")
    findings = claims(out)
    report(out, findings)
    return findings
