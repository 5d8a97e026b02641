"""Dates written as text, and dates as numbers.

Forms: yyyy-mm-dd, yyyy/mm/dd, dd.mm.yyyy, and yyyy-mm-dd with a time after a space or a T: hh:mm, hh:mm:ss or
hh:mm:ss.fraction, with or without Z or an offset such as +01:00. A column keeps to one form.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

_MICROSECONDS = 1e6
_SECONDS_OF_DAY = 86_400.0
_LAST_MOMENT = datetime(9999, 12, 31, 23, 59, 59)
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"


@dataclass(frozen=True, slots=True)
class DateForm:
    """A way to write dates: the shape of the text, and how polars parses it."""

    pattern: str
    date_format: str
    has_time: bool = False
    has_zone: bool = False


_FORMS = (
    DateForm(rf"^{_DATE}$", "%Y-%m-%d"),
    DateForm(r"^[0-9]{4}/[0-9]{2}/[0-9]{2}$", "%Y/%m/%d"),
    DateForm(r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$", "%d.%m.%Y"),
    DateForm(rf"^{_DATE}[T ]{_TIME}$", "%Y-%m-%d %H:%M:%S%.f", has_time=True),
    DateForm(
        rf"^{_DATE}[T ]{_TIME}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})$", "%Y-%m-%d %H:%M:%S%.f%z", has_time=True, has_zone=True
    ),
)


def find_date_form(values: pl.Series) -> DateForm | None:
    """The form in which every one of these texts is a real date, if there is one."""
    if values.is_empty():
        return None
    first = values.head(1)
    for form in _FORMS:
        if first.str.contains(form.pattern).item() and values.str.contains(form.pattern).all():
            return form if _parse(values, form).null_count() == 0 else None
    return None


def parse_dates(values: pl.Series) -> tuple[NDArray[np.float64], int]:
    """Days (or seconds, if there are times) since 1970, NaN for null, and how many values are no dates."""
    if isinstance(values.dtype, pl.Date):
        return _as_floats(values.to_physical()), 0
    if isinstance(values.dtype, pl.Datetime):
        return _as_floats(values.dt.cast_time_unit("us").to_physical()) / _MICROSECONDS, 0
    if not isinstance(values.dtype, pl.String):
        return np.full(values.len(), np.nan), values.len() - values.null_count()
    form = _commonest_form(values)
    parsed = _parse(values, form)
    scale = _MICROSECONDS if form.has_time else 1.0
    return _as_floats(parsed) / scale, parsed.null_count() - values.null_count()


@dataclass(frozen=True, eq=False)
class Moments:
    """Dates and times as such: moments with a zone in that of Greenwich, days without a time as days."""

    values: pl.Series  # Date, or Datetime of microseconds
    form: DateForm  # in which texts are written
    between: str = " "  # day and time of day

    @property
    def has_time(self) -> bool:
        return isinstance(self.values.dtype, pl.Datetime)

    @property
    def has_zone(self) -> bool:
        return isinstance(self.values.dtype, pl.Datetime) and self.values.dtype.time_zone is not None

    def numbers(self, values: pl.Series) -> NDArray[np.float64]:
        """Days or seconds since 1970, as `parse_dates` has them."""
        return parse_dates(values)[0]

    def texts(self, values: pl.Series, clock: bool) -> pl.Series:
        """Values of this kind as texts in the form of the column; with `clock` the time of day, too."""
        if not self.has_time:
            return values.dt.strftime(self.form.date_format)
        last = pl.Series([_LAST_MOMENT]).cast(values.dtype)
        shown = values.clip(upper_bound=last)  # the year 10000 has no text
        if not clock:
            return shown.dt.strftime("%Y-%m-%d")
        return shown.dt.strftime(f"%Y-%m-%d{self.between}%H:%M:%S{'Z' if self.has_zone else ''}")


def as_moments(values: pl.Series) -> Moments:
    """Distinct present values of a column of dates as moments, null for what is none."""
    if isinstance(values.dtype, pl.Date):
        return Moments(values, _FORMS[0])
    if isinstance(values.dtype, pl.Datetime):
        in_one_zone = values if values.dtype.time_zone is None else values.dt.convert_time_zone("UTC")
        return Moments(in_one_zone.dt.cast_time_unit("us"), _FORMS[3])
    texts = values.cast(pl.String)
    form = _commonest_form(texts)
    parsed = _parse(texts, form)
    if not form.has_time:
        return Moments(parsed.cast(pl.Date), form)
    between = "T" if texts.str.contains("T", literal=True).any() else " "
    return Moments(parsed.cast(pl.Datetime("us", "UTC" if form.has_zone else None)), form, between)


def exact_times(values: pl.Series) -> list[tuple[int, int]]:
    """Texts that are dates of one form as integers: days, or microseconds of the whole second and nanoseconds in it."""
    form = _commonest_form(values)
    if not form.has_time:
        return [(day, 0) for day in _parse(values, form).to_list()]
    fraction = r"\.[0-9]+"
    seconds = _parse(values.str.replace(fraction, ""), form)
    inside = values.str.extract(f"({fraction})").str.strip_prefix(".").fill_null("").str.pad_end(9, "0")
    return list(zip(seconds.to_list(), inside.cast(pl.Int64).to_list(), strict=True))


def _commonest_form(values: pl.Series) -> DateForm:
    present = values.drop_nulls()
    return max(_FORMS, key=lambda candidate: int(present.str.contains(candidate.pattern).sum()))


def parse_moments(values: pl.Series) -> NDArray[np.float64]:
    """Seconds since 1970, NaN for what is no date. Unlike the answer of `parse_dates` it does not depend on how the
    column is written, so values of different columns can be compared."""
    if isinstance(values.dtype, pl.Date):
        return _as_floats(values.to_physical()) * _SECONDS_OF_DAY
    if not isinstance(values.dtype, pl.String):
        return parse_dates(values)[0]
    found = np.full(values.len(), np.nan)
    for form in _FORMS:
        parsed = _as_floats(_parse(values, form))
        seconds = parsed / _MICROSECONDS if form.has_time else parsed * _SECONDS_OF_DAY
        found = np.where(np.isnan(found), seconds, found)
    return found


def _parse(values: pl.Series, form: DateForm) -> pl.Series:
    """Days or microseconds since 1970 as integers, null where the text is no date of this form."""
    texts = values.set(~values.str.contains(form.pattern), None)
    if not form.has_time:
        return texts.str.strptime(pl.Date, form.date_format, strict=False).to_physical()
    texts = texts.str.replace("T", " ", literal=True)
    texts = texts.str.replace(r"^(.{10} [0-9]{2}:[0-9]{2})($|Z|[+-])", "${1}:00${2}").str.replace(r"Z$", "+00:00")
    times = texts.str.strptime(pl.Datetime("us", "UTC" if form.has_zone else None), form.date_format, strict=False)
    return times.to_physical()


def _as_floats(integers: pl.Series) -> NDArray[np.float64]:
    return integers.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64)
