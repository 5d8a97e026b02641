"""The order of the rows of a published table: by its own values alone, so that it tells nothing about the input.

A table that comes sorted and is released in its order gives away more than its cells: ranges that must not fall narrow
each other. So rows are sorted by the text of their cells, column after column, missing cells first, byte by byte. Rows
that stay tied are equal, so it does not matter which of them comes first: the same rows in any order give the same
bytes.

Cost: one sort over all columns (a million rows of nine columns take about a second).
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.types import has_text

RowNumbers = NDArray[np.int64]


def published_order(frame: pl.DataFrame) -> RowNumbers:
    """The numbers of the rows in the order in which they are to be published."""
    if frame.width == 0:
        return np.arange(frame.height, dtype=np.int64)
    keys = pl.DataFrame([cell_texts(column).alias(str(number)) for number, column in enumerate(frame)])
    order = keys.select(pl.arg_sort_by(keys.columns, nulls_last=False, maintain_order=True)).to_series()
    return order.to_numpy().astype(np.int64)


def is_published_order(frame: pl.DataFrame) -> bool:
    """Whether a table has the order of `published_order`, so that its order tells nothing beyond its values."""
    return bool((np.diff(published_order(frame)) > 0).all())


def inverse(order: RowNumbers) -> RowNumbers:
    """Where each row has gone: `frame[order][inverse(order)]` is the frame."""
    places = np.empty_like(order)
    places[order] = np.arange(order.shape[0])
    return places


def cell_texts(column: pl.Series) -> pl.Series:
    """A text for every value, the same for equal values only."""
    if column.dtype == pl.String:
        return column
    if has_text(column.dtype):
        return column.cast(pl.String)
    return pl.Series([None if value is None else repr(value) for value in column.to_list()], dtype=pl.String)
