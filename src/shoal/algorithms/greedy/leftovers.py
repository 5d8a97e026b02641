"""Records that are left when groups have been built go, one by one, to the group whose total loss they raise least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.encode.geometry import table_geometry
from shoal.kernels.boxes import group_bounds
from shoal.kernels.geometry import grown_costs


class _Sets:
    """Which codes of a FLAT attribute each group has, and what one more would cost."""

    def __init__(self, groups: NDArray[np.int32], codes: NDArray[np.int32], group_count: int, size: int) -> None:
        self.size = size
        self.step = 1.0 / (size - 1) if size > 1 else 0.0
        self.pairs = np.unique(groups.astype(np.int64) * size + codes)
        self.distinct = np.bincount(self.pairs // size, minlength=group_count)
        self.keys = np.arange(group_count, dtype=np.int64) * size
        self.added: set[tuple[int, int]] = set()

    def has(self, code: int) -> NDArray[np.bool_]:
        """(groups,) which groups have the code; a binary search per group."""
        wanted = self.keys + code
        places = np.minimum(np.searchsorted(self.pairs, wanted), self.pairs.shape[0] - 1)
        found: NDArray[np.bool_] = self.pairs[places] == wanted
        for group, other in self.added:
            if other == code:
                found[group] = True
        return found

    def costs(self, code: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(groups,) the loss as it is, and with the code."""
        now = ((self.distinct - 1) * self.step).astype(np.float64)
        return now, now + np.where(self.has(code), 0.0, self.step)

    def add(self, group: int, code: int) -> None:
        if not self.has(code)[group]:
            self.added.add((group, code))
            self.distinct[group] += 1


class _Groups:
    """What the groups lose, and what they would lose with one more record."""

    def __init__(self, table: EncodedTable, groups: NDArray[np.int32], group_count: int) -> None:
        placed = np.flatnonzero(groups >= 0)
        rows = table.row_of_record[placed]
        self.table, self.count = table, group_count
        self.geometry = table_geometry(table)
        self.low = np.empty((table.width, group_count), dtype=np.int32)
        self.high = np.empty((table.width, group_count), dtype=np.int32)
        group_bounds(table.codes, rows, groups[placed], self.low, self.high)
        self.sets = {
            number: _Sets(groups[placed], table.codes[number][rows], group_count, attribute.size)
            for number, attribute in enumerate(table.attributes)
            if attribute.kind is Kind.FLAT
        }
        self.sizes = np.bincount(groups[placed], minlength=group_count).astype(np.float64)

    def growth(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """(groups,) by how much a record raises the total loss of each group."""
        now, grown = np.zeros(self.count), np.zeros(self.count)
        for number, attribute in enumerate(self.table.attributes):
            if number in self.sets:
                before, after = self.sets[number].costs(int(codes[number]))
            else:
                before, after = np.empty(self.count), np.empty(self.count)
                ends = self.low[number], self.high[number]
                grown_costs(self.geometry, number, *ends, int(codes[number]), before, after)
            now += attribute.weight * before
            grown += attribute.weight * after
        return np.asarray((self.sizes + 1) * grown - self.sizes * now)

    def take(self, group: int, codes: NDArray[np.int32]) -> None:
        """A record joins a group."""
        self.sizes[group] += 1
        self.low[:, group] = np.minimum(self.low[:, group], codes)
        self.high[:, group] = np.maximum(self.high[:, group], codes)
        for number, held in self.sets.items():
            held.add(group, int(codes[number]))


def place_leftovers(table: EncodedTable, groups: NDArray[np.int32], group_count: int) -> NDArray[np.int32]:
    """A copy of `groups` in which every record of group -1 has been placed; ties go to the lowest group number.

    Cost: O(groups x m log n) for every left-over record, of which there are fewer than k after a greedy construction.
    """
    groups = groups.copy()
    leftovers = np.flatnonzero(groups < 0)
    if leftovers.size == 0:
        return groups
    held = _Groups(table, groups, group_count)
    for record in leftovers:
        codes = table.codes[:, table.row_of_record[record]]
        chosen = int(np.argmin(held.growth(codes)))
        groups[record] = chosen
        held.take(chosen, codes)
    return groups
