"""Safe groups from the top: the whole table is halved again and again, and every half stays safe.

Used by the repair when a requirement is so far from what an algorithm knew that mending its groups one by one would
ruin them (t-closeness on a column that depends on the quasi-identifiers, say). Every node tries two kinds of cut on
every attribute, and keeps the one of least loss whose halves are both safe:

- at the median, as Mondrian does (LeFevre, DeWitt, Ramakrishnan, ICDE 2006);
- at the median within every sort of record, a sort being the records that are alike for all models. Both halves then
  have the distribution of the node, so a safe node nearly always has such a cut; the idea is that of dealing records
  out by sensitive value (Xiao, Tao, Anatomy, VLDB 2006), but near ones are dealt together.

Cost: O(m n log n) on each of the O(log(n / k)) levels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.geometry import table_geometry
from shoal.encode.encoded_table import EncodedTable
from shoal.kernels.safety import CLOSE_EQUAL, CLOSE_HIERARCHICAL, CLOSE_ORDERED, KIND, Safety
from shoal.kernels.stratified import set_deficit, set_loss
from shoal.models.safety import empty_row

SHARE_OF_PLAIN_CUTS = 0.9

Records = NDArray[np.int64]


def stratified_groups(
    table: EncodedTable, safety: Safety, sorts: NDArray[np.int64], smallest: int
) -> NDArray[np.int32]:
    """A group for every record; every group is safe if the whole table is."""
    splitter = _Splitter(table, safety, sorts, smallest)
    open_nodes: list[Records] = [np.arange(table.records, dtype=np.int64)]
    groups = np.empty(table.records, dtype=np.int32)
    count = 0
    while open_nodes:
        node = open_nodes.pop()
        halves = splitter.best_cut(node)
        if halves is None:
            groups[node] = count
            count += 1
        else:
            open_nodes += halves
    return groups


class _Splitter:
    """What all cuts of a run share: the table, the rules and some scratch space."""

    def __init__(self, table: EncodedTable, safety: Safety, sorts: NDArray[np.int64], smallest: int) -> None:
        self.table = table
        self.safety = safety
        self.strict = _stricter(safety)
        self.sorts = sorts
        self.smallest = smallest
        self.geometry = table_geometry(table)
        self.marks = np.zeros(int(self.geometry.code_offsets[-1]), dtype=np.int64)
        self.row = empty_row(safety)
        self.stamp = 0

    def best_cut(self, node: Records) -> list[Records] | None:
        """The two safe halves of least loss, or None."""
        if node.shape[0] < 2 * self.smallest:
            return None
        rows = self.table.row_of_record[node]
        best_loss, best = np.inf, None
        by_sort = np.argsort(self.sorts[node], kind="stable")
        for attribute in range(self.table.width):
            codes = self.table.codes[attribute, rows]
            if codes.min() == codes.max():
                continue
            cuts = [(left, self.strict) for left in _median_cuts(codes)]
            cuts.append((_cut_in_every_sort(codes, self.sorts[node], by_sort), self.safety))
            for left, safety in cuts:
                halves = [node[left], node[~left]]
                if min(halves[0].shape[0], halves[1].shape[0]) < self.smallest:
                    continue
                loss = self._loss(halves[0]) + self._loss(halves[1])
                if loss < best_loss and self._safe(halves[0], safety) and self._safe(halves[1], safety):
                    best_loss, best = loss, halves
        return best

    def _loss(self, records: Records) -> float:
        self.stamp += 1
        table = self.table
        return float(set_loss(self.geometry, table.codes, table.row_of_record, records, self.marks, self.stamp))

    def _safe(self, records: Records, safety: Safety) -> bool:
        return bool(set_deficit(safety, self.row, records) == 0.0)


def _stricter(safety: Safety) -> Safety:
    """The rules for plain cuts: a distance to the table may use up only a part of what is allowed.

    Otherwise the first few cuts would spend all of it, and the small imbalances of later cuts had no room left.
    """
    numbers = safety.numbers.copy()
    close = np.isin(safety.rules[:, KIND], (CLOSE_EQUAL, CLOSE_ORDERED, CLOSE_HIERARCHICAL))
    numbers[close, 0] *= SHARE_OF_PLAIN_CUTS
    return safety._replace(numbers=numbers)


def _median_cuts(codes: NDArray[np.int32]) -> list[NDArray[np.bool_]]:
    """Below the median, and up to it: equal codes stay together."""
    median = np.partition(codes, codes.shape[0] // 2)[codes.shape[0] // 2]
    return [codes < median, codes <= median]


def _cut_in_every_sort(
    codes: NDArray[np.int32], sorts: NDArray[np.int64], by_sort: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """The lower half of every sort goes left; where a half is not whole, the odd record goes left every second time."""
    order = by_sort[np.lexsort((codes[by_sort], sorts[by_sort]))]
    ordered = sorts[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = np.diff(np.append(begins, ordered.shape[0]))
    odd = counts % 2
    halves = (counts + odd * (np.cumsum(odd) % 2)) // 2
    rank = np.arange(ordered.shape[0]) - np.repeat(begins, counts)
    left = np.empty(codes.shape[0], dtype=np.bool_)
    left[order] = rank < np.repeat(halves, counts)
    return left
