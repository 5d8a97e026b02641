"""SQLite through ADBC.

A column of SQLite may hold values of any type. A column whose values are all whole numbers or all numbers comes as
numbers, any other one as the texts of its values. Two runs that write one file take turns by a lock on the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import SqlAddress, joined, quoted
from shoal.tables.formats.sql.arrow import plain_arrow
from shoal.tables.formats.sql.errors import in_our_words
from shoal.tables.formats.sql.stores import SqlColumn, Store


class SqliteStore(Store):
    def __init__(self, address: SqlAddress, to_write: bool) -> None:
        super().__init__(address)
        import adbc_driver_sqlite.dbapi as driver

        if not to_write and not Path(address.place).is_file():
            raise InputError(Problem("no-such-file", f"there is no file '{address.place}'"))
        self._held: int | None = None
        with in_our_words(address):
            self._connection: Any = driver.connect(address.place)

    def tables(self) -> list[str]:
        known = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"
        return [joined(None, row["name"]) for row in self._fetch(f"{known} ORDER BY name").to_dicts()]

    def columns(self, table: str) -> list[SqlColumn]:
        found = self._fetch(f"SELECT name, type AS kind FROM pragma_table_info({_literal(table)}) ORDER BY cid")
        return [SqlColumn(row["name"], row["kind"]) for row in found.to_dicts()]

    def read(self, table: str) -> pl.DataFrame:
        return self._read(quoted(table), [column.name for column in self.columns(table)])

    def read_query(self, query: str) -> tuple[pl.DataFrame, list[SqlColumn]]:
        with in_our_words(self.address):
            self._execute(f"CREATE TEMPORARY VIEW shoal_query AS {query.strip().rstrip(';')}")
        columns = self.columns("shoal_query")
        return self._read("shoal_query", [column.name for column in columns]), columns

    def lock(self, table: str) -> bool:
        try:
            import fcntl
        except ImportError:  # not on this system: whoever writes last wins
            return True
        self._held = os.open(self.address.place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def stage(self, frame: pl.DataFrame, table: str, kinds: Mapping[str, str]) -> None:
        with in_our_words(self.address), self._connection.cursor() as cursor:
            cursor.adbc_ingest(table, plain_arrow(_known_kinds(frame)), mode="create")
            self._connection.commit()

    def drop(self, table: str) -> None:
        with in_our_words(self.address):
            self._execute(f"DROP TABLE IF EXISTS {quoted(table)}")
            self._connection.commit()

    def rename(self, staged: str, table: str) -> None:
        with in_our_words(self.address):
            self._execute(f"DROP TABLE IF EXISTS {quoted(table)}")
            self._execute(f"ALTER TABLE {quoted(staged)} RENAME TO {quoted(table)}")
            self._connection.commit()

    def loses(self, table: str) -> list[str]:
        query = f"SELECT type, name FROM sqlite_master WHERE tbl_name = {_literal(table)} AND type <> 'table'"
        return [f"{row['type']} {row['name']}" for row in self._fetch(query).to_dicts()]

    def close(self) -> None:
        with in_our_words(self.address):
            self._connection.close()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _read(self, table: str, names: list[str]) -> pl.DataFrame:
        kinds = [f"group_concat(DISTINCT typeof({quoted(name)})) AS c{place}" for place, name in enumerate(names)]
        found = self._fetch(f"SELECT {', '.join(kinds)} FROM {table}").row(0) if names else ()
        parts = [
            quoted(name) if _of_one_kind(kind) else f"CAST({quoted(name)} AS TEXT) AS {quoted(name)}"
            for name, kind in zip(names, found, strict=True)
        ]
        return self._fetch(f"SELECT {', '.join(parts)} FROM {table}")

    def _execute(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def _fetch(self, query: str) -> pl.DataFrame:
        with in_our_words(self.address), self._connection.cursor() as cursor:
            cursor.execute(query)
            found = pl.from_arrow(cursor.fetch_arrow_table())
        assert isinstance(found, pl.DataFrame)
        return found


def _known_kinds(frame: pl.DataFrame) -> pl.DataFrame:
    """SQLite has whole numbers, floats, texts and bytes; dates, times and decimals are written as texts."""
    kept = (pl.Binary, pl.String)
    return frame.with_columns(
        pl.col(name).cast(pl.Int64 if isinstance(kind, pl.Boolean) or kind.is_integer() else pl.String)
        for name, kind in frame.schema.items()
        if not (kind.is_float() or isinstance(kind, kept))
    )


def _of_one_kind(kinds: str | None) -> bool:
    """Whether all present values of a column are whole numbers, or all floats, or all bytes."""
    found = set((kinds or "").split(",")) - {"null"}
    return found in ({"integer"}, {"real"}, {"blob"})


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
