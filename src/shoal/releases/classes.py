"""A release as an attacker sees it: its classes, what their cells cover, and how many records carry which value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, CountArray, Domain, FloatArray, as_text
from shoal.released.reading import ReadColumn, ReadTable, group_rows, read_release
from shoal.releases.kernels.fitting import fitting_pairs

LARGEST_PAIRS = 200_000_000  # pairs of classes that are kept at once
CoverArrays = tuple[
    FloatArray, FloatArray, NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], FloatArray
]  # fmt: skip
BLOCK = 32  # classes that are passed over together if the box around them does not fit


@dataclass(frozen=True, eq=False)
class Covers:
    """(classes, attributes) what the cells of the classes cover, as positions of the domains."""

    low: FloatArray
    high: FloatArray
    missing: NDArray[np.uint8]
    set_start: NDArray[np.int64]
    set_end: NDArray[np.int64]
    members: FloatArray

    @property
    def arrays(self) -> CoverArrays:
        """In the order in which kernels take them."""
        return (self.low, self.high, self.missing, self.set_start, self.set_end, self.members)

    def of(self, classes: NDArray[np.int64]) -> Covers:
        """What some of the classes cover."""
        return Covers(
            self.low[classes],
            self.high[classes],
            self.missing[classes],
            self.set_start[classes],
            self.set_end[classes],
            self.members,
        )


@dataclass(frozen=True, eq=False)
class ReleaseClasses:
    """Records with equal released quasi-identifiers are a class; those of a class with one sensitive value a cell."""

    sizes: CountArray  # (classes,)
    class_of_row: CodeArray  # (records,)
    covers: Covers
    cell_of_row: CodeArray  # (records,)
    cell_class: CodeArray  # (cells,)
    cell_sizes: CountArray  # (cells,)
    cell_columns: Mapping[str, CodeArray]  # (cells,) the value of each sensitive column, numbered alike in all releases
    suppressed: NDArray[np.bool_]  # (classes,) every quasi-identifier is `*`
    unreadable: int  # cells of the table that nobody can read; they are taken to cover everything

    @property
    def records(self) -> int:
        return int(self.class_of_row.shape[0])

    def told_by(self, columns: Iterable[str]) -> ReleaseClasses:
        """The same with cells that only these sensitive columns tell apart."""
        told = {name: self.cell_columns[name] for name in columns}
        if len(told) == len(self.cell_columns):
            return self
        merged, _, cell = group_rows([self.cell_class, *told.values()], self.cell_class.shape[0])
        return replace(
            self,
            cell_of_row=merged[self.cell_of_row],
            cell_class=self.cell_class[cell],
            cell_sizes=np.bincount(merged, self.cell_sizes, cell.shape[0]).astype(np.int64),
            cell_columns={name: codes[cell] for name, codes in told.items()},
        )


def read_classes(
    releases: Sequence[pl.DataFrame],
    quasi: Sequence[str],
    domains: Mapping[str, Domain],
    sensitive: Sequence[str] = (),
    changing: Collection[str] = (),
) -> list[ReleaseClasses]:
    """Read every release with the same domains, and number the sensitive values alike in all of them.

    A release may lack a sensitive column that others have. Quasi-identifiers that are `changing` tell classes apart,
    but not whether two classes fit.
    """
    lacking = [
        Problem("unknown-column", "no release has such a column", name)
        for name in sensitive
        if not any(name in frame.columns for frame in releases)
    ]
    if lacking:
        raise InputError(lacking)
    steady = [name for name in quasi if name not in changing]
    values = _sensitive_numbers(releases, sensitive)
    return [_classes(frame, quasi, steady, domains, codes) for frame, codes in zip(releases, values, strict=True)]


def _sensitive_numbers(releases: Sequence[pl.DataFrame], sensitive: Sequence[str]) -> list[dict[str, CodeArray]]:
    """For every release the number of each cell's text, per sensitive column that it has."""
    found: list[dict[str, CodeArray]] = [{} for _ in releases]
    for name in sensitive:
        having = [number for number, frame in enumerate(releases) if name in frame.columns]
        stacked = pl.concat([as_text(releases[number][name]).alias(name) for number in having])
        codes = stacked.rank("dense").fill_null(0).to_numpy().astype(np.int32)
        ends = np.cumsum([releases[number].height for number in having])[:-1]
        for number, part in zip(having, np.split(codes, ends), strict=True):
            found[number][name] = part
    return found


def _classes(
    release: pl.DataFrame,
    quasi: Sequence[str],
    steady: Sequence[str],
    domains: Mapping[str, Domain],
    values: Mapping[str, CodeArray],
) -> ReleaseClasses:
    table = read_release(release, release, quasi, domains, same_order=False)
    cell_of_row, sizes, row = group_rows([table.class_of_row, *values.values()], release.height)
    return ReleaseClasses(
        sizes=table.class_sizes,
        class_of_row=table.class_of_row,
        covers=_covers(table, steady),
        cell_of_row=cell_of_row,
        cell_class=table.class_of_row[row],
        cell_sizes=sizes,
        cell_columns={name: codes[row] for name, codes in values.items()},
        suppressed=table.suppressed_classes,
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
    order, starts = _blocks(other)
    room = 4 * (one.low.shape[0] + other.low.shape[0]) + 1024
    while True:
        first, second = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        found = fitting_pairs(*one.arrays, *other.arrays, order, starts, first, second)
        if found <= room:
            sorting = np.lexsort((second[:found], first[:found]))
            return first[:found][sorting], second[:found][sorting]
        if found > LARGEST_PAIRS:
            message = f"{found} pairs of classes fit together; at most {LARGEST_PAIRS} can be checked"
            raise InputError(Problem("too-many-pairs", message))
        room = found


def _blocks(covers: Covers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The classes in an order in which neighbours are near each other, cut into blocks: halves of halves."""
    low, high = np.nan_to_num(covers.low, neginf=np.nan), np.nan_to_num(covers.high, posinf=np.nan)
    middle = np.nan_to_num((low + high) / 2, nan=0.0)
    middle /= np.maximum(np.ptp(middle, axis=0), 1e-300) if middle.shape[0] else 1.0
    open_parts, ready = [np.arange(middle.shape[0])], []
    while open_parts:
        part = open_parts.pop()
        if part.shape[0] <= BLOCK:
            ready.append(part)
            continue
        widest = int(np.argmax(np.std(middle[part], axis=0)))
        half = part.shape[0] // 2
        split = np.argpartition(middle[part, widest], half)
        open_parts += [part[split[:half]], part[split[half:]]]
    starts = np.append(0, np.cumsum([part.shape[0] for part in ready]))
    return np.concatenate(ready).astype(np.int64), starts.astype(np.int64)
