"""A workload of random count queries, answered from the original and from the release.

A query asks how many records have values in given ranges (numbers) or sets (categories) of one to four attributes.
The release answers with the expected number, read by `reading_cells`: for every class, its size times the share of
its cells that lies in the query. The relative error is |answer - truth| / truth; queries that no record meets are
drawn again. Errors are given by selectivity, because small counts are always harder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluation.usefulness.reading_cells import accepted_shares, overlap
from shoal.released.domain import Domain, DomainKind, FloatArray
from shoal.released.reading import ReadColumn, ReadTable, group_rows

MOST_ATTRIBUTES = 4
EDGES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 1.0)
NAMES = ("< 0.1%", "0.1-0.5%", "0.5-1%", "1-5%", "5-10%", "> 10%")
DRAWS = 20  # attempts per query before giving up


@dataclass(frozen=True)
class Condition:
    """One attribute of a query: which value codes it accepts and, for numbers, from where to where."""

    name: str
    accepted: NDArray[np.bool_]  # (values + 1,); the last entry is for missing values
    ends: tuple[float, float] | None


def query_errors(table: ReadTable, original: pl.DataFrame, *, queries: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Relative errors of random count queries, overall and by selectivity."""
    random = np.random.default_rng([seed, 21])
    rows, weights = _distinct_rows(table, original)
    selectivity, error = [], []
    for _ in range(queries):
        for _ in range(DRAWS):
            conditions = _draw(table, list(table.columns), random)
            truth = _true_count(conditions, rows, weights)
            if truth > 0:
                answer = _answer(conditions, table)
                selectivity.append(truth / original.height)
                error.append(abs(answer - truth) / truth)
                break
    return _summary(np.array(selectivity), np.array(error), queries)


def _distinct_rows(table: ReadTable, original: pl.DataFrame) -> tuple[dict[str, NDArray[np.int32]], NDArray[np.int64]]:
    """The codes of the distinct rows of the original by column, and how often each occurs."""
    codes = {
        name: column.original if column.original is not None else column.domain.encode(original[name])
        for name, column in table.columns.items()
    }
    _, weights, first = group_rows(list(codes.values()), original.height)
    return {name: line[first] for name, line in codes.items()}, weights


def _draw(table: ReadTable, names: list[str], random: np.random.Generator) -> list[Condition]:
    """A query whose attributes each accept about the share that gives a selectivity between 0.1% and 50% together."""
    size = int(random.integers(1, min(MOST_ATTRIBUTES, len(names)) + 1))
    share = float(np.exp(random.uniform(np.log(0.001), np.log(0.5)))) ** (1.0 / size)
    chosen = random.choice(len(names), size=size, replace=False)
    return [_condition(table.columns[names[number]].domain, share, random) for number in chosen]


def _condition(domain: Domain, share: float, random: np.random.Generator) -> Condition:
    values = len(domain.values)
    accepted = np.zeros(values + 1, dtype=np.bool_)
    if values == 0:
        accepted[-1] = True
        return Condition(domain.name, accepted, None)
    if domain.kind in (DomainKind.NUMBER, DomainKind.ORDER):
        ends = _random_range(domain, share, random)
        accepted[:values] = (domain.positions >= ends[0]) & (domain.positions <= ends[1])
        return Condition(domain.name, accepted, ends)
    accepted[_random_set(domain.counts, share, random)] = True
    return Condition(domain.name, accepted, None)


def _random_set(counts: NDArray[np.int64], share: float, random: np.random.Generator) -> list[int]:
    """Values that have about the given share of the records together; at least one."""
    chosen: list[int] = []
    wanted, records = share * counts.sum(), 0
    for code in random.permutation(counts.shape[0]):
        if records > 0 and records + counts[code] > wanted:
            continue
        chosen.append(int(code))
        records += int(counts[code])
        if records >= wanted:
            break
    return chosen


def _random_range(domain: Domain, share: float, random: np.random.Generator) -> tuple[float, float]:
    """From where to where about this share of the records lies."""
    last = len(domain.values) - 1
    total = np.cumsum(domain.counts)
    start = random.uniform(0.0, max(0.0, 1.0 - share)) * total[-1]
    low = int(np.searchsorted(total, start, side="right"))
    high = int(np.searchsorted(total, start + share * total[-1], side="left"))
    low, high = min(low, last), min(max(high, low), last)
    return float(domain.positions[low]), float(domain.positions[high])


def _true_count(conditions: list[Condition], rows: dict[str, NDArray[np.int32]], weights: NDArray[np.int64]) -> int:
    met = conditions[0].accepted[rows[conditions[0].name]]
    for condition in conditions[1:]:
        met = met & condition.accepted[rows[condition.name]]
    return int(weights[met].sum())


def _answer(conditions: list[Condition], table: ReadTable) -> float:
    expected = table.class_sizes.astype(np.float64)
    for condition in conditions:
        column = table.columns[condition.name]
        expected = expected * _text_share(column, condition)[column.text_of_class]
    return float(expected.sum())


def _text_share(column: ReadColumn, condition: Condition) -> FloatArray:
    """(texts,) the share of what each released text stands for that meets a condition."""
    if condition.ends is None:
        return accepted_shares(column, condition.accepted)
    cells = column.cells
    share = overlap(np.nan_to_num(cells.low), np.nan_to_num(cells.high), condition.ends, column.domain.scale)
    share = np.where(np.isnan(cells.low), 0.0, share)
    for text, codes in cells.members.items():
        share[text] = condition.accepted[codes].mean() if codes.shape[0] else 0.0
    return share


def _summary(selectivity: FloatArray, error: FloatArray, asked: int) -> dict[str, Any]:
    by_selectivity = []
    for order, name in enumerate(NAMES):
        inside = (selectivity >= EDGES[order]) & (selectivity < EDGES[order + 1] + (1e-9 if order == 5 else 0.0))
        if inside.any():
            low, middle, high = np.quantile(error[inside], [0.25, 0.5, 0.75])
            by_selectivity.append(
                {
                    "selectivity": name,
                    "order": order,
                    "queries": int(inside.sum()),
                    "median": float(middle),
                    "low": float(low),
                    "high": float(high),
                    "mean": float(error[inside].mean()),
                }
            )
    return {
        "queries": int(error.shape[0]),
        "asked": asked,
        "median_error": float(np.median(error)) if error.shape[0] else None,
        "mean_error": float(error.mean()) if error.shape[0] else None,
        "by_selectivity": by_selectivity,
    }
