"""Verdicts that compare a class with the whole table: t-closeness, beta-likeness, delta-disclosure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.likeness import BetaLikeness, DeltaDisclosure
from shoal.models.t_closeness import TCloseness
from shoal.tables.dates import parse_dates
from shoal.tables.exact import exact_order
from shoal.tables.scales import parse_numbers
from shoal.tables.schema import Scale
from shoal.verification.classes import Classes, ValueCounts
from shoal.verification.evidence import Evidence
from shoal.verification.result import TOLERANCE, ModelCheck, judge


def check_t_closeness(model: TCloseness, evidence: Evidence) -> ModelCheck:
    counts = evidence.counts(model.column)
    if model.distance == "equal":
        distance = _variation(counts, evidence.classes)
    elif model.distance == "ordered":
        distance = _ordered_distance(_in_order(model.column, counts, evidence), evidence.classes)
    else:
        distance = _hierarchical_distance(model.column, counts, evidence)
    safe = distance <= model.t + TOLERANCE
    return judge(model, evidence.classes, f"largest {model.distance} distance", distance, safe, worst="max")


def check_beta_likeness(model: BetaLikeness, evidence: Evidence) -> ModelCheck:
    """Only values that occur in a class can have become more frequent there, so the entries are enough."""
    classes, counts = evidence.classes, evidence.counts(model.column)
    in_table = (counts.totals / counts.totals.sum())[counts.values]
    gain = counts.counts / classes.sizes[counts.classes] / in_table - 1
    bound = np.minimum(model.beta, -np.log(in_table)) if model.enhanced else np.full(gain.shape, model.beta)
    broken = np.bincount(counts.classes, weights=gain > bound + TOLERANCE, minlength=classes.count)
    largest = np.zeros(classes.count)
    np.maximum.at(largest, counts.classes, gain)
    return judge(model, classes, "largest relative gain", largest, broken == 0, worst="max")


def check_delta_disclosure(model: DeltaDisclosure, evidence: Evidence) -> ModelCheck:
    """A class that lacks a value of the table has an unbounded log ratio."""
    classes, counts = evidence.classes, evidence.counts(model.column)
    in_table = (counts.totals / counts.totals.sum())[counts.values]
    ratio = np.abs(np.log(counts.counts / classes.sizes[counts.classes] / in_table))
    largest = np.zeros(classes.count)
    np.maximum.at(largest, counts.classes, ratio)
    largest[np.bincount(counts.classes, minlength=classes.count) < counts.distinct] = np.inf
    return judge(model, classes, "largest log ratio", largest, largest < model.delta - TOLERANCE, worst="max")


Numbers = NDArray[np.int64]
Shares = NDArray[np.float64]


def _variation(counts: ValueCounts, classes: Classes) -> NDArray[np.float64]:
    """Half the sum of |q - p|: the mass that must move, so only values with q > p need to be looked at."""
    in_table = (counts.totals / counts.totals.sum())[counts.values]
    excess = np.maximum(0.0, counts.counts / classes.sizes[counts.classes] - in_table)
    return np.bincount(counts.classes, weights=excess, minlength=classes.count).astype(np.float64)


def _ordered_distance(counts: ValueCounts, classes: Classes) -> Shares:
    """Sum over the ranks of |Q - P| / (m - 1), P and Q the cumulated shares.

    Between two values of a class Q stands still while P only rises, so each stretch is two sums of P, cut where P
    passes Q: the cost is that of the entries, not of classes times values.
    """
    if counts.distinct < 2 or classes.count == 0:
        return np.zeros(classes.count)
    cumulated = np.cumsum(counts.totals / counts.totals.sum())
    sums = np.concatenate([[0.0], np.cumsum(cumulated)])
    changes = counts.classes[1:] != counts.classes[:-1]
    first = np.append(True, changes)  # (entries,) the first value of a class
    until = np.where(np.append(changes, True), counts.distinct, np.append(counts.values[1:], counts.distinct))
    stretches = _area_between(cumulated, sums, _cumulated_in_class(counts, classes, first), counts.values, until)
    ahead = np.zeros(classes.count)  # ranks before the first value of a class: Q is 0
    ahead[counts.classes[first]] = sums[counts.values[first]]
    total = np.bincount(counts.classes, stretches, classes.count) + ahead
    return np.asarray(total / (counts.distinct - 1), dtype=np.float64)


def _area_between(cumulated: Shares, sums: Shares, level: Shares, start: Numbers, until: Numbers) -> Shares:
    """(entries,) the sum of |Q - P| over the ranks of a stretch, where Q is `level`; `sums` are those of P."""
    cut = np.clip(np.searchsorted(cumulated, level), start, until)
    below = level * (cut - start) - (sums[cut] - sums[start])
    above = (sums[until] - sums[cut]) - level * (until - cut)
    return np.asarray(below + above, dtype=np.float64)


def _cumulated_in_class(
    counts: ValueCounts, classes: Classes, first_of_class: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """(entries,) the share of a class that has this value or a lower one: Q."""
    running = np.cumsum(counts.counts / classes.sizes[counts.classes])
    before = np.concatenate([[0.0], running[:-1]])
    base = before[first_of_class][np.cumsum(first_of_class) - 1]
    return np.asarray(np.minimum(1.0, running - base), dtype=np.float64)


def _in_order(name: str, counts: ValueCounts, evidence: Evidence) -> ValueCounts:
    """The entries with values numbered by their rank: numbers and dates by themselves, text by a given order."""
    _, distinct = evidence.numbers(name)
    rank = _ranks(name, distinct, evidence)
    values = rank[counts.values]
    order = np.lexsort((values, counts.classes))
    totals = np.empty_like(counts.totals)
    totals[rank] = counts.totals
    return ValueCounts(counts.classes[order], values[order], counts.counts[order], totals)


def _ranks(name: str, distinct: pl.Series, evidence: Evidence) -> NDArray[np.int64]:
    """The rank of every distinct value; a missing one comes last. Equal numbers spelled differently stay apart."""
    present = len(distinct) - distinct.null_count()
    keys = _order_keys(distinct.head(present), evidence.known.orders.get(name))
    if np.isnan(keys).any():
        message = "the ordered distance needs values with an order"
        raise InputError(Problem("unordered-column", message, name, "give the order of its values, from low to high"))
    rank = np.arange(len(distinct))
    rank[np.argsort(keys, kind="stable")] = np.arange(present)
    return rank


def _order_keys(present: pl.Series, order: Sequence[str] | None) -> NDArray[np.float64]:
    """Numbers that rise with the values: by a given order, else by themselves; NaN for a value without a place."""
    if order is not None:
        place = {text: float(number) for number, text in enumerate(order)}
        return np.array([place.get(text, np.nan) for text in present.cast(pl.String).to_list()], dtype=np.float64)
    if present.dtype.is_numeric() or present.dtype.is_temporal():
        return np.arange(len(present), dtype=np.float64)
    texts = present.cast(pl.String)
    numbers, scale = parse_numbers(texts).positions, Scale.DECIMAL
    if np.isnan(numbers).any():
        numbers, scale = parse_dates(texts)[0], Scale.DATE
    return numbers if np.isnan(numbers).any() else _exact_places(texts, numbers, scale)


def _exact_places(texts: pl.Series, numbers: Shares, scale: Scale) -> Shares:
    """(texts,) the place of each in rising order, also of those that floats do not tell apart."""
    order, _ = exact_order(texts, numbers, scale)
    places = np.empty(len(texts), dtype=np.float64)
    places[order] = np.arange(len(texts))
    return places


def _hierarchical_distance(name: str, counts: ValueCounts, evidence: Evidence) -> NDArray[np.float64]:
    """Mean over the levels below the root of the mass that must leave its node: exact for a tree of equal steps."""
    _, distinct = evidence.numbers(name)
    nodes = _nodes(name, distinct, evidence.known.hierarchies.get(name))
    height = nodes.shape[0] - 1
    total = np.zeros(evidence.classes.count)
    if height == 0:
        return total
    for level in range(height):
        total += _variation(_lifted(counts, nodes[level]), evidence.classes)
    return np.asarray(total / height, dtype=np.float64)


def _lifted(counts: ValueCounts, nodes: NDArray[np.int64]) -> ValueCounts:
    """The same histograms over the nodes of one level, given the node of every value."""
    _, merged = np.unique(nodes, return_inverse=True)
    wide = int(merged.max()) + 1
    keys, where = np.unique(counts.classes * wide + merged[counts.values], return_inverse=True)
    return ValueCounts(
        keys // wide,
        keys % wide,
        np.bincount(where, weights=counts.counts).astype(np.int64),
        np.bincount(merged, weights=counts.totals, minlength=wide).astype(np.int64),
    )


def _nodes(name: str, distinct: pl.Series, hierarchy: Hierarchy | None) -> NDArray[np.int64]:
    """(levels, values) the node of every value at every level; a missing value hangs right below the root."""
    if hierarchy is None:
        message = "the hierarchical distance needs a hierarchy of this column"
        raise InputError(Problem("missing-hierarchy", message, name))
    texts = distinct.cast(pl.String).to_list()
    uncovered = sum(text is not None and text not in hierarchy.leaf_index for text in texts)
    if uncovered:
        message = f"{uncovered} of {len(texts)} distinct values are not in its hierarchy"
        raise InputError(Problem("uncovered-values", message, name))
    nodes = np.empty((hierarchy.levels, len(texts)), dtype=np.int64)
    for number, text in enumerate(texts):
        if text is None:
            nodes[:, number] = -1
            nodes[-1, number] = hierarchy.root
        else:
            nodes[:, number] = hierarchy.ancestors[:, hierarchy.leaf_index[text]]
    return nodes
