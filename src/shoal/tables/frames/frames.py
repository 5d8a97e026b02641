"""Frames of other libraries: into polars, and back as the kind that came in.

pandas and pyarrow are not imported here unless the user has brought a frame of theirs. The way back keeps the row
order. A column whose values did not change comes back with the type it had (nullable integers, categories, time
zones); a changed one gets the nearest type for its new values. Only what the columns show comes back: no pandas index
(whoever wants it calls `reset_index` and gives the column a role), no category that no record has, one form of values
that are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.tables.frames.arrow import arrow_to_polars, polars_to_arrow
from shoal.tables.frames.categories import without_unused_categories
from shoal.tables.frames.hidden import without_hidden_values
from shoal.tables.frames.pandas import pandas_to_polars, polars_to_pandas

Rows = NDArray[np.int64]


class Restore(Protocol):
    """The way back to the kind of frame that came in."""

    def restore(self, frame: pl.DataFrame, rows: Rows | None = None) -> Any:
        """`frame` as that kind. `rows`: which input rows it holds, in order, if they are not all there."""
        ...


def to_polars(frame: Any) -> tuple[pl.DataFrame, Restore]:
    """A polars frame with the same values, and the way back. The input frame is not changed.

    Takes pandas and polars frames (a LazyFrame is collected and comes back as a DataFrame), pyarrow tables, and what
    else gives Arrow columns, such as a relation of DuckDB (it comes back as a pyarrow table).
    Raises InputError for other objects, for column names that are repeated or no text, and for mixed columns.
    """
    if isinstance(frame, pl.LazyFrame):
        frame = _collected(frame)
    if isinstance(frame, pl.DataFrame):
        _check_polars(frame)
        return frame, PolarsRestore()
    import narwhals.stable.v1 as nw  # not needed for files, and slow to load

    if nw.dependencies.is_pandas_dataframe(frame):
        check_names(list(frame.columns))
        return pandas_to_polars(frame), PandasRestore(frame)
    table = frame if nw.dependencies.is_pyarrow_table(frame) else _arrow_columns(frame)
    if table is not None:
        check_names(list(table.column_names))
        return arrow_to_polars(table), ArrowRestore(table)
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
    hint = "give a pandas or polars DataFrame, a polars LazyFrame or a pyarrow Table"
    raise InputError(Problem("unknown-frame", f"objects of type {kind} are not tables that can be read", hint=hint))


def _collected(frame: pl.LazyFrame) -> pl.DataFrame:
    try:
        return frame.collect()
    except pl.exceptions.PolarsError as error:  # its message may quote cells
        message = f"the LazyFrame cannot be collected ({type(error).__name__})"
        raise InputError(Problem("unreadable-frame", message, hint="try frame.collect()")) from None


def as_shown(frame: Any) -> pl.DataFrame:
    """A restored frame as its reader sees it: Python values as texts, since equal ones can look different."""
    seen, _ = to_polars(frame)
    if isinstance(frame, pl.DataFrame) or not hasattr(frame, "dtypes"):
        return seen
    objects = [name for name, dtype in frame.dtypes.items() if isinstance(dtype, np.dtypes.ObjectDType)]
    return seen.with_columns(pl.Series(name, list(map(repr, frame[name])), dtype=pl.String) for name in objects)


@dataclass(frozen=True, slots=True)
class PolarsRestore:
    def restore(self, frame: pl.DataFrame, rows: Rows | None = None) -> pl.DataFrame:
        return without_unused_categories(without_hidden_values(frame))


@dataclass(frozen=True, slots=True)
class PandasRestore:
    original: Any

    def restore(self, frame: pl.DataFrame, rows: Rows | None = None) -> Any:
        return polars_to_pandas(frame, self.original, rows)


@dataclass(frozen=True, slots=True)
class ArrowRestore:
    original: Any

    def restore(self, frame: pl.DataFrame, rows: Rows | None = None) -> Any:
        return polars_to_arrow(without_hidden_values(frame), self.original, rows)


def _arrow_columns(frame: Any) -> Any | None:
    """A pyarrow table of what gives several Arrow columns: a relation of DuckDB, a reader of ADBC, ... A single column,
    which a Series gives, is no table."""
    if not hasattr(frame, "__arrow_c_stream__"):
        return None
    import pyarrow as pa

    try:
        return pa.table(frame)
    except pa.ArrowInvalid:
        return None


def _check_polars(frame: pl.DataFrame) -> None:
    hint = "convert the column to text or to numbers"
    problems = [
        Problem("mixed-types", "the column holds Python objects", column=name, hint=hint)
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.Object)
    ]
    if problems:
        raise InputError(problems)


def check_names(names: Sequence[Any]) -> None:
    problems = []
    others = sum(not isinstance(name, str) for name in names)
    if others:
        hint = "rename the columns, e.g. frame.columns = frame.columns.map(str)"
        problems.append(Problem("column-name-not-text", f"{others} column names are not text", hint=hint))
    for name, count in Counter(names).items():
        if count > 1:
            message = f"{count} columns have this name"
            problems.append(Problem("duplicate-column", message, column=str(name), hint="rename one of them"))
    if problems:
        raise InputError(problems)
