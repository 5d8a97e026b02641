"""Microaggregation: a numeric attribute of a group is released as one number, its mean or the middle of its range."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import ColumnCodebook
from shoal.recode.cells import SUPPRESSED, Cells
from shoal.tables.schema import Scale

SIGNIFICANT_FIGURES = 10
ZONE_AT_END = r":[0-9.]+(Z|[+-][0-9]{2}:?[0-9]{2})$"  # of a text that is a time


def aggregate_cells(
    book: ColumnCodebook,
    codes: NDArray[np.int32],
    boxes: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    how: str,
) -> Cells:
    """`how` is "mean" or "midpoint". A group of one value keeps it, as far as the type of the others allows.

    A group that mixes missing and present values is suppressed.
    IN  codes, boxes  (records,) the code of every record and the box it is in
    IN  low, high     (boxes,) the lowest and the highest code of every box
    """
    box_count = low.shape[0]
    absent = codes == book.missing_code
    present_boxes = boxes[~absent]
    numbers = book.numbers[codes[~absent]]
    counts = np.bincount(present_boxes, minlength=box_count)
    if how == "mean":
        totals = np.bincount(present_boxes, weights=numbers, minlength=box_count)
        with np.errstate(invalid="ignore"):
            centre = totals / counts
    else:
        smallest, largest = np.full(box_count, np.inf), np.full(box_count, -np.inf)
        np.minimum.at(smallest, present_boxes, numbers)
        np.maximum.at(largest, present_boxes, numbers)
        with np.errstate(invalid="ignore"):
            centre = (smallest + largest) / 2
    missing_counts = np.bincount(boxes[absent], minlength=box_count)
    mixed = (missing_counts > 0) & (counts > 0)
    only_missing = counts == 0
    values = _as_values(book, centre, only_missing)
    exact = (book.texts if values.dtype == pl.String else book.values).gather(low).cast(values.dtype)
    values = pl.select(pl.when(pl.Series(low == high)).then(exact).otherwise(values)).to_series()
    if mixed.any():
        text = values.cast(pl.String)
        values = pl.select(pl.when(pl.Series(mixed)).then(pl.lit(SUPPRESSED)).otherwise(text)).to_series()
    return Cells(values, np.arange(box_count, dtype=np.int32), False)


def _as_values(book: ColumnCodebook, centre: NDArray[np.float64], only_missing: NDArray[np.bool_]) -> pl.Series:
    """Numbers as numbers where the input was typed, as the shortest text where it was text; dates as dates."""
    if book.scale is Scale.DATE:
        return _as_dates(book, centre, only_missing)
    numbers = pl.Series(np.where(only_missing, 0.0, centre)).round_sig_figs(SIGNIFICANT_FIGURES)
    if book.values.dtype == pl.String:
        text = numbers.cast(pl.String).str.strip_suffix(".0")
        return text.set(pl.Series(only_missing), None)
    return numbers.set(pl.Series(only_missing), None)


def _as_dates(book: ColumnCodebook, centre: NDArray[np.float64], only_missing: NDArray[np.bool_]) -> pl.Series:
    """Dates are counted in days and dates with a time in seconds; the centre is rounded down to a whole one.

    A time with a zone stays in it: that of the column or, in texts, the offset that all have (else that of UTC).
    """
    whole = pl.Series(np.floor(np.where(only_missing, 0.0, centre)).astype(np.int64))
    dtype = book.values.dtype
    if isinstance(dtype, pl.Datetime):
        moments = (whole * 1_000_000).cast(pl.Datetime("us", dtype.time_zone)).cast(dtype)
    elif not isinstance(dtype, pl.Date) and book.texts.str.contains(":", literal=True).any():
        moments = _as_texts_with_offset(whole, book.texts)
    else:
        moments = whole.cast(pl.Int32).cast(pl.Date)
        moments = moments if isinstance(dtype, pl.Date) else moments.cast(pl.String)
    return moments.set(pl.Series(only_missing), None)


def _as_texts_with_offset(seconds: pl.Series, texts: pl.Series) -> pl.Series:
    """Seconds since 1970 as texts with the offset from UTC that the given texts have, if they have one."""
    offsets = texts.drop_nulls().str.extract(ZONE_AT_END).unique()
    offset = offsets.item() if len(offsets) == 1 else "+00:00"
    if offset is None:  # times without a zone
        return (seconds * 1_000_000).cast(pl.Datetime("us")).cast(pl.String)
    local = (seconds + _seconds_of(offset)) * 1_000_000
    return pl.select(pl.format("{}{}", local.cast(pl.Datetime("us")).cast(pl.String), pl.lit(offset))).to_series()


def _seconds_of(offset: str) -> int:
    """`+01:00`, `+0100` or `Z` as seconds."""
    if offset == "Z":
        return 0
    seconds = int(offset[1:3]) * 3600 + int(offset[-2:]) * 60
    return -seconds if offset.startswith("-") else seconds
