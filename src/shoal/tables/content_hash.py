"""A hash of what a table says, for tables that have no bytes of their own: frames, and tables of databases."""

from __future__ import annotations

import hashlib

import polars as pl

from shoal.tables.types import has_text, with_text


def frame_hash(frame: pl.DataFrame) -> str:
    """A hash of names, types and values of a frame that has no file: that of its rows as CSV bytes.

    Columns that CSV cannot hold follow, each as the columns it comes apart into.
    """
    digest = hashlib.sha256(repr([(name, str(kind)) for name, kind in frame.schema.items()]).encode())
    others = [column for column in frame if not has_text(column.dtype)]
    pieces = [frame.drop(column.name for column in others) if others else frame]
    pieces += [part.to_frame("part") for column in others for part in with_text(column)]
    for piece in pieces:
        if piece.width:
            digest.update(piece.write_csv(quote_style="always").encode())
    return digest.hexdigest()
