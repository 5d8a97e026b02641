"""What a release is made for: how its records are grouped, and what else is written about it.

The way of the data is the same for every purpose (`pipeline/run.py`). This is the plain one; publishing for cluster
analysis (`cluster_release/`) is another.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, Context
from shoal.errors import Problem, RequirementError
from shoal.job.job import Job
from shoal.pipeline.prepare import Prepared
from shoal.progress import Watch

if TYPE_CHECKING:
    from shoal.models.base import Requirement
    from shoal.pipeline.result import Result
    from shoal.recode.release import RecodeOptions


class Purpose:
    """A release for everybody: any algorithm, and a report about loss and risk."""

    places: Mapping[str, Path] = MappingProxyType({})  # of further texts, besides the files that the job names

    def cluster(self, prepared: Prepared, watch: Watch) -> Clustering:
        """Groups that are safe for every model of the requirement."""
        return safe_clustering(prepared, prepared.requirement, watch)

    def finish(self, prepared: Prepared, released: pl.DataFrame) -> pl.DataFrame:
        """The released table with what is published beside the columns of the input."""
        return released

    def verify(self, prepared: Prepared, published: pl.DataFrame) -> dict[str, Any]:
        """What else must hold of the published values, such as with earlier releases, and what a certificate tells."""
        return {}

    def documents(
        self, prepared: Prepared, released: pl.DataFrame, result: Result, wanted: Collection[str], watch: Watch
    ) -> dict[str, str]:
        """The texts about a release that are wanted, by name; certificate and job are not among them."""
        if "report" not in wanted:
            return {}
        with watch.stage("report"):
            return {"report": result.report(watch.progress)}


def safe_clustering(prepared: Prepared, requirement: Requirement, watch: Watch) -> Clustering:
    """What the algorithm finds, made safe: repaired, and without the records that may be suppressed."""
    from shoal.engines.local import cluster_table
    from shoal.recode.release import hidden_records

    context = Context(prepared.job.seed, threads_of(prepared.job), watch.progress, watch.stop)
    return cluster_table(
        prepared.table,
        requirement,
        prepared.algorithm,
        context,
        prepared.job.suppression_limit,
        lambda found: hidden_records(prepared.table, prepared.codebook, found, recode_options(prepared)),
        prepared.plan.scheme,
    )


def recode_options(prepared: Prepared) -> RecodeOptions:
    from shoal.recode.release import RecodeOptions

    return RecodeOptions(per_attribute={column.name: column.recoding for column in prepared.plan.quasi})


def recoded(prepared: Prepared, clustering: Clustering) -> pl.DataFrame:
    """The released table, in the order of the records; suppressed ones are left out if the job says so."""
    from shoal.recode.release import recode

    released = recode(
        prepared.frame,
        prepared.table,
        prepared.codebook,
        clustering,
        prepared.plan.dropped,
        recode_options(prepared),
    )
    kept = kept_records(prepared.job, clustering)
    return released if kept is None else released.filter(pl.Series(kept))


def kept_records(job: Job, clustering: Clustering) -> NDArray[np.bool_] | None:
    """(records,) which of them are released at all; None: all of them."""
    if job.suppressed == "star" or clustering.suppressed is None or not clustering.suppressed.any():
        return None
    if clustering.suppressed.all():
        message = "every record would be suppressed, and so left out"
        raise RequirementError(Problem("nothing-left", message, hint="lower the suppression limit"))
    return np.asarray(~clustering.suppressed)


def threads_of(job: Job) -> int:
    """The job's number of threads, else SHOAL_THREADS, else one per core. The result does not depend on it."""
    if job.threads is not None:
        return job.threads
    named = os.environ.get("SHOAL_THREADS", "")
    return int(named) if named.isdigit() and int(named) > 0 else (os.cpu_count() or 1)
