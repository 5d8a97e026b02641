"""A table of a database that is read piece by piece, in a fixed order.

A server gives its rows in no order that means anything, and they are needed several times. So they are fetched once,
batch by batch, and wait in order on the disk as Parquet, in a folder that only its owner can read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.errors import InputError, Problem
from shoal.progress import Passed
from shoal.tables.content_hash import pieces_hash
from shoal.tables.fixed_order import OrderedRows
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import Format, ReadTable
from shoal.tables.formats.pieces import PieceSizes, TablePieces, Watcher
from shoal.tables.formats.sql.address import SqlAddress
from shoal.tables.formats.sql.stores import Relation, SqlColumn, Store

OpenRelation = AbstractContextManager[tuple[Store, Relation]]


class SqlPieces:
    """The rows of a relation. Its connection is open from the first question until all rows were fetched."""

    def __init__(self, address: SqlAddress, opened: OpenRelation, folder: Path, sizes: PieceSizes) -> None:
        """`opened` is entered once, and left when the rows are here; `folder` does not exist yet."""
        self.address, self.sizes = address, sizes
        self._opened, self._folder = opened, folder
        self._relation: tuple[Store, Relation] | None = None
        self._staged: TablePieces | None = None
        self._schema: dict[str, pl.DataType] = {}
        self._sha256 = ""

    @property
    def like(self) -> ReadTable:
        return ReadTable(pl.DataFrame(), Format.SQL, None, "")

    @property
    def sha256(self) -> str:
        """Of the content in its order; known once the rows were fetched."""
        return self._sha256

    @property
    def columns(self) -> tuple[SqlColumn, ...]:
        """The columns with their types as the database writes them."""
        assert self._relation is not None
        return self._relation[1].columns

    def schema(self) -> dict[str, pl.DataType]:
        if self._relation is None:
            self._relation = self._opened.__enter__()
            store, relation = self._relation
            self._schema = dict(store.schema(relation))
        return self._schema

    def read(self, names: Sequence[str] | None = None, watcher: Watcher | None = None) -> Iterator[pl.DataFrame]:
        """The pieces, with the named columns at least. The first time the rows are fetched."""
        if self._staged is None:
            self._staged = self._fetched(watcher)
            watcher = None if watcher is None else _second_half(watcher)
        yield from self._staged.read(names, watcher)

    def close(self) -> None:
        """Let go of the connection, whether or not the rows are here."""
        if self._relation is not None and self._staged is None:
            self._opened.__exit__(None, None, None)
            self._relation = None

    def _fetched(self, watcher: Watcher | None) -> TablePieces:
        schema = self.schema()
        assert self._relation is not None
        store, relation = self._relation
        rows, ordered = store.count(relation), OrderedRows(self._folder, self.address.key, self.sizes.bucket)
        for piece in store.batches(relation):
            ordered.add(piece)
            if watcher is not None:
                watcher(Passed(0.5 * ordered.rows / max(1, rows), ordered.rows, rows))
        if not ordered.rows:
            raise InputError(Problem("no-records", f"{self.address} has no records"))
        staged = TablePieces(ordered.store(), CsvOptions(), self.sizes)
        self._sha256 = pieces_hash(schema, staged.read)
        self._opened.__exit__(None, None, None)
        return staged


def _second_half(watcher: Watcher) -> Watcher:
    """Rows that were fetched are read once more: half of the way is done by then."""
    return lambda passed: watcher(replace(passed, share=0.5 + passed.share / 2))
