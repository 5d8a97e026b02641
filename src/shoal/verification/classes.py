"""The equivalence classes of a released table, built from the released values and nothing else.

A release may also be given counted: its distinct rows, each with the number of records that it stands for.
Two records are in one class when they agree in every quasi-identifier. A null is a value of its own: it equals only
another null, never "anything", so missing values cannot make a class look larger than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.distinct import text_codes
from shoal.tables.scales import TEXT_LIKE, is_missing

SUPPRESSED = "*"
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Classes:
    """A class number (0..count-1) for every record (or counted row), and how many records every class has."""

    of_record: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def count(self) -> int:
        return int(self.sizes.shape[0])


def find_classes(release: pl.DataFrame, quasi: Sequence[str], counts: Counts | None = None) -> Classes:
    """One group-by over the released values; floats are compared as they are written.

    IN  counts  (rows,) for how many records each row stands; None: one each
    """
    if release.height == 0:
        return Classes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    if not quasi:
        whole = release.height if counts is None else int(counts.sum())
        return Classes(np.zeros(release.height, dtype=np.int64), np.array([whole], dtype=np.int64))
    of_record, sizes = _equal_rows(release, quasi)
    return Classes(of_record, sizes if counts is None else _added_up(of_record, counts, sizes.shape[0]))


def _equal_rows(release: pl.DataFrame, quasi: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows,) a number for each row, the same for rows with equal values, and (numbers,) how many rows have it."""
    keys = pl.DataFrame({f"q{number}": _comparable(release[name]) for number, name in enumerate(quasi)})
    grouped = keys.with_row_index("record").group_by(pl.exclude("record"), maintain_order=True).agg("record")
    sizes = grouped["record"].list.len().to_numpy().astype(np.int64)
    of_record = np.empty(release.height, dtype=np.int64)
    of_record[grouped["record"].explode().to_numpy()] = np.repeat(np.arange(sizes.shape[0]), sizes)
    return of_record, sizes


def _added_up(places: Counts, counts: Counts, size: int) -> Counts:
    """(size,) the sum of the counts at each place; whole numbers, which floats would not hold beyond 2^53."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, places, counts)
    return total


def _comparable(column: pl.Series) -> pl.Series:
    """Equal exactly where the released values are: floats as texts, categories as their numbers."""
    if column.dtype.is_float():
        return column.cast(pl.String)
    return column.to_physical() if isinstance(column.dtype, pl.Categorical) else column


def fully_suppressed(release: pl.DataFrame, quasi: Sequence[str]) -> NDArray[np.bool_]:
    """(records,) where every quasi-identifier is released as `*`."""
    hidden = np.full(release.height, bool(quasi))
    for name in quasi:
        if not hidden.any():
            break
        column = release[name]
        if not isinstance(column.dtype, TEXT_LIKE):
            return np.zeros(release.height, dtype=np.bool_)
        hidden &= (column.cast(pl.String) == SUPPRESSED).fill_null(False).to_numpy()
    return hidden


@dataclass(frozen=True)
class ValueCounts:
    """How often each value occurs in each class: one entry per class and value that occur together."""

    classes: NDArray[np.int64]
    values: NDArray[np.int64]  # numbers of values, in the order given or found
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]  # (distinct values,) how often each value occurs in the whole table

    @property
    def distinct(self) -> int:
        return int(self.totals.shape[0])


def value_numbers(column: pl.Series, missing: Sequence[str] = ()) -> tuple[NDArray[np.int64], pl.Series]:
    """A number for every record's value, and the distinct values by number.

    Missing is one value, the last one, a null: however it is written (null, NaN, empty, the texts in `missing`).
    """
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        return _text_numbers(column.cast(pl.String), missing)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    distinct = column.unique().sort(nulls_last=True)
    numbers = column.rank("dense").cast(pl.Int64) - 1
    missing_number = len(distinct) - 1
    return numbers.fill_null(missing_number).to_numpy(), distinct


def _text_numbers(column: pl.Series, missing: Sequence[str]) -> tuple[NDArray[np.int64], pl.Series]:
    texts, codes = text_codes(column)
    texts = pl.select(pl.when(~is_missing(texts, missing)).then(texts)).to_series()
    present = len(texts) - texts.null_count()
    order = texts.arg_sort(nulls_last=True).to_numpy()
    place = np.empty(len(texts), dtype=np.int64)
    place[order] = np.minimum(np.arange(len(texts)), present)
    return place[codes], texts.gather(order[: present + 1])


def count_values(
    classes: Classes, numbers: NDArray[np.int64], distinct: int, weights: Counts | None = None
) -> ValueCounts:
    """The histogram of a column in every class, as sorted (class, value, count) entries."""
    keys, counts = _counted(classes.of_record * max(1, distinct) + numbers, weights)
    return ValueCounts(
        keys // max(1, distinct), keys % max(1, distinct), counts, total_counts(numbers, distinct, weights)
    )


def total_counts(numbers: NDArray[np.int64], distinct: int, weights: Counts | None = None) -> Counts:
    """(distinct,) how many records have each value."""
    return np.bincount(numbers, minlength=distinct) if weights is None else _added_up(numbers, weights, distinct)


def _counted(keys: NDArray[np.int64], weights: Counts | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct numbers in rising order, and how often each occurs; polars sorts on all threads."""
    if weights is not None:
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct, _added_up(place.reshape(-1), weights, distinct.shape[0])
    keys = pl.Series(keys).sort().to_numpy()
    starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1))
    return keys[starts], np.diff(starts, append=keys.shape[0])
