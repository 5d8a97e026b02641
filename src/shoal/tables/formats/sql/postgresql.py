"""PostgreSQL through ADBC.

Reading happens in one transaction, REPEATABLE READ READ ONLY. Types that have no counterpart among columns (numeric,
uuid, money, intervals, arrays, ...) are cast to text by the server and cast back when a column is written unchanged,
so that every value comes back as it was. The staging table is committed first and renamed in a second transaction: a
swap in one transaction shows readers an empty table for a moment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from shoal.tables.formats.sql.address import SqlAddress, joined, quoted
from shoal.tables.formats.sql.arrow import arrow_stream, as_frame, as_texts
from shoal.tables.formats.sql.errors import in_our_words
from shoal.tables.formats.sql.stores import Relation, SqlColumn, Store

_AS_IT_IS = {
    "smallint", "integer", "bigint", "real", "double precision", "boolean", "text", "date", "bytea",
    "timestamp without time zone", "timestamp with time zone", "character varying", "name",
}  # fmt: skip
_COLUMNS = """
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS kind
FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_TABLES = """
SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1, 2
"""
_INDEXES = "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = to_regclass($1)"
_GRANTS = """
SELECT DISTINCT privilege_type || ' to ' || CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END AS name
FROM pg_class c, aclexplode(c.relacl) WHERE c.oid = to_regclass($1) AND grantee <> c.relowner
"""
_VIEWS = """
SELECT DISTINCT r.ev_class::regclass::text AS name FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
WHERE d.refobjid = to_regclass($1) AND r.ev_class <> to_regclass($1)
UNION SELECT conrelid::regclass::text FROM pg_constraint
WHERE confrelid = to_regclass($1) AND contype = 'f' AND conrelid <> to_regclass($1)
"""


class PostgresStore(Store):
    def __init__(self, address: SqlAddress, to_write: bool) -> None:
        super().__init__(address)
        import adbc_driver_postgresql.dbapi as driver

        with in_our_words(address):
            self._connection: Any = driver.connect(address.place)
            if not to_write:
                self._execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def tables(self) -> list[str]:
        return [joined(row["schema"], row["name"]) for row in self._fetch(_TABLES).to_dicts()]

    def columns(self, table: str) -> list[SqlColumn]:
        return [SqlColumn(row["name"], row["kind"]) for row in self._rows(_COLUMNS, self._full(table))]

    def table(self, table: str) -> Relation:
        return Relation(self._full(table), tuple(self.columns(table)))

    def query(self, query: str) -> Relation:
        """The types come from a view made of the query, for this session only; then nothing but reading is allowed."""
        with in_our_words(self.address):
            self._connection.rollback()
            self._execute(f"CREATE TEMPORARY VIEW shoal_query AS {query.strip().rstrip(';')}")
            self._connection.commit()
            self._execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        columns = [SqlColumn(row["name"], row["kind"]) for row in self._rows(_COLUMNS, "shoal_query")]
        return Relation("shoal_query", tuple(columns))

    def bytes(self, relation: Relation) -> int:
        """What the server's planner thinks: nothing is read."""
        with in_our_words(self.address), self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})  # no COPY of a plan
            cursor.execute(f"EXPLAIN SELECT * FROM {relation.text}")
            told = str(as_frame(cursor.fetch_arrow_table()).item(0, 0))
        found = re.search(r"rows=(\d+) width=(\d+)", told)
        return int(found[1]) * int(found[2]) if found is not None else 0

    def lock(self, table: str) -> bool:
        number = int.from_bytes(hashlib.sha256(self._full(table).encode()).digest()[:8], "big", signed=True)
        found = bool(self._fetch(f"SELECT pg_try_advisory_lock({number}) AS held")["held"][0])
        with in_our_words(self.address):
            self._connection.commit()
        return found

    def stage(self, pieces: Iterable[pl.DataFrame], table: str, kinds: Mapping[str, str]) -> None:
        raw = f"{table[:50]}_raw"
        with in_our_words(self.address), arrow_stream(as_texts(pieces, kinds)) as rows:
            names = list(rows.schema.names)
            with self._connection.cursor() as cursor:
                cursor.adbc_ingest(raw, rows, mode="create", temporary=True)
            parts = [
                f"{quoted(name)}::{kinds[name]} AS {quoted(name)}" if name in kinds else quoted(name) for name in names
            ]
            self._execute(f"CREATE TABLE {self._full(table)} AS SELECT {', '.join(parts)} FROM pg_temp.{quoted(raw)}")
            self._execute(f"DROP TABLE pg_temp.{quoted(raw)}")
            self._connection.commit()

    def drop(self, table: str) -> None:
        with in_our_words(self.address):
            self._execute(f"DROP TABLE IF EXISTS {self._full(table)}")
            self._connection.commit()

    def rename(self, staged: str, table: str) -> None:
        with in_our_words(self.address):
            self._execute(f"DROP TABLE IF EXISTS {self._full(table)}")
            self._execute(f"ALTER TABLE {self._full(staged)} RENAME TO {quoted(table)}")
            self._connection.commit()

    def loses(self, table: str) -> list[str]:
        named = (("index", _INDEXES), ("grant", _GRANTS))
        return [f"{what} {row['name']}" for what, query in named for row in self._rows(query, self._full(table))]

    def depends(self, table: str) -> list[str]:
        return [row["name"] for row in self._rows(_VIEWS, self._full(table))]

    def close(self) -> None:
        with in_our_words(self.address):
            self._connection.close()

    def _full(self, table: str) -> str:
        schema = self.address.schema
        return f"{quoted(schema)}.{quoted(table)}" if schema else quoted(table)

    def _execute(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def _rows(self, query: str, name: str) -> list[dict[str, Any]]:
        """The answers to a question about a table. The name is a text of ours or of the user, written as a literal."""
        literal = "'" + name.replace("'", "''") + "'"
        found: list[dict[str, Any]] = self._fetch(query.replace("$1", literal)).to_dicts()
        return found

    def _fetch(self, query: str) -> pl.DataFrame:
        with in_our_words(self.address), self._connection.cursor() as cursor:
            cursor.execute(query)
            return as_frame(cursor.fetch_arrow_table())

    def _stream(self, query: str) -> Iterator[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            yield from cursor.fetch_record_batch()

    def _selection(self, relation: Relation) -> str:
        """Every column, those without a counterpart as their text."""
        parts = [
            quoted(column.name) if _plain(column.kind) else f"{quoted(column.name)}::text AS {quoted(column.name)}"
            for column in relation.columns
        ]
        return f"SELECT {', '.join(parts)} FROM {relation.text}"


def _plain(kind: str) -> bool:
    return kind.split("(")[0].strip() in _AS_IT_IS or kind.startswith(("timestamp(", "character varying("))


def needs_cast(kind: str) -> bool:
    """Whether a column of this type comes as text, and is cast back when its values are unchanged."""
    return not _plain(kind)
