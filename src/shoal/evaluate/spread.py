"""How a released cell is read as data: the one rule behind moments, tables, queries and models.

A cell stands for all values it covers, each equally likely:
- a range of numbers is spread evenly between its ends (for integers and dates over the whole numbers in it);
- a node of a hierarchy, or a set, is spread evenly over those of its values that occur in the original;
- a suppressed or unreadable cell is spread over all values of the original, each equally likely;
- a released mean or midpoint is that number.
A number is read as the middle of its range where one number is needed. Nothing of the original but its domain is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.metrics.domain import Domain, DomainKind, FloatArray, text_codes
from shoal.metrics.reading import ReadColumn
from shoal.tables.schema import Scale

BinArray = NDArray[np.int32]
MOST_BINS = 40
NUMBER_BINS = 12


@dataclass(frozen=True, eq=False)
class Bins:
    """The values of a domain in at most a few dozen bins: categories as they are (rare ones together), numbers cut."""

    of_code: BinArray  # (values + 1,) bin of every value code; the last entry is for missing
    count: int


def make_bins(domain: Domain) -> Bins:
    values = len(domain.values)
    if domain.kind in (DomainKind.NUMBER, DomainKind.ORDER):
        distinct = domain.distinct_positions.shape[0]
        if distinct <= NUMBER_BINS:
            bins = np.searchsorted(domain.distinct_positions, domain.positions)
        else:
            middle = (np.cumsum(domain.counts) - domain.counts / 2) / max(1, domain.counts.sum())
            edges = np.unique(np.interp(np.linspace(0, 1, NUMBER_BINS + 1)[1:-1], middle, domain.positions))
            bins = np.searchsorted(edges, domain.positions, side="right")
    elif values <= MOST_BINS:
        bins = np.arange(values)
    else:
        rank = np.empty(values, dtype=np.int64)
        rank[np.argsort(-domain.counts, kind="stable")] = np.arange(values)
        bins = np.minimum(rank, MOST_BINS - 1)
    used = int(bins.max()) + 1 if values else 0
    of_code = np.append(bins, used if domain.missing_count else max(0, used - 1)).astype(np.int32)
    return Bins(of_code, used + (1 if domain.missing_count else 0))


def text_shares(column: ReadColumn, bins: Bins) -> FloatArray:
    """(texts, bins) the share of every bin in what each released text stands for."""
    domain, cells = column.domain, column.cells
    values = len(domain.values)
    onto = np.zeros((values + 1, bins.count))
    onto[np.arange(values + 1), bins.of_code] = 1.0
    if not domain.missing_count:
        onto[values] = 0.0
    total = np.vstack([np.zeros((1, bins.count)), np.cumsum(onto[:values], axis=0)])
    first = np.clip(cells.first, 0, values)
    last = np.clip(cells.last + 1, 0, values)
    shares = total[np.maximum(first, last)] - total[first]
    if domain.missing_count:
        shares += cells.covers_missing[:, np.newaxis] * onto[values]
    for text, codes in cells.members.items():
        shares[text] = onto[codes].sum(axis=0)
    means = ~np.isnan(cells.number) & (shares.sum(axis=1) == 0)
    if means.any() and values:
        nearest = np.clip(np.searchsorted(domain.positions, cells.number[means]), 0, values - 1)
        shares[means] = onto[nearest]
    weight = shares.sum(axis=1, keepdims=True)
    return np.where(weight > 0, shares / np.where(weight > 0, weight, 1.0), 1.0 / max(1, bins.count))


def original_bins(column: ReadColumn, bins: Bins, original: pl.Series) -> BinArray:
    """(records,) the bin of every original value."""
    codes = column.original if column.original is not None else column.domain.encode(original)
    return bins.of_code[codes]


@dataclass(frozen=True)
class NumberReading:
    """A released number column: the middle of every text's range, its width, and whether it says anything."""

    middle: FloatArray  # (texts,)
    width: FloatArray
    known: NDArray[np.bool_]


def read_numbers(column: ReadColumn) -> NumberReading:
    cells = column.cells
    is_number = ~np.isnan(cells.number)
    middle = np.where(is_number, cells.number, (cells.low + cells.high) / 2)
    width = np.where(is_number, 0.0, cells.high - cells.low)
    known = ~(cells.suppressed | cells.unreadable | np.isnan(middle))
    return NumberReading(middle, width, known)


def spread_variance(width: FloatArray, scale: Scale) -> FloatArray:
    """Variance of an even spread over a range."""
    if scale is Scale.DECIMAL:
        return width**2 / 12.0
    return np.where(width > 0, ((width + 1.0) ** 2 - 1.0) / 12.0, 0.0)


def overlap(low: FloatArray, high: FloatArray, query: tuple[float, float], scale: Scale) -> FloatArray:
    """The share of ranges spread evenly that lies in a query range, both ends included."""
    step = 0.0 if scale is Scale.DECIMAL else 1.0
    inside = np.minimum(high, query[1]) - np.maximum(low, query[0]) + step
    width = high - low + step
    point = width <= 0
    share = np.clip(inside, 0.0, None) / np.where(point, 1.0, width)
    return np.where(point, (low >= query[0]) & (low <= query[1]), np.minimum(share, 1.0))


def column_bins(column: pl.Series) -> tuple[BinArray, int]:
    """Bins of a column that is released as it is: its values, rare ones together."""
    texts, codes = text_codes(column)
    counts = np.bincount(codes, minlength=len(texts))
    rank = np.empty(len(texts), dtype=np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(texts))
    bins = np.minimum(rank, MOST_BINS - 1)
    return bins[codes].astype(np.int32), int(bins.max()) + 1
