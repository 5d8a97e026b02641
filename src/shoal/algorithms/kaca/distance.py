"""Distortion over hierarchies: what lifting cells costs, and the arrays that the kernels of the family need.

Lifting a cell from one level to another costs the weighted hierarchical distance (WHD) of the two levels, times the
attribute's priority. The distance of two records is the cost of lifting both to their closest common generalization;
the distance of two classes is the same with every class weighted by its number of records.

The distance of two records is a metric: per attribute it is a path length in a tree. Weighted by class sizes it is
symmetric, but it breaks the triangle inequality: a small class in between can be near to two large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedAttribute, EncodedTable
from shoal.hierarchies.weights import whd
from shoal.kernels.climbing import Ladder, fill_costs

IntegerArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Ladders:
    """The hierarchies of all attributes as flat arrays. Codes of attribute `a` are counted from `starts[a]`."""

    starts: IntegerArray  # (attributes + 1,)
    joins: IntegerArray  # (all codes,) the level at which a code and the next one meet; the last code: the top level
    climb: FloatArray  # (attributes, most levels) cost of lifting from level 0, times the priority
    tops: IntegerArray  # (attributes,) the highest level

    @property
    def width(self) -> int:
        return int(self.climb.shape[0])

    @cached_property
    def first_step(self) -> FloatArray:
        """(attributes,) the cost of lifting from level 0 to level 1."""
        return self.climb[:, min(1, self.climb.shape[1] - 1)]

    @cached_property
    def arrays(self) -> Ladder:
        """What the kernels need."""
        attribute = np.repeat(np.arange(self.width), np.diff(self.starts))
        return Ladder(self.starts, np.ascontiguousarray(self.climb[attribute, self.joins]))

    @cached_property
    def nodes(self) -> IntegerArray:
        """(levels, all codes) the number of each code's node among those of its level and attribute, in tree order."""
        levels = self.climb.shape[1]
        changes = np.zeros((levels, self.joins.shape[0]), dtype=np.int32)
        changes[:, 1:] = self.joins[:-1] > np.arange(levels)[:, np.newaxis]
        changes[:, self.starts[:-1]] = 0
        total = np.cumsum(changes, axis=1, dtype=np.int32)
        first = np.repeat(total[:, self.starts[:-1]], np.diff(self.starts), axis=1)
        return np.ascontiguousarray(total - first, dtype=np.int32)

    def flat_codes(self, codes: IntegerArray) -> IntegerArray:
        """(rows, attributes): the codes of (attributes, rows), one line per row, in the flat numbering."""
        return np.ascontiguousarray(codes.T + self.starts[:-1], dtype=np.int32)

    def record_distance(self, first: IntegerArray, second: IntegerArray) -> float:
        """Distance of two records given by their flat codes."""
        costs = np.empty(self.joins.shape[0])
        fill_costs(self.arrays, first, np.zeros(self.width), costs)
        return float(2.0 * costs[second].sum())

    def cover_levels(self, low: IntegerArray, high: IntegerArray) -> IntegerArray:
        """(groups, attributes) the level of the closest common generalization of the flat codes low..high."""
        levels = np.zeros(low.shape, dtype=np.int32)
        for level in range(1, int(self.tops.max(initial=0)) + 1):
            # joins at or above this level up to each code: where the count differs, the node is at least this high
            reached = np.concatenate([[0], np.cumsum(self.joins >= level)])
            levels[reached[high] > reached[low]] = level
        return levels

    def cover_costs(self, low: IntegerArray, high: IntegerArray) -> FloatArray:
        """(groups, attributes) the cost of lifting from level 0 to the closest common generalization."""
        return np.ascontiguousarray(self.climb[np.arange(self.width), self.cover_levels(low, high)])


def make_ladders(
    attributes: Sequence[EncodedAttribute],
    scheme: str = "uniform",
    beta: float = 1.0,
    *,
    label: tuple[int, float] | None = None,
) -> Ladders:
    """The ladders of a table; `label` (size, cost) adds a class label as a last attribute of two levels."""
    joins = [_joins(attribute.ancestors) for attribute in attributes]
    costs = [attribute.weight * whd(attribute.levels - 1, scheme, beta) for attribute in attributes]
    if label is not None:
        joins.append(np.ones(label[0], dtype=np.int32))
        costs.append(np.array([0.0, label[1]]))
    tops = np.array([cost.shape[0] - 1 for cost in costs], dtype=np.int32)
    highest = int(tops.max(initial=0))
    climb = np.stack([np.pad(cost, (0, highest + 1 - cost.shape[0]), mode="edge") for cost in costs])
    starts = np.concatenate([[0], np.cumsum([one.shape[0] for one in joins])]).astype(np.int32)
    return Ladders(starts, np.concatenate(joins).astype(np.int32), climb, tops)


def _joins(ancestors: IntegerArray) -> IntegerArray:
    levels, size = ancestors.shape
    joins = np.full(size, levels - 1, dtype=np.int32)
    joins[:-1] = np.argmax(ancestors[:, 1:] == ancestors[:, :-1], axis=0)
    return joins


def table_distortion(table: EncodedTable, groups: IntegerArray, scheme: str = "uniform", beta: float = 1.0) -> float:
    """Total distortion of the records when every group is lifted to its closest common generalization."""
    ladders = make_ladders(table.attributes, scheme, beta)
    low, high, sizes = group_covers(ladders.flat_codes(table.codes)[table.row_of_record], groups)
    return float((ladders.cover_costs(low, high).sum(axis=1) * sizes).sum())


def group_covers(codes: IntegerArray, groups: IntegerArray) -> tuple[IntegerArray, IntegerArray, NDArray[np.int64]]:
    """Lowest and highest flat code (groups, attributes) of the rows of each group, and the number of its rows."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ordered = codes[order]
    return np.minimum.reduceat(ordered, first), np.maximum.reduceat(ordered, first), sizes
