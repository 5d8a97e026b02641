"""On which scale a column is measured, and where its values lie on it.

Everything works on distinct values. A text column is
- INTEGER if every value is like `-12`, DECIMAL if every value is like `3.5`, `.5` or `1e-3` (spaces around allowed);
- CATEGORY if any value begins with a needless zero (`007`, `00501`): postcodes and other codes stay text;
- DATE if every value is a real date, all in one of the forms of `dates.py`;
- CATEGORY otherwise, and also if it has no value at all.
Columns with a type keep to it: integers, floats and decimals, dates and datetimes; all others are categories.

Missing are null, NaN (the number, and the texts `NaN` and `nan` that programs write for it), the empty text, and texts
the user names, in a column of texts: a column with a type has nulls for that. An infinite number has no place on a
scale, so it is an error. Positions are floats: integers beyond 2^53 may share one (see `exact.py`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import Problem
from shoal.tables.dates import find_date_form, parse_dates, parse_moments
from shoal.tables.schema import Scale

Positions = NDArray[np.float64]

_INTEGER = r"^\s*[+-]?[0-9]+\s*$"
_NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
_NEEDLESS_ZERO = r"^\s*[+-]?0[0-9]"
_MISSING = ("", "NaN", "nan")
_INFINITE = r"(?i)^\s*[+-]?inf(?:inity)?\s*$"
TEXT_LIKE = (pl.String, pl.Categorical, pl.Enum)
EXACT_BELOW = 2.0**53  # from here on different integers may share a position


@dataclass(frozen=True, slots=True)
class Numbers:
    """Values as floats, NaN where missing or wrong, with counts of distinct wrong values."""

    positions: Positions
    not_numbers: int
    not_integers: int
    infinite: int


def is_missing(series: pl.Series, extra: Collection[str] = ()) -> pl.Series:
    """True for null, NaN, the empty text, the texts `NaN` and `nan`, and those in `extra`; never null itself.

    Blanks around a text do not matter, so a text of blanks is missing.

    A column with a type has no texts, so `extra` means nothing there.
    """
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan().fill_null(True)
    elif isinstance(series.dtype, TEXT_LIKE):
        texts = pl.Series([*_MISSING, *(text.strip() for text in extra)], dtype=pl.String).unique()
        missing = missing | series.cast(pl.String).str.strip_chars().is_in(texts.implode()).fill_null(True)
    return missing


def find_scale(series: pl.Series, missing: Collection[str] = ()) -> Scale:
    """The scale of a column, told by its type or, for text, by its distinct values."""
    dtype = series.dtype
    if dtype.is_integer():
        return Scale.INTEGER
    if dtype.is_float() or dtype.is_decimal():
        return Scale.DECIMAL
    if isinstance(dtype, pl.Date | pl.Datetime):
        return Scale.DATE
    if not isinstance(dtype, pl.String):
        return Scale.CATEGORY
    values = series.unique()
    return _scale_of_texts(values.filter(~is_missing(values, missing)))


def _scale_of_texts(values: pl.Series) -> Scale:
    infinite = values.str.contains(_INFINITE)
    numbers = values.filter(~infinite)
    if numbers.is_empty():
        return Scale.CATEGORY
    if not numbers.head(1).str.contains(_NUMBER).item():  # most text columns are told by one value
        return Scale.DATE if find_date_form(values) is not None else Scale.CATEGORY
    if numbers.str.contains(_NUMBER).all() and not numbers.str.contains(_NEEDLESS_ZERO).any():
        return Scale.INTEGER if numbers.str.contains(_INTEGER).all() and not infinite.any() else Scale.DECIMAL
    return Scale.CATEGORY


def parse_values(
    distinct: pl.Series, scale: Scale, column: str, missing: Collection[str] = ()
) -> tuple[Positions, list[Problem]]:
    """Where distinct values lie on a numeric scale (NaN: missing), and what is wrong with them.

    Dates become days, dates with a time seconds since 1970. The scale must be one with distances.
    """
    if not scale.is_numeric:
        raise ValueError(f"values of the scale '{scale}' have no positions")
    if scale is Scale.DATE:
        positions, wrong = parse_dates(_without_missing(distinct, missing))
        return positions, _date_problems(wrong, column)
    numbers = parse_numbers(distinct, missing)
    return numbers.positions, _number_problems(numbers, scale, column)


def comparable_positions(values: pl.Series, scale: Scale) -> Positions:
    """Where values lie on a numeric scale, the same for equal values of different columns however they are written:
    `34`, ` +34`, `34.0` and the number 34; a day in any form and as a date. NaN: no value of this scale."""
    if isinstance(values.dtype, TEXT_LIKE) or values.dtype == pl.Float32:  # 0.1 is not the nearest number to itself
        values = values.cast(pl.String)
    return parse_moments(values) if scale is Scale.DATE else parse_numbers(values).positions


def parse_numbers(series: pl.Series, missing: Collection[str] = ()) -> Numbers:
    """The values of a column as floats."""
    values = _without_missing(series, missing)
    floats, wrong = _as_floats(values)
    positions = floats.fill_null(float("nan")).to_numpy().astype(np.float64)
    infinite = np.isinf(positions)
    positions[infinite] = np.nan
    fractions = int(np.count_nonzero(positions != np.round(positions)) - np.count_nonzero(np.isnan(positions)))
    return Numbers(positions, int(wrong.sum()), fractions, int(infinite.sum()))


def _as_floats(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The values as floats, and which of them are no numbers."""
    if isinstance(values.dtype, pl.String):
        wrong = (~(values.str.contains(_NUMBER) | values.str.contains(_INFINITE))).fill_null(False)
        texts = values.str.strip_chars().str.strip_prefix("+").set(wrong, None)
        floats = texts.cast(pl.Float64, strict=False)
        return floats, wrong | (texts.is_not_null() & floats.is_null())
    if values.dtype.is_numeric():
        return values.cast(pl.Float64), pl.repeat(False, values.len(), eager=True)
    return pl.repeat(None, values.len(), dtype=pl.Float64, eager=True), values.is_not_null()


def _without_missing(series: pl.Series, missing: Collection[str]) -> pl.Series:
    """The values with null where they are missing; categories as their texts."""
    values = series.cast(pl.String) if isinstance(series.dtype, TEXT_LIKE) else series
    return values.to_frame("v").select(pl.when(~is_missing(values, missing)).then(pl.col("v"))).to_series()


def _number_problems(numbers: Numbers, scale: Scale, column: str) -> list[Problem]:
    problems = []
    if numbers.not_numbers:
        hint = "make it a category, or name the text that means missing; a decimal point is needed, not a comma"
        message = f"{numbers.not_numbers} distinct values are not numbers"
        problems.append(Problem("not-a-number", message, column, hint))
    if numbers.not_integers and scale is Scale.INTEGER:
        message = f"{numbers.not_integers} distinct values are not whole numbers"
        problems.append(Problem("not-an-integer", message, column, "use the scale decimal"))
    if numbers.infinite:
        hint = "replace them by an empty cell (missing) or by a number"
        message = f"{numbers.infinite} distinct values are infinite or too large for a number"
        problems.append(Problem("infinite-number", message, column, hint))
    return problems


def _date_problems(wrong: int, column: str) -> list[Problem]:
    if not wrong:
        return []
    hint = "use one form for all: yyyy-mm-dd, yyyy/mm/dd, dd.mm.yyyy or yyyy-mm-dd hh:mm:ss"
    return [Problem("not-a-date", f"{wrong} distinct values are not dates", column, hint)]
