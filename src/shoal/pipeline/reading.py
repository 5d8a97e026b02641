"""read and encode: from a job to a table that passed all checks, or every problem on the way in one error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.encode.codebook import Codebook
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.population import encode_population
from shoal.errors import InputError, Problem, RequirementError
from shoal.job.checks import check_settings
from shoal.job.job import Job
from shoal.job.plan import Plan, make_plan
from shoal.models.base import Model, Requirement
from shoal.models.feasible import impossible
from shoal.pipeline.certificate import frame_hash
from shoal.progress import Progress, ProgressCallback, StopRequest, silent
from shoal.tables.distinct import CodedColumn, code_columns
from shoal.tables.formats.files import Reading, ReadTable, read_table
from shoal.tables.frames.frames import Restore, to_polars

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
    plan: Plan
    requirement: Requirement
    algorithm: Any
    table: EncodedTable
    codebook: Codebook
    population: pl.DataFrame | None = None


def check_and_encode(this: Run, read: Callable[[], Source]) -> Work:
    """read and encode, and every problem on the way in one error."""
    job = this.job
    problems: list[Problem] = list(this.earlier)
    settings = check_settings(job, problems, this.models)
    requirement = settings.requirement.count_persons(job.person) if settings.requirement is not None else None
    if settings.algorithm is not None and not problems:
        settings.algorithm.prepare()
    source = plan = population = None
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
            plan = make_plan(job, source.frame, requirement, problems, source.coded)
        if source is not None and plan is not None and plan.quasi:
            try:
                encoded = _encode(job, source, plan, requirement)
            except InputError as error:
                problems.extend(error.problems)
        if job.population is not None:
            population = _read_population(job, job.population, problems)
            encoded = _with_population(job, population, encoded, problems)
    if problems:
        raise InputError(dict.fromkeys(problems))
    assert source is not None
    assert plan is not None
    assert encoded is not None
    assert requirement is not None
    this.show("encode", encoded)
    table, codebook = encoded
    unmet = impossible(requirement, table)
    if unmet:
        raise RequirementError(unmet)
    return Work(source, plan, requirement, settings.algorithm, table, codebook, population)


def _read_population(job: Job, path: Path, problems: list[Problem]) -> pl.DataFrame | None:
    """The population of k-map, read once; what is wrong with it is told whatever else is wrong."""
    try:
        return read_table(path, job.csv_options()).frame
    except InputError as error:
        problems.extend(error.problems)
        return None


def _with_population(
    job: Job,
    population: pl.DataFrame | None,
    encoded: tuple[EncodedTable, Codebook] | None,
    problems: list[Problem],
) -> tuple[EncodedTable, Codebook] | None:
    """The encoded table with the population in its codes."""
    if encoded is None or population is None:
        return encoded
    table, codebook = encoded
    try:
        codes, owners = encode_population(population, codebook, job.missing, job.person)
    except InputError as error:
        problems.extend(error.problems)
        return encoded
    return replace(table, population=codes, population_owners=owners), codebook


def taken(given: Any) -> Source:
    frame, restore = to_polars(given)
    if frame.height == 0:
        raise InputError(Problem("no-records", "the frame has no records"))
    return Source(frame, frame_hash(frame), restore=restore)


def begin_reading(job: Job, begun: Reading | None = None) -> Callable[[], Source]:
    """Begin to read the input of a job; what is returned waits for it, or raises what is wrong."""
    problem = InputError(Problem("no-input", "the job names no input", hint="give 'input', or call with a frame"))
    reading = None
    try:
        if job.input is not None:
            options = job.csv_options()
            same = begun is not None and (begun.path, begun.options) == (job.input, options)
            reading = begun if same else Reading(job.input, options, job.quasi)
    except InputError as error:
        problem = error

    def read() -> Source:
        if reading is None:
            raise problem
        file = reading.result()
        left = [name for name in job.quasi if name in file.frame.columns and name not in file.coded]
        return Source(file.frame, file.sha256, file=file, coded={**file.coded, **code_columns(file.frame, left)})

    return read


def _encode(job: Job, source: Source, plan: Plan, requirement: Requirement | None) -> tuple[EncodedTable, Codebook]:
    looked_at = list(requirement.columns()) if requirement is not None else []
    if job.class_column is not None:
        looked_at.append(job.class_column)
    options = EncodeOptions(
        missing=plan.missing,
        weights=plan.weights,
        as_nodes=plan.as_nodes,
        model_columns=tuple(looked_at),
        named_values=requirement.named_values() if requirement is not None else (),
    )
    return encode_table(source.frame, plan.attributes, plan.hierarchies, options, plan.coded)
