"""The engine that a job names, open for one run, with a folder for what waits on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.engines.base import Engine
from shoal.engines.stream import StreamEngine
from shoal.job.engine import most_distinct_rows
from shoal.job.job import Job
from shoal.tables.formats.folders import FolderPlace
from shoal.tables.formats.pieces import PieceSizes
from shoal.tables.formats.scratch import scratch_folder


@contextmanager
def open_engine(job: Job, frame: Any = None) -> Iterator[Engine]:
    """The engine with the table of the job, or with a frame that was given."""
    assert isinstance(job.output, Path)  # what is no file was told before
    with scratch_folder(job.output.resolve().parent) as scratch:
        if job.engine == "spark":
            with open_spark(job, scratch, frame) as engine:
                yield engine
            return
        assert isinstance(job.input, Path)
        yield StreamEngine(job.input, job.csv_options(), scratch, most_distinct_rows(job))


@contextmanager
def open_spark(job: Job, scratch: Path, frame: Any = None, sizes: PieceSizes | None = None) -> Iterator[Engine]:
    """Spark is loaded here and nowhere else."""
    from shoal.engines.spark.engine import SparkEngine
    from shoal.engines.spark.session import open_session
    from shoal.engines.spark.table import FileTable, FrameTable

    assert isinstance(job.output, Path)
    table: FileTable | FrameTable
    if frame is not None:
        table = FrameTable(frame)
    else:
        assert isinstance(job.input, Path)
        table = FileTable(job.input, job.csv_options(), sizes or PieceSizes())
    with open_session(job.spark.master, job.spark.config, frame) as session:
        yield SparkEngine(session, table, FolderPlace(job.output, scratch), scratch, most_distinct_rows(job))
