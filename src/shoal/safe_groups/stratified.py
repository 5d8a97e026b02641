"""Safe groups from the top: the whole table is halved again and again, and every half stays safe.

Used by the repair when a requirement is so far from what an algorithm knew that mending its groups one by one would
ruin them (t-closeness on a column that depends on the quasi-identifiers, say). Every node tries two kinds of cut on
every attribute, and keeps the one of least loss whose halves are both safe:

- at the median, as Mondrian does (LeFevre, DeWitt, Ramakrishnan, ICDE 2006);
- at the median within every sort of record, a sort being the records that are alike for all models. Both halves then
  have the distribution of the node, so a safe node nearly always has such a cut; the idea is that of dealing records
  out by sensitive value (Xiao, Tao, Anatomy, VLDB 2006), but near ones are dealt together.

Cost: the records are ordered once for every attribute, O(m n log n); then at most O(m^2 n) on each of the
O(log(n / k)) levels, in the kernel. Memory: 4 bytes for every record and attribute, twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.geometry import Geometry
from shoal.kernels.safety import CLOSE_EQUAL, CLOSE_HIERARCHICAL, CLOSE_ORDERED, KIND, Safety
from shoal.models.safety import empty_row
from shoal.safe_groups.kernels.stratified import Nodes, stratify

SHARE_OF_PLAIN_CUTS = 0.9


def stratified_groups(
    codes: NDArray[np.int32], geometry: Geometry, safety: Safety, sorts: NDArray[np.int64], smallest: int
) -> NDArray[np.int32]:
    """A group for every record; every group is safe if all records together are.

    `codes` has a line for every attribute; `safety.codes` and `sorts` are of the same records.
    """
    records = codes.shape[1]
    nodes = Nodes(
        codes=codes,
        sorts=sorts,
        lines=np.stack([np.argsort(line, kind="stable").astype(np.int32) for line in (*codes, sorts)]),
        side=np.zeros((2, records), dtype=np.uint8),
        going_left=np.zeros((2, int(sorts.max(initial=0)) + 1), dtype=np.int64),
        marks=np.zeros((2, int(geometry.code_offsets[-1])), dtype=np.int64),
        row=empty_row(safety),
        spare=np.empty(records, dtype=np.int32),
    )
    numbers = np.stack([_stricter(safety), safety.numbers])
    own = safety._replace(numbers=safety.numbers.copy())  # the kernel changes them from cut to cut
    stack = np.empty((records // max(1, smallest) + 2, 2), dtype=np.int64)
    groups = np.empty(records, dtype=np.int32)
    stratify(geometry, own, numbers, nodes, smallest, stack, groups)
    return groups


def _stricter(safety: Safety) -> NDArray[np.float64]:
    """The rules' numbers for plain cuts: a distance to the table may use up only a part of what is allowed.

    Otherwise the first few cuts would spend all of it, and the small imbalances of later cuts had no room left.
    """
    numbers: NDArray[np.float64] = safety.numbers.copy()
    close = np.isin(safety.rules[:, KIND], (CLOSE_EQUAL, CLOSE_ORDERED, CLOSE_HIERARCHICAL))
    numbers[close, 0] *= SHARE_OF_PLAIN_CUTS
    return numbers
