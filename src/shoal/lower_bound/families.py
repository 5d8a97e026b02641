"""The classes of a table that prices are held against, and which categories can be counted in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.lower_bound.kernels.counted import MOST_VALUES, Counted
from shoal.lower_bound.kernels.price_classes import classes_at_levels
from shoal.lower_bound.kernels.prices import Family, class_means
from shoal.lower_bound.ladders import Rung, lay_out

_PIECES = 16
_PIECE_ENTRIES = 8_000_000  # rows of classes that are made at a time, about

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Classes:
    """The boxes of a table that hold k records, as classes of rows to be cut into windows."""

    family: Family
    lines: NDArray[np.int64]  # (choices, attributes) the line of each attribute, by the ladders' order
    choice: NDArray[np.int32]  # (classes,)


def make_classes(
    table: EncodedTable,
    k: int,
    context: Context,
    ladders: dict[int, list[Rung]],
    window: int | None,
    ceilings: FloatArray,
) -> Classes:
    """The classes that prices up to the ceilings can exceed. Built choice by choice: the others take no memory."""
    lines, choices = lay_out(table, ladders, context.random(92))
    position = np.zeros(table.rows)
    if window is not None:
        position = table.attributes[window].positions[table.codes[window]]
    order = np.argsort(position, kind="stable")
    lowest = choices[0].copy()
    scale = float(table.attributes[window].weight) if window is not None else 0.0
    limited = bool(np.isfinite(ceilings).all())

    def search(piece: NDArray[np.int64]) -> Classes:
        entries = np.empty(piece.shape[0] * table.rows, dtype=np.int32)
        room = piece.shape[0] * min(table.rows, table.records // k)
        ends, cost, choice = np.empty(room, dtype=np.int64), np.empty(room), np.empty(room, dtype=np.int32)
        found, filled = classes_at_levels(lines, choices[piece], lowest, order, k, entries, ends, cost, choice)
        begin = np.concatenate([[0], ends[:found]]).astype(np.int64)
        part = Family(k, entries[:filled].copy(), begin, cost[:found].copy(), position, scale, table.weights)
        chosen = Classes(part, choices, piece[choice[:found]].astype(np.int32))
        return _exceedable(chosen, ceilings) if limited else chosen

    count = choices.shape[0]
    pieces = min(max(_PIECES, count * table.rows // _PIECE_ENTRIES), count)
    return _joined(context.map(search, np.array_split(np.arange(count), pieces)))


def make_counted(table: EncodedTable, ladders: dict[int, list[Rung]], classes: Classes) -> Counted | None:
    """The categories of which some class is open, and that have few enough values to be counted, if there are any."""
    chosen: list[tuple[int, FloatArray]] = []  # the attribute, and what the cost of each class includes of it
    first_line = 0
    for place, (number, rungs) in enumerate(ladders.items()):
        one = table.attributes[number]
        included = np.array([rung.cost.min() if rung.upper > 0 else -1.0 for rung in rungs for _ in rung.partitions])
        if one.kind is Kind.FLAT and 3 <= one.size <= MOST_VALUES:
            of_class = included[classes.lines[classes.choice, place] - first_line]
            if (of_class >= 0).any():
                chosen.append((number, of_class))
        first_line += included.shape[0]
    if not chosen:
        return None
    attributes = [table.attributes[number] for number, _ in chosen]
    return Counted(
        value=np.array([table.codes[number] for number, _ in chosen], dtype=np.uint8),
        step=np.array([one.weight / (one.size - 1) for one in attributes]),
        included=np.array([of_class for _, of_class in chosen]).T.copy(),
        values=max(one.size for one in attributes),
    )


def _exceedable(classes: Classes, ceilings: FloatArray) -> Classes:
    """Without the classes whose cost is no less than prices up to the ceilings can be on average."""
    family = classes.family
    means = np.empty(family.cost.shape[0])
    class_means(family, ceilings, means)
    kept = means > family.cost
    sizes = np.diff(family.begin)
    fewer = family._replace(
        entries=family.entries[np.repeat(kept, sizes)],
        begin=np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        cost=family.cost[kept],
    )
    return Classes(fewer, classes.lines, classes.choice[kept])


def _joined(parts: list[Classes]) -> Classes:
    """All classes of some parts of the same table."""
    sizes = np.concatenate([np.diff(part.family.begin) for part in parts])
    family = parts[0].family._replace(
        entries=np.concatenate([part.family.entries for part in parts]),
        begin=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        cost=np.concatenate([part.family.cost for part in parts]),
    )
    return Classes(family, parts[0].lines, np.concatenate([part.choice for part in parts]))
