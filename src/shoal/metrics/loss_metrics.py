"""Metrics of how much the cells lose: GCP, NCP, ILoss, distortion, precision, SSE."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from shoal.hierarchies.weights import whd, wid
from shoal.metrics.base import Metric, Settings, Value
from shoal.released.domain import DomainKind, FloatArray
from shoal.released.reading import ReadColumn, ReadTable


def _mean(table: ReadTable, of_class: FloatArray) -> float:
    """Mean over the original records; records that the release lacks count as 1.

    Added up from small to large, so that the order of the records changes nothing.
    """
    return float((np.sum(np.sort(of_class * table.class_sizes)) + table.removed) / max(1, table.records))


def _per_attribute(table: ReadTable, cost: dict[str, FloatArray]) -> dict[str, float]:
    return {name: _mean(table, of_class) for name, of_class in cost.items()}


def _losses(table: ReadTable) -> dict[str, FloatArray]:
    return {name: column.loss for name, column in table.columns.items()}


def gcp(table: ReadTable, settings: Settings) -> Value:
    parts = _per_attribute(table, _losses(table))
    return Value(float(np.mean(list(parts.values()))), parts)


def ncp(table: ReadTable, settings: Settings) -> Value:
    parts = {
        name: mean * table.records * settings.weight(name)
        for name, mean in _per_attribute(table, _losses(table)).items()
    }
    return Value(float(sum(parts.values())), parts)


def iloss(table: ReadTable, settings: Settings) -> Value:
    parts = _per_attribute(table, {name: _iloss_of_class(column) for name, column in table.columns.items()})
    weights = np.array([settings.weight(name) for name in parts])
    total = float(np.dot(weights, list(parts.values())) / weights.sum()) if weights.sum() > 0 else 0.0
    return Value(total, parts)


def iloss_sum(table: ReadTable, settings: Settings) -> Value:
    """As the thesis on Two-level adds it up: over all cells, each with the weight of its attribute."""
    means = iloss(table, settings).per_attribute
    parts = {name: mean * table.records * settings.weight(name) for name, mean in means.items()}
    return Value(float(sum(parts.values())), parts)


def _domain_values(column: ReadColumn) -> int:
    domain = column.domain
    if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
        return len(domain.hierarchy.leaves)
    return max(1, int(domain.distinct_positions.shape[0]) + (1 if domain.missing_count else 0))


def _iloss_of_class(column: ReadColumn) -> FloatArray:
    """(values covered - 1) / values of the domain."""
    leaves = column.cells.leaves[column.text_of_class].astype(np.float64)
    if column.aggregated:  # a mean stands for the values between its class's lowest and highest
        stands_for = (column.last - column.first + 1).astype(np.float64)
        leaves = np.where(np.isnan(column.cells.number[column.text_of_class]), leaves, stands_for)
    return np.asarray((np.maximum(leaves, 1.0) - 1.0) / _domain_values(column))


def _distortion(table: ReadTable, settings: Settings, scheme: str, factors: Mapping[str, float] | None = None) -> Value:
    """`factors` weigh the attributes besides their priorities."""
    cost = {name: _lift_of_class(column, scheme, settings.beta) for name, column in table.columns.items()}
    weights = {name: settings.weight(name) * (factors or {}).get(name, 1.0) for name in cost}
    parts = {name: mean * table.records * weights[name] for name, mean in _per_attribute(table, cost).items()}
    return Value(float(sum(parts.values())), parts)


def _steps(column: ReadColumn) -> int:
    """The generalization steps of an attribute: those of the hierarchy that was given, else one, to everything."""
    return 1 if column.domain.hierarchy is None else column.domain.hierarchy.levels - 1


def _lift_of_class(column: ReadColumn, scheme: str, beta: float = 1.0) -> FloatArray:
    """Weighted hierarchical distance from the value to what was released; numbers by the width of the range."""
    domain = column.domain
    if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
        costs = whd(domain.hierarchy.levels - 1, scheme, beta)
        level = column.cells.level[column.text_of_class]
        return np.asarray(np.where(level >= 0, costs[np.maximum(level, 0)], (column.loss > 0) * 1.0))
    if domain.kind is DomainKind.FLAT:
        return np.asarray((column.loss > 0) * 1.0)  # two levels: the value, and everything
    return column.loss


def distortion(table: ReadTable, settings: Settings) -> Value:
    return _distortion(table, settings, "uniform")


def distortion_height(table: ReadTable, settings: Settings) -> Value:
    return _distortion(table, settings, "height")


def distortion_koc(table: ReadTable, settings: Settings) -> Value:
    return _distortion(table, settings, "height-koc")


def distortion_wid(table: ReadTable, settings: Settings) -> Value:
    factors = wid([_steps(column) for column in table.columns.values()])
    return _distortion(table, settings, "uniform", dict(zip(table.columns, factors.tolist(), strict=True)))


def precision(table: ReadTable, settings: Settings) -> Value:
    cost = {name: _lift_of_class(column, "uniform") for name, column in table.columns.items()}
    parts = {name: 1.0 - mean for name, mean in _per_attribute(table, cost).items()}
    return Value(float(np.mean(list(parts.values()))), parts)


def sse(table: ReadTable, settings: Settings) -> Value | None:
    """Only for attributes that were released as numbers throughout, with rows that belong together."""
    parts: dict[str, float] = {}
    for name, column in table.columns.items():
        if column.domain.kind is not DomainKind.NUMBER or column.original is None:
            continue
        used = np.unique(column.codes)
        if np.isnan(column.cells.number[used]).any() or column.domain.missing_count:
            continue
        truth, shown, count = _counted_pairs(column, table)
        scale = _power_below(truth)
        truth, shown = truth * scale, shown * scale
        mean = float(np.dot(truth, count) / count.sum())
        variance = float(np.dot(np.square(truth - mean), count))
        error = float(np.dot(np.square(truth - shown), count))
        parts[name] = error / variance if variance > 0 else 0.0
    return Value(float(np.mean(list(parts.values()))), parts) if parts else None


def _counted_pairs(column: ReadColumn, table: ReadTable) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The distinct pairs of an original and a released number, in order, and how many records have each."""
    assert column.original is not None
    pairs = pl.DataFrame(
        {
            "truth": column.domain.positions[column.original],
            "shown": column.cells.number[column.codes],
            "count": np.ones(column.codes.shape[0], dtype=np.int64) if table.weights is None else table.weights,
        }
    )
    counted = pairs.group_by("truth", "shown").agg(pl.col("count").sum()).sort("truth", "shown")
    return (
        counted["truth"].to_numpy(),
        counted["shown"].to_numpy(),
        counted["count"].to_numpy().astype(np.float64),
    )


def _power_below(numbers: FloatArray) -> float:
    """A power of two, which rounds nothing, that makes numbers small enough to be squared; 1 for usual ones."""
    largest = float(np.nanmax(np.abs(numbers), initial=0.0))
    return 1.0 if largest < 1e100 else 2.0 ** -int(np.ceil(np.log2(largest)))


METRICS: tuple[Metric, ...] = (
    Metric(
        "gcp",
        "Global certainty penalty",
        "lower",
        0.0,
        1.0,
        "How wide the released cells are, on average, as a share of the whole domain: 0 is exact, 1 is nothing left.",
        gcp,
    ),
    Metric(
        "ncp",
        "Normalized certainty penalty",
        "lower",
        0.0,
        float("inf"),
        "The same widths added up over all cells, times the weight of each attribute.",
        ncp,
    ),
    Metric(
        "iloss",
        "ILoss",
        "lower",
        0.0,
        1.0,
        "The share of the other values of the domain that a released cell could also stand for, on average.",
        iloss,
    ),
    Metric(
        "iloss_sum",
        "ILoss, added up",
        "lower",
        0.0,
        float("inf"),
        "ILoss added up over all cells instead of averaged, times the weight of each attribute.",
        iloss_sum,
    ),
    Metric(
        "distortion",
        "Distortion, uniform weights",
        "lower",
        0.0,
        float("inf"),
        "How far the cells climbed in their hierarchies, added up over all cells; every step counts the same.",
        distortion,
    ),
    Metric(
        "distortion_height",
        "Distortion, height weights",
        "lower",
        0.0,
        float("inf"),
        "The same climb, with steps near the top of a hierarchy counting more.",
        distortion_height,
    ),
    Metric(
        "distortion_koc",
        "Distortion, height weights as in KOC",
        "lower",
        0.0,
        float("inf"),
        "The same climb with the height weights of the example in the KOC paper; the top costs less than 1.",
        distortion_koc,
    ),
    Metric(
        "distortion_wid",
        "Distortion, attributes weighed by their steps",
        "lower",
        0.0,
        float("inf"),
        "The climb with equal steps, times the weight WID of each attribute: few generalization steps weigh most.",
        distortion_wid,
    ),
    Metric(
        "precision",
        "Precision",
        "higher",
        0.0,
        1.0,
        "The share of the hierarchies' height that is left: 1 means nothing was generalized.",
        precision,
    ),
    Metric(
        "sse",
        "SSE / SST",
        "lower",
        0.0,
        float("inf"),
        "For attributes released as means: the squared error as a share of the attribute's variance.",
        sse,
    ),
)
