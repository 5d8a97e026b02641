"""Metrics of the classes: discernibility, average class size, classification, information gain per privacy loss."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.metrics.base import Metric, Settings, Value
from shoal.released.domain import CountArray
from shoal.released.reading import ReadTable


def discernibility(table: ReadTable, settings: Settings) -> Value:
    """A record costs the size of its class; a fully suppressed or removed record costs the size of the table."""
    sizes = table.class_sizes.astype(np.float64)
    cost = np.where(table.suppressed_classes, float(table.records), sizes)
    return Value(float(cost @ sizes) + float(table.removed) * table.records)


def c_avg(table: ReadTable, settings: Settings) -> Value:
    """Mean class size over k; without a k, over the smallest class."""
    k = settings.k or int(table.class_sizes.min())
    return Value(table.rows / table.classes / k)


def _label_counts(table: ReadTable, settings: Settings) -> pl.DataFrame | None:
    """How often each label occurs in each class."""
    if settings.labels is None:
        return None
    frame = pl.DataFrame({"class": table.class_of_row, "label": settings.labels})
    if table.weights is None:
        return frame.group_by("class", "label").agg(pl.len().alias("count"))
    weighted = frame.with_columns(pl.Series("count", table.weights))
    return weighted.group_by("class", "label").agg(pl.col("count").sum())


def classification(table: ReadTable, settings: Settings) -> Value | None:
    counts = _label_counts(table, settings)
    if counts is None:
        return None
    majority = counts.group_by("class").agg(pl.col("count").max()).sort("class")["count"].to_numpy().astype(np.int64)
    kept = np.where(table.suppressed_classes, 0, majority).sum()
    return Value(float(table.records - kept) / max(1, table.records))


def _entropy(counts: CountArray) -> float:
    share = np.sort(counts) / counts.sum()
    return float(-(share * np.log2(share)).sum())


def igpl(table: ReadTable, settings: Settings) -> Value | None:
    """Information that the classes give about the label, over the smallest-class privacy given up for it."""
    counts = _label_counts(table, settings)
    if counts is None:
        return None
    labels = counts.group_by("label").agg(pl.col("count").sum())["count"].to_numpy().astype(np.int64)
    size = table.class_sizes[counts["class"].to_numpy()]
    count = counts["count"].to_numpy().astype(np.float64)
    conditional = float(np.sort(-(count * np.log2(count / size))).sum() / table.rows)  # in any order of the records
    given_up = table.rows - int(table.class_sizes.min())
    return Value(max(0.0, _entropy(labels) - conditional) / (given_up + 1))


METRICS: tuple[Metric, ...] = (
    Metric(
        "discernibility",
        "Discernibility",
        "lower",
        0.0,
        float("inf"),
        "How many records each record looks the same as, added up; suppressed records look like the whole table.",
        discernibility,
    ),
    Metric(
        "c_avg",
        "Average class size / k",
        "lower",
        0.0,
        float("inf"),
        "The mean size of a class over the k that was asked for: 1 is as small as k allows.",
        c_avg,
    ),
    Metric(
        "classification",
        "Classification metric",
        "lower",
        0.0,
        1.0,
        "The share of records whose class label is not the commonest of their class, or that are suppressed.",
        classification,
    ),
    Metric(
        "igpl",
        "Information gain per privacy loss",
        "higher",
        0.0,
        float("inf"),
        "What the classes tell about the class label, in bits, over the number of records by which the smallest "
        "class shrank from the whole table.",
        igpl,
    ),
)
