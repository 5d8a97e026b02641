"""The scale experiment of the TDR paper: seconds of masking, for adult blown up by altered copies of its records."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from experiments.common import Extent, append_row, waiting_cases
from experiments.tdr_tables import expand
from shoal.cluster_release.framework import mask
from shoal.job.draft import resolve
from shoal.job.job import Job
from shoal.models.base import Requirement
from shoal.models.linkage import Qid
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.sources import frame_source
from shoal.progress import ProgressCallback, Watch

KEYS = ("records", "requirement")
H = 50
Qids = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Requested:
    """What is asked of a blown-up table, and with which taxonomies."""

    name: str
    qids: Qids
    files: dict[str, Any]


def prepared(
    frame: pl.DataFrame, files: dict[str, Any], quasi: tuple[str, ...], how: tuple[tuple[str, Any], ...] = ()
) -> Prepared:
    """A table that TDR can mask; numbers get intervals of their own, whatever hierarchies there are."""
    used = {name: path for name, path in files.items() if name in quasi}
    rest = tuple(name for name in frame.columns if name not in quasi)  # clustered too, never released here
    job = Job(
        quasi=quasi, k=2, hierarchies=used, keep=rest, allow=rest, algorithm="tdr", parameters=dict(how), threads=1
    )
    return prepare(resolve(job, described=frame.columns), lambda: frame_source(frame), Watch())


def run_scale(
    frame: pl.DataFrame,
    files: dict[str, Any],
    labels: np.ndarray,
    several: Sequence[Qids],
    out: Path,
    extent: Extent,
    progress: ProgressCallback,
) -> None:
    """One QID of all attributes, by taxonomies and by suppression, and several QIDs; each with the labels of adult."""
    sizes = extent.pick((100_000, 200_000), (200_000, 600_000, 1_000_000), tuple(range(200_000, 1_000_001, 200_000)))
    everything = [tuple(frame.columns)]
    wanted = [Requested("all", everything, files), Requested("suppression", everything, {})]
    wanted += [Requested(f"multi-{number}", qids, files) for number, qids in enumerate(several)]
    cases = [(records, one.name, one) for records in sizes for one in wanted]
    large = frame
    for records, _, one in waiting_cases(out / "tdr_scale.csv", KEYS, cases, progress):
        if large.height != records:
            large = expand(frame, records)
        append_row(out / "tdr_scale.csv", measure(large, one, np.resize(labels, records).astype(np.int32)))


def measure(large: pl.DataFrame, one: Requested, labels: np.ndarray) -> dict[str, Any]:
    """Seconds of masking alone; the table is in memory and encoded."""
    quasi = tuple(column for column in large.columns if any(column in qid for qid in one.qids))
    ready = prepared(large.select(quasi), one.files, quasi)
    start, wall = time.process_time(), time.perf_counter()
    found = mask(ready, labels, Requirement.of([Qid(tuple(qid), H) for qid in one.qids]), Watch())
    return {
        "records": large.height,
        "requirement": one.name,
        "qids": len(one.qids),
        "attributes": len(quasi),
        "seconds": round(time.process_time() - start, 3),
        "wall": round(time.perf_counter() - wall, 3),
        "steps": len(found.details["steps"]),
        "classes": int(found.groups.max()) + 1,
    }
