"""Tables that are read piece by piece: one file or a folder of files, as an iterator of frames.

A folder stands for all of its files of one format, in the order of their names; names that begin with `.` or `_` are
not part of the table. Memory: one piece, whatever the size of the table (for Parquet: what polars' streaming engine
holds at once, some row groups).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from shoal.errors import InputError, Problem
from shoal.progress import Passed
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.pieces import PIECE_BYTES, SAMPLE_BYTES, CsvPieces
from shoal.tables.formats.csv.read import check_is_file
from shoal.tables.formats.files import Format, ReadTable, format_of, sha256_of_file
from shoal.tables.sorted_pieces import BUCKET_ROWS

PIECE_ROWS = 250_000
Watcher = Callable[[Passed], None]  # told how much of the table has been read


@dataclass(frozen=True)
class PieceSizes:
    """How large the pieces are."""

    rows: int = PIECE_ROWS  # of a Parquet file
    bytes: int = PIECE_BYTES  # of a text file
    sample: int = SAMPLE_BYTES  # from which its form is found out
    bucket: int = BUCKET_ROWS  # rows that are sorted at once


@dataclass
class TablePieces:
    """A table in files. `like` and `sha256` are known once all of it was read."""

    path: Path
    options: CsvOptions = field(default_factory=CsvOptions)
    sizes: PieceSizes = field(default_factory=lambda: PieceSizes())

    def __post_init__(self) -> None:
        self.files = _files(self.path)
        self.format = format_of(self.files[0])
        if self.format not in (Format.CSV, Format.PARQUET):
            message = f"'{self.path}' cannot be read piece by piece"
            raise InputError(Problem("cannot-stream", message, hint="use CSV or Parquet, or the engine 'local'"))
        self.options_found: CsvOptions | None = None
        self._hashes: dict[Path, str] = {}

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.files)

    @property
    def like(self) -> ReadTable:
        """How the table is written, for whoever writes one like it; it holds no records."""
        return ReadTable(pl.DataFrame(), self.format, self.options_found, "")

    @property
    def sha256(self) -> str:
        """Of the bytes of the file; of a folder, of the hashes of its files in the order of their names."""
        hashes = [self._hashes.get(file) or sha256_of_file(file) for file in self.files]
        return hashes[0] if self.path.is_file() else hashlib.sha256("\n".join(hashes).encode()).hexdigest()

    def schema(self) -> dict[str, pl.DataType]:
        """Names and types of the columns. Of a text file only its beginning is read."""
        if self.format is not Format.CSV:
            return dict(self._scan().collect_schema())
        first = next(iter(self._csv(self.files[0])))
        return dict(first.schema)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return self.read()

    def read(self, names: Sequence[str] | None = None, watcher: Watcher | None = None) -> Iterator[pl.DataFrame]:
        """The pieces, with the named columns at least. Raises InputError with every problem of a file."""
        if self.format is Format.CSV:
            yield from self._read_csv(watcher)
            return
        scan = self._scan()
        if names is not None:
            scan = scan.select(names)
        rows = scan.select(pl.len()).collect().item() if names != [] else 0
        if rows == 0:
            raise InputError(Problem("no-records", f"'{self.path}' has no records"))
        done, whole = 0, self.bytes
        try:
            for piece in scan.collect_batches(chunk_size=self.sizes.rows, maintain_order=True):
                done += piece.height
                if piece.height:
                    yield piece
                if watcher is not None:
                    watcher(Passed(done / rows, done, rows, done * whole // rows, whole))
        except pl.exceptions.PolarsError as error:
            # messages of the reader may quote content, so only its kind is passed on
            raise InputError(_damaged(self.path, type(error).__name__)) from None

    def _scan(self) -> pl.LazyFrame:
        try:
            scan = pl.scan_parquet(self.files, hive_partitioning=False, glob=False)
            scan.collect_schema()
            return scan
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(_damaged(self.path, type(error).__name__)) from None

    def _csv(self, file: Path) -> CsvPieces:
        return CsvPieces(file, self.options_found or self.options, self.sizes.bytes, self.sizes.sample)

    def _read_csv(self, watcher: Watcher | None) -> Iterator[pl.DataFrame]:
        whole, before, rows = self.bytes, 0, 0
        names: list[str] | None = None
        for file in self.files:
            pieces = self._csv(file)
            size, read = file.stat().st_size, 0
            for frame in pieces:
                if names is not None and frame.columns != names:
                    message = f"'{file}' has other columns than the files before it"
                    raise InputError(Problem("different-columns", message, hint="keep one table in a folder"))
                names = frame.columns
                yield frame
                read, rows = read + self.sizes.bytes, rows + frame.height
                if watcher is not None:
                    done = before + min(size, read)
                    watcher(Passed(done / whole, rows, None, done, whole))
            before += size
            self.options_found = self.options_found or pieces.options
            self._hashes[file] = pieces.sha256


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        check_is_file(path)
        format_of(path)
        return [path]
    found = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith((".", "_")))
    if not found:
        raise InputError(Problem("no-such-file", f"there are no files in the folder '{path}'"))
    formats = {format_of(file) for file in found}
    if len(formats) > 1:
        message = f"the files in '{path}' have several formats"
        raise InputError(Problem("several-formats", message, hint="keep one table in a folder"))
    return found


def _damaged(path: Path, kind: str) -> Problem:
    return Problem("damaged-file", f"'{path}' cannot be read ({kind})", hint="check the file")
