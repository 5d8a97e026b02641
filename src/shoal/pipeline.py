"""The way of the data, in seven verbs: read, encode, cluster, recode, verify, evaluate, write.

`run` takes a job that names files, `run_frame` one that comes with a frame. Both pass explicit values from verb to
verb. Nothing is written unless the check of the released values passed; for a file these are the bytes to be
published, read back from the disk. A `trace` callback sees every intermediate value, for debugging.

What needs compiled kernels is imported where it is used: it is loaded while the table is read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.algorithms.base import Clustering, Context
from shoal.certificate import certificate_text, frame_hash, make_certificate
from shoal.check_job import Schema, check_settings, check_table
from shoal.encode.codebook import Codebook
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.population import encode_population
from shoal.errors import InputError, InternalError, Problem, RequirementError
from shoal.evaluate.summary import loss_summary, person_risk, risk_summary
from shoal.job import Job
from shoal.metrics.domain import Domain, make_domains
from shoal.metrics.score import Scores, score
from shoal.models.base import Model, Requirement
from shoal.models.feasible import impossible
from shoal.progress import Progress, ProgressCallback, StopRequest, silent
from shoal.result import Result
from shoal.tables.atomic import atomic_output
from shoal.tables.coded import CodedColumn, as_text, code_columns, with_categories
from shoal.tables.files import Reading, ReadTable, read_back, read_table, write_table
from shoal.tables.frames import Restore, to_polars
from shoal.verify.check import Verification, verify_release

REPORT_PARTS = ("risk", "combinations", "attack", "utility", "queries")
Trace = Callable[[str, Any], None]


@dataclass
class Run:
    """What the verbs of one run share: the job, where to report, and how long each stage took."""

    job: Job
    progress: ProgressCallback = silent
    trace: Trace | None = None
    models: tuple[Model, ...] = ()
    earlier: tuple[Problem, ...] = ()
    stop: StopRequest = field(default_factory=StopRequest)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.end_if_refused()
        self.progress(Progress(name, 0.0))
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self.progress(Progress(name, 1.0))

    def end_if_refused(self) -> None:
        if self.stop.refused:
            raise KeyboardInterrupt

    def show(self, name: str, value: Any) -> None:
        if self.trace is not None:
            self.trace(name, value)


@dataclass(frozen=True, eq=False)
class Source:
    """The table that came in, with its hash and, for a file, how it was written."""

    frame: pl.DataFrame
    sha256: str
    file: ReadTable | None = None
    restore: Restore | None = None
    coded: dict[str, CodedColumn] = field(default_factory=dict)  # quasi-identifiers as numbers, where that is done


@dataclass(frozen=True, eq=False)
class Work:
    """A table that passed all checks, ready to be clustered."""

    source: Source
    schema: Schema
    requirement: Requirement
    algorithm: Any
    table: EncodedTable
    codebook: Codebook


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
    read = _begin_reading(job, reading)
    if meanwhile is not None:
        meanwhile()
    with ThreadPoolExecutor(max_workers=1) as beside:  # the settings are checked at the same time
        work = _check_and_encode(this, beside.submit(read).result)
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
    work = _check_and_encode(this, lambda: _taken(frame))
    return _release(this, work)


def check(job: Job) -> None:
    """Raise every problem of a job with its table, and do nothing else."""
    _check_and_encode(Run(job), _begin_reading(job))


def threads_of(job: Job) -> int:
    """The job's number of threads, else SHOAL_THREADS, else one per core. The result does not depend on it."""
    if job.threads is not None:
        return job.threads
    named = os.environ.get("SHOAL_THREADS", "")
    return int(named) if named.isdigit() and int(named) > 0 else (os.cpu_count() or 1)


def _check_and_encode(this: Run, read: Callable[[], Source]) -> Work:
    """read and encode, and every problem on the way in one error."""
    job = this.job
    problems: list[Problem] = list(this.earlier)
    settings = check_settings(job, problems, this.models)
    requirement = settings.requirement.count_persons(job.person) if settings.requirement is not None else None
    if settings.algorithm is not None and not problems:
        settings.algorithm.prepare()
    source = schema = None
    with this.stage("read"):
        try:
            source = read()
        except InputError as error:
            problems.extend(error.problems)
    if source is not None:
        this.show("read", source.frame)
    encoded = None
    with this.stage("encode"):
        if source is not None:
            schema = check_table(job, source.frame, requirement, problems, source.coded)
        if source is not None and schema is not None and schema.quasi:
            try:
                encoded = _encode(job, source, schema, requirement)
            except InputError as error:
                problems.extend(error.problems)
        if job.population is not None:
            encoded = _with_population(job, job.population, encoded, problems)
    if problems:
        raise InputError(dict.fromkeys(problems))
    assert source is not None
    assert schema is not None
    assert encoded is not None
    assert requirement is not None
    this.show("encode", encoded)
    table, codebook = encoded
    unmet = impossible(requirement, table)
    if unmet:
        raise RequirementError(unmet)
    return Work(source, schema, requirement, settings.algorithm, table, codebook)


def _with_population(
    job: Job, path: Path, encoded: tuple[EncodedTable, Codebook] | None, problems: list[Problem]
) -> tuple[EncodedTable, Codebook] | None:
    """The encoded table with the population in its codes; what is wrong with the population is told in any case."""
    try:
        population = read_table(path, job.csv_options()).frame
        if encoded is not None:
            table, codebook = encoded
            codes, owners = encode_population(population, codebook, job.missing, job.person)
            return replace(table, population=codes, population_owners=owners), codebook
    except InputError as error:
        problems.extend(error.problems)
    return encoded


def _taken(given: Any) -> Source:
    frame, restore = to_polars(given)
    if frame.height == 0:
        raise InputError(Problem("no-records", "the frame has no records"))
    return Source(frame, frame_hash(frame), restore=restore)


def _begin_reading(job: Job, begun: Reading | None = None) -> Callable[[], Source]:
    """Begin to read the input of a job; what is returned waits for it, or raises what is wrong."""
    problem = InputError(Problem("no-input", "the job names no input", hint="give 'input', or call with a frame"))
    reading = None
    try:
        if job.input is not None:
            options = job.csv_options()
            same = begun is not None and (begun.path, begun.options) == (job.input, options)
            reading = begun if same else Reading(job.input, options)
    except InputError as error:
        problem = error

    def read() -> Source:
        if reading is None:
            raise problem
        file = reading.result()
        coded = code_columns(file.frame, (name for name in job.quasi if name in file.frame.columns))
        return Source(file.frame, file.sha256, file=file, coded=coded)

    return read


def _encode(job: Job, source: Source, schema: Schema, requirement: Requirement | None) -> tuple[EncodedTable, Codebook]:
    numeric_nodes = {item.name for item in schema.quasi if job.recodings.get(item.name, job.recoding) == "nodes"}
    looked_at = list(requirement.columns()) if requirement is not None else []
    if job.class_column is not None:
        looked_at.append(job.class_column)
    options = EncodeOptions(
        missing=job.missing,
        weights=job.weights(),
        as_nodes=frozenset(numeric_nodes & schema.hierarchies.keys()),
        model_columns=tuple(looked_at),
        named_values=requirement.named_values() if requirement is not None else (),
    )
    # Quasi-identifiers keep the order in which the user named them.
    by_name = {item.name: item for item in schema.attributes}
    ordered = [by_name[name] for name in job.quasi]
    ordered += [item for item in schema.attributes if item.name not in job.quasi]
    return encode_table(source.frame, ordered, schema.hierarchies, options, schema.coded)


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
        dropped = [*job.identifiers, *([job.person] if job.person is not None else [])]
        released = recode(work.source.frame, work.table, work.codebook, clustering, dropped, options)
        this.show("recode", released)
    with ExitStack() as outputs:
        beside = outputs.enter_context(ThreadPoolExecutor(max_workers=1))
        domains = beside.submit(_domains, job, work)
        published, sha256 = _stage_output(this, work.source, released, outputs)
        with this.stage("verify"):
            scoring = beside.submit(_evaluate, job, work, domains, published)
            verification = _verify(job, work, published)
            this.show("verify", verification)
        with this.stage("evaluate"):
            scores = scoring.result()
            this.show("evaluate", scores)
        result = _result(this, work, clustering, released, verification, scores, sha256)
        _write_texts(this, work, published, result, outputs)
        this.end_if_refused()
    return result


def _stage_output(this: Run, source: Source, released: pl.DataFrame, outputs: ExitStack) -> tuple[pl.DataFrame, str]:
    """The release as it will be published, and its hash: for a file its bytes, written beside their final place.

    Quasi-identifiers come as categories: who looks at them looks for equal texts, which takes longest.
    """
    output = this.job.output
    if output is None:
        return with_categories(released, this.job.quasi), frame_hash(released)
    with this.stage("write"):
        temporary = outputs.enter_context(atomic_output(output))
        write_table(released, temporary, source.file)
    with this.stage("verify"):
        written = read_back(temporary, source.file, this.job.quasi)
        return written.frame, written.sha256


def _verify(job: Job, work: Work, published: pl.DataFrame) -> Verification:
    if work.algorithm.class_based:
        verification = _verify_classes(job, work, published)
    else:
        from shoal.verify.candidates import verify_candidates

        verification = verify_candidates(
            work.source.frame,
            published,
            job.quasi,
            work.requirement.k,
            work.schema.hierarchies,
            orders=job.orders,
            missing=job.missing,
            scales=work.schema.scales,
        )
    if not verification.passed:
        failed = [Problem("check-failed", str(check)) for check in verification.failures()]
        raise InternalError([*failed, Problem("nothing-written", "the release was thrown away; nothing was written")])
    if published.height != work.source.frame.height:
        raise InternalError(Problem("records-lost", "the release has another number of records than the input"))
    return verification


def _verify_classes(job: Job, work: Work, published: pl.DataFrame) -> Verification:
    looked_at = [*work.requirement.columns(), *([job.person] if job.person is not None else [])]
    hidden = [name for name in dict.fromkeys(looked_at) if name not in published.columns]
    return verify_release(
        published,
        job.quasi,
        work.requirement.models,
        hidden=work.source.frame.select(hidden) if hidden else None,
        suppression_limit=job.suppression_limit,
        orders=job.orders,
        hierarchies=work.schema.hierarchies,
        population=read_table(job.population, job.csv_options()).frame if job.population is not None else None,
        missing=job.missing,
        scales=work.schema.scales,
    )


def _domains(job: Job, work: Work) -> dict[str, Domain]:
    schema = work.schema
    return make_domains(work.source.frame, schema.quasi, schema.hierarchies, job.missing, schema.coded)


def _evaluate(job: Job, work: Work, domains: Future[dict[str, Domain]], published: pl.DataFrame) -> Scores:
    return score(
        work.source.frame,
        published,
        job.quasi,
        domains.result(),
        k=work.requirement.k,
        class_column=job.class_column if job.class_column in published.columns else None,
        weights=job.weights(),
    )


def _result(
    this: Run,
    work: Work,
    clustering: Clustering,
    released: pl.DataFrame,
    verification: Verification,
    scores: Scores,
    sha256: str,
) -> Result:
    job = this.job
    weights = job.weights()
    loss = loss_summary(scores, clustering.lower_bound, {name: weights.get(name, 1.0) for name in job.quasi})
    hierarchies = {
        name: {"levels": tree.levels, "leaves": len(tree.leaves), "sha256": tree.digest()}
        for name, tree in work.schema.hierarchies.items()
    }
    certificate = make_certificate(
        job=job,
        quasi=list(job.quasi),
        models=[model.public_spec() for model in work.requirement.models],
        hierarchies=hierarchies,
        hashes={"input": work.source.sha256, "release": sha256},
        records={
            "input": work.source.frame.height,
            "released": released.height,
            "suppressed": verification.suppressed_records,
        },
        verification=verification.as_dict(),
        missing_cells=dict(work.codebook.missing_cells),
        loss=loss,
        class_based=work.algorithm.class_based,
        notes=list(clustering.details.get("notes", ())),
    )
    metrics = dict(scores.totals)
    metrics.update({name: value for name, value in loss.items() if isinstance(value, float)})
    per_attribute: dict[str, dict[str, float]] = {name: {} for name in job.quasi}
    for metric, parts in scores.per_attribute.items():
        for name, value in parts.items():
            per_attribute[name][metric] = value
    return Result(
        release=work.source.restore.restore(released) if work.source.restore is not None else released,
        groups=clustering.groups,
        certificate=certificate,
        metrics=metrics,
        per_attribute=per_attribute,
        risk=_risk(job, work, released, verification),
        seconds=this.seconds,
        details=clustering.details,
    )


def _risk(job: Job, work: Work, released: pl.DataFrame, verification: Verification) -> dict[str, dict[str, float]]:
    """The risk before and after; with a person column a class hides persons, not records."""
    if job.person is None:
        return risk_summary(work.table.weights, verification)
    persons = work.source.frame[job.person]
    return {
        "before": person_risk(work.source.frame, job.quasi, persons, exempt=False, missing=job.missing),
        "after": person_risk(released, job.quasi, persons, exempt=verification.suppressed_exempt, missing=job.missing),
    }


def _write_texts(this: Run, work: Work, published: pl.DataFrame, result: Result, outputs: ExitStack) -> None:
    """Certificate and report, beside their final places; all files are moved into place together, at the very end."""
    job = this.job
    if job.certificate is not None:
        path = outputs.enter_context(atomic_output(job.certificate))
        path.write_text(certificate_text(result.certificate), encoding="utf-8")
    if job.report is not None:
        path = outputs.enter_context(atomic_output(job.report))
        with this.stage("report"):
            path.write_text(_report(this, work, published, result), encoding="utf-8")


def _report(this: Run, work: Work, published: pl.DataFrame, result: Result) -> str:
    """The page with everything that can be told without training models."""
    from shoal.evaluate.evaluate import PARTS, EvaluationOptions, evaluate_release
    from shoal.evaluate.report import build_report

    job = this.job
    options = EvaluationOptions(
        k=job.k,
        sensitive=tuple(name for name in job.sensitive if name in published.columns),
        weights=job.weights(),
        class_based=work.algorithm.class_based,
        seed=job.seed,
        parts=tuple(part for part in PARTS if part in REPORT_PARTS),
    )
    evaluation = evaluate_release(
        work.source.frame,
        published.with_columns(as_text(published[name]) for name in job.quasi),
        job.quasi,
        options,
        hierarchies=work.schema.hierarchies,
        missing=job.missing,
        progress=this.progress,
    )
    return build_report(result.summary(), evaluation.as_dict())
