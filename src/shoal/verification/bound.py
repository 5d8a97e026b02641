"""Checks that a lower bound is one: prices of records against the original table, from the definition.

The prices are right if in every box that holds k records the mean of the k highest is at most what the box costs
(docs/lower_bound.md has the theorem); how they were found does not matter. Boxes are made here anew from the original
values, with no code of `lower_bound`. What is taken from outside are the prices and which rungs of the ladders to use:
any choice of rungs gives boxes that hold all groups, a finer one proves more and takes longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.released.domain import Domain, DomainKind
from shoal.released.ranges import parse_numbers
from shoal.verification.kernels.bound import Ways, largest_excess

TOLERANCE = 1e-9  # prices are sums of many roundings; the bound is lowered by this
_MOST = 20_000_000_000  # rows to look at before it is given up
_HALVINGS = 6
_COUNTED = range(3, 63)  # so many values a category has, missing included, if they are counted

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]


@dataclass(frozen=True)
class PricedColumn:
    """A quasi-identifier: its values, how much it weighs, whether it is released as nodes of its hierarchy."""

    domain: Domain
    codes: NDArray[np.int32]  # (records,) of the original, as the domain has them
    weight: float = 1.0
    as_nodes: bool = False

    @property
    def is_number(self) -> bool:
        return self.domain.kind in (DomainKind.NUMBER, DomainKind.ORDER) and not self.is_tree

    @property
    def is_tree(self) -> bool:
        return self.domain.hierarchy is not None and (self.as_nodes or self.domain.kind is DomainKind.TREE)


@dataclass(frozen=True)
class BoundCheck:
    """`bound` is the GCP that the prices stand for; it is one if `holds`."""

    bound: float
    holds: bool
    excess: float  # how much the prices of a box are above its cost at most; 0 if of none
    reason: str = ""

    def as_dict(self) -> dict[str, object]:
        return {"bound": self.bound, "holds": self.holds, "excess": self.excess, "reason": self.reason}


@dataclass(frozen=True)
class _Way:
    """One way to generalize the values of a column: the part of each code, and what it loses there."""

    part: IntegerArray
    loss: FloatArray
    step: float = 0.0  # what one more value costs, if values are left open and can be counted


def check_prices(
    columns: Sequence[PricedColumn],
    prices: FloatArray,
    k: int,
    *,
    suppression: bool = False,
    rungs: Mapping[str, Sequence[int]] | None = None,
) -> BoundCheck:
    """Whether prices (one per record, in the order of the original) prove a lower bound for groups of at least k.

    With `suppression` records may also be left out and lose everything, so no price may be above that. `rungs` are
    those of each column's ladder that are used, all if it is not named.
    """
    if not np.isfinite(prices).all():
        return BoundCheck(0.0, False, np.inf, "a price is no number")
    bound = float(prices.sum()) / (prices.shape[0] * len(columns)) - TOLERANCE
    above = float(prices.max()) - sum(column.weight for column in columns)
    if suppression and above > 0:
        return BoundCheck(bound, False, above, "a price is above what a suppressed record loses")
    excess = _largest_excess(columns, prices, k, rungs or {})
    if excess == np.inf:
        return BoundCheck(bound, False, excess, "there are too many boxes to look at")
    holds = bool(excess <= TOLERANCE)
    reason = "" if holds else "the prices of some box are above what it costs"
    return BoundCheck(bound, holds, max(0.0, excess), reason)


def _largest_excess(
    columns: Sequence[PricedColumn], prices: FloatArray, k: int, rungs: Mapping[str, Sequence[int]]
) -> float:
    """By how much the prices of a box are above its cost at most; infinite if there are too many boxes."""
    first, weights, price = _distinct_rows([column.codes for column in columns], prices)
    window = _window_column(columns)
    position, scale = np.zeros(first.shape[0]), 0.0
    if window is not None:
        column = columns[window]
        position, scale = _positions(column.domain)[column.codes[first]], float(column.weight)
    order = np.argsort(position, kind="stable")
    ways = _all_ways(columns, window, first[order], rungs)._replace(position=position[order], scale=scale)
    excess, _ = largest_excess(ways, price[order], weights[order], k, _MOST)
    return float(excess)


def _distinct_rows(
    codes: Sequence[NDArray[np.int32]], prices: FloatArray
) -> tuple[IntegerArray, IntegerArray, FloatArray]:
    """A record of each distinct row (with its price), how many there are, and the price."""
    sizes = [int(one.max()) + 1 for one in codes]
    key = np.zeros(prices.shape[0], dtype=np.int64)
    for one, size in zip(codes, sizes, strict=True):
        key = np.unique(key * size + one, return_inverse=True)[1].reshape(-1)
    by_price = np.unique(prices, return_inverse=True)[1].reshape(-1)
    key = key * (int(by_price.max()) + 1) + by_price
    _, first, weights = np.unique(key, return_index=True, return_counts=True)
    return first.astype(np.int64), weights.astype(np.int64), prices[first]


def _window_column(columns: Sequence[PricedColumn]) -> int | None:
    """The number with the most positions, the first of several."""
    numbers = [place for place, column in enumerate(columns) if column.is_number]
    counts = {place: np.unique(_positions(columns[place].domain)[columns[place].codes]).shape[0] for place in numbers}
    return max(numbers, key=lambda place: (counts[place], -place)) if numbers else None


def _positions(domain: Domain) -> FloatArray:
    """The places of the values on a line from 0 to 1; a missing value stands apart."""
    numbers = domain.positions
    if len(numbers) and numbers[-1] / 2 - numbers[0] / 2 > np.finfo(np.float64).max / 2:
        numbers = numbers / 2
    span = numbers[-1] - numbers[0] if len(numbers) else 0.0
    places = (numbers - numbers[0]) / span if span > 0 else np.zeros(len(numbers))
    return np.append(places, 2.0)


def _all_ways(
    columns: Sequence[PricedColumn], window: int | None, first: IntegerArray, rungs: Mapping[str, Sequence[int]]
) -> Ways:
    """The ways of every column over the rows, columns whose ways cost most first: they rule out most."""
    ladders = [
        (_kept(_ladder(column), rungs.get(column.domain.name)), column.codes[first])
        for place, column in enumerate(columns)
        if place != window and column.domain.size > 1
    ]
    ladders.sort(key=lambda one: -_mean_cost(one[0]))
    counts = [sum(len(rung) for rung in ladder) for ladder, _ in ladders]
    ways = [(way, codes) for ladder, codes in ladders for rung in ladder for way in rung]
    return _over_rows(ways, np.cumsum([0, *counts]).astype(np.int64), first.shape[0])


def _over_rows(ways: list[tuple[_Way, NDArray[np.int32]]], first: IntegerArray, rows: int) -> Ways:
    """Every way for each row, given the codes of its column in the rows; no window yet."""
    shape = (len(ways), rows)
    counted = [(way.step, codes) for way, codes in ways if way.step > 0]
    column = np.full(len(ways), -1, dtype=np.int64)
    column[[place for place, (way, _) in enumerate(ways) if way.step > 0]] = np.arange(len(counted))
    size = np.array([int(codes.max()) + 1 for _, codes in counted], dtype=np.int64)
    return Ways(
        node=np.array([way.part[codes] for way, codes in ways], dtype=np.int32).reshape(shape),
        loss=np.array([way.loss[codes] for way, codes in ways], dtype=np.float64).reshape(shape),
        first=first,
        position=np.zeros(rows),
        scale=0.0,
        column=column,
        value=np.array([codes for _, codes in counted], dtype=np.int32).reshape(len(counted), rows),
        size=size,
        step=np.array([step for step, _ in counted], dtype=np.float64),
        most=int(size.max(initial=1)),
    )


def _mean_cost(ladder: list[list[_Way]]) -> float:
    return float(np.mean([way.loss.max() for rung in ladder for way in rung]))


def _kept(ladder: list[list[_Way]], upper: Sequence[int] | None) -> list[list[_Way]]:
    """Rungs up to each of the kept ones taken together: the ways of the highest, at the loss of the lowest."""
    if upper is None:
        return ladder
    kept = sorted({one for one in upper if 0 <= one < len(ladder)} | {len(ladder) - 1})
    lowest = [0, *(one + 1 for one in kept[:-1])]
    return [
        [replace(way, loss=ladder[low][0].loss) for way in ladder[high]] for low, high in zip(lowest, kept, strict=True)
    ]


def _ladder(column: PricedColumn) -> list[list[_Way]]:
    """All ways to generalize a column, rung by rung."""
    domain = column.domain
    if column.is_tree and domain.hierarchy is not None:
        return _tree_ladder(domain, domain.hierarchy, column.weight)
    if column.is_number:
        return _number_ladder(domain, column.weight)
    count = len(domain.values) + 1  # the last is the missing value
    own, together = np.arange(count), np.zeros(count, dtype=np.int64)
    step = column.weight / (domain.size - 1)
    return [
        [_Way(own, np.zeros(count))],
        [_Way(together, np.full(count, step), step if domain.size in _COUNTED else 0.0)],
    ]


def _number_ladder(domain: Domain, weight: float) -> list[list[_Way]]:
    """Windows that double from rung to rung, at two places each; a window loses what the one before may be wide."""
    places = _positions(domain)
    count = places.shape[0]
    ladder = [[_Way(np.unique(places, return_inverse=True)[1].reshape(-1), np.zeros(count))]]
    before = 0.0
    for halving in range(_HALVINGS, 0, -1):
        width = 0.5**halving
        loss = np.full(count, weight * before)
        ladder.append([_Way(np.floor((places + move) / (2 * width)).astype(np.int64), loss) for move in (0.0, width)])
        before = width * (1.0 - 1e-9)  # windows that are this much wider by rounding are in the next cells
    ladder.append([_Way(np.zeros(count, dtype=np.int64), np.full(count, weight * before))])
    return ladder


def _tree_ladder(domain: Domain, tree: Hierarchy, weight: float) -> list[list[_Way]]:
    """The levels of a hierarchy: a node costs its share of the leaves, or of the range if the leaves are numbers."""
    leaf = np.array([tree.leaf_index[value] for value in domain.values], dtype=np.int64)
    ladder = []
    for level, nodes in enumerate(tree.ancestors):
        is_top = level + 1 == tree.levels
        part = np.append(nodes[leaf], tree.root if is_top else len(tree.labels)).astype(np.int64)
        loss = np.ones(len(leaf)) if is_top else _losses_of_nodes(domain, tree, nodes)[leaf]
        loss = np.append(loss, 1.0 if is_top else 0.0)
        ladder.append([_Way(part, weight * loss if tree.levels > 1 else np.zeros(loss.shape[0]))])
    return ladder


def _losses_of_nodes(domain: Domain, tree: Hierarchy, nodes: NDArray[np.int32]) -> FloatArray:
    """(leaves,) what each leaf loses when it is released as its node; a node with one leaf loses nothing."""
    by_width = domain.kind is not DomainKind.TREE
    loss = _node_widths(domain, tree, nodes) if by_width else tree.leaf_counts[nodes] / len(tree.leaves)
    return np.where(tree.leaf_counts[nodes] == 1, 0.0, loss)


def _node_widths(domain: Domain, tree: Hierarchy, nodes: NDArray[np.int32]) -> FloatArray:
    """(leaves,) how much of the range of the values that occur the leaves of each leaf's node span."""
    places = _leaf_places(domain, tree)
    widths = np.zeros(len(nodes))
    for node in np.unique(nodes):
        inside = places[nodes == node]
        inside = inside[~np.isnan(inside)]
        widths[nodes == node] = inside.max() - inside.min() if len(inside) else 0.0
    return widths


def _leaf_places(domain: Domain, tree: Hierarchy) -> FloatArray:
    """(leaves,) where each lies in the range of the values that occur, from 0 to 1; NaN: it has no position."""
    if domain.kind is DomainKind.ORDER:
        rank = {value: float(place) for place, value in enumerate(domain.order or ())}
        positions = np.array([rank.get(text, np.nan) for text in tree.leaves])
    else:
        positions = parse_numbers(pl.Series(tree.leaves, dtype=pl.String), domain.scale)
    low, span = domain.positions[0], domain.span
    return np.clip((positions - low) / span, 0.0, 1.0) if span > 0 else np.zeros(len(positions))
