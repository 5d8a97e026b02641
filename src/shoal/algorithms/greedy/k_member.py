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
from shoal.algorithms.greedy.takes import Takes, groups_of_records
from shoal.encode.encoded_table import EncodedTable, IntegerArray
from shoal.encode.geometry import table_geometry
from shoal.models.base import Requirement

ROW_VISITS_PER_CALL = 50_000_000  # keeps one kernel call well below a second, so that Ctrl-C is heard


@dataclass(frozen=True, kw_only=True)
class KMember(Algorithm):
    """Greedy k-member clustering."""

    name: ClassVar[str] = "k-member"
    title: ClassVar[str] = "greedy: grow one group at a time by the record that costs least"
    citation: ClassVar[str] = "Byun, Kamra, Bertino, Li 2007"

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        groups, count = _grown(table, requirement.k, int(context.random().integers(table.rows)), context)
        return Clustering(place_leftovers(table, groups, count))


def _grown(table: EncodedTable, k: int, first: int, context: Context) -> tuple[IntegerArray, int]:
    """The group of every record, -1 for those that are left, and how many groups there are; `first` is a row."""
    rows, records = table.rows, table.records
    geometry = table_geometry(table)
    alive, left, row_of_slot = table.codes.copy(), table.weights.copy(), np.arange(rows, dtype=np.int32)
    state = np.array([rows, records, 0, 0, first], dtype=np.int64)
    takes = Takes.room(rows + 2 * (records // k) + 2)
    low, high = np.empty(table.width, dtype=np.int32), np.empty(table.width, dtype=np.int32)
    present = np.zeros(geometry.positions.shape[0], dtype=np.uint8)
    costs = np.zeros(geometry.positions.shape[0], dtype=np.float64)
    per_call = max(1, ROW_VISITS_PER_CALL // (rows * k))
    work = (geometry, alive, left, row_of_slot, state, k, per_call, *takes)
    while k_member_groups(*work, low, high, present, costs) > 0:
        context.report(1.0 - state[1] / records)
    taken = takes.at(slice(int(state[3])))
    return groups_of_records(table.row_of_record, table.weights, taken), int(state[2])
