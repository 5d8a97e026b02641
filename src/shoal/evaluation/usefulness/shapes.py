"""What each column looks like before and after: the share of the records in a few bins that have names.

Numbers and dates are cut at round places, categories are shown by the commonest values. A bin has at least LEAST
records of the original, else it goes together with its neighbour or with the other values: a picture names nothing that
only a few people have. Released cells are read as `reading_cells` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluation.usefulness.reading_cells import Bins, original_bins, text_shares
from shoal.released.domain import Domain, DomainKind, FloatArray
from shoal.released.reading import ReadColumn, ReadTable
from shoal.tables.schema import Scale

LEAST = 10
MOST = 10
MISSING = "(missing)"
OTHERS = "other values"
_TAIL = 0.01  # of the records at each end, which do not stretch the picture
_MONTH = 30.44
_EPOCH = date(1970, 1, 1)

CodeArray = NDArray[np.int64]
Shape = list[dict[str, Any]]


def column_shapes(table: ReadTable, original: pl.DataFrame) -> dict[str, Shape]:
    """For every quasi-identifier its bins in their order: `label`, and the shares `before` and `after`."""
    return {name: _shape(column, original[name]) for name, column in table.columns.items()}


def _shape(column: ReadColumn, original: pl.Series) -> Shape:
    cut = _Cut.of(column.domain)
    bins = Bins(cut.of_code.astype(np.int32), len(cut.labels))
    before = np.bincount(original_bins(column, bins, original), minlength=bins.count)
    released = np.bincount(column.codes, minlength=column.cells.loss.shape[0])
    after = released @ text_shares(column, bins)
    parts = zip(cut.labels, _shares(before), _shares(after), strict=True)
    return [{"label": label, "before": one, "after": other} for label, one, other in parts]


def _shares(counts: NDArray[Any]) -> list[float]:
    return [float(share) for share in counts / max(1.0, float(counts.sum()))]


@dataclass(frozen=True, eq=False)
class _Cut:
    """Which bin every value code has, the last one for missing, and what the bins are called."""

    of_code: CodeArray
    labels: list[str]

    @classmethod
    def of(cls, domain: Domain) -> _Cut:
        if not domain.values:
            return cls(np.zeros(1, dtype=np.int64), [MISSING])
        in_order = domain.kind in (DomainKind.NUMBER, DomainKind.ORDER)
        bins, labels = _along_an_axis(domain) if in_order else _commonest(domain)
        if domain.missing_count:
            return cls(np.append(bins, len(labels)), [*labels, MISSING])
        return cls(np.append(bins, len(labels) - 1), labels)


def _commonest(domain: Domain) -> tuple[CodeArray, list[str]]:
    """The commonest values, each a bin of its own, and all others in one."""
    order = np.argsort(-domain.counts, kind="stable")
    shown = [int(code) for code in order[:MOST] if domain.counts[code] >= LEAST]
    bins = np.full(len(domain.values), len(shown), dtype=np.int64)
    bins[shown] = np.arange(len(shown))
    labels = [domain.values[code] for code in shown]
    return bins, [*labels, OTHERS] if len(shown) < len(domain.values) else labels


def _along_an_axis(domain: Domain) -> tuple[CodeArray, list[str]]:
    """Neighbours together, so that every bin has enough records."""
    places = np.unique(domain.positions)
    if domain.kind is DomainKind.ORDER or len(places) <= MOST:
        fine = np.searchsorted(places, domain.positions)
        texts = [domain.values[int(np.argmax(fine == number))] for number in range(len(places))]
        return _together(fine, domain.counts, texts, texts)
    edges, text_of = _round_edges(domain)
    fine = np.searchsorted(edges, domain.positions, side="right")
    step = 0.0 if domain.scale is Scale.DECIMAL else 1.0
    first = [text_of(edge) for edge in (edges[0], *edges)]
    last = [text_of(edge - step) for edge in (*edges, edges[-1] + step)]
    return _together(fine, domain.counts, first, last)


def _together(
    fine: CodeArray, counts: CodeArray, first: Sequence[str], last: Sequence[str]
) -> tuple[CodeArray, list[str]]:
    """Bins of at least LEAST records from finer ones in their order; the outer ones do not tell where they end."""
    starts = _starts_of_bins(np.bincount(fine, weights=counts, minlength=len(first)))
    ends = [*(start - 1 for start in starts[1:]), len(first) - 1]
    labels = [_label(first[start], last[end]) for start, end in zip(starts, ends, strict=True)]
    if len(starts) > 1 and first is not last:
        labels[0], labels[-1] = f"≤ {last[ends[0]]}", f"≥ {first[starts[-1]]}"
    return np.searchsorted(np.array(starts), fine, side="right") - 1, labels


def _starts_of_bins(records: NDArray[Any]) -> list[int]:
    """The first of the finer bins of each, so that every one has enough records."""
    starts, held = [0], 0.0
    for number, inside in enumerate(records):
        if held >= LEAST and records[number:].sum() >= LEAST:
            starts.append(number)
            held = 0.0
        held += inside
    return starts


def _label(first: str, last: str) -> str:
    return first if first == last else f"{first} \N{EN DASH} {last}"


def _round_edges(domain: Domain) -> tuple[FloatArray, Callable[[float], str]]:
    """Where bins begin, at places that a person would choose, and how such a place is written."""
    shares = np.cumsum(domain.counts) / max(1, domain.counts.sum())
    low, high = np.interp([_TAIL, 1.0 - _TAIL], shares, domain.positions)
    by_month = domain.scale is Scale.DATE and high - low > MOST * _MONTH / 4
    edges, text_of = _months(low, high) if by_month else _round_numbers(low, high, domain.scale)
    return edges if edges.size else np.array([high]), text_of


def _round_numbers(low: float, high: float, scale: Scale) -> tuple[FloatArray, Callable[[float], str]]:
    step = _round_step((high - low) / MOST, least=0.0 if scale is Scale.DECIMAL else 1.0)
    return step * np.arange(
        np.floor(low / step) + 1, np.floor(high / step) + 1
    ), _day if scale is Scale.DATE else _number


def _months(low: float, high: float) -> tuple[FloatArray, Callable[[float], str]]:
    wanted = (high - low) / _MONTH / MOST
    size = next((size for size in (1, 2, 3, 6, 12, 24, 60, 120, 240) if size >= wanted), 600)
    begin, end = (_month(place) // size for place in (low, high))
    edges = np.array([_first_day(number * size) for number in range(begin + 1, end + 1)], dtype=np.float64)
    letters = 4 if size % 12 == 0 else 7  # the year, or year and month
    return edges, lambda place: _day(place)[:letters]


def _number(place: float) -> str:
    rounded = round(place, 10)
    return f"{rounded:,.10g}" if abs(rounded) >= 10_000 else f"{rounded:.10g}"  # a year has no comma


def _round_step(wanted: float, least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is at least what is wanted."""
    wanted = max(wanted, least, 1e-9)
    scale = 10.0 ** np.floor(np.log10(wanted))
    return float(next(size * scale for size in (1.0, 2.0, 5.0, 10.0) if size * scale >= wanted * (1 - 1e-9)))


def _month(place: float) -> int:
    day = _EPOCH + timedelta(days=int(place))
    return day.year * 12 + day.month - 1


def _first_day(month: int) -> int:
    return (date(month // 12, month % 12 + 1, 1) - _EPOCH).days


def _day(place: float) -> str:
    return (_EPOCH + timedelta(days=int(place))).isoformat()
