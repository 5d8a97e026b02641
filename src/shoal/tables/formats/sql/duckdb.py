"""DuckDB through its own library, which lets one process write a file at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import SqlAddress, joined, quoted
from shoal.tables.formats.sql.arrow import arrow_stream, as_frame, as_texts
from shoal.tables.formats.sql.errors import in_our_words
from shoal.tables.formats.sql.stores import Relation, SqlColumn, Store

_BATCH_ROWS = 100_000
# the rest (HUGEINT, UUID, INTERVAL, TIME, lists, ...) comes as text
_AS_IT_IS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE",
    "BOOLEAN", "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "DECIMAL", "BLOB",
)  # fmt: skip


class DuckStore(Store):
    def __init__(self, address: SqlAddress, to_write: bool) -> None:
        super().__init__(address)
        import duckdb

        if not to_write and not Path(address.place).is_file():
            raise InputError(Problem("no-such-file", f"there is no file '{address.place}'"))
        with in_our_words(address):
            self._connection: Any = duckdb.connect(address.place, read_only=not to_write)

    def tables(self) -> list[str]:
        known = (
            "SELECT schema_name AS schema, table_name AS name FROM duckdb_tables() WHERE NOT internal UNION ALL "
            "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1, 2"
        )
        rows = self._fetch(known).to_dicts()
        return [joined(None if row["schema"] == "main" else row["schema"], row["name"]) for row in rows]

    def columns(self, table: str) -> list[SqlColumn]:
        known = self._fetch(
            "SELECT column_name AS name, data_type AS kind FROM duckdb_columns() WHERE "
            f"table_name = {_literal(table)} AND schema_name = {_literal(self.address.schema or 'main')} "
            "ORDER BY column_index"
        )
        return [SqlColumn(row["name"], row["kind"]) for row in known.to_dicts()]

    def table(self, table: str) -> Relation:
        return Relation(self._full(table), tuple(self.columns(table)))

    def query(self, query: str) -> Relation:
        inner = query.strip().rstrip(";")
        found = self._fetch(f"DESCRIBE {inner}")
        columns = [SqlColumn(row["column_name"], row["column_type"]) for row in found.to_dicts()]
        return Relation(f"({inner})", tuple(columns))

    def lock(self, table: str) -> bool:
        return True  # whoever has opened the file to write has it alone

    def stage(self, pieces: Iterable[pl.DataFrame], table: str, kinds: Mapping[str, str]) -> None:
        with in_our_words(self.address), arrow_stream(as_texts(pieces, kinds)) as rows:
            parts = [
                f"CAST({quoted(name)} AS {kinds[name]}) AS {quoted(name)}" if name in kinds else quoted(name)
                for name in rows.schema.names
            ]
            self._connection.register("shoal_frame", rows)
            self._connection.execute(f"CREATE TABLE {self._full(table)} AS SELECT {', '.join(parts)} FROM shoal_frame")
            self._connection.unregister("shoal_frame")
            self._connection.execute("CHECKPOINT")

    def drop(self, table: str) -> None:
        with in_our_words(self.address):
            self._connection.execute(f"DROP TABLE IF EXISTS {self._full(table)}")

    def rename(self, staged: str, table: str) -> None:
        with in_our_words(self.address):
            self._connection.execute("BEGIN")
            self._connection.execute(f"DROP TABLE IF EXISTS {self._full(table)}")
            self._connection.execute(f"ALTER TABLE {self._full(staged)} RENAME TO {quoted(table)}")
            self._connection.execute("COMMIT")
            self._connection.execute("CHECKPOINT")

    def close(self) -> None:
        with in_our_words(self.address):
            self._connection.close()

    def _full(self, table: str) -> str:
        schema = self.address.schema
        return f"{quoted(schema)}.{quoted(table)}" if schema else quoted(table)

    def _fetch(self, query: str) -> pl.DataFrame:
        with in_our_words(self.address):
            return as_frame(self._connection.sql(query).to_arrow_table())

    def _stream(self, query: str) -> Iterator[Any]:
        yield from self._connection.sql(query).to_arrow_reader(_BATCH_ROWS)

    def _selection(self, relation: Relation) -> str:
        parts = [
            f"CAST({quoted(column.name)} AS VARCHAR) AS {quoted(column.name)}"
            if needs_cast(column.kind)
            else quoted(column.name)
            for column in relation.columns
        ]
        return f"SELECT {', '.join(parts)} FROM {relation.text}"


def needs_cast(kind: str) -> bool:
    return kind.split("(")[0].strip() not in _AS_IT_IS or kind.endswith("]")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
