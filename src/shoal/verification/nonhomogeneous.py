"""The check of non-homogeneous releases: at least k candidates in both directions.

Such a release has no equivalence classes. What it promises is counted here from the released values and the original
records alone: every released row fits at least k original records, and every original record fits at least k released
rows. How a released text is read back is told in `reading.py`.

Cost: for every distinct row a scan of the distinct rows of the other table that starts next to the row's own record
and stops as soon as k candidates are found. Nothing of the size rows x rows is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.kernels.compile import kernel
from shoal.verification.classes import SUPPRESSED
from shoal.verification.reading import NOTHING_KNOWN, Cells, Knowledge, read_cells

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class CandidateCheck:
    """How many candidates there are, at the worst, in each direction; counts stop at k."""

    k: int
    records_per_released_row: int  # the fewest original records that any released row fits
    released_rows_per_record: int  # the fewest released rows that any original record fits
    offending_released_rows: int
    offending_records: int

    @property
    def passed(self) -> bool:
        return self.offending_released_rows == 0 and self.offending_records == 0


@dataclass(frozen=True)
class _Column:
    """One quasi-identifier: which values each released text fits, as a range of value numbers or as a table."""

    values: NDArray[np.int64]  # (records,) number of the original value
    cells: NDArray[np.int64]  # (records,) number of the released text
    low: NDArray[np.int64]  # (cells,)
    high: NDArray[np.int64]  # (cells,)
    fits: NDArray[np.uint8]  # (cells, values), empty for a column in order


class _Tables(NamedTuple):
    """The distinct rows of both tables and which of them fit, as the counting needs them."""

    values: NDArray[np.int64]  # (columns, rows) the distinct original rows
    cells: NDArray[np.int64]  # (columns, released rows) the distinct released rows
    low: NDArray[np.int64]  # (columns, released rows) the first and last value number that a cell stands for
    high: NDArray[np.int64]
    starts: NDArray[np.int64]  # (columns,) where the table of a column starts in `fits`; -1: low and high decide
    widths: NDArray[np.int64]  # (columns,) values of a column in `fits`
    fits: NDArray[np.uint8]  # which value fits which text, one column's table after the other


def check_candidates(
    original: pl.DataFrame, release: pl.DataFrame, quasi: Sequence[str], k: int, known: Knowledge = NOTHING_KNOWN
) -> CandidateCheck:
    """Count the candidates in both directions. The two tables may be in any order; the counts do not depend on it."""
    if original.height != release.height:
        raise InputError(Problem("different-lengths", "the release has another number of records than the original"))
    if original.height == 0:
        return CandidateCheck(k, k, k, 0, 0)
    columns = [_read_column(original[name], release[name], name, known) for name in quasi]
    values, value_weights, row_of_record = _distinct_rows([column.values for column in columns])
    cells, cell_weights, cell_of_record = _distinct_rows([column.cells for column in columns])
    tables = _tables(columns, values, cells)
    rows = _counted(tables, True, value_weights, _own(cell_of_record, row_of_record), k)
    released = _counted(tables, False, cell_weights, _own(row_of_record, cell_of_record), k)
    too_few_rows, too_few_released = int(cell_weights[rows < k].sum()), int(value_weights[released < k].sum())
    return CandidateCheck(k, int(rows.min()), int(released.min()), too_few_rows, too_few_released)


def _counted(tables: _Tables, by_cell: bool, weights: Numbers, near: Numbers, limit: int) -> Numbers:
    found = np.zeros(near.shape[0], dtype=np.int64)
    _count(tables, by_cell, weights, near, limit, found)
    return found


def _own(row_of_record: Numbers, other_of_record: Numbers) -> Numbers:
    """(rows,) for each row of one table a row of the other that has a record of it."""
    own = np.zeros(int(row_of_record.max()) + 1, dtype=np.int64)
    own[row_of_record] = other_of_record
    return own


def _tables(columns: Sequence[_Column], values: NDArray[np.int64], cells: NDArray[np.int64]) -> _Tables:
    sizes = np.array([column.fits.size for column in columns])
    return _Tables(
        values,
        cells,
        low=np.stack([column.low[line] for column, line in zip(columns, cells, strict=True)]),
        high=np.stack([column.high[line] for column, line in zip(columns, cells, strict=True)]),
        starts=np.where(sizes > 0, np.cumsum(sizes) - sizes, -1).astype(np.int64),
        widths=np.array([column.fits.shape[1] for column in columns], dtype=np.int64),
        fits=np.concatenate([column.fits.ravel() for column in columns]),
    )


@kernel
def _fit(tables: _Tables, row: int, cell: int) -> bool:
    """Whether an original row fits a released one in every column."""
    for column in range(tables.values.shape[0]):
        value = tables.values[column, row]
        if tables.starts[column] < 0:
            if value < tables.low[column, cell] or tables.high[column, cell] < value:
                return False
        elif tables.fits[tables.starts[column] + tables.cells[column, cell] * tables.widths[column] + value] == 0:
            return False
    return True


@kernel
def _count(
    tables: _Tables,
    by_cell: bool,
    weights: NDArray[np.int64],
    near: NDArray[np.int64],
    limit: int,
    found: NDArray[np.int64],
) -> None:
    """For each released row (or, if not `by_cell`, each original row) the weight of what fits, up to `limit`.

    IN  weights    of the rows that are counted
    IN  near       where to begin the scan
    OUT found
    """
    others = weights.shape[0]
    for number in range(found.shape[0]):
        count = 0
        for step in range(others):
            # Outwards from the own record: what fits is likely to be near in the order of the rows.
            other = near[number] + ((step + 1) // 2 if step % 2 == 1 else -(step // 2))
            other = (other + others) % others
            row, cell = (other, number) if by_cell else (number, other)
            if _fit(tables, row, cell):
                count += weights[other]
                if count >= limit:
                    count = limit
                    break
        found[number] = count


def _distinct_rows(
    columns: Sequence[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows (columns, rows) in lexicographic order, their weights, and the row of each record."""
    order = np.lexsort(columns[::-1])
    lines = np.stack([column[order] for column in columns])
    new = np.concatenate([[True], (lines[:, 1:] != lines[:, :-1]).any(axis=0)])
    row_of_record = np.empty(order.shape[0], dtype=np.int64)
    row_of_record[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(lines[:, new]), np.bincount(row_of_record), row_of_record


def _read_column(original: pl.Series, released: pl.Series, name: str, known: Knowledge) -> _Column:
    cells = read_cells(original, released, name, known)
    if cells.on_line:
        return _on_line(cells)
    fits = np.zeros((len(cells.texts), len(cells.values)), dtype=np.uint8)
    for number, line in enumerate(cells.fitting()):
        fits[number] = line
    nowhere = np.zeros(len(cells.texts), dtype=np.int64)
    return _Column(cells.numbers, cells.text_numbers, nowhere, nowhere, fits)


def _on_line(cells: Cells) -> _Column:
    """Values numbered in their order, a missing one last: a text fits those between two numbers."""
    order = np.argsort(cells.positions, kind="stable")
    count = order.shape[0]
    place = np.empty_like(order)
    place[order] = np.arange(count)
    present = int(np.count_nonzero(~np.isnan(cells.positions)))
    low, high = _ends_on_line(cells, cells.positions[order[:present]])
    everything = np.array([text == SUPPRESSED for text in cells.texts])
    missing = np.array([text is None for text in cells.texts])
    low = np.where(everything, 0, np.where(missing, present, low))
    high = np.where(everything | missing, count - 1, high)
    return _Column(place[cells.numbers], cells.text_numbers, low, high, np.zeros((0, 0), dtype=np.uint8))


def _ends_on_line(cells: Cells, line: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(texts,) the first and last place of the sorted positions that a text covers; first > last: it says nothing."""
    low = np.searchsorted(line, cells.low, side="left")
    high = np.searchsorted(line, cells.high, side="right") - 1
    unread = np.isnan(cells.low) | np.isnan(cells.high)
    return np.where(unread, 1, low), np.where(unread, 0, high)
