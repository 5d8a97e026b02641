"""The encoded table as the search sees it: items with features and numbers.

Every row of the table gives one item per record, so that equal records can go to different groups. A row that occurs
more than 3k times gives 2k such items and one heavy item that holds the rest and never moves: enough to lend
records to neighbours, and the work does not grow with the number of copies. In a large table every row that occurs k
times or more is one heavy item and lends nothing: there the steps are better spent on the rare rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.kernels.safety import Safety
from shoal.kernels.sorting import stable_order

IntegerArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_LARGE = 160_000  # items


@dataclass(frozen=True)
class Layer:
    """One way to tell values apart: the values of a flat attribute, or the nodes of a tree at one level."""

    attribute: int
    feature_of_code: IntegerArray  # (size,)
    step_of_code: FloatArray  # (size,) what a record loses when the group is mixed on this layer (flat: per value)
    saturates: bool  # True for trees: being mixed costs the step once


@dataclass(frozen=True)
class SearchProblem:
    """Items, their features and numbers, and the size that groups must have."""

    features: IntegerArray  # (rows, layers)
    numbers: FloatArray  # (rows, intervals)
    step: FloatArray  # (features,)
    saturates: NDArray[np.uint8]  # (layers,)
    number_weight: FloatArray  # (intervals,)
    item_row: IntegerArray  # (items,) the row of each item
    item_weight: LongArray  # (items,)
    records: int
    k: int
    scale: float  # energy of the whole table / scale = GCP
    farthest: float  # what two records can lose together at most
    size_price: float = 0.0  # what a record costs for each record of its group
    safety: Safety | None = None  # the rules of models besides k-anonymity; every item is then one record
    item_record: LongArray | None = None  # (items,) the record of each item, where there are such rules
    counted: IntegerArray | None = None  # (columns, records) codes of columns whose different values count (persons)
    wanted: FloatArray | None = None  # (columns,) how many of them a group needs
    item_price: FloatArray | None = None  # (items,) what each record of an item has to lose, by a lower bound

    @property
    def items(self) -> int:
        return int(self.item_row.shape[0])


def make_problem(table: EncodedTable, k: int, safety: Safety | None = None, size_price: float = 0.0) -> SearchProblem:
    """Lay out the items of a table."""
    layers = [layer for number, one in enumerate(table.attributes) for layer in _layers(number, one)]
    features, steps = _features(table, layers)
    numbers, number_weight = _numbers(table)
    item_row, item_weight = _items(table.weights, k) if safety is None else _single_items(table.weights)
    return SearchProblem(
        features=features,
        numbers=numbers,
        step=np.concatenate(steps) if steps else np.zeros(1),
        saturates=np.array([layer.saturates for layer in layers], dtype=np.uint8),
        number_weight=number_weight,
        item_row=item_row,
        item_weight=item_weight,
        records=table.records,
        k=k,
        scale=float(table.records * table.width),
        farthest=float(sum(step.max() for step in steps) + number_weight.sum()),
        size_price=size_price,
        safety=safety,
        item_record=None if safety is None else stable_order(table.row_of_record, table.rows),
    )


def code_axes(table: EncodedTable) -> list[tuple[int, FloatArray]]:
    """The axes of a problem: the attribute of each, and what every code of it is there. Layers come before numbers."""
    found, used = [], 0
    for number, one in enumerate(table.attributes):
        for layer in _layers(number, one):
            found.append((number, layer.feature_of_code.astype(np.float64) + used))
            used += int(layer.feature_of_code.max()) + 1
    return found + [(number, one.positions) for number, one in enumerate(table.attributes) if one.kind is Kind.INTERVAL]


def _numbers(table: EncodedTable) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(rows, intervals) the position of each row in each INTERVAL, and (intervals,) what these weigh."""
    intervals = [number for number, one in enumerate(table.attributes) if one.kind is Kind.INTERVAL]
    numbers = np.empty((table.rows, len(intervals)))
    for column, number in enumerate(intervals):
        numbers[:, column] = table.attributes[number].positions[table.codes[number]]
    return numbers, np.array([table.attributes[number].weight for number in intervals], dtype=np.float64)


def _features(table: EncodedTable, layers: Sequence[Layer]) -> tuple[IntegerArray, list[FloatArray]]:
    """(rows, layers) the feature of every row in every layer, numbered through, and per layer the steps of its own."""
    features = np.empty((table.rows, len(layers)), dtype=np.int32)
    steps: list[FloatArray] = []
    used = 0
    for column, layer in enumerate(layers):
        features[:, column] = layer.feature_of_code[table.codes[layer.attribute]] + used
        count = int(layer.feature_of_code.max()) + 1
        step = np.zeros(count)
        step[layer.feature_of_code] = layer.step_of_code
        steps.append(step)
        used += count
    return features, steps


def _layers(number: int, attribute: EncodedAttribute) -> list[Layer]:
    """The layers of one attribute; levels that repeat the one below are left out."""
    codes = np.arange(attribute.size, dtype=np.int32)
    if attribute.size < 2 or attribute.kind is Kind.INTERVAL:
        return []
    if attribute.kind is Kind.FLAT:
        step = np.full(attribute.size, attribute.weight / (attribute.size - 1))
        return [Layer(number, codes, step, saturates=False)]
    layers = []
    for level in range(attribute.levels - 1):
        _, nodes = np.unique(attribute.ancestors[level], return_inverse=True)
        step = (attribute.level_cost[level + 1] - attribute.level_cost[level]) * attribute.weight
        if nodes.max() > 0 and step.any():
            layers.append(Layer(number, nodes.astype(np.int32), step, saturates=True))
    return layers


def _items(weights: LongArray, k: int) -> tuple[IntegerArray, LongArray]:
    """The row and weight of every item; the items of a row are neighbours, the heavy one first."""
    heavy = weights > 3 * k
    lent = np.full(weights.shape[0], 2 * k, dtype=np.int64)
    if np.where(heavy, lent + 1, weights).sum() > _LARGE:
        heavy = weights >= k
        lent[:] = 0
    count = np.where(heavy, lent + 1, weights)
    item_row = np.repeat(np.arange(weights.shape[0], dtype=np.int32), count)
    item_weight = np.ones(item_row.shape[0], dtype=np.int64)
    firsts = np.cumsum(count) - count
    item_weight[firsts[heavy]] = (weights - lent)[heavy]
    return item_row, item_weight


def _single_items(weights: LongArray) -> tuple[IntegerArray, LongArray]:
    """One item per record."""
    item_row = np.repeat(np.arange(weights.shape[0], dtype=np.int32), weights)
    return item_row, np.ones(item_row.shape[0], dtype=np.int64)


def record_groups(problem: SearchProblem, item_group: IntegerArray, row_of_record: IntegerArray) -> IntegerArray:
    """The group of every record: the items of a row are dealt out to its records in order."""
    item_of_unit = np.repeat(np.arange(problem.items, dtype=np.int64), problem.item_weight)
    records_by_row = stable_order(row_of_record, problem.features.shape[0])
    groups = np.empty(problem.records, dtype=np.int32)
    groups[records_by_row] = item_group[item_of_unit]
    return renumber(groups)


def renumber(group: NDArray[np.integer]) -> IntegerArray:
    """The same groups with the numbers 0, 1, ... and no gaps."""
    present = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int32)
    present[group] = 1
    return np.asarray((np.cumsum(present, dtype=np.int32) - 1)[group], dtype=np.int32)


def local_features(problem: SearchProblem, rows: IntegerArray) -> tuple[IntegerArray, FloatArray]:
    """The features of some rows, numbered again so that only those that occur take room, and their steps."""
    features = problem.features[rows]
    present = np.zeros(problem.step.shape[0], dtype=bool)
    present[features.ravel()] = True
    if present.all():
        return features, problem.step
    names = np.flatnonzero(present)
    number = np.empty(problem.step.shape[0], dtype=np.int32)
    number[names] = np.arange(names.shape[0], dtype=np.int32)
    return number[features], problem.step[names] if names.size else np.zeros(1)
