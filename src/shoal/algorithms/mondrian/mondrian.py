"""Mondrian: split the table at medians for as long as both halves keep k records.

K. LeFevre, D. DeWitt, R. Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.

Steps. Start with all records in one piece. Take the attribute with the widest normalized range in the piece, cut at
its median, and go on with both halves; if no allowable cut of that attribute exists, try the next widest; a piece
without an allowable cut is a group. `strict`: records with the same value stay on one side. Relaxed (`strict=False`):
records equal to the median are dealt to both sides, so every piece of 2k records or more is halved.

Cost. O(n m log n): every level reads each record once per attribute. Strict mode works on distinct rows.

Deviations. Categories are ordered by their codes (the tree order of the hierarchy, else the sorted text), and the
width of a category with a hierarchy is the loss of the lowest common ancestor. The width is weighted by the
attribute's priority.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.mondrian.kernels.mondrian import mondrian_pieces
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.models.base import Requirement

ROW_VISITS_PER_CALL = 200_000_000  # keeps one kernel call below about a second, so that Ctrl-C is heard


@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    """Median partitioning, strict or relaxed."""

    strict: bool = True
    name: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "top-down: split at the median of the widest attribute"
    citation: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan 2006"

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        group_of_row = self._group_rows(table, requirement.k, context)
        return Clustering(group_of_row[table.row_of_record] if self.strict else group_of_row)

    def _group_rows(self, table: EncodedTable, k: int, context: Context) -> NDArray[np.int32]:
        """(rows or, relaxed, records,) the piece that each is in."""
        codes = table.codes if self.strict else table.record_codes
        rows = codes.shape[1]
        weights = table.weights if self.strict else np.ones(rows, dtype=np.int64)
        order = np.arange(rows, dtype=np.int64)
        pieces = min(rows, table.records // k) + 64
        stack = np.empty((pieces + 64, 2), dtype=np.int64)
        stack[0] = (0, rows)
        state = np.array([1, 0, 0], dtype=np.int64)
        geometry = table_geometry(table)
        while state[0] > 0:
            mondrian_pieces(geometry, codes, weights, order, stack, state, k, not self.strict, ROW_VISITS_PER_CALL)
            context.report(state[2] / rows)
        finished = stack[stack.shape[0] - state[1] :][::-1]
        sizes = finished[:, 1] - finished[:, 0]
        # Pieces are finished from left to right, so they cover the order of the rows without gaps.
        group_of_row = np.empty(rows, dtype=np.int32)
        group_of_row[order] = np.repeat(np.arange(sizes.shape[0], dtype=np.int32), sizes)
        return group_of_row
