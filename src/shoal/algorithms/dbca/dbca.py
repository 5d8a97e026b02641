"""DBCA: density-based clustering with attribute priorities, and DBCA:CM, which keeps class labels together.

X. Sun, H. Wang, J. Li, Priority driven k-anonymisation for privacy protection, AusDM 2008.

1. Distance of two records: the cost of lifting both to their closest common generalization, the WHD of each attribute
   times its priority. The neighbour distance of a record is the mean distance to its k nearest; its density is 1 over
   that.
2. The densest record is a centre; it and the k - 1 nearest records that are in no group yet are a group.
3. The next centre is the densest record left among those farther from the last centre than both neighbour
   distances together.
4. When fewer than k records are left, each goes to the group whose distortion it raises least.

DBCA:CM keeps records of one class label together, by a penalty or by force.

Cost: O(n^2 m) at worst, as in the paper, but over distinct rows in blocks of similar ones, whose bounds leave out most
of the table. Memory is linear in n.

Deviations and decisions:
- A record is not its own neighbour. Equal records are neighbours at distance 0; densities are compared by neighbour
  distances, which may be 0. Of equals the one that comes first in row order is taken.
- When no record is far enough from the last centre (the paper does not say), the densest one left is taken; how often
  is in the details (`crowded_centres`).
- DBCA:CM. The paper says that the records of a group are forced to have the same label, and names a penalty. With
  `labels="forced"` groups are made inside each label; labels with fewer than k records cannot have their own, so
  these records go where they raise distortion least. The default, `labels="penalty"`, is our reading: the label acts
  like an attribute: two records with different labels are farther apart by `penalty`, in densities as in groups;
  leftovers are compared with the group's majority.
  Without a class label the result is that of DBCA, and the details say so.
- Models other than k-anonymity are left to the shared repair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.dbca.kernels.dbca import Centres, Nearest, group_around_centres, neighbour_costs, place_records
from shoal.algorithms.greedy.takes import Takes, groups_of_records
from shoal.algorithms.kaca.blocks import block_order, make_blocks
from shoal.algorithms.kaca.distance import IntegerArray, Ladders, group_covers, make_ladders
from shoal.algorithms.kaca.merging import check_feasible
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable
from shoal.encode.some_records import some_records
from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.weights import check_scheme, order_problems, order_weights
from shoal.models.base import Requirement

UNITS_PER_PIECE = 1024  # of parallel work; fixed, so that the number of threads changes nothing
GROUPS_PER_CALL = 1000  # so that progress is seen and an interrupt is heard


@dataclass(frozen=True, kw_only=True)
class Dbca(Algorithm):
    """Groups around the densest records."""

    weights: str = "uniform"  # of the levels: uniform or height
    beta: float = 1.0  # exponent of height weights
    priority: tuple[str, ...] = ()  # quasi-identifiers, most important first; empty: the priorities of the job

    name: ClassVar[str] = "dbca"
    title: ClassVar[str] = "groups around the densest records, important attributes generalized last"
    citation: ClassVar[str] = "Sun, Wang, Li 2008"

    def __post_init__(self) -> None:
        check_scheme(self.weights, self.beta)
        order = self.priority.split(",") if isinstance(self.priority, str) else self.priority
        object.__setattr__(self, "priority", tuple(order))

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        check_feasible(table, requirement)
        ladders = make_ladders(prioritized(table, self.priority), self.weights, self.beta)
        labels = np.zeros(table.rows, dtype=np.int32)
        units = _Units(ladders, ladders.flat_codes(table.codes), table.weights, table.row_of_record, labels, 0.0)
        return _density_clusters(table, ladders, units, requirement, context)


@dataclass(frozen=True, kw_only=True)
class DbcaCm(Dbca):
    """DBCA that keeps records of the same class label together."""

    class_column: str | None = None  # the column of the class label; None: there is nothing to keep, as in DBCA
    penalty: float = 1.0  # added to the distance of records with different labels
    labels: str = "penalty"  # or "forced": a group has one label, as the paper says

    name: ClassVar[str] = "dbca-cm"
    title: ClassVar[str] = "groups around the densest records that keep a class label together"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.penalty >= 0:
            raise ValueError(f"penalty must not be below 0, not {self.penalty}")
        if self.labels not in ("penalty", "forced"):
            raise ValueError(f"labels must be penalty or forced, not '{self.labels}'")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        if self.class_column is None:
            plain = super().cluster(table, requirement, context)
            return replace(plain, details={**plain.details, "class_label": "none was named, so none was kept"})
        label = _label(table, self.class_column)
        check_feasible(table, requirement)
        if self.labels == "forced":
            return self._forced(table, label, requirement, context)
        attributes = prioritized(table, self.priority)
        units = self._labelled_units(table, attributes, label)
        return _density_clusters(table, make_ladders(attributes, self.weights, self.beta), units, requirement, context)

    def _labelled_units(
        self, table: EncodedTable, attributes: tuple[EncodedAttribute, ...], label: EncodedColumn
    ) -> _Units:
        """Records that are equal and have the same label."""
        pairs, unit_of_record, sizes = np.unique(
            table.row_of_record.astype(np.int64) * label.size + label.codes, return_inverse=True, return_counts=True
        )
        rows, labels = np.divmod(pairs, label.size)
        labels = labels.astype(np.int32)
        # a distance lifts both records, so each of them bears half of the penalty
        with_label = make_ladders(attributes, self.weights, self.beta, label=(label.size, self.penalty / 2))
        codes = with_label.flat_codes(np.vstack([table.codes[:, rows], labels]))
        return _Units(with_label, codes, sizes, unit_of_record.astype(np.int32), labels, self.penalty)

    def _forced(
        self, table: EncodedTable, label: EncodedColumn, requirement: Requirement, context: Context
    ) -> Clustering:
        """DBCA inside each label that has k records; the records of the others join the groups."""
        plain = Dbca(weights=self.weights, beta=self.beta, priority=self.priority)
        groups = np.full(table.records, -1, dtype=np.int32)
        used = 0
        for code in range(label.size):
            records = np.flatnonzero(label.codes == code)
            if records.size >= requirement.k:
                groups[records] = plain.cluster(some_records(table, records), requirement, context).groups + used
                used = int(groups.max()) + 1
        if used == 0:
            return plain.cluster(table, requirement, context)
        left = int((groups < 0).sum())
        ladders = make_ladders(prioritized(table, self.priority), self.weights, self.beta)
        nobody = np.zeros(table.rows, dtype=np.int32)
        units = _Units(ladders, ladders.flat_codes(table.codes), table.weights, table.row_of_record, nobody, 0.0)
        _place_leftovers(table, ladders, units, groups)
        return Clustering(groups, details={"records_of_rare_labels": left})


def _label(table: EncodedTable, column: str) -> EncodedColumn:
    if column not in table.columns:
        hint = did_you_mean(column, list(table.columns))
        raise InputError(Problem("unknown-column", "there is no such class label", column, hint))
    return table.columns[column]


def prioritized(table: EncodedTable, order: tuple[str, ...]) -> tuple[EncodedAttribute, ...]:
    """The attributes with the equally scaled weights of a priority order, or with their own if it is empty."""
    if not order:
        return table.attributes
    names = [attribute.name for attribute in table.attributes]
    problems = order_problems(order, names)
    if problems:
        raise InputError(problems)
    weights = order_weights(order, names)
    return tuple(replace(attribute, weight=weights[attribute.name]) for attribute in table.attributes)


@dataclass(frozen=True)
class _Units:
    """What is clustered: equal records (DBCA:CM: with equal labels) and the ladders that their distance is made of."""

    ladders: Ladders
    codes: IntegerArray  # (units, attributes), flat
    weights: NDArray[np.int64]  # (units,)
    of_record: IntegerArray  # (records,)
    labels: IntegerArray  # (units,)
    penalty: float


def _density_clusters(
    table: EncodedTable, ladders: Ladders, units: _Units, requirement: Requirement, context: Context
) -> Clustering:
    k = requirement.k
    order, bounds = block_order(units.ladders, units.codes)
    codes = np.ascontiguousarray(units.codes[order])  # from here on units are numbered in the order of the blocks
    weights = units.weights[order]
    neighbour_distance = neighbour_distances(units.ladders, codes, weights, bounds, k, context)
    centres = _around_centres(
        units.ladders, codes, weights, bounds, k, neighbour_distance, np.lexsort((order, neighbour_distance)), context
    )
    unit, group, count = centres.takes[: centres.counters[2]].T
    takes = Takes(order[unit].astype(np.int32), group.astype(np.int32), count)
    groups = groups_of_records(units.of_record, units.weights, takes)
    _place_leftovers(table, ladders, units, groups)
    details = {"centres": int(centres.counters[1]), "crowded_centres": int(centres.counters[3])}
    return Clustering(groups, details=details)


def neighbour_distances(
    ladders: Ladders,
    codes: IntegerArray,
    weights: NDArray[np.int64],
    bounds: NDArray[np.int64],
    k: int,
    context: Context,
) -> NDArray[np.float64]:
    """(units,) the mean distance of a record of each unit to its k nearest other records; units in block order."""
    count = codes.shape[0]
    blocks = make_blocks(codes, np.arange(count), bounds)
    found = np.zeros(count)

    def work(begin: int) -> None:
        end = min(begin + UNITS_PER_PIECE, count)
        neighbour_costs(ladders.arrays, codes, weights, blocks, _room(k), k, begin, end, found)

    context.map(work, range(0, count, UNITS_PER_PIECE))
    context.report(0.6)
    return 2.0 * found


def _room(k: int) -> Nearest:
    return Nearest(np.empty(k + 1), np.empty(k + 1, np.int32), np.empty(k + 1, np.int64), np.zeros(1, np.int64))


def _around_centres(
    ladders: Ladders,
    codes: IntegerArray,
    weights: NDArray[np.int64],
    bounds: NDArray[np.int64],
    k: int,
    neighbour_distance: NDArray[np.float64],
    densest: NDArray[np.int64],
    context: Context,
) -> Centres:
    """Groups of k records around centres; units are numbered in block order, `densest` lists them densest first."""
    count, records = codes.shape[0], int(weights.sum())
    takes = np.empty((count + records // k + 1, 3), dtype=np.int64)
    counters = np.array([records, 0, 0, 0, -1])
    centres = Centres(neighbour_distance / 2.0, *_linked(densest), weights.copy(), counters, takes)
    blocks = make_blocks(codes, np.arange(count), bounds)
    while centres.counters[0] >= k:
        group_around_centres(ladders.arrays, codes, blocks, _room(k), k, centres, GROUPS_PER_CALL)
        context.report(0.95 - 0.35 * int(centres.counters[0]) / records)
    return centres


def _linked(densest: NDArray[np.int64]) -> tuple[IntegerArray, IntegerArray]:
    """For every unit the next and the previous one in this order; entry `count` of the first stands before all."""
    count = densest.shape[0]
    following, before = np.full(count + 1, -1, dtype=np.int32), np.empty(count, dtype=np.int32)
    chain = np.concatenate([[count], densest])
    following[chain[:-1]] = chain[1:]
    before[chain[1:]] = chain[:-1]
    return following, before


def _place_leftovers(table: EncodedTable, ladders: Ladders, units: _Units, groups: IntegerArray) -> None:
    """Give the records without a group one, in place."""
    left = np.flatnonzero(groups < 0)
    inside = np.flatnonzero(groups >= 0)
    if left.size == 0:
        return
    codes = ladders.flat_codes(table.codes)
    rows = table.row_of_record
    low, high, sizes = group_covers(codes[rows[inside]], groups[inside])
    labels = units.labels[units.of_record]
    majority = _majority(groups[inside], labels[inside], sizes.shape[0])
    lifts = ladders.cover_costs(low, high)
    placed = np.empty(left.shape[0], dtype=np.int32)
    place_records(
        ladders.arrays, codes[rows[left]], labels[left], low, high, lifts, sizes, majority, units.penalty, placed
    )
    groups[left] = placed


def _majority(groups: IntegerArray, labels: IntegerArray, count: int) -> IntegerArray:
    """(groups,) the commonest label of each group, the lowest of equals."""
    size = int(labels.max(initial=0)) + 1
    pairs, counts = np.unique(groups.astype(np.int64) * size + labels, return_counts=True)
    best = np.zeros(count, dtype=np.int32)
    ordered = pairs[np.lexsort((-pairs, counts))]  # the last one of each group wins
    best[ordered // size] = ordered % size
    return best
