"""Columns as numbers: the distinct values once, and for every record the number of its value.

To find the equal texts of a column is what takes longest with a table of texts, so it is done once per column, and the
columns are shared out to threads. The numbers of a column do not depend on the other columns or on the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.threads import on_threads

CodeArray = NDArray[np.int32]
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as `values[codes]`; a null is a value like others."""

    values: pl.Series  # the distinct values, in the type of the column
    codes: CodeArray  # (records,)
    weights: NDArray[np.int64] | None = None  # (records,) for how many each of them stands; None: one each

    def counts(self) -> NDArray[np.int64]:
        """(values,) how many records have each value."""
        return np.bincount(self.codes, weights=self.weights, minlength=len(self.values)).astype(np.int64)


def code_columns(frame: pl.DataFrame, names: Iterable[str]) -> dict[str, CodedColumn]:
    """The named columns as numbers."""
    return _of_columns(code_column, frame, names)


def code_column(column: pl.Series) -> CodedColumn:
    """A column of any type as numbers, by first appearance; in a column of texts a null comes last."""
    if isinstance(column.dtype, pl.String):
        return CodedColumn(*text_codes(column))
    rows = column.to_frame("value").with_row_index("row").group_by("value", maintain_order=True).agg("row")
    sizes = rows["row"].list.len().to_numpy()
    codes = np.empty(len(column), dtype=np.int32)
    codes[rows["row"].explode(empty_as_null=True, keep_nulls=True).to_numpy()] = np.repeat(
        np.arange(len(sizes), dtype=np.int32), sizes
    )
    return CodedColumn(rows["value"].rename(column.name), codes)


def text_codes_of(frame: pl.DataFrame, names: Iterable[str]) -> dict[str, tuple[pl.Series, CodeArray]]:
    """`text_codes` of the named columns."""
    return _of_columns(text_codes, frame, names)


def with_categories(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """The frame with the texts among the named columns as categories: from then on equal texts are equal numbers."""
    texts = [name for name in dict.fromkeys(names) if isinstance(frame.schema[name], pl.String)]
    return frame.with_columns(_of_columns(_as_categories, frame, texts).values())


def text_codes(column: pl.Series) -> tuple[pl.Series, CodeArray]:
    """The distinct texts of a column (a null is one of them, the last) and the number of each cell's text."""
    if len(column) == 0:
        return as_text(column), np.zeros(0, dtype=np.int32)
    if isinstance(column.dtype, pl.Categorical):
        found = _numbered(column)
        if found is not None:
            return found
    found = _numbered(_as_categories(as_text(column)))
    assert found is not None  # these categories were made from the very texts
    return found


def as_text(column: pl.Series) -> pl.Series:
    """A column as text; NaN is missing."""
    if column.dtype == pl.String:
        return column
    if column.dtype.is_float():
        column = column.fill_nan(None)
    return column.cast(pl.String)


def _as_categories(texts: pl.Series) -> pl.Series:
    return texts.cast(pl.Categorical(pl.Categories.random()))


def _numbered(categories: pl.Series) -> tuple[pl.Series, CodeArray] | None:
    """Texts and codes of a column of categories, by first appearance; None if not all of its categories occur."""
    physical = categories.to_physical()
    highest = physical.max()
    count = int(highest) + 1 if isinstance(highest, int) else 0
    if count > len(physical):
        return None
    has_nulls = physical.null_count() > 0
    codes = (physical.fill_null(count) if has_nulls else physical).to_numpy().astype(np.int32)
    place = np.full(count + int(has_nulls), -1, dtype=np.int64)
    place[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # where each appears first
    if place.size and place.min() < 0:
        return None
    place, codes = _by_first_appearance(place, codes, count)
    return categories.gather(place).cast(pl.String), codes


def _by_first_appearance(place: NDArray[np.int64], codes: CodeArray, count: int) -> tuple[NDArray[np.int64], CodeArray]:
    """The same with numbers that rise, where several threads at once have given them; a null stays the last."""
    order = np.argsort(place[:count])
    if not (np.diff(order) < 0).any():
        return place, codes
    number = np.empty(place.size, dtype=np.int32)
    number[order] = np.arange(count)
    number[count:] = count
    place[:count] = place[order]
    return place, number[codes]


def _of_columns(work: Callable[[pl.Series], Answer], frame: pl.DataFrame, names: Iterable[str]) -> dict[str, Answer]:
    chosen = list(dict.fromkeys(names))
    return dict(zip(chosen, on_threads(work, [frame[name] for name in chosen]), strict=True))
