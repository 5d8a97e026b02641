"""One way to each kind of database: read a table, put a staging table there, give it its name.

A store is opened for one piece of work and closed after it. Everything that SQL is told about names is quoted; values
travel as Arrow columns, never as SQL text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import Database, SqlAddress
from shoal.tables.formats.sql.arrow import as_frame
from shoal.tables.formats.sql.errors import in_our_words

STAGING = "shoal_staging_"  # and the name of the table: the next run finds what a broken one left behind


@dataclass(frozen=True)
class SqlColumn:
    """A column of a table: its name, and its type as the database writes it."""

    name: str
    kind: str


@dataclass(frozen=True)
class Relation:
    """What can be read: a table, a view, or a query."""

    text: str  # as it stands after FROM
    columns: tuple[SqlColumn, ...]


class Store(ABC):
    """An open connection to a database."""

    _typed_rows: ClassVar[int] = 0  # rows that a selection begins with, to tell the types of its columns

    def __init__(self, address: SqlAddress) -> None:
        self.address = address

    @abstractmethod
    def tables(self) -> list[str]:
        """The tables and views that can be read, as an address names them, in order of their names."""

    @abstractmethod
    def columns(self, table: str) -> list[SqlColumn]:
        """The columns of a table of the address's schema; none if there is no such table."""

    @abstractmethod
    def table(self, table: str) -> Relation:
        """A table of the address's schema, to be read."""

    @abstractmethod
    def query(self, query: str) -> Relation:
        """A query, to be read."""

    def schema(self, relation: Relation) -> pl.Schema:
        """Names and types of the columns as they will be read."""
        return self._fetch(f"SELECT * FROM ({self._selection(relation)}) AS q LIMIT {self._typed_rows}").schema

    def count(self, relation: Relation) -> int:
        """How many rows there are."""
        return int(self._fetch(f"SELECT count(*) AS n FROM {relation.text}")["n"][0])

    def bytes(self, relation: Relation) -> int:
        """About how many bytes the rows have: for a database in a file, its size."""
        return Path(self.address.place).stat().st_size

    def read(self, relation: Relation) -> pl.DataFrame:
        """All rows, in no order that means anything; types without a counterpart come as their text."""
        return self._fetch(self._selection(relation))[self._typed_rows :]

    def batches(self, relation: Relation) -> Iterator[pl.DataFrame]:
        """The same, as the rows come: no more of them are in memory than the driver holds at once."""
        skipped = self._typed_rows
        with in_our_words(self.address):
            for batch in self._stream(self._selection(relation)):
                frame = as_frame(batch)
                rows, skipped = frame[skipped:], max(0, skipped - frame.height)
                if rows.height:
                    yield rows

    @abstractmethod
    def _selection(self, relation: Relation) -> str:
        """What asks for the rows, with every type cast that has no counterpart."""

    @abstractmethod
    def _fetch(self, query: str) -> pl.DataFrame:
        """The answer to a query."""

    @abstractmethod
    def _stream(self, query: str) -> Iterator[Any]:
        """The answer to a query, as Arrow batches."""

    @abstractmethod
    def lock(self, table: str) -> bool:
        """Keep other runs from writing this table until the store is closed; False if another one does."""

    @abstractmethod
    def stage(self, pieces: Iterable[pl.DataFrame], table: str, kinds: Mapping[str, str]) -> None:
        """Write a table of a new name, piece by piece, and make it lasting; `kinds` are types to give back to columns
        of texts. What the pieces raise comes out as it is."""

    @abstractmethod
    def drop(self, table: str) -> None:
        """Remove a table, if it is there."""

    @abstractmethod
    def rename(self, staged: str, table: str) -> None:
        """Give a staged table its name in one step; a table that had it before is gone then."""

    def loses(self, table: str) -> list[str]:
        """What would be lost with a table that is replaced, in words: grants, indexes."""
        return []

    def depends(self, table: str) -> list[str]:
        """What cannot live without the table: views, foreign keys."""
        return []

    @abstractmethod
    def close(self) -> None: ...


def open_store(address: SqlAddress, *, to_write: bool) -> Store:
    """Open a connection; an InputError says what is missing or refused."""
    if address.database is Database.POSTGRESQL:
        _need("adbc_driver_postgresql", "pyarrow")
        from shoal.tables.formats.sql.postgresql import PostgresStore

        return PostgresStore(address, to_write)
    if address.database is Database.SQLITE:
        _need("adbc_driver_sqlite", "pyarrow")
        from shoal.tables.formats.sql.sqlite import SqliteStore

        return SqliteStore(address, to_write)
    _need("duckdb", "pyarrow")
    from shoal.tables.formats.sql.duckdb import DuckStore

    return DuckStore(address, to_write)


def _need(*modules: str) -> None:
    from importlib.util import find_spec

    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        message = f"databases need {' and '.join(missing)}"
        raise InputError(Problem("missing-extra", message, hint='pip install "shoal[sql]"'))


def check_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame itself. Raises InputError if there is a NUL in a text: that cannot be written to a database."""
    problems = [
        Problem("nul-in-text", "a text with a NUL cannot be written to a database", column.name, "write a file instead")
        for column in frame
        if column.dtype == pl.String and column.str.contains("\0", literal=True).any()
    ]
    if problems:
        raise InputError(problems)
    return frame
