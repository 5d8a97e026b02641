"""k-member: grow one group at a time, always by the record that costs least.

J.-W. Byun, A. Kamra, E. Bertino, N. Li, Efficient k-anonymization using clustering techniques, DASFAA 2007.

Steps. Start from a random record. Repeatedly: take the record farthest from the last group as the seed of a new one
and add, k - 1 times, the record whose addition raises the group's loss least. When fewer than k records are left,
each goes to the group whose loss it raises least.

Cost. O(n^2) record evaluations, each a sum of table lookups that stops as soon as it cannot win. Equal rows are
evaluated once. Memory is linear.

Deviations. The farthest record is measured from the last group rather than from its seed record (one scan with the
tables that are there). Among equals the first row in lexicographic order wins, so equal rows are taken together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.greedy.kernels.k_member import k_member_groups
from shoal.algorithms.greedy.leftovers import place_leftovers
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.kernels.sorting import stable_order
from shoal.models.base import Requirement

ROW_VISITS_PER_CALL = 50_000_000  # keeps one kernel call well below a second, so that Ctrl-C is heard


@dataclass(frozen=True, kw_only=True)
class KMember(Algorithm):
    """Greedy k-member clustering."""

    name: ClassVar[str] = "k-member"
    title: ClassVar[str] = "greedy: grow one group at a time by the record that costs least"
    citation: ClassVar[str] = "Byun, Kamra, Bertino, Li 2007"

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        k, rows, records = requirement.k, table.rows, table.records
        geometry = table_geometry(table)
        alive = table.codes.copy()
        left = table.weights.copy()
        row_of_slot = np.arange(rows, dtype=np.int32)
        first = int(context.random().integers(rows))
        state = np.array([rows, records, 0, 0, first], dtype=np.int64)
        takes = rows + 2 * (records // k) + 2
        out_row, out_group = np.empty(takes, dtype=np.int32), np.empty(takes, dtype=np.int32)
        out_take = np.empty(takes, dtype=np.int64)
        low, high = np.empty(table.width, dtype=np.int32), np.empty(table.width, dtype=np.int32)
        present = np.zeros(geometry.positions.shape[0], dtype=np.uint8)
        costs = np.zeros(geometry.positions.shape[0], dtype=np.float64)
        per_call = max(1, ROW_VISITS_PER_CALL // (rows * k))
        work = (geometry, alive, left, row_of_slot, state, k, per_call, out_row, out_group, out_take)
        while k_member_groups(*work, low, high, present, costs) > 0:
            context.report(1.0 - state[1] / records)
        written = int(state[3])
        groups = spread_takes(table, out_row[:written], out_group[:written], out_take[:written])
        return Clustering(place_leftovers(table, groups, int(state[2])))


def spread_takes(
    table: EncodedTable,
    rows: np.typing.NDArray[np.int32],
    groups: np.typing.NDArray[np.int32],
    takes: np.typing.NDArray[np.int64],
) -> np.typing.NDArray[np.int32]:
    """From "so many records of this row go to this group" to a group per record; -1 for records of no take.

    The records of a row are handed out in the order of the input.
    """
    order = stable_order(table.row_of_record, table.rows)
    starts = np.concatenate([[0], np.cumsum(table.weights)])
    by_row = np.argsort(rows, kind="stable")
    rows, groups, takes = rows[by_row], groups[by_row], takes[by_row]
    ends = np.cumsum(takes)
    first_of_row = np.concatenate([[True], rows[1:] != rows[:-1]]) if rows.size else np.zeros(0, dtype=bool)
    taken_before_row = np.maximum.accumulate(np.where(first_of_row, ends - takes, 0))
    begin = starts[rows] + (ends - takes) - taken_before_row
    places = np.repeat(begin - (ends - takes), takes) + np.arange(int(ends[-1]) if ends.size else 0)
    result = np.full(table.records, -1, dtype=np.int32)
    result[order[places]] = np.repeat(groups, takes)
    return result
