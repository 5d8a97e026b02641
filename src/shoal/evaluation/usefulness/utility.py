"""What an analyst still finds: means, spreads, associations and tables, before and after.

Released cells are read by `reading_cells`. Tables of two attributes are compared by their total variation distance:
the share of the records that would have to change their cell to turn one table into the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from shoal.evaluation.usefulness.reading_cells import (
    column_bins,
    make_bins,
    original_bins,
    read_numbers,
    text_shares,
    variance_inside,
)
from shoal.released.domain import Domain, DomainKind, FloatArray
from shoal.released.reading import ReadColumn, ReadTable
from shoal.tables.schema import Scale

MOST_PAIRS = 150


def utility(
    table: ReadTable, original: pl.DataFrame, release: pl.DataFrame, kept: Sequence[str] = ()
) -> dict[str, Any]:
    """Moments of numbers, correlations, marginal and two-way tables. `kept` are columns released as they are."""
    before, after = _distributions(table, original, release, kept)
    pairs = list(combinations(before, 2))[:MOST_PAIRS]
    tables = [_compare_tables(before, after, table, one, other) for one, other in pairs]
    return {
        "moments": moments(table, original),
        "correlations": correlations(table, original),
        "marginals": {name: _distance(*_marginals(before[name], after[name], table)) for name in table.columns},
        "tables": tables,
        "mean_table_distance": float(np.mean([entry["distance"] for entry in tables])) if tables else 0.0,
        "pairs_left_out": max(0, len(before) * (len(before) - 1) // 2 - len(pairs)),
    }


def moments(table: ReadTable, original: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Mean and standard deviation of every numeric attribute; dates in days."""
    found: dict[str, dict[str, float]] = {}
    for name, column in table.columns.items():
        domain = column.domain
        if domain.kind is not DomainKind.NUMBER or not domain.values:
            continue
        after = _moments_of_ranges(column)
        if after is None:
            continue
        mean, variance, known = after
        true_mean, true_variance = _true_moments(domain)
        if not np.isfinite([mean, variance, true_mean, true_variance]).all():
            continue  # the square of a number beyond 1e150 is none any more
        deviation = float(np.sqrt(true_variance))
        found[name] = {
            "mean_before": true_mean,
            "mean_after": mean,
            "deviation_before": deviation,
            "deviation_after": float(np.sqrt(variance)),
            "mean_shift": abs(mean - true_mean) / deviation if true_variance > 0 else 0.0,
            "unknown": table.rows - known,
            "days": domain.scale is Scale.DATE,
        }
    return found


def _true_moments(domain: Domain) -> tuple[float, float]:
    """Mean and variance of the values of the original."""
    records = domain.counts.sum()
    mean = float((domain.positions * domain.counts).sum() / records)
    return mean, float(((domain.positions - mean) ** 2 * domain.counts).sum() / records)


def _moments_of_ranges(column: ReadColumn) -> tuple[float, float, int] | None:
    """Mean, variance and how many cells tell a number; every value of a range is taken to be as likely."""
    reading = read_numbers(column)
    counts = np.bincount(column.codes, minlength=reading.middle.shape[0]) * reading.known
    if counts.sum() == 0:
        return None
    middle = np.where(reading.known, reading.middle, 0.0)
    mean = float((middle * counts).sum() / counts.sum())
    inside = variance_inside(np.where(reading.known, reading.width, 0.0), column.domain.scale)
    return mean, float((((middle - mean) ** 2 + inside) * counts).sum() / counts.sum()), int(counts.sum())


def correlations(table: ReadTable, original: pl.DataFrame) -> list[dict[str, Any]]:
    """Pearson correlations of all pairs of numeric attributes, after: of the middles of the ranges."""
    before: dict[str, FloatArray] = {}
    after: dict[str, FloatArray] = {}
    for name, column in table.columns.items():
        if column.domain.kind is DomainKind.NUMBER:
            codes = column.original if column.original is not None else column.domain.encode(original[name])
            before[name] = np.append(column.domain.positions, np.nan)[codes]
            reading = read_numbers(column)
            after[name] = np.where(reading.known, reading.middle, np.nan)[column.codes]
    return [
        {
            "one": one,
            "other": other,
            "before": _pearson(before[one], before[other]),
            "after": _pearson(after[one], after[other]),
        }
        for one, other in combinations(before, 2)
    ]


def _pearson(one: FloatArray, other: FloatArray) -> float | None:
    known = ~(np.isnan(one) | np.isnan(other))
    if known.sum() < 2:
        return None
    x, y = one[known] - one[known].mean(), other[known] - other[known].mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / scale) if 0 < scale < np.inf else None


Distribution = Any  # (bins of every record, number of bins) before, shares per class after


def _distributions(
    table: ReadTable, original: pl.DataFrame, release: pl.DataFrame, kept: Sequence[str]
) -> tuple[dict[str, Distribution], dict[str, FloatArray]]:
    """Per column: the bin of every original record, and (classes, bins) released records of each class per bin."""
    before: dict[str, Distribution] = {}
    after: dict[str, FloatArray] = {}
    for name, column in table.columns.items():
        bins = make_bins(column.domain)
        before[name] = (original_bins(column, bins, original[name]), bins.count)
        after[name] = text_shares(column, bins)[column.text_of_class] * table.class_sizes[:, np.newaxis]
    others = [name for name in kept if name in release.columns and name in original.columns]
    for name in others:
        if name not in table.columns:
            before[name], after[name] = _kept_distribution(table, original[name], release[name])
    return before, after


def _kept_distribution(table: ReadTable, original: pl.Series, release: pl.Series) -> tuple[Distribution, FloatArray]:
    """The same for a column that was not generalized: released records of each class per bin are simply counted."""
    coded, count = column_bins(pl.concat([original.cast(pl.String), release.cast(pl.String)]))
    keys = table.class_of_row.astype(np.int64) * count + coded[len(original) :]
    found = np.bincount(keys, minlength=table.classes * count).reshape(table.classes, count)
    return (coded[: len(original)], count), found.astype(np.float64)


def _marginals(before: Distribution, after: FloatArray, table: ReadTable) -> tuple[FloatArray, FloatArray]:
    coded, count = before
    return np.bincount(coded, minlength=count) / coded.shape[0], after.sum(axis=0) / max(1, table.rows)


def _distance(one: FloatArray, other: FloatArray) -> float:
    return float(np.abs(one - other).sum() / 2)


def _compare_tables(
    before: Mapping[str, Distribution], after: Mapping[str, FloatArray], table: ReadTable, one: str, other: str
) -> dict[str, Any]:
    (first, width), (second, height) = before[one], before[other]
    joint = np.bincount(first.astype(np.int64) * height + second, minlength=width * height).reshape(width, height)
    truth = joint / max(1, first.shape[0])
    sizes = np.maximum(1, table.class_sizes)[:, np.newaxis]
    released = (after[one] / sizes).T @ after[other] / max(1, table.rows)
    return {
        "one": one,
        "other": other,
        "distance": _distance(truth, released),
        "association_before": cramer(truth),
        "association_after": cramer(released),
    }


def cramer(joint: FloatArray) -> float:
    """Cramér's V of a table of shares: 0 is independent, 1 is determined."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    joint = joint[rows > 0][:, columns > 0]
    expected = np.outer(rows[rows > 0], columns[columns > 0])
    smaller = min(joint.shape) - 1
    if smaller < 1:
        return 0.0
    return float(np.sqrt(max(0.0, (joint**2 / expected).sum() - 1.0) / smaller))
