"""A release as an attacker sees it: its classes, what their cells cover, and how many records carry which value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, CountArray, Domain, FloatArray, as_text
from shoal.released.reading import ReadColumn, ReadTable, group_rows, read_release
from shoal.releases.kernels.fitting import fitting_pairs

LARGEST_PAIRS = 200_000_000  # pairs of classes that are kept at once


@dataclass(frozen=True, eq=False)
class Covers:
    """(classes, attributes) what the cells of the classes cover, as positions of the domains."""

    low: FloatArray
    high: FloatArray
    missing: NDArray[np.uint8]
    set_start: NDArray[np.int64]
    set_end: NDArray[np.int64]
    members: FloatArray


@dataclass(frozen=True, eq=False)
class ReleaseClasses:
    """Records with equal released quasi-identifiers are a class; those of a class with one sensitive value a cell."""

    sizes: CountArray  # (classes,)
    class_of_row: CodeArray  # (records,)
    covers: Covers
    cell_class: CodeArray  # (cells,) cells are sorted by sensitive value
    cell_value: CodeArray  # (cells,) number of the sensitive value, the same in all releases
    cell_sizes: CountArray  # (cells,)
    unreadable: int  # cells of the table that nobody can read; they are taken to cover everything

    @property
    def records(self) -> int:
        return int(self.class_of_row.shape[0])


def read_classes(
    releases: Sequence[pl.DataFrame], quasi: Sequence[str], domains: Mapping[str, Domain], sensitive: Sequence[str] = ()
) -> list[ReleaseClasses]:
    """Read every release with the same domains, and number the sensitive values alike in all of them."""
    lacking = [
        Problem("unknown-column", f"release {number + 1} has no such column", name)
        for number, frame in enumerate(releases)
        for name in sensitive
        if name not in frame.columns
    ]
    if lacking:
        raise InputError(lacking)
    values = _sensitive_numbers(releases, sensitive)
    return [_classes(frame, quasi, domains, numbers) for frame, numbers in zip(releases, values, strict=True)]


def _sensitive_numbers(releases: Sequence[pl.DataFrame], sensitive: Sequence[str]) -> list[CodeArray]:
    heights = [frame.height for frame in releases]
    if not sensitive:
        return [np.zeros(height, dtype=np.int32) for height in heights]
    stacked = pl.concat([frame.select(as_text(frame[name]) for name in sensitive) for frame in releases])
    codes = [stacked[name].rank("dense").fill_null(0).to_numpy().astype(np.int32) for name in sensitive]
    numbers = group_rows(codes, stacked.height)[0]
    return np.split(numbers, np.cumsum(heights)[:-1])


def _classes(
    release: pl.DataFrame, quasi: Sequence[str], domains: Mapping[str, Domain], values: CodeArray
) -> ReleaseClasses:
    table = read_release(release, release, quasi, domains, same_order=False)
    _, sizes, row = group_rows([table.class_of_row, values], release.height)
    order = np.lexsort((table.class_of_row[row], values[row]))
    return ReleaseClasses(
        sizes=table.class_sizes,
        class_of_row=table.class_of_row,
        covers=_covers(table, quasi),
        cell_class=table.class_of_row[row][order],
        cell_value=values[row][order],
        cell_sizes=sizes[order],
        unreadable=sum(column.unreadable for column in table.columns.values()),
    )


def _covers(table: ReadTable, quasi: Sequence[str]) -> Covers:
    shape = (table.classes, len(quasi))
    low, high = np.empty(shape), np.empty(shape)
    missing = np.zeros(shape, dtype=np.uint8)
    start, end = np.full(shape, -1, dtype=np.int64), np.full(shape, -1, dtype=np.int64)
    members: list[FloatArray] = [np.zeros(0)]
    used = 0
    for number, name in enumerate(quasi):
        column = table.columns[name]
        low[:, number], high[:, number] = _ends(column)
        missing[:, number] = column.cells.covers_missing[column.text_of_class]
        for text, codes in column.cells.members.items():
            positions = np.unique(column.domain.positions[codes[codes != column.domain.missing_code]])
            holders = column.text_of_class == text
            start[holders, number], end[holders, number] = used, used + positions.shape[0]
            used += positions.shape[0]
            members.append(positions)
    return Covers(low, high, missing, start, end, np.concatenate(members))


def _ends(column: ReadColumn) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest position of each class's cell. A cell that hides its value, or cannot be read, is endless."""
    cells, text = column.cells, column.text_of_class
    everything = (cells.suppressed | cells.unreadable)[text]
    low = np.where(np.isnan(cells.low[text]), np.inf, cells.low[text])
    high = np.where(np.isnan(cells.high[text]), -np.inf, cells.high[text])
    return np.where(everything, -np.inf, low), np.where(everything, np.inf, high)


def pairs_that_fit(one: Covers, other: Covers) -> tuple[CodeArray, CodeArray]:
    """All pairs of classes whose cells share a value on every attribute, sorted by the first and then the second."""
    arguments = (
        one.low, one.high, one.missing, one.set_start, one.set_end, one.members, other.low, other.high, other.missing,
        other.set_start, other.set_end, other.members,
    )  # fmt: skip
    room = 4 * (one.low.shape[0] + other.low.shape[0]) + 1024
    while True:
        first, second = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        found = fitting_pairs(*arguments, first, second)
        if found <= room:
            return first[:found], second[:found]
        if found > LARGEST_PAIRS:
            message = f"{found} pairs of classes fit together; at most {LARGEST_PAIRS} can be checked"
            raise InputError(Problem("too-many-pairs", message))
        room = found
