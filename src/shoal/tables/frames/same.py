"""Columns whose values did not change, with the type they had, but one form for values that are equal.

To the check 0.0 and -0.0 are one value, and so are Decimal("1.0") and Decimal("1.00"), or None and NaN. Were they to
come back as they came, who gets the frame could tell them apart. The copies made here also hold no memory of others:
nothing below missing values, nothing of a larger frame that the column was cut from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.tables.frames.categories import has_inner_dictionary, used_categories, used_dictionary
from shoal.tables.frames.hidden import without_hidden_values
from shoal.tables.types import with_one_zero

if TYPE_CHECKING:
    import pandas as pd


def taken_over(series: pl.Series, column: pd.Series[Any]) -> pd.Series[Any]:
    """`column` with a plain index; `series` has its values."""
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.reset_index(drop=True).cat.remove_unused_categories()
    if isinstance(dtype, np.dtypes.ObjectDType):
        return pd.Series(_objects(series, column), dtype=object)
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_backed(series, column)
    if series.dtype.is_float():
        return pd.Series(with_one_zero(series).to_numpy(), dtype=dtype)
    if isinstance(column.array, pd.arrays.IntegerArray | pd.arrays.BooleanArray):
        filled = series.fill_null(False if series.dtype == pl.Boolean else 0)
        return pd.Series(type(column.array)(filled.to_numpy(writable=True), series.is_null().to_numpy(writable=True)))
    return pd.Series(column.array.take(np.arange(len(column))))


def _arrow_backed(series: pl.Series, column: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd
    import pyarrow as pa

    held = pa.array(column.array)
    held = held if isinstance(held, pa.ChunkedArray) else pa.chunked_array([held])
    return pd.Series(pd.arrays.ArrowExtensionArray(taken_over_arrow(series, held)))


def taken_over_arrow(series: pl.Series, column: Any) -> Any:
    """`column`, which is one of pyarrow; `series` has its values."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([used_dictionary(column)])
    if pa.types.is_nested(column.type):
        return _nested_arrow(series, column.type)
    if pa.types.is_floating(column.type):
        return pa.chunked_array([with_one_zero(series).to_arrow().cast(column.type)])
    return pa.chunked_array([chunk.take(pa.array(np.arange(len(chunk)))) for chunk in column.chunks], column.type)


def plain_arrow(series: pl.Series) -> Any:
    """A series as a pyarrow column of the types that every reader knows."""
    return used_categories(series).to_arrow(compat_level=pl.CompatLevel.oldest())


def _nested_arrow(series: pl.Series, wanted: Any) -> Any:
    """Made anew, with what neither a missing whole covers nor a dictionary within lists; with its type where it can."""
    import pyarrow as pa

    made = plain_arrow(without_hidden_values(series.to_frame())[series.name])
    if has_inner_dictionary(wanted):
        return made
    try:
        return made.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return made


def _objects(series: pl.Series, column: pd.Series[Any]) -> list[Any]:
    """The Python values as they are, if equal ones look the same, else those of `series`."""
    values = column.tolist()
    if len(set(map(_shown, values))) == series.n_unique():
        return values
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_unit == "ns":
        return list(series.to_pandas().astype(object))
    return with_one_zero(series).to_list()


def _shown(value: Any) -> tuple[type, str]:
    return type(value), repr(value)
