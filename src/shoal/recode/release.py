"""Groups to the released table: every group's quasi-identifiers become one value, all else is kept or dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Boxes, Clustering
from shoal.encode.codebook import Codebook, ColumnCodebook
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.kernels.boxes import group_bounds
from shoal.recode.aggregate import aggregate_cells
from shoal.recode.cells import SUPPRESSED, Cells, flat_cells, interval_cells, suppressed_cells, tree_cells
from shoal.tables.scales import TEXT_LIKE
from shoal.tables.schema import Scale
from shoal.tables.threads import on_threads
from shoal.tables.types import with_one_zero

SUPPRESSIONS = ("cell-suppression", "value-suppression")


@dataclass(frozen=True)
class RecodeOptions:
    """How attributes are released, all or single ones.

    Numbers: as range, mean, midpoint or nodes of a hierarchy. Any attribute: with `cell-suppression` a cell that is not
    exact is `*`; with `value-suppression` a value that is not exact everywhere is `*` everywhere.
    """

    numeric: str = "range"
    per_attribute: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        return self.per_attribute.get(name, self.numeric)


def recode(
    frame: pl.DataFrame,
    table: EncodedTable,
    codebook: Codebook,
    clustering: Clustering,
    dropped: Sequence[str],
    options: RecodeOptions,
) -> pl.DataFrame:
    """The release: the columns of the input in their order, without the dropped ones, in the order of the records."""
    cells = released_cells(table, codebook, clustering, options)
    released = {
        one.name: column.rename(one.name)
        for one, column in zip(table.attributes, on_threads(lambda one: one.column(), cells), strict=True)
    }
    kept = [name for name in frame.columns if name not in set(dropped)]
    # named here: polars gives a new name to a column of a list whose name is empty
    return pl.DataFrame({name: released[name] if name in released else with_one_zero(frame[name]) for name in kept})


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """The distinct released values of one quasi-identifier, and which of them each record has."""

    values: pl.Series
    of_record: NDArray[np.int32]

    def column(self) -> pl.Series:
        return self.values.gather(self.of_record)


def released_cells(
    table: EncodedTable,
    codebook: Codebook,
    clustering: Clustering,
    options: RecodeOptions,
    weights: NDArray[np.int64] | None = None,
) -> list[ReleasedCells]:
    """What is released of every quasi-identifier; with `weights` a record stands for so many equal ones."""
    boxes = _boxes(table, clustering)

    def of_attribute(number: int) -> ReleasedCells:
        values, cell = _released_cells(table, codebook, clustering, boxes, options, number, weights)
        if clustering.suppressed is not None and clustering.suppressed.any():
            values = pl.concat([values.cast(pl.String), pl.Series([SUPPRESSED])])
            cell = np.where(clustering.suppressed, len(values) - 1, cell).astype(np.int32)
        return ReleasedCells(values, cell)

    return on_threads(of_attribute, range(table.width))


def hidden_records(
    table: EncodedTable, codebook: Codebook, clustering: Clustering, options: RecodeOptions
) -> NDArray[np.bool_]:
    """(records,) which of them `recode` releases as `*` in every quasi-identifier, suppressed or generalized."""
    boxes = _boxes(table, clustering)
    suppressed = clustering.suppressed if clustering.suppressed is not None else np.zeros(table.records, dtype=np.bool_)
    hidden = ~suppressed
    for number in range(table.width):
        if not hidden.any():
            break
        cells, cell_of_record = _released_cells(table, codebook, clustering, boxes, options, number)
        hidden &= _stars(cells)[cell_of_record]
    return hidden | suppressed


def _stars(values: pl.Series) -> NDArray[np.bool_]:
    if not isinstance(values.dtype, TEXT_LIKE):
        return np.zeros(len(values), dtype=np.bool_)
    return (values.cast(pl.String) == SUPPRESSED).fill_null(False).to_numpy()


def _boxes(table: EncodedTable, clustering: Clustering) -> Boxes:
    return clustering.boxes if clustering.boxes is not None else tight_boxes(table, clustering.groups)


def _released_cells(
    table: EncodedTable,
    codebook: Codebook,
    clustering: Clustering,
    boxes: Boxes,
    options: RecodeOptions,
    number: int,
    weights: NDArray[np.int64] | None = None,
) -> tuple[pl.Series, NDArray[np.int32]]:
    """The distinct released values of one attribute, and which of them each record has if it is not suppressed."""
    if clustering.attribute_groups is not None:
        # with several quasi-identifier sets every attribute has a grouping of its own
        boxes = tight_boxes(table, clustering.attribute_groups[number])
    attribute, tight = table.attributes[number], clustering.boxes is None
    recoding = options.of(attribute.name)
    cells = _cells(table, number, codebook.columns[number], boxes, tight, recoding, weights)
    if recoding in SUPPRESSIONS:
        cells = suppressed_cells(cells, _exact_boxes(table, boxes, number, recoding == "value-suppression"))
    return cells.values, cells.cell_of_box[boxes.box_of_record]


def tight_boxes(table: EncodedTable, groups: NDArray[np.int32]) -> Boxes:
    """One box per group that has members, as small as they allow."""
    count = int(groups.max()) + 1 if groups.size else 0
    low = np.empty((table.width, count), dtype=np.int32)
    high = np.empty((table.width, count), dtype=np.int32)

    def fill(number: int) -> None:
        one = slice(number, number + 1)
        group_bounds(table.codes[one], table.row_of_record, groups, low[one], high[one])

    on_threads(fill, range(table.width))
    filled = (high >= 0).all(axis=0)
    if filled.all():
        return Boxes(low, high, groups)
    # A number that no record has would be a box without a value: the others close up.
    number = (np.cumsum(filled) - 1).astype(np.int32)
    return Boxes(np.ascontiguousarray(low[:, filled]), np.ascontiguousarray(high[:, filled]), number[groups])


def _cells(
    table: EncodedTable,
    number: int,
    book: ColumnCodebook,
    boxes: Boxes,
    tight: bool,
    recoding: str,
    weights: NDArray[np.int64] | None,
) -> Cells:
    """The released values of one attribute."""
    attribute = table.attributes[number]
    low, high = boxes.low[number], boxes.high[number]
    count = low.shape[0]
    if attribute.name in boxes.labels:
        texts = pl.Series(boxes.labels[attribute.name], dtype=pl.String)
        return Cells(texts, np.arange(count, dtype=np.int32), False)
    if attribute.kind is Kind.TREE:
        return tree_cells(book, attribute, low, high)
    if attribute.kind is Kind.INTERVAL:
        if tight and recoding in ("mean", "midpoint") and book.scale is not Scale.ORDERED:
            codes = table.codes[number][table.row_of_record]
            return aggregate_cells(book, codes, boxes.box_of_record, low, high, recoding, weights)
        return interval_cells(book, low, high)
    if tight:
        codes = table.codes[number][table.row_of_record]
        return flat_cells(book, codes, boxes.box_of_record, count)
    return flat_cells(book, *_expand_ranges(low, high), count)


def _exact_boxes(table: EncodedTable, boxes: Boxes, number: int, whole_values: bool) -> NDArray[np.bool_]:
    """(boxes,) whether a box is released as it is: all its records have one value and, for `whole_values`, that value
    is not generalized in any other box. Every record of a box gets the same answer, so classes can only grow."""
    low = boxes.low[number]
    exact: NDArray[np.bool_] = low == boxes.high[number]
    if whole_values:
        codes = table.codes[number][table.row_of_record]
        hidden = np.zeros(table.attributes[number].size, dtype=np.bool_)
        hidden[codes[~exact[boxes.box_of_record]]] = True
        exact = exact & ~hidden[low]
    return exact


def _expand_ranges(low: NDArray[np.int32], high: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Every code between low and high, with the number of its box."""
    sizes = (high - low + 1).astype(np.int64)
    boxes = np.repeat(np.arange(low.shape[0], dtype=np.int32), sizes)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    codes = np.arange(boxes.shape[0], dtype=np.int64) - starts + np.repeat(low, sizes)
    return codes.astype(np.int32), boxes
