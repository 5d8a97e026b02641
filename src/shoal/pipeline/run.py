"""The way of the data, in verbs: resolve, read, plan, encode, cluster, recode, stage, verify, evaluate, commit.

`make_release` is that way; `run` begins it with a job that names files, `run_frame` with a frame. Every verb is handed
what an earlier one decided. Nothing is written unless the check of the released values passed; for a file these are
the bytes to be published, read back from the disk.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.errors import InputError, Problem
from shoal.job.draft import Draft, resolve
from shoal.job.engine import settle_engine
from shoal.job.job import Job
from shoal.models.base import Model
from shoal.pipeline.earlier import Before, look_before
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.publish import open_places, publish
from shoal.pipeline.purpose import Purpose, recoded
from shoal.pipeline.result import Result
from shoal.pipeline.sources import ReadSource, begin_reading, frame_source
from shoal.progress import ProgressCallback, Watch, silent


def run(job: Job, *, progress: ProgressCallback = silent, watch: Watch | None = None) -> Result:
    """From the input file of a job to its verified output file (if it names one), certificate and report.

    `watch` is progress, trace and the wish to stop in one object; `progress` is enough for most.
    """
    job = settle_engine(job)
    if job.engine != "local":
        return run_elsewhere(resolve(job), watch or Watch(progress))
    read = begin_reading(job)
    return make_release(resolve(job), read, watch or Watch(progress))


def run_elsewhere(draft: Draft, watch: Watch) -> Result:
    """The same for an engine that holds the records outside of memory: counted rows take the way of the data."""
    from shoal.pipeline.counted import make_counted_release

    return make_counted_release(draft, watch)


def run_frame(
    job: Job,
    frame: Any,
    *,
    models: tuple[Model, ...] = (),
    progress: ProgressCallback = silent,
    watch: Watch | None = None,
    purpose: Purpose | None = None,
) -> Result:
    """The same for a frame in memory; `models` may be given as objects besides those that the job names."""
    if _is_of_spark(frame):
        from shoal.pipeline.counted import make_counted_release

        job = job.model_copy(update={"engine": "spark"})
        return make_counted_release(resolve(job, models), watch or Watch(progress), frame)
    if job.engine not in ("auto", "local"):
        message = f"the engine '{job.engine}' reads files, and a frame is given"
        raise InputError(Problem("cannot-stream", message, hint="leave out the engine, or name a file as input"))
    return make_release(resolve(job, models), lambda: frame_source(frame, job), watch or Watch(progress), purpose)


def _is_of_spark(frame: Any) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.") and hasattr(frame, "sparkSession")


def check(job: Job) -> Prepared:
    """Raise every problem of a job with its table, and make no release."""
    return prepare(resolve(job), begin_reading(job), Watch())


def make_release(draft: Draft, read: ReadSource, watch: Watch, purpose: Purpose | None = None) -> Result:
    """From a draft and its table to a verified release, and to files if the job names them."""
    before = look_before(draft.job) if purpose is None else Before()
    purpose = purpose or before.purpose or Purpose()
    problems = [*draft.problems, *before.problems]
    draft.prepare()
    with open_places(draft.job, read, problems) as places:
        prepared = prepare(replace(draft, problems=tuple(problems)), read, watch)  # read, plan, encode
        with watch.stage("cluster"):
            clustering = purpose.cluster(prepared, watch)
            watch.show("cluster", clustering)
        watch.end_unless_kept()
        with watch.stage("recode"):
            released = purpose.finish(prepared, recoded(prepared, clustering))
            watch.show("recode", released)
        # stage, verify, evaluate, commit
        result = publish(prepared, clustering, released, purpose, {**places, **purpose.places}, watch)
    before.record(draft.job, result)
    return result
