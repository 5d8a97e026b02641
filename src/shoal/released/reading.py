"""A release read against its original: cells, classes, and what each class loses on each attribute.

Records with equal released quasi-identifiers form a class. Everything that depends on released cells is constant in
a class, so losses and covers are arrays over classes. Where the rows of release and original belong together (same
number, same order), three things are settled with the original values:

- a label with two meanings means the lowest node that covers;
- a released number that is not the original number (a mean, a midpoint) loses the range of its class's originals;
- a cell that does not cover its record's original value counts as a full loss for that record, and is reported.

Both tables may be counted: then each row stands for so many records that are equal before and after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.released.cells import BoolArray, Cells, Observed, read_cells
from shoal.released.domain import CodeArray, CountArray, Domain, DomainKind, FloatArray
from shoal.tables.distinct import text_codes_of
from shoal.tables.threads import on_threads

_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """One quasi-identifier: the distinct released texts as cells, and per class what is covered and lost."""

    domain: Domain
    cells: Cells
    codes: CodeArray  # (rows of the release,) number of the released text
    text_of_class: CodeArray  # (classes,)
    loss: FloatArray  # (classes,) mean loss of the class's records
    first: CodeArray  # (classes,) lowest and highest value code that the class's cell stands for
    last: CodeArray
    original: CodeArray | None  # (rows,) code of the original value, if the rows belong together
    not_covering: int  # cells that do not cover the original value
    aggregated: int  # cells with a number that stands for several original numbers
    weights: CountArray | None = None  # (rows of the release,) how many records each row stands for; None: one

    @property
    def unreadable(self) -> int:
        if not self.cells.unreadable.any():
            return 0
        return _weight_of(self.cells.unreadable[self.codes], self.weights)


@dataclass(frozen=True, eq=False)
class ReadTable:
    """A whole release, read."""

    columns: Mapping[str, ReadColumn]
    records: int  # records of the original
    rows: int  # records of the release
    class_of_row: CodeArray
    class_sizes: CountArray
    class_row: NDArray[np.int64]  # (classes,) one row of each class
    suppressed_classes: BoolArray  # every quasi-identifier is suppressed
    aligned: bool
    weights: CountArray | None = None  # (rows,) how many records each row stands for; None: one

    @property
    def classes(self) -> int:
        return int(self.class_sizes.shape[0])

    @property
    def removed(self) -> int:
        """Records of the original that the release lacks altogether."""
        return self.records - self.rows


def read_release(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    domains: Mapping[str, Domain],
    *,
    same_order: bool = True,
    weights: CountArray | None = None,
) -> ReadTable:
    """Read the quasi-identifiers of a release.

    Rows are taken to belong together when both tables have as many, unless `same_order` says that they do not. With
    `weights` both tables are counted.
    """
    _check(original, release, quasi, domains)
    aligned = same_order and original.height == release.height
    coded = text_codes_of(release, quasi)
    class_of_row, sizes, row = group_rows([coded[name][1] for name in quasi], release.height)
    if weights is not None:
        sizes = np.bincount(class_of_row, weights=weights).astype(np.int64)

    def read(name: str) -> ReadColumn:
        before = original[name] if aligned else None
        return _read_column(domains[name], *coded[name], before, _ClassesOfRows(class_of_row, sizes, row, weights))

    columns = dict(zip(quasi, on_threads(read, quasi), strict=True))
    hidden = np.all([column.cells.suppressed[column.text_of_class] for column in columns.values()], axis=0)
    records = (original.height, release.height) if weights is None else (int(weights.sum()), int(weights.sum()))
    return ReadTable(columns, *records, class_of_row, sizes, row, hidden, aligned, weights)


class _ClassesOfRows(NamedTuple):
    of_row: CodeArray
    sizes: CountArray
    row: NDArray[np.int64]  # (classes,) one row of each
    weights: CountArray | None


def _weight_of(chosen: BoolArray, weights: CountArray | None) -> int:
    """How many records the chosen rows stand for."""
    return int(chosen.sum() if weights is None else weights[chosen].sum())


def _check(original: pl.DataFrame, release: pl.DataFrame, quasi: Sequence[str], domains: Mapping[str, Domain]) -> None:
    problems = [
        Problem("unknown-column", f"the {table} has no such column", name, did_you_mean(name, frame.columns))
        for name in quasi
        for table, frame in (("original", original), ("release", release))
        if name not in frame.columns
    ]
    problems += [
        Problem("no-domain", "the domain of the column is not given", name) for name in quasi if name not in domains
    ]
    if not quasi:
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier was given"))
    if release.height > original.height:
        message = f"the release has {release.height} records, the original only {original.height}"
        problems.append(Problem("too-many-records", message, None, "give the table that the release was made from"))
    if release.height == 0:
        problems.append(Problem("empty-release", "the release has no records"))
    if problems:
        raise InputError(problems)


def group_rows(columns: Sequence[NDArray[np.int32]], rows: int) -> tuple[CodeArray, CountArray, NDArray[np.int64]]:
    """Class number of every row (classes by first appearance), class sizes, and the first row of each class."""
    frame = pl.DataFrame(_joined(columns))
    names = frame.columns
    grouped = (
        frame.with_row_index("row")
        .group_by(names)
        .agg(pl.col("row"), pl.len().alias("size"), pl.col("row").min().alias("first"))
        .sort("first")
    )
    sizes = grouped["size"].to_numpy().astype(np.int64)
    class_of_row = np.empty(rows, dtype=np.int32)
    members = grouped["row"].explode(empty_as_null=True, keep_nulls=True).to_numpy()
    class_of_row[members] = np.repeat(np.arange(sizes.shape[0], dtype=np.int32), sizes)
    return class_of_row, sizes, grouped["first"].to_numpy().astype(np.int64)


def _joined(columns: Sequence[NDArray[np.int32]]) -> dict[str, NDArray[np.int32] | NDArray[np.int64]]:
    """Columns that tell the same rows apart: a single one if all codes of a row fit into one number."""
    spans = [int(codes.max()) + 1 if codes.size else 1 for codes in columns]
    if math.prod(spans) > _LARGEST_KEY:
        return {str(number): codes for number, codes in enumerate(columns)}
    key = np.zeros(columns[0].shape[0], dtype=np.int64)
    for codes, span in zip(columns, spans, strict=True):
        key *= span
        key += codes
    return {"key": key}


def _distinct_pairs(texts: CodeArray, values: CodeArray, size: int) -> tuple[CodeArray, CodeArray]:
    """The distinct (text, value) pairs of a column; everything about cells follows from them, not from records."""
    span = size + 1  # a value may be -1: not in the domain
    top = (int(texts.max()) + 1) * span
    small = top <= min(16 * texts.shape[0] + 1024, 2**31 - 1)
    keys: NDArray[np.integer[Any]] = texts.astype(np.int32 if small else np.int64)
    keys *= span
    keys += values
    keys += 1
    if small:
        seen = np.zeros(top, dtype=np.bool_)
        seen[keys] = True
        found = np.flatnonzero(seen)
    else:
        found = pl.Series(keys).unique().to_numpy()
    return (found // span).astype(np.int32), (found % span - 1).astype(np.int32)


def _extremes(groups: NDArray[np.int32], codes: CodeArray, count: int) -> tuple[CodeArray, CodeArray]:
    """Lowest and highest code in each group; a group without rows gets 1, 0."""
    found = (
        pl.DataFrame({"group": groups, "code": codes})
        .group_by("group")
        .agg(pl.col("code").min().alias("low"), pl.col("code").max().alias("high"))
    )
    low, high = np.ones(count, dtype=np.int32), np.zeros(count, dtype=np.int32)
    low[found["group"].to_numpy()] = found["low"].to_numpy()
    high[found["group"].to_numpy()] = found["high"].to_numpy()
    return low, high


def _read_column(
    domain: Domain,
    texts: pl.Series,
    codes: CodeArray,
    original: pl.Series | None,
    classes: _ClassesOfRows,
) -> ReadColumn:
    class_of_row, sizes, row, weights = classes
    text = codes[row]
    if original is None:
        cells = read_cells(domain, texts)
        cells = _unread_means(domain, cells)
        loss, first, last = cells.loss[text], cells.first[text], cells.last[text]
        return ReadColumn(domain, cells, codes, text, loss, first, last, None, 0, 0, weights)
    values = domain.encode(original)
    pairs = _distinct_pairs(codes, values, domain.missing_code + 1)
    observed = Observed(*_extremes(*pairs, len(texts)))
    cells = read_cells(domain, texts, observed)
    means = _means(domain, cells, observed)
    aggregated = means[text]
    loss, first, last = cells.loss[text].copy(), cells.first[text].copy(), cells.last[text].copy()
    if aggregated.any():
        lowest, highest = _extremes(class_of_row, values, sizes.shape[0])
        loss[aggregated] = _range_loss(domain, lowest[aggregated], highest[aggregated])
        first[aggregated], last[aggregated] = lowest[aggregated], highest[aggregated]
    wrong = 0
    if not (cells.covers(domain, *pairs) | means[pairs[0]]).all():
        astray = ~(cells.covers(domain, codes, values) | means[codes])
        wrong, loss = _weight_of(astray, weights), _with_astray(loss, astray, classes)
    means_shown = int(sizes[aggregated].sum())
    return ReadColumn(domain, cells, codes, text, loss, first, last, values, wrong, means_shown, weights)


def _with_astray(loss: FloatArray, astray: BoolArray, classes: _ClassesOfRows) -> FloatArray:
    """(classes,) the mean loss where some rows have a cell that excludes their value: these lose everything."""
    held = None if classes.weights is None else classes.weights[astray]
    bad = np.bincount(classes.of_row[astray], weights=held, minlength=classes.sizes.shape[0])
    return np.asarray((loss * (classes.sizes - bad) + bad) / classes.sizes)


def _range_loss(domain: Domain, lowest: CodeArray, highest: CodeArray) -> FloatArray:
    """(classes,) what the range of the original values of each class loses; all of it where some are missing."""
    if domain.span <= 0:
        return np.zeros(lowest.shape[0])
    present = np.append(domain.positions, np.nan)
    with np.errstate(over="ignore"):  # a width beyond all floats is the whole span
        width = present[highest] - present[lowest]
    width = np.where(np.isnan(width), np.where(lowest == highest, 0.0, domain.span), width)
    return np.minimum(1.0, width / domain.span)


def _means(domain: Domain, cells: Cells, observed: Observed) -> BoolArray:
    """Texts that are a number and stand for another original number: means, medians, midpoints."""
    if domain.kind is not DomainKind.NUMBER:
        return np.zeros(cells.loss.shape[0], dtype=np.bool_)
    positions = np.append(domain.positions, np.nan)
    exact = (positions[observed.lowest] == cells.number) & (positions[observed.highest] == cells.number)
    return np.asarray(~np.isnan(cells.number) & ~exact)


def _unread_means(domain: Domain, cells: Cells) -> Cells:
    """Without rows that belong together, a number that is no original value cannot be read."""
    if domain.kind is not DomainKind.NUMBER:
        return cells
    strange = ~np.isnan(cells.number) & ~np.isin(cells.number, domain.positions)
    if not strange.any():
        return cells
    return replace(cells, loss=np.where(strange, 1.0, cells.loss), unreadable=cells.unreadable | strange)
