"""Which types of columns have a text for every value, and how the others come apart into such columns."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

_WITH_TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null)


def has_text(dtype: pl.DataType) -> bool:
    """Whether values of this type can be written as text: not lists, structures, bytes, durations and the like."""
    return dtype.is_numeric() or isinstance(dtype, _WITH_TEXT)


def with_text(column: pl.Series) -> Iterator[pl.Series]:
    """Columns that have texts and together say what this one says, however it is stored.

    A list becomes the lengths and the elements, a structure its nulls and fields, bytes become hexadecimal digits, and
    a type that stands on another one (durations, types of other libraries) becomes that one.
    """
    dtype = column.dtype
    if has_text(dtype):
        yield column
    elif isinstance(dtype, pl.Binary):
        yield column.bin.encode("hex")
    elif isinstance(dtype, pl.Struct):
        yield column.is_null()
        for field in column.struct.unnest():
            yield from with_text(field)
    elif isinstance(dtype, pl.Array):
        yield from with_text(column.arr.to_list())
    elif isinstance(dtype, pl.List):
        yield column.list.len()
        yield from with_text(column.explode(empty_as_null=False, keep_nulls=False))
    else:
        yield from with_text(column.to_physical())


def with_one_zero(column: pl.Series) -> pl.Series:
    """The column with 0.0 for -0.0: they are one number to every model, so they must not be two texts.

    Adding 0.0 would do in IEEE arithmetic, but polars leaves such a sum out.
    """
    if not column.dtype.is_float():
        return column
    zero = pl.lit(0.0, dtype=column.dtype)
    return pl.select(pl.when(column == 0.0).then(zero).otherwise(column)).to_series().rename(column.name)


def with_known_integers(frame: pl.DataFrame) -> pl.DataFrame:
    """Integers of 128 bits, which hardly any reader of files knows, as decimals of 38 digits, else as texts."""
    return frame.with_columns(_known(column) for column in frame if isinstance(column.dtype, pl.Int128 | pl.UInt128))


def _known(column: pl.Series) -> pl.Series:
    try:
        return column.cast(pl.Decimal(38, 0))
    except pl.exceptions.InvalidOperationError:
        return column.cast(pl.String)
