"""Where the engine of one machine writes its release, piece by piece, and reads it back: a file, or a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol

import polars as pl

from shoal.engines.base import OwnPlace, Watcher
from shoal.tables.formats.csv.write import as_csv_cells
from shoal.tables.formats.files import Format, ReadTable, format_of, written_options
from shoal.tables.formats.pieces import PieceSizes, TablePieces
from shoal.tables.formats.sql.address import Database, SqlAddress
from shoal.tables.formats.sql.pieces import SqlPieces
from shoal.tables.formats.sql.tables import SqlTarget
from shoal.tables.formats.write_pieces import write_pieces

Unchanged = Callable[[str], bool]  # whether a column of the release has values of the input only


class Pieces(Protocol):
    """A table that is read piece by piece, several times."""

    sizes: PieceSizes

    @property
    def like(self) -> ReadTable: ...

    @property
    def sha256(self) -> str: ...

    def schema(self) -> dict[str, pl.DataType]: ...

    def read(self, names: Sequence[str] | None = None, watcher: Watcher | None = None) -> Iterator[pl.DataFrame]: ...


class Target(Protocol):
    """A place for a release. It is opened before any work, so that what speaks against it is told at once."""

    keeps_order: ClassVar[bool]  # rows come back in the order in which they were written

    def open(self, source_is_read: bool) -> None:
        """Called before the input is read, and again after that."""

    def write(
        self, pieces: Iterable[pl.DataFrame], schema: dict[str, pl.DataType], waiting: Path, unchanged: Unchanged
    ) -> None: ...

    def written(self, waiting: Path) -> Pieces:
        """What was written, to be read back."""

    def as_written(self, rows: pl.DataFrame, waiting: Path, columns: int) -> pl.DataFrame:
        """These cells of a release with so many columns as they read in what was written."""

    def own_place(self) -> OwnPlace | None: ...


class FileTarget:
    """One file, CSV or Parquet; who moves it into place is the caller."""

    keeps_order: ClassVar[bool] = True

    def __init__(self, source: Pieces) -> None:
        self._source = source  # a text file is written like the one that was read

    def open(self, source_is_read: bool) -> None:
        """A file that waits needs nothing."""

    def write(
        self, pieces: Iterable[pl.DataFrame], schema: dict[str, pl.DataType], waiting: Path, unchanged: Unchanged
    ) -> None:
        write_pieces(pieces, schema, waiting, self._source.like)

    def written(self, waiting: Path) -> Pieces:
        return TablePieces(waiting, written_options(waiting, self._source.like), self._source.sizes)

    def as_written(self, rows: pl.DataFrame, waiting: Path, columns: int) -> pl.DataFrame:
        if format_of(waiting) is not Format.CSV:
            return rows
        return as_csv_cells(rows, written_options(waiting, self._source.like), alone=columns == 1)

    def own_place(self) -> OwnPlace | None:
        return None


class TableTarget:
    """A table of a database: staged there, read back in a fixed order, renamed at the end."""

    keeps_order: ClassVar[bool] = False

    def __init__(self, address: SqlAddress, replace: bool, source: Pieces, scratch: Path) -> None:
        self._address, self._replace, self._source, self._scratch = address, replace, source, scratch
        self._target: SqlTarget | None = None
        self._back: SqlPieces | None = None

    def open(self, source_is_read: bool) -> None:
        """A file of SQLite or DuckDB is not read and written at the same time."""
        if self._target is None and (source_is_read or not self._shares_file()):
            self._target = SqlTarget(self._address, replace=self._replace)

    def _shares_file(self) -> bool:
        source, own = self._source, self._address
        is_file = own.database is not Database.POSTGRESQL
        return is_file and isinstance(source, SqlPieces) and Path(source.address.place).exists() and same(source, own)

    def write(
        self, pieces: Iterable[pl.DataFrame], schema: dict[str, pl.DataType], waiting: Path, unchanged: Unchanged
    ) -> None:
        kinds: Mapping[str, str] = {}
        if isinstance(self._source, SqlPieces):
            kinds = self._opened.kinds(self._source.address.database, self._source.columns, unchanged)
        self._opened.stage_pieces(pieces, kinds)

    def written(self, waiting: Path) -> Pieces:
        self._back = SqlPieces(self._address, self._opened.written(), self._scratch / "back", self._source.sizes)
        return self._back

    def as_written(self, rows: pl.DataFrame, waiting: Path, columns: int) -> pl.DataFrame:
        assert self._back is not None
        schema = self._back.schema()
        return rows.cast({name: schema[name] for name in rows.columns})

    def own_place(self) -> OwnPlace | None:
        return TablePlace(self._opened, self._scratch / "unused")

    @property
    def _opened(self) -> SqlTarget:
        assert self._target is not None
        return self._target

    def close(self) -> None:
        """Whatever was staged and not given its name is removed."""
        if self._target is not None:
            self._target.__exit__()


def same(source: SqlPieces, own: SqlAddress) -> bool:
    """Whether both are in one file."""
    return Path(source.address.place).resolve() == Path(own.place).resolve()


class TablePlace:
    """A staged table that waits for its name."""

    def __init__(self, target: SqlTarget, waiting: Path) -> None:
        self.waiting = waiting  # no file: the table waits in the database
        self._target = target

    @property
    def notes(self) -> Sequence[str]:
        return self._target.notes

    @property
    def database(self) -> Mapping[str, str]:
        return self._target.public()

    def publish(self) -> None:
        self._target.commit()
