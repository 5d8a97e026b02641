"""read: the table that a run begins with, from a file or from a frame, and the population that it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.job.database import with_query_of
from shoal.job.job import Job
from shoal.pipeline.certificate import frame_hash
from shoal.tables.distinct import CodedColumn, code_columns
from shoal.tables.formats.files import Reading, ReadTable, read_table
from shoal.tables.formats.sql.address import SqlAddress
from shoal.tables.frames.frames import Restore, to_polars
from shoal.tables.stated_forms import in_usual_form


@dataclass(frozen=True, eq=False)
class Source:
    """The table that came in, with its hash and, for a file, how it was written."""

    frame: pl.DataFrame
    sha256: str
    file: ReadTable | None = None
    restore: Restore | None = None
    coded: dict[str, CodedColumn] = field(default_factory=dict)  # quasi-identifiers as numbers, where that is done


ReadSource = Callable[[], Source]  # waits until the table is read, or raises what is wrong with it


def frame_source(given: Any, job: Job | None = None) -> Source:
    """A frame in memory; the job may state how its dates are written."""
    frame, restore = to_polars(given)
    if frame.height == 0:
        raise InputError(Problem("no-records", "the frame has no records"))
    return Source(frame if job is None else as_stated(frame, job), frame_hash(frame), restore=restore)


def as_stated(frame: pl.DataFrame, job: Job) -> pl.DataFrame:
    """The frame with dates in the usual form where the job states theirs."""
    return in_usual_form(frame, job.date_formats, job.missing) if job.date_formats else frame


def begin_reading(job: Job, begun: Reading | None = None) -> ReadSource:
    """Begin to read the input of a job, on threads of its own. `begun` is what the caller has begun to read already."""
    if job.input is None:
        return _refused(InputError(Problem("no-input", "the job names no input", hint="give 'input', or a frame")))
    threads = ThreadPoolExecutor(max_workers=1)
    if isinstance(job.input, SqlAddress):
        waiting = threads.submit(_database_source, job, job.input)
        threads.shutdown(wait=False)
        return waiting.result
    try:
        options = job.csv_options()
        same = begun is not None and (begun.path, begun.options) == (job.input, options)
        reading = begun if begun is not None and same else Reading(job.input, options, job.quasi)
    except InputError as error:
        return _refused(error)
    waiting = threads.submit(_file_source, job, reading)
    threads.shutdown(wait=False)
    return waiting.result


def _file_source(job: Job, reading: Reading) -> Source:
    """The file as the job states its values; columns that reading numbered already are not numbered again."""
    file = reading.result()
    frame = as_stated(file.frame, job)
    coded = {name: one for name, one in file.coded.items() if name not in job.date_formats}
    left = [name for name in job.quasi if name in frame.columns and name not in coded]
    return Source(frame, file.sha256, file=file, coded={**coded, **code_columns(frame, left)})


def _database_source(job: Job, address: SqlAddress) -> Source:
    file = read_table(with_query_of(job, address))
    return Source(as_stated(file.frame, job), file.sha256, file=file)


def _refused(error: InputError) -> ReadSource:
    def read() -> Source:
        raise error

    return read


def read_population(job: Job) -> pl.DataFrame | None:
    """The population of k-map, if the job names one; it is read once, for the search and for the check."""
    if job.population is None:
        return None
    return as_stated(read_table(job.population, job.csv_options()).frame, job)
