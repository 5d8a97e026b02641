"""Who of a table was in an earlier release, and in which of its classes: what only the data holder can know.

The rows of a published file are in no order that tells persons apart, so the holder finds them again: a row of the
table belongs to a released record if the record's cells cover its values and what was published unchanged is equal.
Rows that could be in several classes are dealt out so that every released record finds its row, by the same flows
that the check uses. Which of several possible classes a row is put into does not matter to an attacker, who has the
same choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, Domain, as_text
from shoal.releases.classes import ReleaseClasses, read_classes
from shoal.releases.joining import ABSENT, join_by_key
from shoal.releases.worlds import Worlds, inside, make_worlds

NEWCOMER = -1


@dataclass(frozen=True)
class Looking:
    """By what people are found again.

    `linking` are columns that were published unchanged, `key` columns that tell persons apart in both tables. With
    `may_leave` people of the earlier table need not be in this one; values of `changing` columns may be others by now.
    A `join_key` was published: it leads from the rows of the table to the records of the release.
    """

    quasi: Sequence[str]
    linking: Sequence[str]
    domains: Mapping[str, Domain]
    key: Sequence[str] = ()
    may_leave: bool = False
    changing: Sequence[str] = ()
    join_key: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Every row of a table in the earlier release."""

    class_of_row: CodeArray  # (rows,) -1: a newcomer
    release: ReleaseClasses
    told_by_original: bool  # False: who is new was told by the released values alone
    moved: NDArray[np.bool_]  # (rows,) the values have changed, and are no longer those of the class
    left: int = 0  # people of the release who are not in the table
    class_then: CodeArray | None = None  # (rows of the original,) where people may have left or changed

    @property
    def newcomers(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.class_of_row == NEWCOMER)


def find_people(
    table: pl.DataFrame, earlier: pl.DataFrame, original: pl.DataFrame | None, looking: Looking
) -> Whereabouts:
    """Find every record of the earlier release among the rows of the table.

    `original` is the table behind the earlier release: its rows are looked for first, by the key columns if there
    are some, else by all columns that both have. Without it any rows that fit may be taken for those of the release.
    """
    if looking.join_key:
        found = _find_by_key(table, earlier, looking)
        if original is None or all(name in original.columns for name in looking.join_key):
            class_then = None if original is None else _find_by_key(original, earlier, looking).class_of_row
            return replace(found, class_then=class_then)
        return found
    if looking.may_leave or looking.changing:
        return _find_who_stayed(table, earlier, original, looking)
    old = np.arange(table.height) if original is None else rows_of(original, table, looking.key)
    release, rows = _read(earlier, table[old], looking)
    class_of_row = np.full(table.height, NEWCOMER, dtype=np.int32)
    if original is None:
        class_of_row[old] = _taken_by(make_worlds(release, rows))
    else:
        class_of_row[old] = _placed_in(make_worlds(rows, release))
    return Whereabouts(class_of_row, release, original is not None, np.zeros(table.height, dtype=np.bool_))


def _find_who_stayed(
    table: pl.DataFrame, earlier: pl.DataFrame, original: pl.DataFrame | None, looking: Looking
) -> Whereabouts:
    """The people of the original in their classes, and where they are in the table now, if they are."""
    if original is None:
        message = "where people leave or values change, the table behind the last release must tell who is who"
        raise InputError(Problem("no-earlier-table", message, hint="--with-original"))
    release, then = _read(earlier, original, looking)
    class_then = _placed_in(make_worlds(then, release))
    row, row_then = _same_people(original, table, looking)
    return replace(_where(table, earlier, looking, row, class_then[row_then]), class_then=class_then)


def _find_by_key(table: pl.DataFrame, earlier: pl.DataFrame, looking: Looking) -> Whereabouts:
    """The key leads to everybody's record."""
    then, now = join_by_key([earlier, table], looking.join_key).row_in
    both = (then != ABSENT) & (now != ABSENT)
    left = int(((then != ABSENT) & (now == ABSENT)).sum())
    if left and not looking.may_leave:
        message = f"{left} of {earlier.height} people of the earlier release are not in this table"
        raise InputError(Problem("people-left", message, None, "--setting moving if people left"))
    row = now[both].astype(np.int64)
    found = _where(table, earlier, looking, row, _read(earlier, table, looking)[0].class_of_row[then[both]])
    if found.moved.any() and not looking.changing:
        message = f"{int(found.moved.sum())} people have other values than in the earlier release"
        raise InputError(Problem("changed-values", message, None, "name the columns with --changing"))
    return found


def _where(
    table: pl.DataFrame, earlier: pl.DataFrame, looking: Looking, row: NDArray[np.int64], classes: CodeArray
) -> Whereabouts:
    """The classes of some rows, and who of them has moved out of theirs."""
    release, now = _read(earlier, table[row], looking)
    class_of_row = np.full(table.height, NEWCOMER, dtype=np.int32)
    class_of_row[row] = classes
    moved = np.zeros(table.height, dtype=np.bool_)
    moved[row] = ~inside(now.covers, release.covers, now.class_of_row, class_of_row[row])
    return Whereabouts(class_of_row, release, True, moved, earlier.height - row.shape[0])


def _read(earlier: pl.DataFrame, table: pl.DataFrame, looking: Looking) -> list[ReleaseClasses]:
    """The release and a table, in which equal rows are a class."""
    names = dict.fromkeys([*looking.quasi, *looking.linking])
    texts = table.select(as_text(table[name]).alias(name) for name in names)
    release, rows = read_classes([earlier, texts], looking.quasi, looking.domains, looking.linking)
    if release.unreadable:
        message = f"{release.unreadable} cells of the earlier release cannot be read"
        hint = "give the same hierarchies; means and midpoints tell no ranges"
        raise InputError(Problem("unreadable-cells", message, None, hint))
    return [release, rows]


def rows_of(original: pl.DataFrame, table: pl.DataFrame, key: Sequence[str] = ()) -> NDArray[np.int64]:
    """The rows of the table that are those of the original; of equal rows as many as the original has."""
    return np.sort(_same_people(original, table, Looking((), (), {}, key))[0])


def _same_people(
    original: pl.DataFrame, table: pl.DataFrame, looking: Looking
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the table and of the original that are the same person. Raises InputError if people are not found."""
    key = looking.key
    lacking = [Problem("unknown-column", "both tables need the key column", name)
               for name in key if name not in original.columns or name not in table.columns]  # fmt: skip
    if lacking:
        raise InputError(lacking)
    steady = [name for name in original.columns if name in table.columns and name not in looking.changing]
    there, here = (_numbered(frame, list(key) or steady) for frame in (original, table))
    found = here.with_row_index("row").join(
        there.with_row_index("row then"), on=here.columns, how="inner", nulls_equal=True, maintain_order="left"
    )
    if found.height < original.height and not looking.may_leave:
        left = original.height - found.height
        message = f"{left} of {original.height} people of the earlier table are not in this one, or have other values"
        hint = "--setting moving if people left; --changing and --person-key if values changed"
        raise InputError(Problem("people-left", message, None, hint))
    return found["row"].to_numpy().astype(np.int64), found["row then"].to_numpy().astype(np.int64)


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
