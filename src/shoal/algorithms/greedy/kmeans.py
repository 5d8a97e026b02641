"""k-means with at least k records per cluster: the baseline that KOC was compared with.

J. MacQueen, Some methods for classification and analysis of multivariate observations, 1967; categories as in
Z. Huang, Extensions to the k-means algorithm for clustering large data sets with categorical values, 1998; as a
baseline of anonymization: Pramanik, Lau, Zhang 2016 (see `shoal.algorithms.greedy.koc`).

Steps. floor(n / k) different records, chosen at random, are the first centres. `rounds` times, or until nothing
changes: every record goes to its nearest centre; every centre moves to the mean of its numbers and the commonest of
its categories. Then clusters with fewer than k records are dissolved, the smallest first; their records go to the
nearest centre left. Clusters may be much larger than k: at least k records is the only condition.

Cost. O(rounds n^2 / k) distances over the distinct rows, computed for one row and all centres at a time; rows that
share their first values share the sums over them. Memory is linear.

Deviations and choices. Neither paper says how a mean of categories or the minimal size is to be had; the distance is
that of KOC, so that both work with the same measure. Missing numbers are at distance 1 from present ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.greedy.kernels.kmeans import assign_rows, dissolve_small, move_centres
from shoal.algorithms.greedy.koc import distortion_table
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.hierarchies.weights import check_scheme
from shoal.kernels.geometry import Geometry
from shoal.models.base import Requirement

PIECES = 16  # rows are assigned in so many fixed pieces, on all threads


# means and commonest codes (attributes, centres), which centres are left, and the centre of every row
Centres = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32]]


@dataclass(frozen=True, kw_only=True)
class KMeans(Algorithm):
    """Means and commonest values as centres, small clusters dissolved."""

    rounds: int = 10
    weights: str = "uniform"  # level weights: uniform, height, height-koc
    beta: float = 1.0  # exponent of the height weights
    wid: bool = False  # weigh attributes by their number of generalization steps
    name: ClassVar[str] = "kmeans"
    title: ClassVar[str] = "k-means with at least k records per cluster, the baseline of KOC"
    citation: ClassVar[str] = "MacQueen 1967; Huang 1998; Pramanik, Lau, Zhang 2016"

    def __post_init__(self) -> None:
        check_scheme(self.weights, self.beta)
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, not {self.rounds}")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        geometry = table_geometry(distortion_table(table, self.weights, self.beta, self.wid))
        rows = _random_rows(table, max(1, table.records // requirement.k), context)
        modes = np.ascontiguousarray(table.codes[:, rows])
        means = geometry.positions[geometry.code_offsets[:-1, np.newaxis] + modes]
        alive = np.ones(rows.size, dtype=np.uint8)
        assigned = np.full(table.rows, -1, dtype=np.int32)
        rounds = self._settle(table, geometry, (means, modes, alive, assigned), context)
        sizes = np.bincount(assigned, weights=table.weights, minlength=rows.size)
        by_size = np.argsort(sizes, kind="stable")
        dissolve_small(geometry, table.codes, table.weights, by_size, requirement.k, means, modes, alive, assigned)
        _, groups = np.unique(assigned, return_inverse=True)
        return Clustering(groups.astype(np.int32)[table.row_of_record], details={"rounds": rounds})

    def _settle(self, table: EncodedTable, geometry: Geometry, centres: Centres, context: Context) -> int:
        """Assign rows and move centres until nothing changes; returns the number of rounds."""
        means, modes, alive, assigned = centres
        for number in range(self.rounds):
            changed = _assign(table, geometry, means, modes, alive, assigned, context)
            context.report((number + 1) / (self.rounds + 1))
            if changed == 0:
                break
            order = np.argsort(assigned, kind="stable")
            starts = np.searchsorted(assigned[order], np.arange(alive.size + 1))
            move_centres(geometry, table.codes, table.weights, order, starts, means, modes)
        return number + 1


def _random_rows(table: EncodedTable, count: int, context: Context) -> NDArray[np.int32]:
    """Up to `count` different rows, each the row of a random record."""
    rows = table.row_of_record[context.random().permutation(table.records)]
    _, first = np.unique(rows, return_index=True)
    chosen: NDArray[np.int32] = rows[np.sort(first)[:count]]
    return chosen


def _assign(
    table: EncodedTable,
    geometry: Geometry,
    means: NDArray[np.float64],
    modes: NDArray[np.int32],
    alive: NDArray[np.uint8],
    assigned: NDArray[np.int32],
    context: Context,
) -> int:
    """Every row to its nearest centre, on all threads; returns how many rows changed."""
    bounds = np.linspace(0, table.rows, PIECES + 1).astype(np.int64)

    def piece(number: int) -> int:
        begin, end = bounds[number], bounds[number + 1]
        return int(assign_rows(geometry, table.codes, begin, end, means, modes, alive, assigned))

    return sum(context.map(piece, range(PIECES)))
