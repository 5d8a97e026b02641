"""Arrow memory may still hold the value of a cell that was set to null; a release must not.

A null is only a bit beside the value, so `when(...).then(None)` leaves the old value in memory, from where it gets into
Arrow files and other libraries. The copy made here has nothing under its nulls, and the same bytes for equal columns.
Lists and structures are taken apart, since each of their parts may hide something.
"""

from __future__ import annotations

import numpy as np
import polars as pl


def without_hidden_values(frame: pl.DataFrame) -> pl.DataFrame:
    """An equal frame whose nulls cover no value. Columns without nulls are not copied."""
    return frame.with_columns(_without_hidden(column) for column in frame)


def _without_hidden(column: pl.Series) -> pl.Series:
    if isinstance(column.dtype, pl.Struct):
        column = _clean_structure(column)
    elif isinstance(column.dtype, pl.Array):
        column = _clean_lists(column.arr.to_list()).list.to_array(column.dtype.size)
    elif isinstance(column.dtype, pl.List):
        column = _clean_lists(column)
    is_bits = isinstance(column.dtype, pl.Boolean)  # the last byte of a column of bits has room for others
    if column.null_count() == 0 and not is_bits:
        return column
    present = column.is_not_null().to_numpy()
    positions = pl.Series(np.where(present, np.cumsum(present, dtype=np.int64) - 1, -1))
    positions = pl.select(pl.when(positions >= 0).then(positions)).to_series()
    return column.drop_nulls().gather(positions).alias(column.name)


def _clean_structure(column: pl.Series) -> pl.Series:
    present = column.is_not_null()
    fields = column.struct.fields
    if not fields:
        return column
    parts = [pl.select(pl.when(present).then(column.struct.field(name))).to_series() for name in fields]
    clean = pl.DataFrame({name: _without_hidden(part) for name, part in zip(fields, parts, strict=True)})
    whole = clean.to_struct(column.name)
    return whole if present.all() else pl.select(pl.when(present).then(whole)).to_series().alias(column.name)


def _clean_lists(column: pl.Series) -> pl.Series:
    """The elements of all lists as one column, and the lists made anew from it."""
    lengths = column.list.len().fill_null(0)
    rows = pl.Series(np.repeat(np.arange(len(column), dtype=np.int64), lengths.to_numpy()))
    elements = _without_hidden(column.filter(lengths > 0).explode())
    lists = pl.DataFrame({"row": rows, "list": elements}).group_by("row", maintain_order=True).agg("list")["list"]
    empty = pl.Series([[]], dtype=lists.dtype)
    place = pl.Series(np.where(lengths > 0, np.cumsum(lengths > 0) - 1, len(lists)))
    place = pl.select(pl.when(column.is_not_null()).then(place)).to_series()
    return pl.concat([lists, empty]).gather(place).alias(column.name)
