"""Arrow memory may still hold the value of a cell that was set to null; a release must not.

A null is only a bit beside the value, so `when(...).then(None)` leaves the old value in memory, from where it gets into
Arrow files and other libraries. The copy made here has nothing under its nulls, and the same bytes for equal columns.
"""

from __future__ import annotations

import numpy as np
import polars as pl


def without_hidden_values(frame: pl.DataFrame) -> pl.DataFrame:
    """An equal frame whose nulls cover no value. Columns without nulls are not copied."""
    return frame.with_columns(_without_hidden(column) for column in frame)


def _without_hidden(column: pl.Series) -> pl.Series:
    is_bits = isinstance(column.dtype, pl.Boolean)  # the last byte of a column of bits has room for others
    if column.null_count() == 0 and not is_bits:
        return column
    present = column.is_not_null().to_numpy()
    positions = pl.Series(np.where(present, np.cumsum(present, dtype=np.int64) - 1, -1))
    positions = pl.select(pl.when(positions >= 0).then(positions)).to_series()
    return column.drop_nulls().gather(positions).alias(column.name)
