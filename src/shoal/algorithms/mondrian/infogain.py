"""InfoGain Mondrian: the table is cut where that tells most about a class label.

K. LeFevre, D. DeWitt, R. Ramakrishnan, Workload-aware anonymization, KDD 2006.

Steps. Start with all records in one piece. Of all cuts of all attributes that leave both sides k records, make the one
of highest information gain about the class, and go on with both sides; a piece without an allowed cut is a group.
Records with the same values and label stay together.

Cost. O((n + values) m) per level of the tree of cuts.

Deviations. Categories are cut in the order of their codes (tree order of the hierarchy, else the sorted text) in two,
not into all children of a node. Of equal gains the most even cut is made, so a piece of one class, and a table without
a class, is cut at medians down to k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.mondrian.kernels.infogain import infogain_pieces
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.base import Requirement

VISITS_PER_CALL = 100_000_000  # keeps one kernel call below about a second, so that Ctrl-C is heard


@dataclass(frozen=True, kw_only=True)
class InfoGainMondrian(Algorithm):
    """Partitioning by information gain about `class_column`; without one, at medians."""

    class_column: str | None = None
    name: ClassVar[str] = "infogain-mondrian"
    title: ClassVar[str] = "top-down: split where that tells most about a class label"
    citation: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan 2006 (workload-aware)"
    takes_priorities: ClassVar[bool] = False

    def looks_at(self) -> tuple[str, ...]:
        return () if self.class_column is None else (self.class_column,)

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        labels, classes = self._labels(table)
        pairs, unit_of_record, weights = np.unique(
            table.row_of_record.astype(np.int64) * classes + labels, return_inverse=True, return_counts=True
        )
        rows, unit_labels = np.divmod(pairs, classes)
        order = np.arange(rows.shape[0], dtype=np.int64)
        codes = np.ascontiguousarray(table.codes[:, rows])
        units = codes, unit_labels.astype(np.int32), weights.astype(np.int64), order
        counts = np.zeros((max(attribute.size for attribute in table.attributes), classes), dtype=np.int64)
        sizes = _sizes_of_pieces(units, counts, requirement.k, table.records, context)
        group_of_unit = np.empty(rows.shape[0], dtype=np.int32)
        group_of_unit[order] = np.repeat(np.arange(sizes.shape[0], dtype=np.int32), sizes)
        return Clustering(group_of_unit[unit_of_record.reshape(-1)])

    def _labels(self, table: EncodedTable) -> tuple[NDArray[np.int64], int]:
        """The class of every record, and the number of classes."""
        if self.class_column is None:
            return np.zeros(table.records, dtype=np.int64), 1
        if self.class_column not in table.columns:
            hint = did_you_mean(self.class_column, tuple(table.columns))
            raise InputError(Problem("unknown-column", "there is no such class label", self.class_column, hint))
        column = table.columns[self.class_column]
        return column.codes.astype(np.int64), max(1, column.size)


def _sizes_of_pieces(
    units: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]],
    counts: NDArray[np.int64],
    k: int,
    records: int,
    context: Context,
) -> NDArray[np.int64]:
    """Cut until no cut is allowed; the order of the units then goes piece by piece, each of them of these sizes."""
    count = units[0].shape[1]
    stack = np.empty((min(count, records // k) + 128, 2), dtype=np.int64)
    stack[0] = (0, count)
    state = np.array([1, 0, 0], dtype=np.int64)
    while state[0] > 0:
        infogain_pieces(*units, stack, state, k, counts, VISITS_PER_CALL)
        context.report(state[2] / count)
    finished = stack[stack.shape[0] - state[1] :][::-1]
    return np.asarray(finished[:, 1] - finished[:, 0])
