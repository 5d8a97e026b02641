"""One way to each kind of database: read a table, put a staging table there, give it its name.

A store is opened for one piece of work and closed after it. Everything that SQL is told about names is quoted; values
travel as Arrow columns, never as SQL text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import Database, SqlAddress

STAGING = "shoal_staging_"  # and the name of the table: the next run finds what a broken one left behind


@dataclass(frozen=True)
class SqlColumn:
    """A column of a table: its name, and its type as the database writes it."""

    name: str
    kind: str


class Store(ABC):
    """An open connection to a database."""

    def __init__(self, address: SqlAddress) -> None:
        self.address = address

    @abstractmethod
    def tables(self) -> list[str]:
        """The tables and views that can be read, as an address names them, in order of their names."""

    @abstractmethod
    def columns(self, table: str) -> list[SqlColumn]:
        """The columns of a table of the address's schema; none if there is no such table."""

    @abstractmethod
    def read(self, table: str) -> pl.DataFrame:
        """All rows, in no order that means anything; types without a counterpart come as their text."""

    @abstractmethod
    def read_query(self, query: str) -> tuple[pl.DataFrame, list[SqlColumn]]:
        """The rows of a query, and the types of its columns."""

    @abstractmethod
    def lock(self, table: str) -> bool:
        """Keep other runs from writing this table until the store is closed; False if another one does."""

    @abstractmethod
    def stage(self, frame: pl.DataFrame, table: str, kinds: Mapping[str, str]) -> None:
        """Write a table of a new name and make it lasting; `kinds` are types to give back to columns of texts."""

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


def check_text(frame: pl.DataFrame, names: Sequence[str]) -> None:
    """A NUL in a text cannot be written to a database."""
    problems = [
        Problem("nul-in-text", "a text with a NUL cannot be written to a database", name, "write a file instead")
        for name in names
        if frame[name].dtype == pl.String and frame[name].str.contains("\0", literal=True).any()
    ]
    if problems:
        raise InputError(problems)
