"""Codes of a group to the text that is released for it.

- a single value: the value as it came;
- numbers, dates and ordered categories: `[low, high]`, both ends included; rounded ones end where their units do;
- categories with a hierarchy: the label of the lowest common ancestor;
- categories without: `{A, B}` in sorted order, or `*` when it is the whole domain; an element that holds a comma, a
  brace or a quote is put in double quotes, as in CSV; a missing value in a set reads `(missing)`;
- missing and present numbers together: `*`; only missing values: an empty cell.

Everything works on the distinct cells of a column, not on records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import ColumnCodebook
from shoal.encode.encoded_table import EncodedAttribute
from shoal.kernels.boxes import common_level
from shoal.tables.neat import neat_texts
from shoal.tables.rounding import OuterEnds

SUPPRESSED = "*"
MISSING_IN_SET = "(missing)"


@dataclass(frozen=True, eq=False)
class Cells:
    """The released values of one column: `values[cell_of_box[box]]`."""

    values: pl.Series  # distinct released values; text, or the type of the input when every cell is exact
    cell_of_box: NDArray[np.int32]  # (boxes,)
    exact: bool  # True if nothing was generalized in this column


def suppressed_cells(cells: Cells, exact: NDArray[np.bool_]) -> Cells:
    """Cell suppression: what is not exact is `*`.

    IN  exact  (boxes,) whether all records of a box have the same value
    """
    if exact.all():
        return cells
    values = pl.concat([cells.values.cast(pl.String), pl.Series([SUPPRESSED])])
    return Cells(values, np.where(exact, cells.cell_of_box, len(values) - 1).astype(np.int32), False)


def distinct_pairs(
    low: NDArray[np.int32], high: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The distinct (low, high) pairs, and the number of its pair for every box."""
    keys = low.astype(np.int64) * (size + 1) + high
    pairs, inverse = np.unique(keys, return_inverse=True)
    return (
        (pairs // (size + 1)).astype(np.int32),
        (pairs % (size + 1)).astype(np.int32),
        inverse.astype(np.int32),
    )


def interval_cells(book: ColumnCodebook, low: NDArray[np.int32], high: NDArray[np.int32]) -> Cells:
    first, last, cell_of_box = distinct_pairs(low, high, book.size)
    if book.ends is not None:
        return Cells(_rounded_texts(book, book.ends, first, last), cell_of_box, False)
    if (first == last).all():
        return Cells(book.values.gather(first), cell_of_box, True)
    return Cells(_range_texts(book, first, last), cell_of_box, False)


def _range_texts(book: ColumnCodebook, first: NDArray[np.int32], last: NDArray[np.int32]) -> pl.Series:
    texts = neat_texts(book.values, book.texts)
    low, high = texts.gather(first), texts.gather(last)
    # Equal numbers spelled differently (1.5 and 1.50) are one number: its shorter spelling is released. Floats would
    # not do: they take different numbers beyond 2^53 for one.
    shorter = pl.select(pl.when(low.str.len_bytes() <= high.str.len_bytes()).then(low).otherwise(high)).to_series()
    return _written(book, first, last, low, high, pl.Series(book.ranks[first] == book.ranks[last]), shorter)


def _rounded_texts(
    book: ColumnCodebook, ends: OuterEnds, first: NDArray[np.int32], last: NDArray[np.int32]
) -> pl.Series:
    """From where the unit of the lowest value begins to where that of the highest ends, for one value, too."""
    low, high = ends.low.gather(first), ends.high.gather(last)
    return _written(book, first, last, low, high, low == high, low)


def _written(
    book: ColumnCodebook,
    first: NDArray[np.int32],
    last: NDArray[np.int32],
    low: pl.Series,
    high: pl.Series,
    same: pl.Series,
    single: pl.Series,
) -> pl.Series:
    """A range, `single` where it is one number, and nothing where missing and present values are mixed."""
    mixed = pl.Series((last == book.missing_code) & (first != last))
    span = pl.format("[{}, {}]", low, high)
    return pl.select(pl.when(mixed).then(pl.lit(SUPPRESSED)).when(same).then(single).otherwise(span)).to_series()


def tree_cells(
    book: ColumnCodebook, attribute: EncodedAttribute, low: NDArray[np.int32], high: NDArray[np.int32]
) -> Cells:
    assert book.hierarchy is not None
    first, last, cell_of_box = distinct_pairs(low, high, book.size)
    if (first == last).all():
        return Cells(_exact_leaves(book, first), cell_of_box, True)
    level = np.empty(first.shape[0], dtype=np.int32)
    common_level(attribute.ancestors, first, last, level)
    nodes = attribute.ancestors[level, first]
    labels: list[str | None] = list(book.hierarchy.labels)
    if book.missing_code >= 0:  # the missing leaf stands between the leaves and the inner nodes
        labels.insert(book.missing_code, None)
    return Cells(pl.Series(labels, dtype=pl.String).gather(nodes), cell_of_box, False)


def _exact_leaves(book: ColumnCodebook, codes: NDArray[np.int32]) -> pl.Series:
    return book.texts.gather(codes)


def flat_cells(book: ColumnCodebook, codes: NDArray[np.int32], boxes: NDArray[np.int32], box_count: int) -> Cells:
    """Sets of values.

    IN  codes, boxes  (pairs,) every code with the box that contains it; pairs may repeat
    """
    keys = np.unique(boxes.astype(np.int64) * book.size + codes)
    member, box = (keys % book.size).astype(np.int32), (keys // book.size).astype(np.int32)
    counts = np.bincount(box, minlength=box_count)
    if (counts <= 1).all():
        return Cells(book.values.gather(member), np.arange(box_count, dtype=np.int32), True)
    elements = pl.DataFrame({"box": box, "element": _quoted(book).gather(member), "plain": book.texts.gather(member)})
    return Cells(_set_texts(elements, book.size), np.arange(box_count, dtype=np.int32), False)


def _quoted(book: ColumnCodebook) -> pl.Series:
    """(codes,) each value as an element of a set."""
    texts = book.texts.fill_null(MISSING_IN_SET)
    in_quotes = pl.format('"{}"', texts.str.replace_all('"', '""', literal=True))
    return pl.select(pl.when(texts.str.contains(r'[,{}"]')).then(in_quotes).otherwise(texts)).to_series()


def _set_texts(elements: pl.DataFrame, size: int) -> pl.Series:
    """(boxes,) what is released for the elements of each box; `size` is how many values there are."""
    sets = elements.group_by("box", maintain_order=True).agg(
        pl.col("element").str.join(", "), pl.col("plain").first(), pl.len().alias("size")
    )
    return sets.select(
        pl.when(pl.col("size") == 1)
        .then(pl.col("plain"))
        .when(pl.col("size") == size)
        .then(pl.lit(SUPPRESSED))
        .otherwise(pl.format("{{{}}}", pl.col("element")))
    ).to_series()
