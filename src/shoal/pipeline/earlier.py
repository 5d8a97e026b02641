"""Which releases came before, by the job: a list of files, or a series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.job.job import Job
from shoal.pipeline.certificate import frame_hash
from shoal.pipeline.evaluate_together import original_without_release
from shoal.pipeline.next_release import Earlier, Keeping
from shoal.pipeline.purpose import Purpose
from shoal.pipeline.result import Result
from shoal.pipeline.series import Entry, add_release, check_in_series, load_series
from shoal.pipeline.sources import as_stated
from shoal.tables.formats.atomic import check_outputs
from shoal.tables.formats.files import read_table
from shoal.tables.frames.frames import to_polars


@dataclass(frozen=True)
class Before:
    """What was published before, as far as the job tells, and what is wrong with it."""

    entries: tuple[Entry, ...] = ()  # of the series
    purpose: Purpose | None = None  # None: nothing was published before
    problems: tuple[Problem, ...] = ()

    def record(self, job: Job, result: Result) -> None:
        """Add a release to the series of the job, after it was published."""
        if job.series is not None and isinstance(job.output, Path):
            table = job.input if isinstance(job.input, Path) else None
            add_release(job.series, self.entries, job.output, table, result.certificate)


def look_before(job: Job) -> Before:
    """Read the earlier releases that a job names."""
    problems: list[Problem] = []
    entries = _entries(job, problems)
    files = [entry.file for entry in entries] if job.series is not None else list(job.earlier)
    if isinstance(job.output, Path) and any(_same(job.output, file) for file in files):
        message = "the output would take the place of an earlier release"
        problems.append(Problem("would-overwrite", message, hint="give it a name of its own"))
    certificates = [entry.certificate for entry in entries] or [{} for _ in files]
    read = [_earlier(file, told, problems) for file, told in zip(files, certificates, strict=True)]
    original = _original(job, entries, problems)
    problems += original_without_release(job.earlier_original, files)
    if problems or not read:
        return Before(tuple(entries), None, tuple(problems))
    made = _strategy(job.strategy)([one for one in read if one is not None], original)
    return Before(tuple(entries), made)


def _entries(job: Job, problems: list[Problem]) -> list[Entry]:
    """What a series file holds, if the job names one."""
    if job.series is None:
        return []
    if not isinstance(job.output, Path):
        problems.append(Problem("no-output", "a series needs releases in files", hint="-o release.csv"))
    inputs = [path for path in (job.input, job.earlier_original) if isinstance(path, Path)]
    problems += check_outputs([job.series, *job.outputs()], inputs)
    try:
        entries = load_series(job.series)
    except InputError as error:
        problems += error.problems
        return []
    problems += check_in_series(entries, job.earlier)
    return entries


def after(earlier: Sequence[Any], original: Any, strategy: str) -> Keeping:
    """The same for frames: releases, the earliest first, and the table behind the last of them."""
    frames = [to_polars(one)[0] for one in earlier]
    table = to_polars(original)[0] if original is not None else None
    return _strategy(strategy)([Earlier(frame, frame_hash(frame)) for frame in frames], table)


def _strategy(name: str) -> type[Keeping]:
    """How the next release is made safe together with the earlier ones."""
    if name == "keep":
        return Keeping
    from shoal.pipeline.search_release import Searching

    return Searching


def _earlier(file: Path, certificate: Mapping[str, Any], problems: list[Problem]) -> Earlier | None:
    try:
        table = read_table(file)
    except InputError as error:
        problems += error.problems
        return None
    return Earlier(table.frame, table.sha256, certificate)


def _original(job: Job, entries: list[Entry], problems: list[Problem]) -> pl.DataFrame | None:
    path = job.earlier_original
    if path is None and entries:
        path = entries[-1].original()
    if path is None:
        return None
    try:
        return as_stated(read_table(path, job.csv_options()).frame, job)
    except InputError as error:
        problems += error.problems
        return None


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
