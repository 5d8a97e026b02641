"""All metrics of a release at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem, did_you_mean
from shoal.metrics.base import Settings, metrics
from shoal.released.domain import CodeArray, CountArray, Domain, text_codes
from shoal.released.reading import ReadTable, read_release


@dataclass(frozen=True)
class Scores:
    """What a release loses: totals by metric name, and the parts per attribute by metric name."""

    totals: Mapping[str, float]
    per_attribute: Mapping[str, Mapping[str, float]]  # metric -> attribute -> value
    unreadable: Mapping[str, int] = field(default_factory=dict)  # cells nobody can read, counted as a full loss
    not_covering: Mapping[str, int] = field(default_factory=dict)  # cells that exclude the original value
    records: int = 0
    removed: int = 0  # records of the original that the release lacks
    suppressed_records: int = 0
    classes: int = 0
    smallest_class: int = 0
    largest_class: int = 0
    aligned: bool = True  # rows of original and release were taken to belong together

    def as_dict(self) -> dict[str, Any]:
        return {
            "totals": dict(self.totals),
            "per_attribute": {name: dict(parts) for name, parts in self.per_attribute.items()},
            "unreadable": dict(self.unreadable),
            "not_covering": dict(self.not_covering),
            "records": self.records,
            "removed": self.removed,
            "suppressed_records": self.suppressed_records,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "largest_class": self.largest_class,
            "aligned": self.aligned,
        }


def score(
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    domains: Mapping[str, Domain],
    *,
    k: int | None = None,
    class_column: str | None = None,
    weights: Mapping[str, float] | None = None,
    counts: CountArray | None = None,
) -> Scores:
    """Every metric that applies, from the two tables alone. Costs a few group-bys over the records.

    With `counts` both tables are given as distinct pairs of rows, each of which stands for so many records.
    """
    table = read_release(original, release, quasi, domains, weights=counts)
    return score_table(table, release, k=k, class_column=class_column, weights=weights)


def score_table(
    table: ReadTable,
    release: pl.DataFrame,
    *,
    k: int | None = None,
    class_column: str | None = None,
    weights: Mapping[str, float] | None = None,
    beta: float = 1.0,
) -> Scores:
    """The same for a release that is already read. `beta` is the exponent of the height weights."""
    labels = None if class_column is None else _labels(release, class_column)
    settings = Settings(k, dict(weights or {}), labels, beta)
    totals: dict[str, float] = {}
    parts: dict[str, Mapping[str, float]] = {}
    for metric in metrics():
        value = metric.compute(table, settings)
        if value is not None:
            totals[metric.name] = value.total
            if value.per_attribute:
                parts[metric.name] = value.per_attribute
    columns = table.columns.items()
    return Scores(
        totals=totals,
        per_attribute=parts,
        unreadable={name: column.unreadable for name, column in columns if column.unreadable},
        not_covering={name: column.not_covering for name, column in columns if column.not_covering},
        records=table.records,
        removed=table.removed,
        suppressed_records=int(table.class_sizes[table.suppressed_classes].sum()),
        classes=table.classes,
        smallest_class=int(table.class_sizes.min()),
        largest_class=int(table.class_sizes.max()),
        aligned=table.aligned,
    )


def _labels(release: pl.DataFrame, class_column: str) -> CodeArray:
    """(rows,) the code of every record's class label."""
    if class_column not in release.columns:
        hint = did_you_mean(class_column, release.columns)
        raise InputError(Problem("unknown-column", "the release has no such class column", class_column, hint))
    return text_codes(release[class_column])[1]
