"""Non-homogeneous generalization: every record has a box of its own that covers k records.

W. K. Wong, N. Mamoulis, D. W. Cheung, Non-homogeneous generalization in privacy preserving data publishing,
SIGMOD 2010; the comparator of clustering by bisection (`shoal.algorithms.bisection.cb`).

Steps. Partition the records from the top: two far-away records grow into two groups, each record joins where it adds
less loss (as in J. Xu et al., Utility-based anonymization using local recoding, KDD 2006). Put the records of a
partition into a ring with similar neighbours. The box at each place of the ring covers the record there and the k - 1
after it, so every box covers k records and every record is covered by k boxes. A random assignment hands out the
boxes: each record gets one of its k boxes, each with probability 1/k.

What it promises is *not* class-based k-anonymity: released rows differ from each other. Who knows somebody's values
finds at least k released rows that fit, and every released row fits at least k people; and each of these k
assignments is part of a consistent assignment of the whole ring. `shoal.verification.nonhomogeneous` checks both counts
on the released values.

Cost. O(n m log n) expected for the partitions, O(n m s) for rings of s < `partition` k records, and O(n k log s)
random steps for the assignments. Memory is linear.

Deviations and choices. `partition` sets how large partitions may be, in multiples of k. Rings follow nearest
neighbours, every other record on the way back, so that there is no long step where the ends meet. Categories without
a hierarchy are ranges over their sorted values here, as in the NCP of the papers, for a box has a lowest and a
highest value. Only k-anonymity can be asked for: the other models speak of equivalence classes, which this release
does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Boxes, Clustering, Context
from shoal.algorithms.bisection.kernels.nonhomogeneous import box_rings, partition_records
from shoal.algorithms.bisection.kernels.split_work import make_work
from shoal.algorithms.bisection.repeated_splits import PIECES, split_records
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.errors import InputError, Problem
from shoal.kernels.geometry import FLAT, INTERVAL, Geometry
from shoal.models.base import Requirement


@dataclass(frozen=True, kw_only=True)
class NonHomogeneous(Algorithm):
    """A box per record over k records of a ring, randomly assigned."""

    partition: int = 2  # partitions have fewer than this many times k records (and at least k)
    name: ClassVar[str] = "nonhomogeneous"
    title: ClassVar[str] = "a box per record over k records of a ring, randomly assigned; no equivalence classes"
    citation: ClassVar[str] = "Wong, Mamoulis, Cheung 2010"
    class_based: ClassVar[bool] = False
    own_values: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.partition < 2:
            raise ValueError(f"partition must be at least 2, not {self.partition}")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        if not requirement.size_only:
            message = "non-homogeneous generalization has no equivalence classes: it can promise k-anonymity only"
            raise InputError(Problem("unsupported-model", message, hint="choose another algorithm for this model"))
        k = requirement.k
        order, starts = self._partition(table, k, context)
        partitions = starts.size - 1
        groups = np.empty(table.records, dtype=np.int32)
        groups[order] = np.repeat(np.arange(partitions, dtype=np.int32), np.diff(starts))
        details = {"partitions": partitions, "model": "every box fits k records, every record fits k boxes"}
        return Clustering(groups, boxes=self._boxes(table, order, starts, k, context), details=details)

    def _boxes(
        self, table: EncodedTable, order: NDArray[np.int64], starts: NDArray[np.int64], k: int, context: Context
    ) -> Boxes:
        """A box for each record over k records of its partition, on all threads."""
        geometry, codes = ordered_geometry(table), table.record_codes
        low, high = np.empty_like(codes), np.empty_like(codes)
        box_of_record = np.empty(table.records, dtype=np.int32)
        partitions = starts.size - 1
        seeds = context.random(1).integers(2**63, size=partitions).astype(np.uint64)
        bounds = np.linspace(0, partitions, PIECES + 1).astype(np.int64)

        def piece(number: int) -> None:
            first, last = bounds[number], bounds[number + 1]
            box_rings(geometry, codes, order, starts, first, last, seeds, k, low, high, box_of_record)

        context.map(piece, range(PIECES))
        return Boxes(low, high, box_of_record)

    def _partition(self, table: EncodedTable, k: int, context: Context) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The records partition by partition, and where each partition starts."""
        geometry, codes = ordered_geometry(table), table.record_codes
        largest = int(np.diff(geometry.code_offsets).max())

        def bisect(order: Any, begin: int, end: int, seed: np.uint64, once: bool, last: Any, seeds: Any) -> int:
            work = make_work(geometry, end - begin, k, largest)
            how = (k, self.partition * k - 1, once, work, last, seeds)
            return int(partition_records(geometry, codes, order, begin, end, seed, *how))

        return split_records(table.records, int(context.random(0).integers(2**63)), bisect, context)


def ordered_geometry(table: EncodedTable) -> Geometry:
    """The attributes with categories without a hierarchy measured as ranges over their order."""
    geometry = table_geometry(table)
    return geometry._replace(kinds=np.where(geometry.kinds == FLAT, np.int32(INTERVAL), geometry.kinds))
