"""Releases joined record by record: by the order of their rows, or by a column that is the same in all of them.

Then no world is left open. A person hides among those who came and left with them and shared all their classes: the
*joint class*. Whoever knows a victim's quasi-identifiers, and in which releases the victim is, finds the joint class
and cannot tell its records apart. This holds for any number of releases at once. The key itself is an arbitrary
number, such as a pseudonym; an attacker who knows whose it is needs no attack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, CountArray, as_text
from shoal.released.reading import group_rows
from shoal.releases.classes import ReleaseClasses
from shoal.releases.diversity import diverse, histograms
from shoal.releases.judging import Needed
from shoal.releases.verdict import Attack, AttackCheck

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Joined:
    """Everybody in any of the releases."""

    row_in: list[CodeArray]  # per release (persons,) the row; ABSENT: not in it

    @property
    def persons(self) -> int:
        return int(self.row_in[0].shape[0])

    def classes_in(self, tables: Sequence[ReleaseClasses]) -> list[CodeArray]:
        """Per release (persons,) the class; ABSENT: not in it."""
        return [
            np.where(rows == ABSENT, ABSENT, table.class_of_row[rows]).astype(np.int32)
            for rows, table in zip(self.row_in, tables, strict=True)
        ]

    def joint_classes(self, tables: Sequence[ReleaseClasses]) -> tuple[CodeArray, CountArray]:
        """(persons,) the joint class of everybody, and the sizes."""
        present = [classes + 1 for classes in self.classes_in(tables)]
        classes, sizes, _ = group_rows(present, self.persons)
        return classes, sizes

    def last_value(self, tables: Sequence[ReleaseClasses], column: str) -> CodeArray:
        """(persons,) the value of a column in the last release that has both; ABSENT: none has."""
        values = np.full(self.persons, ABSENT, dtype=np.int32)
        for rows, table in zip(self.row_in, tables, strict=True):
            if column not in table.cell_columns:
                continue
            there = rows != ABSENT
            values[there] = table.cell_columns[column][table.cell_of_row[rows[there]]]
        return values


def join_by_order(heights: Sequence[int]) -> Joined:
    """Row i of every release is the same person, and newcomers follow at the end."""
    rows = np.arange(max(heights), dtype=np.int32)
    return Joined([np.where(rows < height, rows, ABSENT).astype(np.int32) for height in heights])


def join_by_key(releases: Sequence[pl.DataFrame], key: Sequence[str]) -> Joined:
    """Rows with the same key are the same person. Raises InputError where a key is lacking or stands twice."""
    problems = [
        Problem("unknown-column", f"release {number} has no such column", name)
        for number, frame in enumerate(releases, start=1)
        for name in key
        if name not in frame.columns
    ]
    if problems:
        raise InputError(problems)
    texts = [frame.select(as_text(frame[name]).alias(name) for name in key) for frame in releases]
    problems = [
        Problem("repeated-person", f"in release {number} several rows have one key")
        for number, frame in enumerate(texts, start=1)
        if frame.is_duplicated().any()
    ]
    if problems:
        raise InputError(problems)
    everybody = pl.concat(texts).unique(maintain_order=True)
    row_in = [
        everybody.join(frame.with_row_index("row"), on=list(key), how="left", nulls_equal=True, maintain_order="left")
        for frame in texts
    ]
    return Joined([frame["row"].cast(pl.Int32).fill_null(ABSENT).to_numpy() for frame in row_in])


def joint_check(joined: Joined, tables: Sequence[ReleaseClasses], needed: Needed, attack: Attack) -> AttackCheck:
    """Whether every joint class has k records, and diverse ones."""
    class_of_person, sizes = joined.joint_classes(tables)
    below = sizes < needed.k
    alike = np.zeros(sizes.shape[0], dtype=np.bool_)
    for model in needed.diversities:
        values = joined.last_value(tables, model.column)
        told = np.flatnonzero(values != ABSENT)
        shown = np.bincount(class_of_person[told], minlength=sizes.shape[0]) > 0
        left = histograms(class_of_person[told], values[told], np.ones_like(told), sizes.shape[0])
        alike |= shown & ~diverse(model, left)
    return AttackCheck(
        attack=attack,
        releases=tuple(range(1, len(tables) + 1)),
        passed=not (below | alike).any(),
        smallest_anonymity=int(sizes.min()),
        classes_below=int(below.sum()),
        persons_below=int(sizes[below].sum()),
        surely_below=int(sizes[below].sum()),
        classes_alike=int((alike & ~below).sum()),
    )
