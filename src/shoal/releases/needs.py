"""What every record of the next table asks of its class, because of the classes of then; see `company.py`.

At first a record asks for what its own class of the last release asks for. Where the exact check still fails, needs are
raised: of the records that lie in both classes of a failing pair, or of one record if there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.released.domain import CodeArray
from shoal.releases.classes import ReleaseClasses, pairs_that_fit, read_classes
from shoal.releases.company import Company, needs_of_classes, with_needs
from shoal.releases.judging import Needed
from shoal.releases.reading_together import ReadTogether
from shoal.releases.weak import Weak, WeakPairs

MOST_VALUES = 32  # more linking values than this make a rule each that is too dear


@dataclass(frozen=True, eq=False)
class Needs:
    """Needs of records; `of_record` grows."""

    needed: Needed
    releases: list[ReleaseClasses]  # the earlier ones
    rows: ReleaseClasses  # the table itself: equal rows are a class
    counts: list[NDArray[np.int64]]  # per release (classes, values) what a class has
    asked: list[NDArray[np.int32]]  # per release (classes, values) what a class asks for
    link: NDArray[np.int32]  # (records,) the linking value
    of_record: NDArray[np.int32]  # (records, values)

    @property
    def too_many_values(self) -> bool:
        """Whether a rule for each value would be too dear."""
        return bool(self.of_record.shape[1] > MOST_VALUES)

    @property
    def available(self) -> NDArray[np.int64]:
        """(values,) how many records have each value; nobody can ask for more."""
        return np.bincount(self.link, minlength=self.of_record.shape[1])

    def add_classes(self, number: int, class_of_row: CodeArray) -> None:
        """Everybody asks for what the own class of an earlier release asks for; -1: was not in it."""
        old = np.flatnonzero(class_of_row >= 0)
        np.maximum.at(self.of_record, old, self.asked[number][class_of_row[old]])

    def raise_for(self, weak: Weak, turn: int) -> None:
        """Ask for more where a release fails; `turn` counts from 0."""
        for number, pairs in enumerate(weak.pairs):
            if pairs.earlier.shape[0]:
                self._raise_pairs(number, pairs, weak.class_of_row, 2**turn)
        for later in np.flatnonzero(weak.newcomers).tolist():
            members = np.flatnonzero(weak.class_of_row == later)
            counts = np.bincount(self.link[members], minlength=self.of_record.shape[1])
            commonest = int(counts.argmax())
            most = min(2 * int(counts[commonest]), int(self.available[commonest]))
            self.of_record[members[0], commonest] = max(self.of_record[members[0], commonest], most)

    def _raise_pairs(self, number: int, pairs: WeakPairs, class_of_row: CodeArray, times: int) -> None:
        bad = np.unique(pairs.earlier).astype(np.int64)
        inner, point = pairs_that_fit(self.releases[number].covers.of(bad), self.rows.covers)
        fits = pl.DataFrame({"earlier": bad[inner].astype(np.int32), "point": point})
        row = np.arange(class_of_row.shape[0])
        places = pl.DataFrame({"point": self.rows.class_of_row, "later": class_of_row, "row": row})
        failing = pl.DataFrame(
            {"earlier": pairs.earlier, "later": pairs.later, "times": np.where(pairs.roomy, times, 1)}
        )
        inside = failing.join(fits, on="earlier").join(places, on=["later", "point"])
        outside = failing.join(inside.select("earlier", "later").unique(), on=["earlier", "later"], how="anti")
        first = places.group_by("later").agg(pl.col("row").min())
        columns = ("row", "earlier", "times")
        both = pl.concat([inside.select(columns), outside.join(first, on="later").select(columns)])
        wanted = self.asked[number][both["earlier"].to_numpy()] * both["times"].to_numpy()[:, None]
        np.maximum.at(self.of_record, both["row"].to_numpy(), np.minimum(wanted, self.available).astype(np.int32))

    def bind(self, table: EncodedTable, requirement: Requirement) -> tuple[EncodedTable, Requirement]:
        """The table and the requirement with the needs of now."""
        company = Company(self.of_record.shape[1])
        return with_needs(table, self.link, self.of_record), Requirement((*requirement.models, company))


def make_needs(earlier: Sequence[pl.DataFrame], table: pl.DataFrame, how: ReadTogether) -> Needs:
    """Nobody needs anything yet. All frames are of texts."""
    linking = [name for name in how.linking if all(name in frame.columns for frame in (*earlier, table))]
    *releases, rows = read_classes([*earlier, table], how.quasi, how.domains, linking, how.changing)
    codes, values = _joint_values([*releases, rows], linking)
    link = codes[-1][rows.cell_of_row]
    available = np.bincount(link, minlength=values)
    held, asked = [], []
    for release, code in zip(releases, codes, strict=False):
        counts = np.zeros((release.sizes.shape[0], values), dtype=np.int64)
        np.add.at(counts, (release.cell_class, code), release.cell_sizes)
        held.append(counts)
        most = np.minimum(counts, available)
        asked.append(most.astype(np.int32) if how.needed.diversities else needs_of_classes(most, how.needed.k))
    nobody = np.zeros((table.height, values), dtype=np.int32)
    return Needs(how.needed, releases, rows, held, asked, link, nobody)


def _joint_values(tables: Sequence[ReleaseClasses], linking: Sequence[str]) -> tuple[list[CodeArray], int]:
    """For every table the number of each cell's combination of linking values, and how many there are."""
    stacked = [
        np.stack([np.zeros_like(table.cell_class), *(table.cell_columns[name] for name in linking)], axis=1)
        for table in tables
    ]
    found, number = np.unique(np.concatenate(stacked), axis=0, return_inverse=True)
    ends = np.cumsum([part.shape[0] for part in stacked])[:-1]
    return [part.astype(np.int32) for part in np.split(number.reshape(-1), ends)], found.shape[0]
