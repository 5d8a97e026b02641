"""The ways to generalize an attribute that boxes are made of: a ladder of rungs, from a value to anything.

A rung has a cost and one or several partitions of the values. Together they are *complete*: whatever set of values a
group has, some rung has a part that holds them all and costs no more than the set (docs/lower_bound.md).

- A tree: its levels.
- A category without a hierarchy: a value for nothing, and anything at the cost of one more value.
- A number (besides the one that has windows): a value for nothing; then for widths up to 1/64, 1/32, ... 1/2 cells
  twice as long, in two partitions that are shifted by half a cell, at the cost of the width before; then anything.

Where there are too many choices, neighbouring rungs are joined: the partitions of the upper at the cost of the lower.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.lower_bound.kernels.price_classes import Lines

WIDTHS = tuple(2.0**-power for power in range(6, 0, -1))  # known to verification/bound.py by the docs alone
SHORTER = 1.0 - 1e-9  # so that rounding never puts a window of a width outside all cells of it

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]


@dataclass(frozen=True)
class Rung:
    """Partitions of the codes, each as a part number per code, and what each code loses."""

    partitions: tuple[IntegerArray, ...]
    cost: FloatArray
    upper: int  # which rung of the full ladder it is, the highest one if several were joined


def window_attribute(table: EncodedTable) -> int | None:
    """The number whose windows are looked at exactly: the one of which most positions occur, the first of several."""
    counts = {
        number: np.unique(one.positions[table.codes[number]]).shape[0]
        for number, one in enumerate(table.attributes)
        if one.kind is Kind.INTERVAL
    }
    return max(counts, key=lambda number: (counts[number], -number)) if counts else None


def make_ladders(table: EncodedTable, most: int) -> dict[int, list[Rung]]:
    """The ladder of each attribute but the one with windows, joined so that there are at most so many choices."""
    window = window_attribute(table)
    ladders = {number: _ladder(one) for number, one in enumerate(table.attributes) if number != window and one.size > 1}
    while prod(sum(len(rung.partitions) for rung in rungs) for rungs in ladders.values()) > most:
        number, lower = min(
            ((number, lower) for number, rungs in ladders.items() for lower in range(len(rungs) - 1)),
            key=lambda one: _difference(table, one[0], ladders[one[0]], one[1]),
        )
        rungs = ladders[number]
        joined = Rung(rungs[lower + 1].partitions, rungs[lower].cost, rungs[lower + 1].upper)
        rungs[lower : lower + 2] = [joined]
    return ladders


def kept_rungs(table: EncodedTable, ladders: dict[int, list[Rung]]) -> dict[str, list[int]]:
    """Which rungs of the full ladder were kept, by the name of the attribute: part of what proves a bound."""
    return {table.attributes[number].name: [rung.upper for rung in rungs] for number, rungs in ladders.items()}


def lay_out(
    table: EncodedTable, ladders: dict[int, list[Rung]], generator: np.random.Generator
) -> tuple[Lines, IntegerArray]:
    """The arrays of the kernel, and (choices, attributes) which of their lines to take."""
    keys: list[NDArray[np.uint64]] = []
    costs: list[FloatArray] = []
    first_lines: list[range] = []
    for number, rungs in ladders.items():
        begin = len(keys)
        for rung in rungs:
            for partition in rung.partitions:
                names = generator.integers(1, 2**63, size=int(partition.max()) + 1, dtype=np.uint64)
                keys.append(names[partition][table.codes[number]])
                costs.append(rung.cost[table.codes[number]])
        first_lines.append(range(begin, len(keys)))
    lines = Lines(
        keys=np.array(keys, dtype=np.uint64).reshape(len(keys), table.rows),
        costs=np.array(costs, dtype=np.float64).reshape(len(costs), table.rows),
        weights=table.weights,
    )
    choices = np.array(list(product(*first_lines)), dtype=np.int64)
    return lines, choices.reshape(prod(map(len, first_lines)), len(first_lines))


def _ladder(attribute: EncodedAttribute) -> list[Rung]:
    codes = np.arange(attribute.size)
    nothing, alike = np.zeros(attribute.size), np.zeros(attribute.size, dtype=np.int64)
    if attribute.kind is Kind.FLAT:
        one_more = np.full(attribute.size, attribute.weight / (attribute.size - 1))
        return [Rung((codes,), nothing, 0), Rung((alike,), one_more, 1)]
    if attribute.kind is Kind.TREE:
        return [
            Rung((attribute.ancestors[level].astype(np.int64),), attribute.level_cost[level] * attribute.weight, level)
            for level in range(attribute.levels)
        ]
    rungs = [Rung((np.unique(attribute.positions, return_inverse=True)[1].reshape(-1),), nothing, 0)]
    before = 0.0
    for number, width in enumerate(WIDTHS):
        cells = tuple(_cells(attribute.positions, width, shift) for shift in (0.0, width))
        rungs.append(Rung(cells, np.full(attribute.size, attribute.weight * before), number + 1))
        before = width * SHORTER
    rungs.append(Rung((alike,), np.full(attribute.size, attribute.weight * before), len(WIDTHS) + 1))
    return rungs


def _cells(positions: FloatArray, width: float, shift: float) -> IntegerArray:
    """Cells of twice the width, moved by `shift`; a missing value, at 2, is in none with others, as it is 1 away."""
    return np.asarray((positions + shift) // (2.0 * width), dtype=np.int64)


def _difference(table: EncodedTable, number: int, rungs: list[Rung], lower: int) -> float:
    """How much more an average record loses at the next rung."""
    more = rungs[lower + 1].cost - rungs[lower].cost
    return float((more[table.codes[number]] * table.weights).sum())
