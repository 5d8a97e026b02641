"""From "so many records of this row go to this group", as greedy kernels write it, to a group per record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable, IntegerArray
from shoal.kernels.sorting import stable_order


class Takes(NamedTuple):
    """Which group took how many records of which row, in the order in which they were taken."""

    rows: IntegerArray  # (takes,)
    groups: IntegerArray  # (takes,)
    counts: NDArray[np.int64]  # (takes,)

    @classmethod
    def room(cls, size: int) -> Takes:
        """For a kernel to write into."""
        return cls(np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int64))

    def at(self, places: slice | NDArray[np.int64]) -> Takes:
        """Some of them."""
        return Takes(self.rows[places], self.groups[places], self.counts[places])

    def then(self, later: Takes) -> Takes:
        """These, and others after them."""
        return Takes(
            np.concatenate([self.rows, later.rows]),
            np.concatenate([self.groups, later.groups]),
            np.concatenate([self.counts, later.counts]),
        )


def spread_takes(table: EncodedTable, takes: Takes) -> IntegerArray:
    """The group of every record; -1 for records of no take. The records of a row go out in the order of the input."""
    order = stable_order(table.row_of_record, table.rows)
    starts = np.concatenate([[0], np.cumsum(table.weights)])
    rows, groups, counts = takes.at(np.argsort(takes.rows, kind="stable"))
    ends = np.cumsum(counts)
    first_of_row = np.concatenate([[True], rows[1:] != rows[:-1]]) if rows.size else np.zeros(0, dtype=bool)
    taken_before_row = np.maximum.accumulate(np.where(first_of_row, ends - counts, 0))
    begin = starts[rows] + (ends - counts) - taken_before_row
    places = np.repeat(begin - (ends - counts), counts) + np.arange(int(ends[-1]) if ends.size else 0)
    result = np.full(table.records, -1, dtype=np.int32)
    result[order[places]] = np.repeat(groups, counts)
    return result
