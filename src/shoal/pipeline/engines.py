"""The engine that a job names, open for one run, with a folder for what waits on the disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from shoal.engines.base import Engine
from shoal.engines.stream import StreamEngine
from shoal.engines.targets import FileTarget, Pieces, TableTarget, Target
from shoal.job.database import with_query_of
from shoal.job.engine import most_distinct_rows
from shoal.job.job import Job
from shoal.tables.formats.folders import FolderPlace
from shoal.tables.formats.pieces import PieceSizes, TablePieces
from shoal.tables.formats.scratch import scratch_folder
from shoal.tables.formats.sql.address import Database, SqlAddress
from shoal.tables.formats.sql.pieces import SqlPieces
from shoal.tables.formats.sql.tables import open_relation


@contextmanager
def open_engine(job: Job, frame: Any = None) -> Iterator[Engine]:
    """The engine with the table of the job, or with a frame that was given."""
    with scratch_folder(_place_to_wait(job)) as scratch:
        if job.engine == "spark":
            with open_spark(job, scratch, frame) as engine:
                yield engine
            return
        with open_stream(job, scratch) as engine:
            yield engine


def _place_to_wait(job: Job) -> Path:
    """Beside what is written, or read; if both are on a server, where this system has its temporary files."""
    for place in (job.output, job.input):
        if isinstance(place, SqlAddress) and place.database is not Database.POSTGRESQL:
            place = Path(place.place)
        if isinstance(place, Path):
            return place.resolve().parent
    return Path(tempfile.gettempdir())


@contextmanager
def open_stream(
    job: Job, scratch: Path, most_rows: int | None = None, sizes: PieceSizes | None = None
) -> Iterator[Engine]:
    """The engine that reads piece by piece, with the files or tables that the job names."""
    sizes = sizes or PieceSizes()
    with ExitStack() as opened:
        source: Pieces
        if isinstance(job.input, SqlAddress):
            address = with_query_of(job, job.input)
            source = SqlPieces(address, open_relation(address), scratch / "input", sizes)
            opened.callback(source.close)
        else:
            assert job.input is not None
            source = TablePieces(job.input, job.csv_options(), sizes)
        target: Target = FileTarget(source)
        if isinstance(job.output, SqlAddress):
            target = TableTarget(job.output, job.replace, source, scratch)
            opened.callback(target.close)
        yield StreamEngine(source, target, scratch, most_rows or most_distinct_rows(job))


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
