"""The groups of one QID: records that share the cut values of its attributes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.tdr.conditions import Qid
from shoal.algorithms.tdr.cut_values import CutValues
from shoal.algorithms.tdr.kernels.groups import measure_groups, split_groups, write_groups
from shoal.encode.encoded_table import EncodedTable

UNMEASURED = np.int64(2**62)


class QidGroups:
    """Group segments, lists of groups by cut value, and the floor of every refinement (see `kernels.tdr`)."""

    def __init__(self, table: EncodedTable, qid: Qid, values: CutValues) -> None:
        self.table = table
        self.qid = qid
        self.attributes = np.array(qid.attributes, dtype=np.int64)
        rows = table.rows
        self.order = np.arange(rows, dtype=np.int32)
        self.codes = np.ascontiguousarray(table.codes[self.attributes])
        self.weights = table.weights.copy()
        self.scratch = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int64)
        self.counts = np.zeros(max(attribute.size for attribute in table.attributes) + 1, dtype=np.int64)
        self._begin_with_one(values)
        self.measure(values, refined=-1)

    def _begin_with_one(self, values: CutValues) -> None:
        """Room for as many groups as there can be; the first holds all records."""
        rows = self.table.rows
        largest = max(1, min(rows, self.table.records // max(1, self.qid.threshold)))
        self.start = np.zeros(largest, dtype=np.int32)
        self.end = np.zeros(largest, dtype=np.int32)
        self.size = np.zeros(largest, dtype=np.int64)
        self.following = np.full((len(self.qid.attributes), largest), -1, dtype=np.int32)
        self.touched = np.zeros(largest, dtype=np.int32)
        self.changed = np.ones(largest, dtype=np.bool_)
        self.head = np.full(values.capacity, -1, dtype=np.int32)
        self.floors = np.full(values.capacity, UNMEASURED, dtype=np.int64)
        self.count = 1
        self.end[0] = rows
        self.size[0] = self.smallest = self.table.records
        self.head[values.roots[self.attributes]] = 0
        self._touched_count = 1

    def split(
        self, attribute: int, value: int, children: NDArray[np.int32], slots: NDArray[np.int32], values: CutValues
    ) -> None:
        """Give every group of a cut value to its children."""
        self.count, self._touched_count, smallest = split_groups(
            self.codes,
            self.weights,
            values.offsets[self.attributes],
            values.value_of_code,
            values.slot_counts,
            self.qid.attributes.index(attribute),
            slots,
            children,
            value,
            self.order,
            *self.scratch,
            self.start,
            self.end,
            self.size,
            self.head,
            self.following,
            self.count,
            self.touched,
            self.changed,
        )
        self.smallest = min(self.smallest, int(smallest))

    def measure(self, values: CutValues, refined: int) -> None:
        """Lower the floors by the groups that the last split touched."""
        measure_groups(
            self.codes,
            self.weights,
            self.qid.attributes.index(refined) if refined >= 0 else -1,
            values.offsets[self.attributes],
            values.value_of_code,
            values.slot_of_code,
            values.slot_counts,
            values.open_values,
            self.qid.threshold,
            self.start,
            self.end,
            self.size,
            self.touched,
            self.changed,
            self._touched_count,
            self.counts,
            self.floors,
        )

    @property
    def touched_groups(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_], int]:
        """Start and end of all groups, those that the last split touched, which of them are new, how many they are."""
        return self.start, self.end, self.touched, self.changed, self._touched_count

    def group_of_row(self) -> NDArray[np.int32]:
        groups = np.empty(self.table.rows, dtype=np.int32)
        write_groups(self.order, self.start, self.end, self.count, groups)
        return groups

    def make_room(self, capacity: int) -> None:
        """For cut values that have appeared since."""
        missing = capacity - self.head.shape[0]
        if missing > 0:
            self.head = np.concatenate([self.head, np.full(missing, -1, dtype=np.int32)])
            self.floors = np.concatenate([self.floors, np.full(missing, UNMEASURED, dtype=np.int64)])
