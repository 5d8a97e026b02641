"""Which engine holds the records of a job, and what speaks against the one that was asked for.

`auto` is `local` as long as the table is thought to fit into the memory that may be used; else `stream`, if the job can
stream. The engine never changes a release, so it may depend on the machine.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from shoal.algorithms.base import Algorithm
from shoal.errors import InputError, Problem
from shoal.job.job import SCHEMES, Job, memory_bytes
from shoal.tables.formats.files import Format, format_of
from shoal.tables.formats.sql.address import SqlAddress

USED_OF_AVAILABLE = 0.7
CSV_FACTOR = 10  # bytes of memory per byte of a CSV file, measured with local runs of 1 and 10 million records
PACKED_FACTOR = 60
PARQUET_CELL = 60  # bytes of memory per cell of a Parquet file
BYTES_PER_DISTINCT_ROW = 400  # what counting and clustering take
UNKNOWN_MEMORY = 4 * 2**30
_STREAMED = (Format.CSV, Format.PARQUET, None)  # None: what is no format at all is told elsewhere


def settle_engine(job: Job) -> Job:
    """The job with the engine that will do it."""
    if job.engine != "auto":
        return job
    large = _needs(job) > usable_memory(job)
    return job.model_copy(update={"engine": "stream" if large and _can_stream(job) else "local"})


def usable_memory(job: Job) -> int:
    """What the job allows, else most of what the machine (or the container) has to spare."""
    given = memory_bytes(job.memory) if job.memory is not None else None
    return given if given is not None else int(USED_OF_AVAILABLE * _available())


def most_distinct_rows(job: Job) -> int:
    """How many distinct rows fit into the memory that may be used."""
    return max(1_000, usable_memory(job) // BYTES_PER_DISTINCT_ROW)


def engine_problems(job: Job, algorithm: Algorithm | None) -> list[Problem]:
    """What the engine that was asked for cannot do, told before any work."""
    if job.engine in ("auto", "local"):
        return []
    from shoal.engines.registry import ABILITIES  # what it knows takes long to load, and most runs are local

    can = ABILITIES[job.engine]
    engine = f"the engine '{job.engine}'"
    problems = []
    if algorithm is not None and not algorithm.takes_rows and not can.any_algorithm:
        message = f"{engine} needs an algorithm that takes counted rows, and '{job.algorithm}' needs every record"
        problems.append(_cannot(message, hint="use the algorithm 'shoal', or the engine 'local'"))
    if job.report is not None and not can.report:
        message = f"{engine} writes no report: attacks and statistics need the whole table"
        problems.append(_cannot(message, hint="leave it out, and evaluate a sample of the release"))
    problems += [_cannot(f"{engine} {reason}", hint) for asked, reason, hint in _needing_every_record(job) if asked]
    problems += _folder_problems(job, engine) if can.into_folder else _file_problems(job, engine)
    return [*problems, *_input_problems(job, engine, can.into_folder)]


def _input_problems(job: Job, engine: str, into_folder: bool) -> list[Problem]:
    if isinstance(job.input, Path) and not job.input.is_dir() and _format(job.input) not in _STREAMED:
        message = f"{engine} reads CSV and Parquet" + ("" if into_folder else ", and tables of databases")
        return [_cannot(message, _LOCAL)]
    if isinstance(job.input, SqlAddress) and into_folder:
        message = f"{engine} reads no tables of databases"
        return [_cannot(message, hint="give a DataFrame of Spark that reads from there")]
    return []


def _file_problems(job: Job, engine: str) -> list[Problem]:
    if job.output is None:
        return [_cannot(f"{engine} needs a file to write to", hint="name an output")]
    if isinstance(job.output, Path) and _format(job.output) not in _STREAMED:
        return [_cannot(f"{engine} writes CSV, Parquet and tables of databases", hint="name such an output")]
    return []


_LOCAL = "use the engine 'local'"


def _cannot(message: str, hint: str) -> Problem:
    return Problem("cannot-stream", message, hint=hint)


def _needing_every_record(job: Job) -> list[tuple[bool, str, str]]:
    """Settings that take the whole table in memory: whether each was asked for, what to say, and what to do."""
    everywhere = bool(job.caps()) or job.recoding in SCHEMES or job.suppressed == "drop"
    commas = "reads a table piece by piece, and cannot tell which columns are numbers with a decimal comma"
    return [
        (job.prices is not None, "writes no prices: there is one for every record", f"leave them out, or {_LOCAL}"),
        (
            everywhere,
            "knows no highest levels, recodings that are the same everywhere, or dropped records",
            f"leave them out, or {_LOCAL}",
        ),
        (bool(job.date_formats), "reads dates in the usual form only", _LOCAL),
        (bool(job.csv.decimal_comma), commas, _LOCAL),
        (job.key is not None, "writes no key: there is a line for every record", f"leave it out, or {_LOCAL}"),
        (bool(job.earlier) or job.series is not None, "cannot look for people in earlier releases", _LOCAL),
    ]


def _folder_problems(job: Job, engine: str) -> list[Problem]:
    """What speaks against the folder that the release is written to."""
    if job.output is None:
        return [Problem("cannot-stream", f"{engine} needs a folder to write to", hint="name an output")]
    if not isinstance(job.output, Path) or job.output.suffix.lower() not in ("", ".parquet"):
        hint = "name a folder such as release.parquet"
        return [Problem("cannot-stream", f"{engine} writes a folder of Parquet files", hint=hint)]
    from shoal.tables.formats.folders import folder_problems

    return folder_problems(job.output, job.replace)


def _can_stream(job: Job) -> bool:
    from shoal.algorithms.registry import algorithm_class

    try:
        takes_rows = algorithm_class(job.algorithm).takes_rows
    except InputError:
        return False
    return takes_rows and not engine_problems(job.model_copy(update={"engine": "stream"}), None)


def _format(path: Path) -> Format | None:
    try:
        return format_of(path)
    except InputError:
        return None


def _needs(job: Job) -> int:
    """About how many bytes of memory a local run would take; 0 for what is not there, a lot for a folder."""
    if isinstance(job.input, SqlAddress):
        from shoal.job.database import bytes_to_read

        return bytes_to_read(job, job.input) * CSV_FACTOR
    return 0 if job.input is None else _file_needs(job.input)


def _file_needs(path: Path) -> int:
    try:
        if path.is_dir():
            return 2**62
        size, found = path.stat().st_size, _format(path)
        if found is Format.PARQUET:
            scan = pl.scan_parquet(path, hive_partitioning=False, glob=False)
            return int(scan.select(pl.len()).collect().item()) * len(scan.collect_schema()) * PARQUET_CELL
        return size * (PACKED_FACTOR if path.suffix.lower() == ".gz" else CSV_FACTOR)
    except (OSError, ValueError, pl.exceptions.PolarsError):
        return 0  # what is wrong with the file is told by who reads it


def _available() -> int:
    """Memory that can be had without swapping, in bytes: of the machine, or of the container if that is less."""
    found = [UNKNOWN_MEMORY]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")] or found
    except OSError:
        if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
            found = [os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    try:
        folder = Path("/sys/fs/cgroup")
        limit, used = ((folder / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        if limit.isdigit():
            found.append(max(0, int(limit) - int(used)))
    except (OSError, ValueError):
        pass  # no container, or another kind
    return min(found)
