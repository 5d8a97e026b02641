"""Ends of ranges that belong to nobody: values are rounded outwards to whole units (a month, 5 years of age).

A range ends at people's values: at the birth date of one of them, most often. With a unit it ends where units do, for
everybody in it, and a single value is released as its unit. Whole numbers and days end at the last of the unit
(`[35, 39]`, `[1950-01-01, 1950-03-31]`), decimals and times where the next one begins (`[1.5, 2]`).

Without a word, dates and times take the coarsest unit that costs less than `LOSS_OF_ROUNDING`, unless every value
belongs to several records anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.dates import Moments, as_moments
from shoal.tables.scales import EXACT_BELOW, is_missing, parse_numbers
from shoal.tables.schema import Scale

EXACT = "exact"  # not rounded
LOSS_OF_ROUNDING = 0.01  # of the range of the values, on average: what the unit of dates may cost without a word
_STEPS = {"year": "1y", "quarter": "1q", "month": "1mo", "day": "1d", "hour": "1h", "minute": "1m", "second": "1s"}
UNITS = tuple(_STEPS)  # the coarsest first
_WITHOUT_CLOCK = ("year", "quarter", "month", "day")

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OuterEnds:
    """Per value: where its unit begins and ends, as texts, and the number at which it begins."""

    low: pl.Series
    high: pl.Series
    begins: FloatArray  # days, or seconds where there are times; numbers as they are


def unit_problem(unit: str, scale: Scale) -> str:
    """What is wrong with a unit; empty if nothing is."""
    if unit == EXACT:
        return ""
    if scale is Scale.DATE:
        return "" if unit in UNITS else "dates and times are rounded to a " + ", ".join(reversed(UNITS))
    try:
        width = Decimal(unit)
    except InvalidOperation:
        return "numbers are rounded to a width such as 5 or 0.1"
    if not (width.is_finite() and Decimal("1e-15") <= width <= Decimal("1e15")):
        return "the width of a unit must be a number above 0, and no wider than 1e15"
    if scale is Scale.INTEGER and width != int(width):
        return "whole numbers are rounded to a whole number such as 5"
    return ""


def outer_ends(values: pl.Series, scale: Scale, unit: str) -> OuterEnds:
    """The units of distinct present values. Raises ValueError where numbers are too large to be told apart by it."""
    if scale is Scale.DATE:
        return _ends_of_moments(as_moments(values), unit)
    return _ends_of_numbers(parse_numbers(values).positions, Decimal(unit), scale is Scale.INTEGER)


def with_missing(ends: OuterEnds | None) -> OuterEnds | None:
    """The same with a missing value after the last one."""
    if ends is None:
        return None
    nothing = pl.Series([None], dtype=pl.String)
    low, high = pl.concat([ends.low, nothing]), pl.concat([ends.high, nothing])
    return OuterEnds(low, high, np.append(ends.begins, np.nan))


def outer_places(begins: FloatArray, numbers: FloatArray) -> FloatArray:
    """Where values (in rising order) stand for the costs of their units: a range costs at least the distance between.

    The last unit stands at the largest value, so that the whole of the line is that of the values.
    """
    if len(numbers) == 0:
        return numbers
    places: FloatArray = np.maximum(begins, numbers[0])
    return np.where(begins == begins[-1], numbers[-1], places)


def cheapest_unit(
    values: pl.Series, counts: NDArray[np.int64], scale: Scale, missing: tuple[str, ...], persons: bool
) -> str | None:
    """The coarsest unit of dates that costs less than `LOSS_OF_ROUNDING`; None where nothing is won by rounding.

    IN  counts   (values,) the records of each value
    IN  persons  whether several records may be one person's: then their number tells nothing
    """
    if scale is not Scale.DATE:
        return None
    present = ~is_missing(values, missing).to_numpy()
    known, of_value = values.filter(pl.Series(present)), counts[present]
    if len(known) < 2 or (not persons and of_value.min() > 1):
        return None
    moments = as_moments(known)
    if moments.values.null_count():  # not all of them are dates, which is told elsewhere
        return None
    return _cheapest_unit(moments, of_value)


def _cheapest_unit(moments: Moments, counts: NDArray[np.int64]) -> str | None:
    numbers = moments.numbers(moments.values)
    lowest, highest = float(numbers.min()), float(numbers.max())
    if lowest == highest:
        return None
    for unit in UNITS:
        begins, ends = _unit_around(moments, unit)
        low, high = moments.numbers(begins), moments.numbers(ends)
        widths = np.minimum(high, highest) - np.maximum(low, lowest)
        if float(np.average(widths, weights=counts)) < LOSS_OF_ROUNDING * (highest - lowest):
            return unit if (low != numbers).any() else None
    return None


def _unit_around(moments: Moments, unit: str) -> tuple[pl.Series, pl.Series]:
    """Where the unit of each moment begins, and the last day in it or the moment at which the next one begins."""
    step = _STEPS[unit]
    if not moments.has_time:
        if unit not in _WITHOUT_CLOCK:
            step = "1d"
        begins = moments.values.dt.truncate(step)
        return begins, begins.dt.offset_by(step).dt.offset_by("-1d")
    begins = moments.values.dt.truncate(step)
    return begins, begins.dt.offset_by(step)


def _ends_of_moments(moments: Moments, unit: str) -> OuterEnds:
    begins, ends = _unit_around(moments, unit)
    clock = moments.has_time and (unit not in _WITHOUT_CLOCK or moments.has_zone)
    return OuterEnds(moments.texts(begins, clock), moments.texts(ends, clock), moments.numbers(begins))


def _ends_of_numbers(numbers: FloatArray, width: Decimal, whole: bool) -> OuterEnds:
    """Floats find the unit, decimals write its ends; a value next to an end is looked at again."""
    with np.errstate(over="ignore"):
        steps = np.floor(numbers / float(width))
    if len(numbers) and not max(np.abs(steps).max(), np.abs(numbers).max() if whole else 0.0) < EXACT_BELOW / 2:
        raise ValueError("the numbers are too large for this unit")
    for _ in range(2):
        units, place = _units(steps)
        steps = steps - (numbers < _starts(units, width)[place]) + (numbers >= _starts(units, width, 1)[place])
    units, place = _units(steps)
    last = 1 if whole else 0
    low = pl.Series([_plain(unit * width) for unit in units], dtype=pl.String)
    high = pl.Series([_plain((unit + 1) * width - last) for unit in units], dtype=pl.String)
    return OuterEnds(low.gather(place), high.gather(place), _starts(units, width)[place])


def _units(steps: FloatArray) -> tuple[list[int], NDArray[np.int64]]:
    """The units that occur, and which of them each number is in."""
    units, place = np.unique(steps.astype(np.int64), return_inverse=True)
    return [int(unit) for unit in units], place


def _starts(units: list[int], width: Decimal, ahead: int = 0) -> FloatArray:
    """(units,) where each begins or, with `ahead`, the next one."""
    return np.array([float((unit + ahead) * width) for unit in units], dtype=np.float64)


def _plain(number: Decimal) -> str:
    """Without an exponent and needless zeros."""
    text = format(number, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
