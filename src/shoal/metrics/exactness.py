"""What a mean loss does not show: cells that are still exact, sets that list values, ends that belong to one record."""

from __future__ import annotations

import numpy as np

from shoal.metrics.base import Metric, Settings, Value
from shoal.released.domain import DomainKind, FloatArray
from shoal.released.reading import ReadColumn, ReadTable


def exact_cells(table: ReadTable, settings: Settings) -> Value:
    """Records that the release lacks have no exact cell."""
    parts = {name: _share(table, _is_exact(column)) for name, column in table.columns.items()}
    return Value(float(np.mean(list(parts.values()))), parts)


def listed_values(table: ReadTable, settings: Settings) -> Value | None:
    """Only for categories without a hierarchy; `*` lists nothing."""
    flat = {name: column for name, column in table.columns.items() if column.domain.kind is DomainKind.FLAT}
    parts = {name: _share(table, _written_values(column)) for name, column in flat.items()}
    return Value(float(np.mean(list(parts.values()))), parts) if parts else None


def lonely_ends(table: ReadTable, settings: Settings) -> Value | None:
    """Only for numbers and dates; each end of a range counts once per class of records that shows it."""
    numbers = {name: column for name, column in table.columns.items() if column.domain.kind is DomainKind.NUMBER}
    parts = {name: float(_lonely(column)) for name, column in numbers.items()}
    return Value(sum(parts.values()), parts) if parts else None


def _share(table: ReadTable, of_class: FloatArray) -> float:
    return float(np.sum(np.sort(of_class * table.class_sizes)) / max(1, table.records))


def _is_exact(column: ReadColumn) -> FloatArray:
    """(classes,) 1 where a cell stands for a single value."""
    cells, text = column.cells, column.text_of_class
    single = (cells.leaves[text] <= 1) & ~cells.suppressed[text] & ~cells.unreadable[text]
    if column.domain.kind in (DomainKind.NUMBER, DomainKind.ORDER):
        single &= ~(cells.low[text] < cells.high[text])
        single &= column.first == column.last if column.aggregated else True
    return single.astype(np.float64)


def _written_values(column: ReadColumn) -> FloatArray:
    """(classes,) how many values stand in a cell."""
    cells, text = column.cells, column.text_of_class
    return np.where(cells.suppressed[text] | cells.unreadable[text], 0, cells.leaves[text]).astype(np.float64)


def _lonely(column: ReadColumn) -> int:
    domain, cells = column.domain, column.cells
    positions, place = np.unique(domain.positions, return_inverse=True)
    alone = positions[np.bincount(place, weights=domain.counts, minlength=len(positions)) == 1]
    text = column.text_of_class[~cells.suppressed[column.text_of_class] & ~cells.unreadable[column.text_of_class]]
    assert cells.ends is not None
    low, high = (end[text] for end in cells.ends)
    ranges = low < high
    return int(np.isin(low[ranges], alone).sum() + np.isin(high[ranges], alone).sum())


METRICS: tuple[Metric, ...] = (
    Metric(
        "exact_cells",
        "Cells kept exact",
        "higher",
        0.0,
        1.0,
        "The share of cells that still stand for a single value.",
        exact_cells,
    ),
    Metric(
        "listed_values",
        "Values listed per cell",
        "lower",
        0.0,
        float("inf"),
        "How many values a cell of a category without a hierarchy spells out, on average.",
        listed_values,
    ),
    Metric(
        "lonely_ends",
        "Ends of a single record",
        "lower",
        0.0,
        float("inf"),
        "Ends of released ranges that are the exact value of one record alone; rounding avoids them.",
        lonely_ends,
    ),
)
