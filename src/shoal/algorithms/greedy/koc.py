"""KOC: clusters around the records that are closest to everybody.

M. I. Pramanik, R. Y. K. Lau, W. Zhang, K-anonymity through the enhanced clustering method, IEEE ICEBE 2016.

Steps. The closeness of a record is 1 / its mean distance to all others. The floor(n / k) closest records are the
centres. From the last centre to the first, a cluster takes the unassigned record that distorts the generalized
cluster least, until it has k records. The fewer than k records that are left go, one by one, where they distort
least. No record is suppressed, and every cluster has k to 2k - 1 records.

The distortion of a category with a hierarchy is the weighted hierarchical distance (WHD) of lifting it to the common
ancestor; that of a number the width of the range over that of its domain. `weights` chooses the level weights,
`beta` their exponent; `wid` also weighs each attribute by its number of generalization steps. Priorities multiply.

Cost. Closeness comes exactly from the value counts in O(n m) instead of O(n^2 m). Growing evaluates every distinct
row left about once per cluster: O(n^2 / k) sums of m lookups. Memory is linear.

Readings. The number of centres N_G is an input of the paper's figure; floor(n / k), the most that leaves k records for
each, is our choice (`clusters` is another one; what is then left over is more). A cluster takes the record that
distorts it least, as the text of the paper has it: `join="distortion"`, the default. Lines 16 and 31 of
its figure can also be read as nearest to the fixed centre, for the cluster and for what is left: `join="centre"`.
That clusters have fewer than 2k records is the paper's claim; it holds if no cluster gets k records that were left.

Deviations and choices. A category without a hierarchy is released as a set and costs what the set costs,
(values - 1) / (domain - 1); the paper knows only categories with hierarchies. A numeric range costs its width (the
paper measures only pairs of numbers). Ties: among equally close records the first row in lexicographic order is a
centre first; among equally good candidates the first row wins, and equal records are taken together. Because the
centres are by definition in the middle of the data, they lie close together: clusters formed last get what nobody
else took, and the loss is far from the best. That is how the method works, not an error here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.greedy.kernels.koc import grow_clusters
from shoal.algorithms.greedy.leftovers import place_leftovers
from shoal.algorithms.greedy.takes import Takes, groups_of_records
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.encode.geometry import table_geometry
from shoal.hierarchies.weights import check_scheme, whd, wid
from shoal.models.base import Requirement

ROW_VISITS_PER_CALL = 20_000_000  # keeps one kernel call well below a second, so that Ctrl-C is heard


@dataclass(frozen=True, kw_only=True)
class Koc(Algorithm):
    """Closest records as centres, clusters grown by least distortion."""

    weights: str = "uniform"  # level weights: uniform, height, height-koc
    beta: float = 1.0  # exponent of the height weights
    wid: bool = False  # weigh attributes by their number of generalization steps
    clusters: int | None = None  # N_G, the number of centres; None: as many as there can be clusters of k records
    join: str = "distortion"  # what decides which record joins: growth of distortion, or distance to the "centre"
    name: ClassVar[str] = "koc"
    title: ClassVar[str] = "the records closest to all others as centres, clusters grown by least distortion"
    citation: ClassVar[str] = "Pramanik, Lau, Zhang 2016"

    def __post_init__(self) -> None:
        check_scheme(self.weights, self.beta)
        if self.clusters is not None and self.clusters < 1:
            raise ValueError(f"clusters must be at least 1, not {self.clusters}")
        if self.join not in ("distortion", "centre"):
            raise ValueError(f"join must be distortion or centre, not '{self.join}'")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        most = max(1, table.records // requirement.k)
        measured = distortion_table(table, self.weights, self.beta, self.wid)
        centres = closest_rows(measured, most if self.clusters is None else min(self.clusters, most))
        groups = self._grown(measured, centres, min(requirement.k, table.records), context)
        if self.join == "centre":
            return Clustering(_nearest_centres(measured, groups, centres))
        return Clustering(place_leftovers(measured, groups, centres.size))

    def _grown(self, table: EncodedTable, centres: NDArray[np.int32], size: int, context: Context) -> NDArray[np.int32]:
        """The cluster of every record, each with `size` records around its centre; -1 for those that are left."""
        left = table.weights - np.bincount(centres, minlength=table.rows)
        alive, row_of_slot = table.codes.copy(), np.arange(table.rows, dtype=np.int32)
        takes = Takes.room(table.rows + centres.size * 2 + 2)
        state = np.array([table.rows, centres.size, 0], dtype=np.int64)
        how = (centres, size, self.join == "centre", max(1, ROW_VISITS_PER_CALL // table.rows))
        geometry = table_geometry(table)
        while state[1] > 0:
            grow_clusters(geometry, table.codes, *how, alive, left, row_of_slot, state, *takes)
            context.report(1.0 - state[1] / centres.size)
        own = Takes(centres, np.arange(centres.size, dtype=np.int32), np.ones(centres.size, dtype=np.int64))
        return groups_of_records(table.row_of_record, table.weights, own.then(takes.at(slice(int(state[2])))))


def _nearest_centres(table: EncodedTable, groups: NDArray[np.int32], centres: NDArray[np.int32]) -> NDArray[np.int32]:
    """A copy of `groups` in which the records of group -1 joined the cluster whose centre is nearest, the first of
    equals."""
    left = np.flatnonzero(groups < 0)
    rows, place = np.unique(table.row_of_record[left], return_inverse=True)
    nearest = [int(np.argmin(distances_to(table, int(row), centres))) for row in rows]
    placed = groups.copy()
    placed[left] = np.array(nearest, dtype=np.int32)[place] if left.size else 0
    return placed


def distances_to(table: EncodedTable, row: int, others: NDArray[np.int32]) -> NDArray[np.float64]:
    """(others,) the distance of a record of one row to records of other rows."""
    total = np.zeros(others.shape[0])
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        one, many = int(codes[row]), codes[others]
        if attribute.kind is Kind.INTERVAL:
            apart = np.minimum(1.0, np.abs(attribute.positions[many] - attribute.positions[one]))
        elif attribute.kind is Kind.TREE:
            level = np.argmax(attribute.ancestors[:, many] == attribute.ancestors[:, [one]], axis=0)
            apart = attribute.level_cost[level, one]
        else:
            apart = (many != one) / max(1, attribute.size - 1)
        total += attribute.weight * apart
    return total


def distortion_table(table: EncodedTable, weights: str, beta: float, use_wid: bool) -> EncodedTable:
    """The same table with losses measured as the paper does: WHD in hierarchies, WID on the attributes."""
    factors = wid([_steps(attribute) for attribute in table.attributes]) if use_wid else np.ones(table.width)
    attributes = tuple(
        replace(
            attribute,
            weight=attribute.weight * float(factor),
            level_cost=_lift_cost(attribute, weights, beta),
        )
        for attribute, factor in zip(table.attributes, factors, strict=True)
    )
    return replace(table, attributes=attributes)


def _steps(attribute: EncodedAttribute) -> int:
    """The generalization steps that the user gave; a number without any has one, to everything."""
    return 1 if attribute.halvings else attribute.levels - 1


def _lift_cost(attribute: EncodedAttribute, weights: str, beta: float) -> NDArray[np.float64]:
    if attribute.kind is not Kind.TREE:
        return attribute.level_cost
    costs = whd(attribute.levels - 1, weights, beta)
    return np.ascontiguousarray(np.broadcast_to(costs[:, np.newaxis], attribute.level_cost.shape))


def closest_rows(table: EncodedTable, count: int) -> NDArray[np.int32]:
    """The row of each of the `count` closest records, closest first; ties in the order of the rows."""
    order = np.argsort(total_distances(table), kind="stable")
    each = np.minimum(table.weights[order], count)
    ends = np.minimum(np.cumsum(each), count)
    return np.repeat(order, np.diff(ends, prepend=0)).astype(np.int32)


def total_distances(table: EncodedTable) -> NDArray[np.float64]:
    """(rows,) the sum of the distances of a record of each row to all records. Closeness is (n - 1) / this."""
    total = np.zeros(table.rows)
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        counts = np.bincount(codes, weights=table.weights, minlength=attribute.size).astype(np.float64)
        if attribute.kind is Kind.INTERVAL:
            of_code = _interval_distances(attribute, counts)
        elif attribute.kind is Kind.TREE:
            of_code = _tree_distances(attribute, counts)
        else:
            of_code = (table.records - counts) / max(1, attribute.size - 1)
        total += attribute.weight * of_code[codes]
    return total


def _interval_distances(attribute: EncodedAttribute, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """From prefix sums: codes are in the order of their positions. A missing value is at distance 1 from all others."""
    missing = attribute.missing_code
    present = attribute.size if missing < 0 else missing
    positions, here = attribute.positions[:present], counts[:present]
    below, moment = np.cumsum(here), np.cumsum(here * positions)
    distances = np.zeros(attribute.size)
    if present:
        distances[:present] = positions * (2 * below - below[-1]) + moment[-1] - 2 * moment
    if missing >= 0:
        distances[:present] += counts[missing]
        distances[missing] = here.sum()
    return distances


def _tree_distances(attribute: EncodedAttribute, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Records that share the ancestor of a level but none below are at that level's cost."""
    distances = np.zeros(attribute.size)
    inside = counts
    for level in range(1, attribute.levels):
        nodes = attribute.ancestors[level]
        sharing = np.bincount(nodes, weights=counts)[nodes]
        distances += attribute.level_cost[level] * (sharing - inside)
        inside = sharing
    return distances
