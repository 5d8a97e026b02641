"""The way of the data, in verbs: read, plan, encode, cluster, recode, stage, verify, evaluate, commit.

`run` takes a job that names files, `run_frame` one that comes with a frame. Both pass explicit values from verb to
verb. Nothing is written unless the check of the released values passed; for a file these are the bytes to be
published, read back from the disk. A `trace` callback sees every intermediate value, for debugging.

`reading` reads, plans and encodes, `outputs` stages, verifies and evaluates. What needs compiled kernels is imported
where it is used: it is loaded while the table is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from shoal.algorithms.base import Context
from shoal.errors import Problem
from shoal.job.job import Job
from shoal.models.base import Model
from shoal.pipeline.certificate import frame_hash
from shoal.pipeline.outputs import evaluate, make_result, stage_files, verify, write_texts
from shoal.pipeline.reading import Run, Source, Trace, Work, begin_reading, check_and_encode, taken
from shoal.pipeline.result import Result
from shoal.progress import ProgressCallback, StopRequest, silent
from shoal.tables.distinct import with_categories
from shoal.tables.formats.files import Reading, read_back, write_table


def run(
    job: Job,
    *,
    progress: ProgressCallback = silent,
    trace: Trace | None = None,
    earlier: Sequence[Problem] = (),
    stop: StopRequest | None = None,
    reading: Reading | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Result:
    """From the input file of a job to its verified output file (if it names one), certificate and report.

    `earlier` are problems the caller has already found; they are raised together with all others. `stop` lets the
    caller end the search early. `reading` is the input, if the caller has begun to read it. `meanwhile` is called when
    the table is being read.
    """
    this = Run(job, progress, trace, earlier=tuple(earlier), stop=stop or StopRequest())
    read = begin_reading(job, reading)
    if meanwhile is not None:
        meanwhile()
    with ThreadPoolExecutor(max_workers=1) as beside:  # the settings are checked at the same time
        work = check_and_encode(this, beside.submit(read).result)
    return _release(this, work)


def run_frame(
    job: Job,
    frame: Any,
    *,
    models: tuple[Model, ...] = (),
    progress: ProgressCallback = silent,
    trace: Trace | None = None,
) -> Result:
    """The same for a frame in memory; `models` may be given as objects besides those that the job names."""
    this = Run(job, progress, trace, models)
    work = check_and_encode(this, lambda: taken(frame))
    return _release(this, work)


def check(job: Job) -> None:
    """Raise every problem of a job with its table, and do nothing else."""
    check_and_encode(Run(job), begin_reading(job))


def threads_of(job: Job) -> int:
    """The job's number of threads, else SHOAL_THREADS, else one per core. The result does not depend on it."""
    if job.threads is not None:
        return job.threads
    named = os.environ.get("SHOAL_THREADS", "")
    return int(named) if named.isdigit() and int(named) > 0 else (os.cpu_count() or 1)


def _release(this: Run, work: Work) -> Result:
    """cluster, recode, verify, evaluate and write."""
    from shoal.engines.local import cluster_table
    from shoal.recode.release import RecodeOptions, hidden_records, recode

    job = this.job
    options = RecodeOptions(job.recoding, job.recodings)
    with this.stage("cluster"):
        context = Context(job.seed, threads_of(job), this.progress, this.stop)
        clustering = cluster_table(
            work.table,
            work.requirement,
            work.algorithm,
            context,
            job.suppression_limit,
            lambda found: hidden_records(work.table, work.codebook, found, options),
        )
        this.show("cluster", clustering)
    this.end_if_refused()
    if this.stop.asked and not this.stop.keep():
        raise KeyboardInterrupt
    with this.stage("recode"):
        released = recode(work.source.frame, work.table, work.codebook, clustering, work.plan.dropped, options)
        this.show("recode", released)
    with ExitStack() as outputs:
        beside = outputs.enter_context(ThreadPoolExecutor(max_workers=1))
        domains = beside.submit(work.plan.domains, work.source.frame)
        staged = stage_files(job, outputs)
        published, sha256 = _stage_release(this, work.source, released, staged.get("output"))
        with this.stage("verify"):
            scoring = beside.submit(evaluate, job, work, domains, published)
            verification = verify(job, work, published)
            this.show("verify", verification)
        with this.stage("evaluate"):
            scores = scoring.result()
            this.show("evaluate", scores)
        result = make_result(this, work, clustering, released, verification, scores, domains.result(), sha256)
        write_texts(this, work, published, domains.result(), result, staged)
        this.end_if_refused()
    return result


def _stage_release(this: Run, source: Source, released: pl.DataFrame, staged: Path | None) -> tuple[pl.DataFrame, str]:
    """The release as it will be published, and its hash: for a file its bytes, written where they wait to be moved.

    Quasi-identifiers come as categories: who looks at them looks for equal texts, which takes longest.
    """
    if staged is None:
        return with_categories(released, this.job.quasi), frame_hash(released)
    with this.stage("write"):
        write_table(released, staged, source.file)
    with this.stage("verify"):
        written = read_back(staged, source.file, this.job.quasi)
        return written.frame, written.sha256
