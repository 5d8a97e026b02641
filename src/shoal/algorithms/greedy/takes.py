"""From "so many records of this row go to this group", as greedy kernels write it, to a group per record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import IntegerArray
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


def groups_of_records(row_of_record: IntegerArray, weights: NDArray[np.int64], takes: Takes) -> IntegerArray:
    """(records,) the group of every record; -1 for records of no take. The records of a row go out in input order.

    IN  weights  (rows,) how many records each row has
    """
    placed = np.bincount(takes.rows, weights=takes.counts, minlength=weights.shape[0]).astype(np.int64)
    nobody = np.full(weights.shape[0], -1, dtype=np.int32)
    every = takes.then(Takes(np.arange(weights.shape[0], dtype=np.int32), nobody, weights - placed))
    _, groups, counts = every.at(np.argsort(every.rows, kind="stable"))
    result = np.empty(row_of_record.shape[0], dtype=np.int32)
    result[stable_order(row_of_record, weights.shape[0])] = np.repeat(groups, counts)
    return result
