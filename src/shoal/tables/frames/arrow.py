"""pyarrow tables into polars and back. pyarrow is imported only when one of its tables is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.tables.frames.same import plain_arrow, taken_over_arrow


def arrow_to_polars(table: Any) -> pl.DataFrame:
    """The columns as polars columns. Raises InputError naming every column whose type polars does not know."""
    columns: list[pl.Series] = []
    problems: list[Problem] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        series = _column_to_polars(column, name)
        if series is None:
            message = f"columns of the Arrow type {column.type} cannot be read"
            problems.append(Problem("unknown-type", message, name, "convert the column to text or to numbers"))
        else:
            columns.append(series)
    if problems:
        raise InputError(problems)
    return pl.DataFrame({column.name: column for column in columns})  # a list would lose an empty name


def polars_to_arrow(frame: pl.DataFrame, original: Any, rows: NDArray[np.int64] | None) -> Any:
    """`frame` as a pyarrow table; columns of `original` are taken over where no value changed.

    The notes of its schema are not: those of pandas and R may name rows and columns, and no check has seen any of them.
    """
    import pyarrow as pa

    kept = original if rows is None else original.take(pa.array(rows))
    if kept.num_rows != frame.height:
        raise ValueError("the frame to restore has another number of rows than the input")
    columns = {series.name: _restored(series, kept) for series in frame}
    schema = pa.schema([pa.field(name, column.type) for name, column in columns.items()])
    return pa.table(list(columns.values()), schema=schema)


def _restored(series: pl.Series, kept: Any) -> Any:
    """The column of a series: that of the original, if it has the same values."""
    if series.name in kept.column_names and _is_unchanged(series, kept.column(series.name)):
        return taken_over_arrow(series, kept.column(series.name))
    return plain_arrow(series)


def _is_unchanged(series: pl.Series, column: Any) -> bool:
    before = _column_to_polars(column, series.name)
    return before is not None and before.dtype == series.dtype and before.equals(series, null_equal=True)


def _column_to_polars(column: Any, name: str) -> pl.Series | None:
    if "decimal256" in str(column.type):  # also inside a list or a structure: polars would panic, not raise
        return None
    try:
        series = pl.from_arrow(column)
    except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError):
        return None
    return series.alias(name) if isinstance(series, pl.Series) and not isinstance(series.dtype, pl.Object) else None
