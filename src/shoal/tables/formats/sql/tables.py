"""Tables of databases as the rest of the program sees them: read in a fixed order, written as a whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

import polars as pl

from shoal.errors import InputError, Problem, ShoalError, did_you_mean
from shoal.tables.fixed_order import in_fixed_order
from shoal.tables.formats.sql.address import Database, SqlAddress
from shoal.tables.formats.sql.stores import STAGING, Relation, SqlColumn, Store, check_text, open_store

_LONGEST_NAME = 63  # of a table in PostgreSQL, in bytes; what is longer is cut off without a word


@dataclass(frozen=True, eq=False)
class SqlTable:
    """A table that was read, with the types that its columns have there."""

    frame: pl.DataFrame
    address: SqlAddress
    columns: tuple[SqlColumn, ...]
    notes: tuple[str, ...] = field(default=())


def read_sql(address: SqlAddress) -> SqlTable:
    """All rows, ordered by the key and then by content: the order in which a server gives them means nothing."""
    with closing(open_store(address, to_write=False)) as store:
        relation = relation_of(store)
        frame = store.read(relation)
    if frame.height == 0:
        raise InputError(Problem("no-records", f"{address} has no records"))
    return SqlTable(in_fixed_order(frame, address.key), address, relation.columns)


def relation_of(store: Store) -> Relation:
    """What an address names. Raises InputError if there is no such table, or no such column that orders it."""
    address = store.address
    if address.query is not None:
        relation = store.query(address.query)
    else:
        if address.table is None:
            hint = "add ?table=schema.name, or give a query with --query FILE.sql"
            raise InputError(Problem("no-table", "the address of a database names no table", hint=hint))
        relation = store.table(address.table)
        if not relation.columns:
            raise InputError(Problem("no-table", f"{address}: there is no such table", hint="name the schema too"))
    names = [column.name for column in relation.columns]
    unknown = [name for name in address.key if name not in names]
    if unknown:
        message = "the key of the address names no column"
        raise InputError([Problem("unknown-column", message, name, did_you_mean(name, names)) for name in unknown])
    return relation


@contextmanager
def open_relation(address: SqlAddress) -> Iterator[tuple[Store, Relation]]:
    """A table or query that is read as long as the block goes on."""
    with closing(open_store(address, to_write=False)) as store:
        yield store, relation_of(store)


class SqlTarget:
    """A table that is written: staged and lasting first, read back, then given its name; else it is not there.

    Opened before any work, so that a table that exists, a schema that is missing or a right that nobody granted is
    told at once.
    """

    def __init__(self, address: SqlAddress, *, replace: bool) -> None:
        if address.table is None:
            hint = "add ?table=schema.name"
            raise InputError(Problem("no-table", "the address of the output names no table", hint=hint))
        self.address, self.table = address, address.table
        self.staged = staging_name(self.table)
        self.notes: list[str] = []
        if len(self.table.encode()) > _LONGEST_NAME:
            message = f"the name of the output table has more than {_LONGEST_NAME} bytes"
            raise InputError(Problem("bad-address", message, hint="choose a shorter one"))
        self._store: Store = open_store(address, to_write=True)
        self._is_staged = False
        try:
            self._check(replace)
        except BaseException:
            self._store.close()
            raise

    def _check(self, replace: bool) -> None:
        if not self._store.lock(self.table):
            message = f"{self.address}: another run writes this table"
            raise InputError(Problem("busy-table", message, hint="wait until it has ended"))
        if self._store.columns(self.table):
            if not replace:
                message = f"{self.address} exists already"
                raise InputError(Problem("table-exists", message, hint="give --replace, or another name"))
            depending = self._store.depends(self.table)
            if depending:
                message = f"{self.address} cannot be replaced: {', '.join(depending)} would be lost"
                raise InputError(Problem("table-in-use", message, hint="drop them first, or choose another name"))
            self.notes += [f"the replaced table loses: {name}" for name in self._store.loses(self.table)]
        if self._store.columns(self.staged):
            self.notes.append(f"'{self.staged}' was left by an earlier run and is removed")
            self._store.drop(self.staged)

    def stage(self, frame: pl.DataFrame, like: SqlTable | None) -> pl.DataFrame:
        """Write the table under another name, and read it back as the database has it."""
        kinds = {} if like is None else self.kinds(like.address.database, like.columns, _unchanged(frame, like.frame))
        self.stage_pieces(iter([frame]), kinds)
        with self.written() as (store, relation):
            return store.read(relation)

    def stage_pieces(self, pieces: Iterable[pl.DataFrame], kinds: Mapping[str, str]) -> None:
        """Write the table under another name, piece by piece; `kinds` are types to give back to columns of texts."""
        self._is_staged = True
        self._store.stage(map(check_text, pieces), self.staged, kinds)

    @contextmanager
    def written(self) -> Iterator[tuple[Store, Relation]]:
        """What was staged, to be read back from the database."""
        yield self._store, self._store.table(self.staged)

    def kinds(
        self, database: Database, columns: Iterable[SqlColumn], unchanged: Callable[[str], bool]
    ) -> dict[str, str]:
        """The types of columns of the input that came as texts: those whose values are unchanged get them back."""
        if database is not self.address.database or database is Database.SQLITE:
            return {}
        if database is Database.POSTGRESQL:
            from shoal.tables.formats.sql.postgresql import needs_cast
        else:
            from shoal.tables.formats.sql.duckdb import needs_cast
        return {column.name: column.kind for column in columns if needs_cast(column.kind) and unchanged(column.name)}

    def public(self) -> dict[str, str]:
        """What a certificate tells of the place: no host, user or name of the database."""
        return {"kind": str(self.address.database), "table": self.address.name}

    def commit(self) -> None:
        self._store.rename(self.staged, self.table)
        self._is_staged = False

    def __enter__(self) -> SqlTarget:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_staged:
            with suppress(ShoalError):  # the connection may be what broke; the next run removes it
                self._store.drop(self.staged)
        with suppress(ShoalError):
            self._store.close()


def staging_name(table: str) -> str:
    """The name under which a table waits: the same in every run, and another one for every table."""
    name = STAGING + table
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    return STAGING + hashlib.sha256(table.encode()).hexdigest()[:32]


def _unchanged(released: pl.DataFrame, original: pl.DataFrame) -> Callable[[str], bool]:
    """Whether a column of a release has values of the original only."""

    def told(name: str) -> bool:
        return name in released.columns and name in original.columns and only_known(released[name], original[name])

    return told


def only_known(released: pl.Series, original: pl.Series) -> bool:
    """Whether all values are among those of the original, as texts."""
    texts = released.cast(pl.String).unique().drop_nulls()
    return bool(texts.is_in(original.cast(pl.String).unique().implode()).all())
