"""pandas frames into polars and back. pandas is imported only when a pandas frame is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.tables.frames.same import taken_over

if TYPE_CHECKING:
    import pandas as pd

# what pandas calls the content of an object column that has one kind of value besides missing ones
_ONE_KIND = {"string", "empty", "integer", "floating", "boolean", "date", "datetime", "datetime64", "decimal"}


def pandas_to_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """The columns as polars columns; the index is left out. Raises InputError naming every column that cannot be."""
    columns: list[pl.Series] = []
    problems: list[Problem] = []
    for name in frame.columns:
        column = _column_to_polars(frame[name], str(name))
        if isinstance(column, Problem):
            problems.append(column)
        else:
            columns.append(column)
    if problems:
        raise InputError(problems)
    return pl.DataFrame({column.name: column for column in columns})  # a list would lose an empty name


def polars_to_pandas(frame: pl.DataFrame, original: pd.DataFrame, rows: NDArray[np.int64] | None) -> pd.DataFrame:
    """`frame` as pandas, with the columns of `original` where no value changed.

    The index is a plain range: that of `original` may hold names or numbers of persons, and no check has seen it. Nor
    has it seen the name of the columns (after a pivot, one of a person) and `attrs`.
    """
    import pandas as pd

    kept = original if rows is None else original.iloc[rows]
    if len(kept) != frame.height:
        raise ValueError("the frame to restore has another number of rows than the input")
    columns = {}
    for series in frame:
        name = series.name
        if name in kept.columns and _is_unchanged(series, kept[name]):
            columns[name] = taken_over(series, kept[name])
        else:
            columns[name] = _column_to_pandas(series, kept[name] if name in kept.columns else None)
    return pd.DataFrame(columns, index=pd.RangeIndex(frame.height), copy=False)


_CONVERT = "convert the column to text or to numbers, e.g. with astype(str)"


def _column_to_polars(column: pd.Series[Any], name: str) -> pl.Series | Problem:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories_to_polars(column, name)
    if isinstance(dtype, pd.SparseDtype):
        column = column.astype(dtype.subtype)
    elif pd.api.types.is_object_dtype(dtype):
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind not in _ONE_KIND:
            return Problem("mixed-types", f"the column holds values of several kinds ({kind})", name, _CONVERT)
        if kind in ("string", "empty"):
            return pl.Series(name, column.where(column.notna(), None).tolist(), dtype=pl.String)
        return _objects_to_polars(column, name)
    try:
        if "decimal256" in str(dtype):  # polars would panic, not raise
            raise NotImplementedError
        return pl.from_pandas(column, nan_to_null=True).alias(name)
    except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError):
        return Problem("unknown-type", f"columns of the pandas type {dtype} cannot be read", name, _CONVERT)
    except ImportError:
        hint = "pip install 'shoal[pandas]'"
        return Problem("missing-package", "pyarrow is needed to read this pandas column", name, hint)


def _objects_to_polars(column: pd.Series[Any], name: str) -> pl.Series | Problem:
    """Python values of one kind. Moments of pandas are finer than those of Python, and stay so."""
    import pandas as pd

    present = column.dropna()
    zoned = {getattr(value, "tzinfo", None) is not None for value in present}
    if len(zoned) > 1:
        hint = "give all of them a time zone, or none"
        return Problem("mixed-types", "the column holds moments with and without a time zone", name, hint)
    try:
        if any(getattr(value, "nanosecond", 0) for value in present):
            return pl.from_pandas(pd.to_datetime(column, utc=True in zoned).dt.as_unit("ns")).alias(name)
        return pl.Series(name, column.where(column.notna(), None).tolist())
    except (
        pl.exceptions.PolarsError,
        TypeError,
        ValueError,
        OverflowError,
        RuntimeError,
    ):  # their messages may quote a value
        hint = "convert the column to text, e.g. with astype(str)"
        return Problem("unknown-type", "the column holds Python values that cannot be read", name, hint)


def _categories_to_polars(column: pd.Series[Any], name: str) -> pl.Series | Problem:
    """Categories of text stay categories (ordered ones an Enum, which knows the order); others become plain values."""
    categories = _column_to_polars(column.cat.categories.to_series(), name)
    if isinstance(categories, Problem):
        return categories
    codes = pl.Series(name, column.cat.codes.to_numpy().astype(np.int64))
    values = categories.gather(codes.set(codes < 0, None)).alias(name)
    if values.dtype != pl.String:
        return values
    return values.cast(pl.Enum(categories) if column.cat.ordered else pl.Categorical)


def _is_unchanged(series: pl.Series, column: pd.Series[Any]) -> bool:
    before = _column_to_polars(column, series.name)
    return isinstance(before, pl.Series) and before.dtype == series.dtype and before.equals(series, null_equal=True)


def _column_to_pandas(series: pl.Series, source: pd.Series[Any] | None) -> pd.Series[Any]:
    import pandas as pd

    if isinstance(series.dtype, pl.String | pl.Categorical | pl.Enum):
        texts: pd.Series[Any] = pd.Series(series.cast(pl.String).to_list(), dtype=_text_type(source))
        return texts
    if series.dtype in (pl.Int128, pl.UInt128):  # pandas has no such type, but Python has such numbers
        return pd.Series(series.to_list(), dtype=object)
    extended = source is not None and pd.api.types.is_extension_array_dtype(source.dtype)
    if series.dtype.is_integer() or series.dtype == pl.Boolean:
        if series.null_count() > 0 or extended:
            kind = "boolean" if series.dtype == pl.Boolean else str(series.dtype)
            return pd.Series(series.to_list(), dtype=kind)
        return pd.Series(series.to_numpy())
    restored = series.to_pandas()
    return restored.astype("Float64") if extended and series.dtype.is_float() else restored


def _text_type(source: pd.Series[Any] | None) -> Any:
    """The text type the column had, or the one that pandas itself gives to text (`str` since pandas 3)."""
    import pandas as pd

    if source is not None and isinstance(source.dtype, pd.StringDtype | np.dtypes.ObjectDType):
        return source.dtype
    return pd.Series(["text"]).dtype
