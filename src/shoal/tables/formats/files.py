"""Tables in files, whose format is told by the suffix, and in databases."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.content_hash import frame_hash
from shoal.tables.distinct import CodedColumn, with_categories
from shoal.tables.formats.arrow import read_arrow, write_arrow
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.read import CsvReading, check_is_file
from shoal.tables.formats.csv.write import write_csv
from shoal.tables.formats.excel import read_excel, write_excel
from shoal.tables.formats.parquet import read_parquet, write_parquet
from shoal.tables.formats.sql.address import SqlAddress
from shoal.tables.formats.statistics import READERS, read_statistics

if TYPE_CHECKING:
    from shoal.tables.formats.sql.tables import SqlTable


class Format(StrEnum):
    """How a file holds a table."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    EXCEL = "excel"
    STATISTICS = "statistics"  # SPSS, Stata, SAS: read only
    SQL = "sql"  # a table of a database
    OWN = "own"  # whatever was registered


_FORMAT_OF_SUFFIX = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".txt": Format.CSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
    ".xlsx": Format.EXCEL,
    **dict.fromkeys(READERS, Format.STATISTICS),
}
Read = Callable[[Path], pl.DataFrame]
Write = Callable[[pl.DataFrame, Path], None]
# Formats without options, by their endings.
_WHOLE_FILES: dict[str, tuple[Read, Write | None]] = {
    **dict.fromkeys((".parquet", ".pq"), (read_parquet, write_parquet)),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), (read_arrow, write_arrow)),
    ".xlsx": (read_excel, write_excel),
    **dict.fromkeys(READERS, (read_statistics, None)),
}
_PACKED = ".gz"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table with where it came from: `options_found` is None for formats that have no options."""

    frame: pl.DataFrame
    format: Format
    options_found: CsvOptions | None
    sha256: str
    coded: Mapping[str, CodedColumn] = field(default_factory=dict)  # columns as numbers, where that is done
    sql: SqlTable | None = None  # a table of a database, with its types


def register_format(ending: str, read: Read, write: Write) -> None:
    """Teach this process a format of your own, by its ending (`.ndjson`).

    What is wrong with a file is raised as an InputError, without any content of it. What is written is read back and
    checked, so a format that loses a value fails its own run.
    """
    _FORMAT_OF_SUFFIX[ending] = Format.OWN
    _WHOLE_FILES[ending] = (read, write)


def format_of(path: Path | str) -> Format:
    """The format that the suffix of a path names. Raises InputError if it names none."""
    name = Path(path).name.lower()
    packed = name.endswith(_PACKED)
    suffix = Path(name.removesuffix(_PACKED)).suffix
    found = _FORMAT_OF_SUFFIX.get(suffix)
    if found is None or (packed and found is not Format.CSV):
        hint = "supported: " + ", ".join(_FORMAT_OF_SUFFIX) + ", and text formats packed as .gz"
        ending = f"'{suffix}{_PACKED if packed else ''}'" if suffix else "a name without an ending"
        raise InputError(Problem("unknown-format", f"'{path}': {ending} is not a supported format", hint=hint))
    return found


def readable_endings() -> list[str]:
    """The endings of all files that can be read."""
    return [*_FORMAT_OF_SUFFIX, _PACKED]


def format_to_write(path: Path | str) -> Format:
    """The format of a file that is to be written. Raises InputError if it can only be read, or is not known."""
    found = format_of(path)
    if found is Format.STATISTICS:
        message = f"'{path}': files of SPSS, Stata and SAS can be read, but not written"
        raise InputError(Problem("unknown-format", message, hint="write .csv, .parquet, .arrow or .xlsx"))
    return found


def read_table(path: Path | str | SqlAddress, options: CsvOptions | None = None) -> ReadTable:
    """Read a table from a file or a database. Raises InputError with every problem found, without any content of it."""
    if isinstance(path, SqlAddress):
        return _read_sql(path)
    return _read_folder(Path(path)) or Reading(path, options).result()


def _read_sql(address: SqlAddress) -> ReadTable:
    from shoal.tables.formats.sql.tables import read_sql

    table = read_sql(address)
    return ReadTable(table.frame, Format.SQL, None, frame_hash(table.frame), sql=table)


def _read_folder(path: Path) -> ReadTable | None:
    """A release in a folder as one table, if it is one; its hash is that of the hashes of its files."""
    from shoal.tables.formats.folders import is_release_folder, parts_of  # which knows this module

    if not is_release_folder(path):
        return None
    found = [Reading(part).result() for part in parts_of(path)]
    if not found:
        raise InputError(Problem("no-records", f"'{path}' has no records"))
    sha256 = hashlib.sha256("\n".join(one.sha256 for one in found).encode()).hexdigest()
    return ReadTable(pl.concat([one.frame for one in found]), found[0].format, None, sha256)


class Reading:
    """A table that is being read from a file, on threads of their own. `result` waits for it, or raises InputError.

    The threads need no compiled code, so the compiler can be loaded meanwhile.
    """

    def __init__(self, path: Path | str, options: CsvOptions | None = None, numbered: Collection[str] = ()) -> None:
        """`numbered` are columns that will be needed as numbers: there is time for some of them while reading."""
        path = Path(path)
        self.path, self.options = path, options or CsvOptions()
        self._problem: InputError | None = None
        self._given_up = Event()
        try:
            check_is_file(path)
            self._format = format_of(path)
        except InputError as error:
            self._problem = error
            return
        self._before = _state_of(path)
        threads = ThreadPoolExecutor(max_workers=2)
        self._sha256 = threads.submit(sha256_of_file, path, self._given_up)
        self._read = self._begin(threads, numbered)
        threads.shutdown(wait=False)

    def _begin(
        self, threads: ThreadPoolExecutor, numbered: Collection[str]
    ) -> Callable[[], tuple[pl.DataFrame, CsvOptions | None, dict[str, CodedColumn]]]:
        if self._format is Format.CSV:
            return CsvReading(self.path, self.options, numbered).result
        return threads.submit(_read_columns, self.path).result

    def result(self) -> ReadTable:
        if self._problem is not None:
            raise self._problem
        try:
            frame, options_found, coded = self._read()
            sha256 = self._sha256.result()
            if _state_of(self.path) != self._before:
                hint = "wait until nobody writes to it, or read a copy"
                raise InputError(Problem("input-changed", f"'{self.path}' was changed while it was read", hint=hint))
            return ReadTable(frame, self._format, options_found, sha256, coded)
        except BaseException:
            self._given_up.set()
            raise


def _read_columns(path: Path) -> tuple[pl.DataFrame, None, dict[str, CodedColumn]]:
    _refuse_empty(path)
    frame = _WHOLE_FILES[path.suffix.lower()][0](path)
    if frame.height == 0:
        raise InputError(Problem("no-records", f"'{path}' has no records"))
    return frame, None, {}


def write_table(frame: pl.DataFrame, path: Path | str, like: ReadTable | None = None) -> None:
    """Write a table in the format that the suffix of `path` names; text is written like the table it came from."""
    path = Path(path)
    format_to_write(path)
    _, write = _WHOLE_FILES.get(path.suffix.lower(), (None, None))
    try:
        if write is not None:
            write(frame, path)
        else:
            write_csv(frame, path, written_options(path, like))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _system_error(error, path) from None


def _system_error(error: Exception, path: Path) -> OSError:
    """What the system refused. Compiled writers tell it in their text only, which may quote content otherwise."""
    if isinstance(error, OSError) and error.strerror:
        return OSError(error.errno, error.strerror, os.fspath(path))
    found = re.search(r"\(os error ([0-9]+)\)", str(error))
    number = int(found[1]) if found else errno.EIO
    return OSError(number, os.strerror(number), os.fspath(path))


def _state_of(path: Path) -> tuple[int, ...]:
    """What changes when somebody writes to a file or puts another one in its place."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def read_back(path: Path | str, like: ReadTable | None, categories: Collection[str]) -> ReadTable:
    """A table that `write_table` has just written, as it is on the disk; the named columns of texts as categories."""
    path, found_format = Path(path), format_of(path)
    options = written_options(path, like) if found_format is Format.CSV else None
    if options is not None and path.suffix.lower() != _PACKED:
        from shoal.tables.formats.csv.back import read_csv_back

        back = read_csv_back(path, options, categories)
        if back is not None:
            return ReadTable(back[0], found_format, options, back[1])
    written = read_table(path, options)
    return replace(written, frame=with_categories(written.frame, categories))


def written_options(path: Path | str, like: ReadTable | None = None) -> CsvOptions:
    """How `write_table` writes text: the exact options with which the written file is to be read back."""
    found = like.options_found if like is not None and like.options_found is not None else CsvOptions(header=True)
    delimiter = found.delimiter or ("\t" if ".tsv" in Path(path).name.lower() else ",")
    header = found.header is not False
    return replace(found, delimiter=delimiter, encoding="utf-8", quote='"' if delimiter != '"' else "'", header=header)


def sha256_of_file(path: Path | str, given_up: Event | None = None) -> str:
    """The hash of the bytes of a file, in hexadecimal, read piece by piece; ends early once it is given up."""
    digest, piece = hashlib.sha256(), memoryview(bytearray(_PIECE))
    with Path(path).open("rb", buffering=0) as file:
        while (filled := file.readinto(piece)) and not (given_up is not None and given_up.is_set()):
            digest.update(piece[:filled])
    return digest.hexdigest()


def _refuse_empty(path: Path) -> None:
    if path.stat().st_size == 0:
        raise InputError(Problem("empty-file", f"'{path}' is empty"))
