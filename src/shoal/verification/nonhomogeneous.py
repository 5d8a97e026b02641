"""The check of non-homogeneous releases: at least k candidates in both directions.

Such a release has no equivalence classes. What it promises is counted here from the released values and the original
records alone: every released row fits at least k original records, and every original record fits at least k released
rows. How a released text is read back is told in `reading.py`.

Cost: for every distinct row a scan of the distinct rows of the other table that starts next to the row's own record
and stops as soon as k candidates are found. Nothing of the size rows x rows is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.kernels.compile import kernel
from shoal.tables.schema import Scale
from shoal.verification.classes import SUPPRESSED
from shoal.verification.reading import Cells, Knowledge, read_cells


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


def check_candidates(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    k: int,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    orders: Mapping[str, Sequence[str]] | None = None,
    missing: Sequence[str] = (),
    scales: Mapping[str, Scale] | None = None,
) -> CandidateCheck:
    """Count the candidates in both directions. The two tables may be in any order; the counts do not depend on it."""
    if original.height != release.height:
        raise InputError(Problem("different-lengths", "the release has another number of records than the original"))
    if original.height == 0:
        return CandidateCheck(k, k, k, 0, 0)
    known = Knowledge(hierarchies or {}, orders or {}, tuple(missing), scales or {})
    columns = [_read_column(original[name], release[name], name, known) for name in quasi]
    values, value_weights, row_of_record = _distinct_rows([column.values for column in columns])
    cells, cell_weights, cell_row_of_record = _distinct_rows([column.cells for column in columns])
    low = np.stack([column.low[line] for column, line in zip(columns, cells, strict=True)])
    high = np.stack([column.high[line] for column, line in zip(columns, cells, strict=True)])
    sizes = np.array([column.fits.size for column in columns])
    widths = np.array([column.fits.shape[1] for column in columns], dtype=np.int64)
    starts = np.where(sizes > 0, np.cumsum(sizes) - sizes, -1).astype(np.int64)
    fits = np.concatenate([column.fits.ravel() for column in columns])
    tables = (values, cells, low, high, starts, widths, fits)
    near_row, near_cell = np.zeros(cells.shape[1], dtype=np.int64), np.zeros(values.shape[1], dtype=np.int64)
    near_row[cell_row_of_record] = row_of_record
    near_cell[row_of_record] = cell_row_of_record
    found_rows, found_cells = np.zeros(cells.shape[1], dtype=np.int64), np.zeros(values.shape[1], dtype=np.int64)
    _count(*tables, True, value_weights, near_row, k, found_rows)
    _count(*tables, False, cell_weights, near_cell, k, found_cells)
    return CandidateCheck(
        k,
        int(found_rows.min()),
        int(found_cells.min()),
        int(cell_weights[found_rows < k].sum()),
        int(value_weights[found_cells < k].sum()),
    )


@kernel
def _count(
    values: Any,
    cells: Any,
    low: Any,
    high: Any,
    starts: Any,
    widths: Any,
    fits: Any,
    by_cell: bool,
    weights: Any,
    near: Any,
    limit: int,
    found: Any,
) -> None:
    """For each released row (or, if not `by_cell`, each original row) the weight of what fits, up to `limit`.

    IN  values     int64 (columns, rows); cells, low, high int64 (columns, released rows)
    IN  starts     int64 (columns,) where the table of a column starts in `fits`, -1: low and high decide
    IN  weights    int64, of the rows that are counted; near int64, where to begin the scan
    OUT found      int64
    """
    others = weights.shape[0]
    for number in range(found.shape[0]):
        count = 0
        for step in range(others):
            # Outwards from the own record: what fits is likely to be near in the order of the rows.
            other = near[number] + ((step + 1) // 2 if step % 2 == 1 else -(step // 2))
            other = (other + others) % others
            row, cell = (other, number) if by_cell else (number, other)
            fitting = True
            for column in range(values.shape[0]):
                value = values[column, row]
                if starts[column] < 0:
                    fitting = low[column, cell] <= value and value <= high[column, cell]
                else:
                    fitting = fits[starts[column] + cells[column, cell] * widths[column] + value] != 0
                if not fitting:
                    break
            if fitting:
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
    place = np.empty_like(order)
    place[order] = np.arange(order.shape[0])
    present = int(np.count_nonzero(~np.isnan(cells.positions)))
    line = cells.positions[order[:present]]
    low = np.searchsorted(line, cells.low, side="left")
    high = np.searchsorted(line, cells.high, side="right") - 1
    unread = np.isnan(cells.low) | np.isnan(cells.high)
    low, high = np.where(unread, 1, low), np.where(unread, 0, high)
    everything = np.array([text == SUPPRESSED for text in cells.texts], dtype=np.bool_)
    missing = np.array([text is None for text in cells.texts], dtype=np.bool_)
    low = np.where(everything, 0, np.where(missing, present, low))
    high = np.where(everything | missing, order.shape[0] - 1, high)
    return _Column(
        place[cells.numbers],
        cells.text_numbers,
        low.astype(np.int64),
        high.astype(np.int64),
        np.zeros((0, 0), dtype=np.uint8),
    )
