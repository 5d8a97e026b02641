"""Who of a table was in an earlier release, and in which of its classes: what only the data holder can know.

The rows of a published file are in no order that tells persons apart, so the holder finds them again: a row of the
table belongs to a released record if the record's cells cover its values and what was published unchanged is equal.
Rows that could be in several classes are dealt out so that every released record finds its row, by the same flows
that the check uses. Which of several possible classes a row is put into does not matter to an attacker, who has the
same choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, Domain, as_text
from shoal.releases.classes import ReleaseClasses, read_classes
from shoal.releases.worlds import Worlds, make_worlds

NEWCOMER = -1


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Every row of a table in the earlier release."""

    class_of_row: CodeArray  # (rows,) -1: a newcomer
    release: ReleaseClasses
    told_by_original: bool  # False: who is new was told by the released values alone

    @property
    def newcomers(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.class_of_row == NEWCOMER)


def find_people(
    table: pl.DataFrame,
    earlier: pl.DataFrame,
    original: pl.DataFrame | None,
    quasi: Sequence[str],
    linking: Sequence[str],
    domains: Mapping[str, Domain],
    key: Sequence[str] = (),
) -> Whereabouts:
    """Find every record of the earlier release among the rows of the table.

    `original` is the table behind the earlier release: its rows are looked for first, by the `key` columns if there
    are some, else by all columns that both have. Without it any rows that fit may be taken for those of the release.
    """
    old = np.arange(table.height) if original is None else rows_of(original, table, key)
    texts = table.select(as_text(table[name]).alias(name) for name in dict.fromkeys([*quasi, *linking]))[old]
    release, rows = read_classes([earlier, texts], quasi, domains, linking)
    if release.unreadable:
        message = f"{release.unreadable} cells of the earlier release cannot be read"
        hint = "give the same hierarchies; means and midpoints tell no ranges"
        raise InputError(Problem("unreadable-cells", message, None, hint))
    class_of_row = np.full(table.height, NEWCOMER, dtype=np.int32)
    if original is None:
        class_of_row[old] = _taken_by(make_worlds(release, rows))
    else:
        class_of_row[old] = _placed_in(make_worlds(rows, release))
    return Whereabouts(class_of_row, release, original is not None)


def rows_of(original: pl.DataFrame, table: pl.DataFrame, key: Sequence[str] = ()) -> NDArray[np.int64]:
    """The rows of the table that are those of the original; of equal rows as many as the original has."""
    common = list(key) or [name for name in original.columns if name in table.columns]
    lacking = [Problem("unknown-column", "both tables need the key column", name)
               for name in key if name not in original.columns or name not in table.columns]  # fmt: skip
    if lacking:
        raise InputError(lacking)
    there, here = (_numbered(frame, common) for frame in (original, table))
    found = here.with_row_index("row").join(there, on=here.columns, how="semi", nulls_equal=True)
    if found.height < original.height:
        left = original.height - found.height
        message = f"{left} of {original.height} people of the earlier table are not in this one, or have other values"
        hint = "name a key column if values changed; for people who leave see docs/several_releases.md"
        raise InputError(Problem("people-left", message, None, hint))
    return found["row"].sort().to_numpy().astype(np.int64)


def _numbered(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Some columns as texts, and the number of each row among those equal to it."""
    texts = frame.select(as_text(frame[name]).alias(f"c{number}") for number, name in enumerate(names))
    return texts.with_columns(pl.int_range(pl.len()).over(texts.columns).alias("copy"))


def _placed_in(worlds: Worlds) -> CodeArray:
    """Every row goes into a released record: the class of each row."""
    rows, edges = worlds.one, worlds.edges
    classes = np.empty(rows.records, dtype=np.int32)
    order = np.argsort(rows.cell_of_row, kind="stable")
    classes[order] = np.repeat(worlds.other.cell_class[edges.head], worlds.flow)  # edges are sorted by the rows' cells
    return classes


def _taken_by(worlds: Worlds) -> CodeArray:
    """Every released record takes a row: the class of each row; those that are left over are newcomers."""
    edges, rows = worlds.edges, worlds.other
    dealt = np.repeat(worlds.one.cell_class[edges.tail[edges.back]], worlds.flow[edges.back])
    order = np.argsort(rows.cell_of_row, kind="stable")
    starts = np.append(0, np.cumsum(rows.cell_sizes))[:-1]
    rank = np.arange(order.shape[0]) - starts[rows.cell_of_row[order]]
    classes = np.full(order.shape[0], NEWCOMER, dtype=np.int32)
    classes[order[rank < worlds.taken[rows.cell_of_row[order]]]] = dealt
    return classes
