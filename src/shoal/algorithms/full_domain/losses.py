"""What a full-domain generalization loses, and a bound on it that holds for every node above as well.

All but discernibility are sums over cells: what lifting a code to a level costs. Without suppression such a loss is a
sum over attributes, so the whole lattice is known at once. A suppressed record loses what the top of every hierarchy
loses. As if nothing were suppressed, each of these losses can only rise from a node to the nodes above it, and
suppressing adds to it: so that sum is the bound.

    gcp             share of the domain that a cell covers
    entropy         bits that the cell keeps to itself: log2(records with its node / records with its value)
    precision       level / highest level
    height          level
    discernibility  size of the class; a suppressed record costs the size of the table
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain.lattice import Node
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable
from shoal.safe_groups.judging import Verdict

OBJECTIVES = ("gcp", "entropy", "precision", "height", "discernibility")
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CellLoss:
    """A loss that is a mean over records of sums over cells."""

    table: EncodedTable
    costs: tuple[FloatArray, ...]  # per attribute (levels, codes), with the attribute's weight
    bounds: FloatArray  # (lattice,) the loss of every node without suppression

    @classmethod
    def of(cls, table: EncodedTable, objective: str, levels: Node) -> CellLoss:
        counts = [_records_of_codes(table, number) for number in range(table.width)]
        shared = table.width if objective in ("gcp", "precision") else 1  # these are means over the attributes
        costs = tuple(
            _cell_costs(attribute, objective, counts[number]) * (attribute.weight / shared)
            for number, attribute in enumerate(table.attributes)
        )
        means = [
            cost[:count] @ counts[number] / table.records
            for number, (cost, count) in enumerate(zip(costs, levels, strict=True))
        ]
        return cls(table, costs, np.asarray(sum(np.ix_(*means)), dtype=np.float64))

    def of_node(self, node: Node, found: Verdict) -> tuple[float, float]:
        """The loss of a safe node, and the bound."""
        bound = float(self.bounds[node])
        rows = np.flatnonzero(found.suppressed[found.classes.class_of_row])
        if rows.size == 0:
            return bound, bound
        weights = self.table.weights[rows]
        added = 0.0
        for number, level in enumerate(node):
            codes = self.table.codes[number, rows]
            added += float(weights @ (self.costs[number][-1, codes] - self.costs[number][level, codes]))
        return bound + added / self.table.records, bound


@dataclass(frozen=True, eq=False)
class Discernibility:
    """The sum of the squares of the sizes of the classes."""

    table: EncodedTable

    def of_node(self, node: Node, found: Verdict) -> tuple[float, float]:
        sizes = found.classes.sizes.astype(np.float64)
        cost = np.where(found.suppressed, float(self.table.records), sizes)
        return float(cost @ sizes), float(sizes @ sizes)


def make_loss(table: EncodedTable, objective: str, levels: Node) -> CellLoss | Discernibility:
    return Discernibility(table) if objective == "discernibility" else CellLoss.of(table, objective, levels)


def _records_of_codes(table: EncodedTable, number: int) -> FloatArray:
    records = np.bincount(table.codes[number], weights=table.weights, minlength=table.attributes[number].size)
    return np.asarray(records, dtype=np.float64)


def _cell_costs(attribute: EncodedAttribute, objective: str, records: FloatArray) -> FloatArray:
    """(levels, codes)"""
    if objective == "gcp":
        return attribute.level_cost
    if objective == "entropy":
        in_node = np.stack([np.bincount(line, weights=records)[line] for line in attribute.ancestors])
        return np.asarray(np.log2(np.maximum(in_node, 1.0) / np.maximum(records, 1.0)))
    level = np.arange(attribute.levels, dtype=np.float64)
    if objective == "precision":
        level /= max(1, attribute.levels - 1)
    return np.repeat(level[:, None], attribute.size, axis=1)
