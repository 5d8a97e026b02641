"""Numbers, dates and the many ways in which tools write a range of them, read column-wise.

Understood: `[20, 29]` `[20, 30[` `[20, 30)` `(20-30]` `20-29` `20~29` `20..29` `>=50` `>50` `<=20` `<20` `50+` `12**`,
and for dates also `2020` `2020-05` `2020-Q2` `2020s`. Bare ranges include both ends. For integers and dates an
excluded end is moved to the next value inside (`[20, 30[` is 20 to 29); for decimals it stays as the limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.schema import Scale

FloatArray = NDArray[np.float64]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CLOCK = r"[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
_DATE = rf"(?:\d{{4}}[-/]\d{{2}}[-/]\d{{2}}(?:{_CLOCK})?|\d{{1,2}}\.\d{{1,2}}\.\d{{4}})"
_BETWEEN = r"\s*(?:,|;|-|\x{2013}|~|\.\.+|to|:)\s*"
_BARE_BETWEEN = r"\s*(?:-|\x{2013}|~|\.\.+|to)\s*"
_DAYS = 86_400_000_000  # microseconds of one day


@dataclass(frozen=True)
class Ranges:
    """Per text: both ends (NaN where the text is no range)."""

    low: FloatArray
    high: FloatArray


def parse_numbers(texts: pl.Series, scale: Scale) -> FloatArray:
    """Each text as a number (dates: days since 1970); NaN where it is none, or not finite."""
    if len(texts) == 0:
        return np.zeros(0, dtype=np.float64)
    stripped = texts.str.strip_chars()
    if scale is not Scale.DATE:
        numbers = (
            stripped.str.strip_prefix("+")
            .cast(pl.Float64, strict=False)
            .fill_null(float("nan"))
            .to_numpy()
            .astype(np.float64)
        )
        return np.where(np.isfinite(numbers), numbers, np.nan)
    days = stripped.str.to_date("%Y-%m-%d", strict=False, exact=True)
    numbers = days.cast(pl.Int32).cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64)
    unread = np.isnan(numbers)
    if unread.any():
        numbers = np.where(unread, _parse_times(stripped), numbers)
    return numbers


def _parse_times(texts: pl.Series) -> FloatArray:
    """Dates with a time, with or without a zone, and dates with slashes or day first (31.12.2020)."""
    found = np.full(len(texts), np.nan)
    joined = texts.str.replace(" ", "T", literal=True).str.replace(r"Z$", "+00:00")
    joined = joined.str.replace(r"^(.{10}T\d{2}:\d{2})($|[+-])", "${1}:00${2}")
    for shape in ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f%z", "%d.%m.%Y", "%Y/%m/%d"):
        zone = "UTC" if shape.endswith("%z") else None
        times = joined.str.to_datetime(shape, strict=False, exact=True, time_unit="us", time_zone=zone)
        days = times.cast(pl.Int64).cast(pl.Float64).fill_null(float("nan")).to_numpy() / _DAYS
        found = np.where(np.isnan(found), days, found)
    return found


def parse_ranges(texts: pl.Series, scale: Scale) -> Ranges:
    """Each text as a range; open sides of `>=50` are infinite."""
    stripped = texts.fill_null("").str.strip_chars()
    value = _DATE if scale is Scale.DATE else _NUMBER
    step = 0.0 if scale is Scale.DECIMAL else 1.0
    low = np.full(len(texts), np.nan)
    high = np.full(len(texts), np.nan)
    for found_low, found_high in (
        _bracketed(stripped, scale, value, step),
        _bare(stripped, scale, value),
        _one_sided(stripped, scale, value, step),
        _masked_dates(stripped) if scale is Scale.DATE else _masked_numbers(stripped, scale),
    ):
        fill = np.isnan(low) & ~np.isnan(found_low) & ~np.isnan(found_high) & (found_low <= found_high)
        low[fill] = found_low[fill]
        high[fill] = found_high[fill]
    return Ranges(low, high)


def _groups(texts: pl.Series, pattern: str, count: int) -> list[pl.Series]:
    found = texts.str.extract_groups(pattern).struct.unnest()
    return [found[:, number] for number in range(count)]


def _bracketed(texts: pl.Series, scale: Scale, value: str, step: float) -> tuple[FloatArray, FloatArray]:
    pattern = rf"^([\[\](])\s*({value}){_BETWEEN}({value})\s*([\[\])])$"
    opening, first, last, closing = _groups(texts, pattern, 4)
    low = parse_numbers(first, scale)
    high = parse_numbers(last, scale)
    low = low + step * (opening.fill_null("[") != "[").to_numpy()
    high = high - step * (closing.fill_null("]") != "]").to_numpy()
    return low, high


def _bare(texts: pl.Series, scale: Scale, value: str) -> tuple[FloatArray, FloatArray]:
    first, last = _groups(texts, rf"^({value}){_BARE_BETWEEN}({value})$", 2)
    return parse_numbers(first, scale), parse_numbers(last, scale)


def _one_sided(texts: pl.Series, scale: Scale, value: str, step: float) -> tuple[FloatArray, FloatArray]:
    sign, first, plus = _groups(texts, rf"^(>=|>|<=|<|≥|≤|)\s*({value})(\+?)$", 3)
    number = parse_numbers(first, scale)
    sign = sign.fill_null("")
    at_least = (sign.is_in([">=", "≥"]) | ((sign == "") & (plus.fill_null("") == "+"))).to_numpy()
    above, at_most, below = ((sign == ">").to_numpy(), sign.is_in(["<=", "≤"]).to_numpy(), (sign == "<").to_numpy())
    low = np.where(at_least, number, np.where(above, number + step, np.where(at_most | below, -np.inf, np.nan)))
    high = np.where(at_least | above, np.inf, np.where(at_most, number, np.where(below, number - step, np.nan)))
    return np.where(np.isnan(number), np.nan, low), np.where(np.isnan(number), np.nan, high)


def _masked_numbers(texts: pl.Series, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """`12**`: every number with that many digits; `12.3*` likewise after the point."""
    known, stars = _groups(texts, r"^(-?\d+(?:\.\d*)?)(\*+)$", 2)
    low_text = known + stars.str.replace_all("*", "0", literal=True)
    high_text = known + stars.str.replace_all("*", "9", literal=True)
    one, other = parse_numbers(low_text, scale), parse_numbers(high_text, scale)
    return np.minimum(one, other), np.maximum(one, other)


def _masked_dates(texts: pl.Series) -> tuple[FloatArray, FloatArray]:
    """Parts of dates: a month, a quarter, a year, a decade."""
    cleaned = texts.str.replace(r"^(\d{4}-\d{2})-\*+$", "$1").str.replace(r"^(\d{4})(?:-\*+){1,2}$", "$1")
    year_text, month_text, quarter_text = _groups(cleaned, r"^(\d{4})(?:-(\d{2})|-?Q([1-4]))?$", 3)
    (decade_text,) = _groups(cleaned, r"^(\d{3})(?:0s|\*)$", 1)
    decade = decade_text.cast(pl.Int64, strict=False)
    year = year_text.cast(pl.Int64, strict=False).fill_null(decade * 10)
    quarter = quarter_text.cast(pl.Int64, strict=False)
    month = month_text.cast(pl.Int64, strict=False).fill_null(quarter * 3 - 2)
    years = pl.select(pl.when(decade.is_not_null()).then(10).otherwise(1)).to_series()
    months = pl.select(
        pl.when(quarter.is_not_null()).then(3).when(month.is_not_null()).then(1).otherwise(years * 12)
    ).to_series()
    start = year * 12 + month.fill_null(1) - 1
    first = _month_start(start, month)
    last = _month_start(start + months, month)
    return first, last - 1.0


def _month_start(months: pl.Series, month: pl.Series) -> FloatArray:
    """The first day of a month counted from year 0, in days since 1970; NaN for a month that does not exist."""
    real = months.is_not_null() & month.fill_null(1).is_between(1, 12)
    counted = np.where(real.to_numpy(), months.fill_null(1970 * 12).to_numpy(), 1970 * 12)
    starts = (counted - 1970 * 12).astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)
    return np.where(real.to_numpy(), starts, np.nan)
