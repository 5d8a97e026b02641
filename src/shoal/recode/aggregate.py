"""Microaggregation: a numeric attribute of a group is released as one number, its mean or the middle of its range."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import ColumnCodebook
from shoal.recode.cells import SUPPRESSED, Cells
from shoal.tables.scales import EXACT_BELOW
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
    weights: NDArray[np.int64] | None = None,
) -> Cells:
    """`how` is "mean" or "midpoint". A group of one value keeps it, as far as the type of the others allows.

    A group that mixes missing and present values is suppressed.
    IN  codes, boxes  (records,) the code of every record and the box it is in
    IN  low, high     (boxes,) the lowest and the highest code of every box
    IN  weights       (records,) for how many each of them stands; None: one each
    """
    grouped = _Grouped.of(book, codes, boxes, low.shape[0], weights)
    values = _released_centres(book, grouped, low, high, how)
    exact = (book.texts if values.dtype == pl.String else book.values).gather(low).cast(values.dtype)
    values = pl.select(pl.when(pl.Series(low == high)).then(exact).otherwise(values)).to_series()
    if grouped.mixed.any():
        text = values.cast(pl.String)
        values = pl.select(pl.when(pl.Series(grouped.mixed)).then(pl.lit(SUPPRESSED)).otherwise(text)).to_series()
    return Cells(values, np.arange(low.shape[0], dtype=np.int32), False)


def _released_centres(
    book: ColumnCodebook, grouped: _Grouped, low: NDArray[np.int32], high: NDArray[np.int32], how: str
) -> pl.Series:
    """(boxes,) the centre of each box in the form of the column; none where all values are missing."""
    centre = _centres(book.numbers[grouped.present.codes], grouped.present, grouped.counts, how)
    only_missing = grouped.counts == 0
    if book.scale is Scale.DATE:
        return _as_dates(book, centre, only_missing)
    # the highest code of a mixed box is that of a missing value, which is no number: nothing is done to such a box
    numbers = _within(_rounded(np.where(only_missing, 0.0, centre)), centre, book.numbers[low], book.numbers[high])
    values = _as_values(book, np.where(grouped.mixed, 0.0, numbers), only_missing)
    if book.scale is not Scale.INTEGER:
        return values
    return _with_whole(values, book.values.dtype, _whole_centres(book, numbers, grouped.present, low, high, how))


class _Pairs(NamedTuple):
    """The distinct (box, code) pairs, by box and code: what is added up does not depend on the order of records."""

    codes: NDArray[np.int32]
    boxes: NDArray[np.int32]
    counts: NDArray[np.int64]  # how many records each stands for


class _Grouped(NamedTuple):
    """What is in each box."""

    present: _Pairs  # without missing values
    counts: NDArray[np.int64]  # (boxes,) records with a value
    mixed: NDArray[np.bool_]  # (boxes,) some records have a value and some have none

    @classmethod
    def of(
        cls,
        book: ColumnCodebook,
        codes: NDArray[np.int32],
        boxes: NDArray[np.int32],
        box_count: int,
        weights: NDArray[np.int64] | None,
    ) -> _Grouped:
        pairs = _counted_pairs(codes, boxes, book.size, weights)
        absent = pairs.codes == book.missing_code
        present = _Pairs(pairs.codes[~absent], pairs.boxes[~absent], pairs.counts[~absent])
        counts = np.bincount(present.boxes, weights=present.counts, minlength=box_count).astype(np.int64)
        has_missing = np.bincount(pairs.boxes[absent], minlength=box_count) > 0
        return cls(present, counts, has_missing & (counts > 0))


def _counted_pairs(
    codes: NDArray[np.int32], boxes: NDArray[np.int32], size: int, weights: NDArray[np.int64] | None
) -> _Pairs:
    keys, place = np.unique(boxes.astype(np.int64) * size + codes, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=weights, minlength=keys.shape[0]).astype(np.int64)
    return _Pairs((keys % size).astype(np.int32), (keys // size).astype(np.int32), counts)


def _centres(numbers: NDArray[np.float64], pairs: _Pairs, counts: NDArray[np.int64], how: str) -> NDArray[np.float64]:
    """(boxes,) the mean or the middle of the numbers of each box; not a number for a box without any.

    A sum may be too large for a float though the centre is not: then it is made of smaller numbers. The usual way comes
    first, since the other one may differ in the last figure.
    """
    centre = _plain_centres(numbers, pairs, counts, how)
    if np.isfinite(centre[counts > 0]).all():
        return centre
    scale = 2.0 ** -int(counts.sum()).bit_length()  # a power of two: nothing is rounded
    with np.errstate(over="ignore"):
        smaller = _plain_centres(numbers * scale, pairs, counts, how) / scale
    return np.where(np.isfinite(centre), centre, smaller)


def _plain_centres(
    numbers: NDArray[np.float64], pairs: _Pairs, counts: NDArray[np.int64], how: str
) -> NDArray[np.float64]:
    box_count = counts.shape[0]
    centre: NDArray[np.float64]
    with np.errstate(invalid="ignore", over="ignore"):
        if how == "mean":
            centre = np.bincount(pairs.boxes, weights=numbers * pairs.counts, minlength=box_count) / counts
        else:
            smallest, largest = np.full(box_count, np.inf), np.full(box_count, -np.inf)
            np.minimum.at(smallest, pairs.boxes, numbers)
            np.maximum.at(largest, pairs.boxes, numbers)
            centre = (smallest + largest) / 2
    return centre


def _rounded(centre: NDArray[np.float64]) -> NDArray[np.float64]:
    return pl.Series(centre).round_sig_figs(SIGNIFICANT_FIGURES).to_numpy()


def _within(
    rounded: NDArray[np.float64],
    centre: NDArray[np.float64],
    bottom: NDArray[np.float64],
    top: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The rounded centres; the unrounded one where rounding has left the range of the box, or all numbers."""
    outside = ~((rounded >= bottom) & (rounded <= top)) & (bottom <= top)
    return np.where(outside, np.clip(centre, bottom, top), rounded)


def _whole_centres(
    book: ColumnCodebook,
    numbers: NDArray[np.float64],
    pairs: _Pairs,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    how: str,
) -> dict[int, int]:
    """The centre of each box of integers so large that the float lies outside its range, rounded down to a whole one.

    Floats do not tell large integers apart, so these are counted, and compared, with Python's.
    """
    bottom, top = book.numbers[low], book.numbers[high]
    large = np.maximum(np.abs(bottom), np.abs(top)) >= EXACT_BELOW  # false where one is missing
    if not large.any():
        return {}
    integer_of = _Integers(book)
    ends = {box: (integer_of[int(low[box])], integer_of[int(high[box])]) for box in np.flatnonzero(large).tolist()}
    outside = [box for box, (least, most) in ends.items() if not least <= numbers[box].item() <= most]
    if how == "midpoint":
        return {box: sum(ends[box]) // 2 for box in outside}
    return _whole_means(outside, pairs, low.shape[0], integer_of)


def _whole_means(outside: list[int], pairs: _Pairs, box_count: int, integer_of: _Integers) -> dict[int, int]:
    wanted = np.zeros(box_count, dtype=np.bool_)
    wanted[outside] = True
    looked_at = wanted[pairs.boxes]
    lines = (line[looked_at].tolist() for line in (pairs.boxes, pairs.codes, pairs.counts))
    totals, sizes = dict.fromkeys(outside, 0), dict.fromkeys(outside, 0)
    for box, code, count in zip(*lines, strict=True):
        totals[box] += integer_of[code] * count
        sizes[box] += count
    return {box: totals[box] // sizes[box] for box in outside}


class _Integers(dict[int, int]):
    """The exact integer of a code, read when it is first asked for."""

    def __init__(self, book: ColumnCodebook) -> None:
        super().__init__()
        self._book = book

    def __missing__(self, code: int) -> int:
        # a zero may have any exponent, and would be multiplied out
        self[code] = int(Decimal(self._book.texts[code].strip())) if self._book.numbers[code] else 0
        return self[code]


def _with_whole(values: pl.Series, dtype: pl.DataType, whole: dict[int, int]) -> pl.Series:
    """The values with the whole centres among them. If there are any, a column of integers stays one."""
    if not whole:
        return values
    places = list(whole)
    if values.dtype == pl.String:
        return values.scatter(places, [str(number) for number in whole.values()])
    kept = values.scatter(places, 0.0).floor().cast(dtype)
    return kept.scatter(places, pl.Series(list(whole.values()), dtype=dtype))


def _as_values(book: ColumnCodebook, numbers: NDArray[np.float64], only_missing: NDArray[np.bool_]) -> pl.Series:
    """Numbers as numbers where the input was typed, as the shortest text where it was text."""
    released = pl.Series(numbers)
    if book.values.dtype == pl.String:
        released = released.cast(pl.String).str.strip_suffix(".0")
    return released.set(pl.Series(only_missing), None)


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
