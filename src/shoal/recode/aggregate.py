"""Microaggregation: a numeric attribute of a group is released as one number, its mean or the middle of its range."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import ColumnCodebook
from shoal.recode.cells import SUPPRESSED, Cells
from shoal.tables.schema import Scale

SIGNIFICANT_FIGURES = 10


def aggregate_cells(
    book: ColumnCodebook, codes: NDArray[np.int32], boxes: NDArray[np.int32], box_count: int, how: str
) -> Cells:
    """`how` is "mean" or "midpoint". A group that mixes missing and present values is suppressed.

    IN  codes, boxes  (records,) the code of every record and the box it is in
    """
    absent = codes == book.missing_code
    present_boxes = boxes[~absent]
    numbers = book.numbers[codes[~absent]]
    counts = np.bincount(present_boxes, minlength=box_count)
    if how == "mean":
        totals = np.bincount(present_boxes, weights=numbers, minlength=box_count)
        with np.errstate(invalid="ignore"):
            centre = totals / counts
    else:
        low, high = np.full(box_count, np.inf), np.full(box_count, -np.inf)
        np.minimum.at(low, present_boxes, numbers)
        np.maximum.at(high, present_boxes, numbers)
        with np.errstate(invalid="ignore"):
            centre = (low + high) / 2
    missing_counts = np.bincount(boxes[absent], minlength=box_count)
    mixed = (missing_counts > 0) & (counts > 0)
    only_missing = counts == 0
    values = _as_values(book, centre, only_missing)
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
    """Dates are counted in days and dates with a time in seconds; the centre is rounded down to a whole one."""
    whole = pl.Series(np.floor(np.where(only_missing, 0.0, centre)).astype(np.int64))
    if _has_time(book.values):
        moments = (whole * 1_000_000).cast(pl.Datetime("us"))
    else:
        moments = whole.cast(pl.Int32).cast(pl.Date)
    moments = moments.set(pl.Series(only_missing), None)
    return moments.cast(pl.String) if book.values.dtype == pl.String else moments


def _has_time(values: pl.Series) -> bool:
    if values.dtype == pl.String:
        return bool(values.str.contains(":", literal=True).any())
    return isinstance(values.dtype, pl.Datetime)
