"""SQLite through ADBC.

A column of SQLite may hold values of any type. A column whose values are all whole numbers or all floats comes as
numbers, any other one as the texts of its values. The driver takes the types of the first rows for those of all, so
every selection begins with a row of ours that has the right types. Two runs that write one file take turns by a lock
on the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import SqlAddress, joined, quoted
from shoal.tables.formats.sql.arrow import arrow_stream, as_frame
from shoal.tables.formats.sql.errors import in_our_words
from shoal.tables.formats.sql.stores import Relation, SqlColumn, Store

_BATCH_ROWS = 50_000
_EXAMPLES = {"integer": "0", "real": "0.5", "blob": "x'00'"}  # a value of each kind that is read as it is
_TEXT = "''"


class SqliteStore(Store):
    _typed_rows: ClassVar[int] = 1

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

    def table(self, table: str) -> Relation:
        return Relation(quoted(table), tuple(self.columns(table)))

    def query(self, query: str) -> Relation:
        with in_our_words(self.address):
            self._execute(f"CREATE TEMPORARY VIEW shoal_query AS {query.strip().rstrip(';')}")
        return Relation("shoal_query", tuple(self.columns("shoal_query")))

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

    def stage(self, pieces: Iterable[pl.DataFrame], table: str, kinds: Mapping[str, str]) -> None:
        with (
            in_our_words(self.address),
            arrow_stream(map(_known_kinds, pieces)) as rows,
            self._connection.cursor() as cursor,
        ):
            cursor.adbc_ingest(table, rows, mode="create")
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
            held, self._held = self._held, None
            with suppress(OSError):  # closed it is, whatever the system says
                os.close(held)

    def _selection(self, relation: Relation) -> str:
        names = [quoted(column.name) for column in relation.columns]
        asked = [f"group_concat(DISTINCT typeof({name})) AS c{place}" for place, name in enumerate(names)]
        found = self._fetch(f"SELECT {', '.join(asked)} FROM {relation.text}").row(0) if names else ()
        kinds = [_EXAMPLES.get(_kind_of_all(kind)) for kind in found]
        rows = [
            name if example else f"CAST({name} AS TEXT) AS {name}" for name, example in zip(names, kinds, strict=True)
        ]
        first = [f"{example or _TEXT} AS {name}" for name, example in zip(names, kinds, strict=True)]
        return f"SELECT {', '.join(first)} UNION ALL SELECT {', '.join(rows)} FROM {relation.text}"

    def _execute(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def _fetch(self, query: str) -> pl.DataFrame:
        with in_our_words(self.address), self._connection.cursor() as cursor:
            cursor.execute(query)
            return as_frame(cursor.fetch_arrow_table())

    def _stream(self, query: str) -> Iterator[Any]:
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(_BATCH_ROWS)})
            cursor.execute(query)
            yield from cursor.fetch_record_batch()


def _known_kinds(frame: pl.DataFrame) -> pl.DataFrame:
    """SQLite has whole numbers, floats, texts and bytes; dates, times and decimals are written as texts."""
    kept = (pl.Binary, pl.String)
    return frame.with_columns(
        pl.col(name).cast(pl.Int64 if isinstance(kind, pl.Boolean) or kind.is_integer() else pl.String)
        for name, kind in frame.schema.items()
        if not (kind.is_float() or isinstance(kind, kept))
    )


def _kind_of_all(kinds: str | None) -> str:
    """The kind of all present values of a column, or none if they have several, or there are no values."""
    found = set((kinds or "").split(",")) - {"null"}
    return found.pop() if len(found) == 1 else ""


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
