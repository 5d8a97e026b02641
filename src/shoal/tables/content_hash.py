"""A hash of what a table says, for tables that have no bytes of their own: frames, and tables of databases."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from shoal.tables.types import has_text, with_text


def frame_hash(frame: pl.DataFrame) -> str:
    """A hash of names, types and values of a frame that has no file: that of its rows as CSV bytes.

    Columns that CSV cannot hold follow, each as the columns it comes apart into.
    """
    return pieces_hash(frame.schema, lambda names: iter([frame.select(names)]))


def pieces_hash(schema: Mapping[str, pl.DataType], read: Callable[[list[str]], Iterator[pl.DataFrame]]) -> str:
    """The same hash of a table that is read piece by piece: once, and once more for each column that CSV cannot hold.

    `read` gives the pieces of some columns.
    """
    digest = hashlib.sha256(repr([(name, str(kind)) for name, kind in schema.items()]).encode())
    plain = [name for name, kind in schema.items() if has_text(kind)]
    if plain:
        _add(digest, read(plain))
    for name in schema:
        parts = 0 if has_text(schema[name]) else len(list(with_text(pl.Series(name, [], dtype=schema[name]))))
        for part in range(parts):
            columns = (piece[name] for piece in read([name]))
            _add(digest, (list(with_text(column))[part].to_frame("part") for column in columns))
    return digest.hexdigest()


def _add(digest: Any, pieces: Iterable[pl.DataFrame]) -> None:
    for number, piece in enumerate(pieces):
        digest.update(piece.write_csv(quote_style="always", include_header=number == 0).encode())
