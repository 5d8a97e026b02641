"""The least loss of any box that holds a row and k records: what a group of that row loses at least.

A box of categories is one choice of levels: for a tree a node above the row's value, for a category without a hierarchy
the value itself, or anything (which costs at least one more value). All choices are tried; for each, the numbers
contribute the narrowest range that holds the row and k records of its class (docs/lower_bound.md has the proof).

Where there are too many choices, neighbouring levels of an attribute are taken for one that costs as little as the
lower and covers as much as the upper: this can only lower the answer. Cost: `WORK` rows times choices at the most.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.lower_bound.kernels.smallest_boxes import Boxes, smallest_at_levels

WORK = 30_000_000
_PIECES = 16

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class _Level:
    """A level of an attribute: which codes are alike, and what each of them loses."""

    class_of_code: NDArray[np.int64]
    cost_of_code: FloatArray


def smallest_boxes(table: EncodedTable, k: int, context: Context, work: int = WORK) -> FloatArray:
    """(rows,) no box that holds the row and k records, itself included, loses less."""
    boxes, choices = choices_of_levels(table, context, work)

    def search(piece: NDArray[np.int64]) -> FloatArray:
        best = np.full(table.rows, np.inf)
        smallest_at_levels(boxes, piece, k, best)
        return best

    found = context.map(search, np.array_split(choices, min(_PIECES, choices.shape[0])))
    return np.asarray(np.minimum.reduce(found))


def choices_of_levels(table: EncodedTable, context: Context, work: int = WORK) -> tuple[Boxes, NDArray[np.int64]]:
    """The arrays of the kernels, and (choices, attributes) which of their lines to take: the lowest choice first."""
    chains = {
        number: _levels(one)
        for number, one in enumerate(table.attributes)
        if one.kind is not Kind.INTERVAL and one.size > 1
    }
    _shorten(table, chains, max(1, work // table.rows))
    boxes, lines = _lay_out(table, chains, context.random(92))
    return boxes, np.array(list(product(*lines)), dtype=np.int64).reshape(prod(map(len, lines)), len(lines))


def _levels(attribute: EncodedAttribute) -> list[_Level]:
    codes = np.arange(attribute.size)
    if attribute.kind is Kind.FLAT:
        one_more = np.full(attribute.size, attribute.weight / (attribute.size - 1))
        return [_Level(codes, np.zeros(attribute.size)), _Level(np.zeros_like(codes), one_more)]
    return [
        _Level(attribute.ancestors[level].astype(np.int64), attribute.level_cost[level] * attribute.weight)
        for level in range(attribute.levels)
    ]


def _shorten(table: EncodedTable, chains: dict[int, list[_Level]], most: int) -> None:
    """Join the two neighbouring levels that differ least in cost until there are few enough choices."""
    while prod(len(levels) for levels in chains.values()) > most:
        number, lower = min(
            ((number, lower) for number, levels in chains.items() for lower in range(len(levels) - 1)),
            key=lambda one: _difference(table, one[0], chains[one[0]], one[1]),
        )
        levels = chains[number]
        joined = _Level(levels[lower + 1].class_of_code, levels[lower].cost_of_code)
        levels[lower : lower + 2] = [joined]


def _difference(table: EncodedTable, number: int, levels: list[_Level], lower: int) -> float:
    """How much more an average record loses at the next level."""
    more = levels[lower + 1].cost_of_code - levels[lower].cost_of_code
    return float((more[table.codes[number]] * table.weights).sum())


def _lay_out(
    table: EncodedTable, chains: dict[int, list[_Level]], generator: np.random.Generator
) -> tuple[Boxes, list[range]]:
    """The arrays of the kernel, and for each attribute which of their lines are its levels."""
    keys: list[NDArray[np.uint64]] = []
    costs: list[FloatArray] = []
    lines: list[range] = []
    for number, levels in chains.items():
        lines.append(range(len(keys), len(keys) + len(levels)))
        for level in levels:
            names = generator.integers(1, 2**63, size=int(level.class_of_code.max()) + 1, dtype=np.uint64)
            keys.append(names[level.class_of_code][table.codes[number]])
            costs.append(level.cost_of_code[table.codes[number]])
    intervals = [number for number, one in enumerate(table.attributes) if one.kind is Kind.INTERVAL]
    positions = np.array([table.attributes[number].positions[table.codes[number]] for number in intervals])
    positions = positions.reshape(len(intervals), table.rows)
    boxes = Boxes(
        keys=np.array(keys, dtype=np.uint64).reshape(len(keys), table.rows),
        costs=np.array(costs, dtype=np.float64).reshape(len(costs), table.rows),
        positions=positions,
        order=np.argsort(positions, axis=1, kind="stable"),
        prices=np.array([table.attributes[number].weight for number in intervals], dtype=np.float64),
        weights=table.weights,
    )
    return boxes, lines
