"""How a released cell is read as data: the one rule behind moments, tables, queries and models.

- A range of numbers is spread evenly between its ends (for integers and dates over the whole numbers in it), and is
  read as its middle where one number is needed.
- A node of a hierarchy, a set, or a suppressed category stands for the values it covers, in the proportion in which
  these occur in the release as a whole. That proportion is found from the release alone: every cell is shared out
  over its values, the shares are counted, and with these counts it is done again (the EM algorithm), ten times. A
  fifth of the weight always stays even: rare values are generalized more often, and would vanish otherwise. Even
  shares alone, one round and other fifths were measured and gave larger errors.
- A suppressed or unreadable number says nothing: it is left out of means, and spread over the whole range in counts.
- A released mean or midpoint is that number.

Of the original only the domain is used: which values there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.released.domain import Domain, DomainKind, FloatArray, text_codes
from shoal.released.reading import ReadColumn
from shoal.tables.schema import Scale

BinArray = NDArray[np.int32]
ROUNDS = 10
EVEN_PART = 0.2
_weights: WeakKeyDictionary[ReadColumn, FloatArray] = WeakKeyDictionary()
MOST_BINS = 40
NUMBER_BINS = 12


@dataclass(frozen=True, eq=False)
class Bins:
    """The values of a domain in at most a few dozen bins: categories as they are (rare ones together), numbers cut."""

    of_code: BinArray  # (values + 1,) bin of every value code; the last entry is for missing
    count: int


def make_bins(domain: Domain) -> Bins:
    bins = _number_bins(domain) if domain.kind in (DomainKind.NUMBER, DomainKind.ORDER) else _word_bins(domain)
    used = int(bins.max()) + 1 if len(domain.values) else 0
    of_code = np.append(bins, used if domain.missing_count else max(0, used - 1)).astype(np.int32)
    return Bins(of_code, used + (1 if domain.missing_count else 0))


def _number_bins(domain: Domain) -> NDArray[np.int64]:
    """(values,) a bin per number, or about as many records in each bin where there are many numbers."""
    if domain.distinct_positions.shape[0] <= NUMBER_BINS:
        return np.searchsorted(domain.distinct_positions, domain.positions)
    middle = (np.cumsum(domain.counts) - domain.counts / 2) / max(1, domain.counts.sum())
    edges = np.unique(np.interp(np.linspace(0, 1, NUMBER_BINS + 1)[1:-1], middle, domain.positions))
    return np.searchsorted(edges, domain.positions, side="right")


def _word_bins(domain: Domain) -> NDArray[np.int64]:
    """(values,) a bin per word; where there are many, the rare ones share the last."""
    values = len(domain.values)
    if values <= MOST_BINS:
        return np.arange(values)
    rank = np.empty(values, dtype=np.int64)
    rank[np.argsort(-domain.counts, kind="stable")] = np.arange(values)
    return np.minimum(rank, MOST_BINS - 1)


def value_weights(column: ReadColumn) -> FloatArray:
    """(values + 1,) how common each value is in the release; numbers all alike. The last entry is for missing."""
    found = _weights.get(column)
    if found is None:
        found = _weights[column] = _estimate_weights(column)
    return found


def _estimate_weights(column: ReadColumn) -> FloatArray:
    domain, cells = column.domain, column.cells
    values = len(domain.values)
    weights = np.ones(values + 1)
    if not domain.missing_count:
        weights[values] = 0.0
    if domain.kind in (DomainKind.NUMBER, DomainKind.ORDER):
        return weights
    counts = np.bincount(column.codes, minlength=cells.loss.shape[0]).astype(np.float64)
    return _as_common_as_released(_Cover.of(column), counts, weights)


def _as_common_as_released(cover: _Cover, counts: FloatArray, weights: FloatArray) -> FloatArray:
    """How common the values are, so that the released texts are as common as they are: a few rounds of estimation."""
    even = weights / max(1.0, float(weights.sum()))
    for _ in range(ROUNDS):
        sums = cover.sums(weights)
        share = np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), 0.0)
        received = weights * cover.dealt_out(share) / max(1.0, float(counts.sum()))
        weights = (1.0 - EVEN_PART) * received + EVEN_PART * even
    return weights


@dataclass(frozen=True, eq=False)
class _Cover:
    """Which value codes each text covers: a range of codes, or single (text, code) pairs; and whether missing."""

    first: NDArray[np.int64]
    end: NDArray[np.int64]
    missing: NDArray[np.bool_]
    pair_text: NDArray[np.int64]
    pair_code: NDArray[np.int64]
    values: int

    @classmethod
    def of(cls, column: ReadColumn) -> _Cover:
        cells, values = column.cells, len(column.domain.values)
        first = np.clip(cells.first, 0, values).astype(np.int64)
        end = np.maximum(first, np.clip(cells.last + 1, 0, values)).astype(np.int64)
        missing = cells.covers_missing & (column.domain.missing_count > 0)
        sets = list(cells.members)
        end[sets] = first[sets]
        text = np.repeat(np.array(sets, dtype=np.int64), [len(codes) for codes in cells.members.values()])
        code = np.concatenate(list(cells.members.values())).astype(np.int64) if sets else text
        present = code < values  # missing values of a set are in `missing`
        return cls(first, end, missing, text[present], code[present], values)

    def sums(self, weights: FloatArray) -> FloatArray:
        """(texts,) total weight of what each text covers."""
        total = np.concatenate([[0.0], np.cumsum(weights[: self.values])])
        found: FloatArray = total[self.end] - total[self.first] + self.missing * weights[self.values]
        return found + _sum_by(self.pair_text, weights[self.pair_code], self.first.shape[0])

    def dealt_out(self, share: FloatArray) -> FloatArray:
        """(values + 1,) what each value gets when every text gives its share to each value it covers."""
        steps = _sum_by(self.first, share, self.values + 1) - _sum_by(self.end, share, self.values + 1)
        received = np.maximum(np.cumsum(steps)[: self.values], 0.0)
        received += _sum_by(self.pair_code, share[self.pair_text], self.values)
        return np.append(received, (share * self.missing).sum())


def _sum_by(groups: NDArray[np.int64], values: FloatArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(groups, values, minlength=count), dtype=np.float64)


def text_shares(column: ReadColumn, bins: Bins) -> FloatArray:
    """(texts, bins) the share of every bin in what each released text stands for."""
    domain, cells = column.domain, column.cells
    cover, weights = _Cover.of(column), value_weights(column)
    shares = np.empty((cells.loss.shape[0], bins.count))
    for number in range(bins.count):
        shares[:, number] = cover.sums(np.where(bins.of_code == number, weights, 0.0))
    means = ~np.isnan(cells.number) & (shares.sum(axis=1) <= 0)
    if means.any() and domain.values:
        shares[means] = 0.0
        shares[means, bins.of_code[_nearest_codes(domain, cells.number[means])]] = 1.0
    weight = shares.sum(axis=1, keepdims=True)
    return np.where(weight > 0, shares / np.where(weight > 0, weight, 1.0), 1.0 / max(1, bins.count))


def _nearest_codes(domain: Domain, positions: FloatArray) -> NDArray[np.int64]:
    """The value at or right above each position: what a mean or midpoint is taken for."""
    return np.clip(np.searchsorted(domain.positions, positions), 0, len(domain.values) - 1)


def covered_codes(column: ReadColumn, random: np.random.Generator) -> NDArray[np.int64]:
    """(rows of the release,) the code of one value that each cell covers, drawn as common as the release has it.

    A mean or midpoint is the nearest value; what covers nothing known is missing.
    """
    cover, weights = _Cover.of(column), value_weights(column)
    text = column.codes.astype(np.int64)
    found = _drawn_from_ranges(cover, weights, text, random)
    for one, members in column.cells.members.items():
        rows, codes = np.flatnonzero(text == one), np.asarray(members)
        known = codes[codes < cover.values]
        if rows.shape[0] and known.shape[0]:
            found[rows] = random.choice(known, rows.shape[0], p=weights[known] / weights[known].sum())
    means = (~np.isnan(column.cells.number) & (cover.sums(weights) <= 0))[text]
    if means.any() and cover.values:
        found[means] = _nearest_codes(column.domain, column.cells.number[text[means]])
    return found


def _drawn_from_ranges(
    cover: _Cover, weights: FloatArray, text: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    """(rows,) a code of the range that each text covers, by weight; the code of missing where the range is empty."""
    total = np.concatenate([[0.0], np.cumsum(weights[: cover.values])])
    inside = total[cover.end] - total[cover.first]
    place = total[cover.first][text] + random.random(text.shape[0]) * inside[text]
    drawn = np.clip(np.searchsorted(total, place, side="right") - 1, cover.first[text], cover.end[text] - 1)
    return np.where(inside[text] > 0, drawn, cover.values)


def accepted_shares(column: ReadColumn, accepted: NDArray[np.bool_]) -> FloatArray:
    """(texts,) the share of what each text stands for that is among the accepted value codes."""
    cover, weights = _Cover.of(column), value_weights(column)
    whole = cover.sums(weights)
    return np.where(whole > 0, cover.sums(np.where(accepted, weights, 0.0)) / np.where(whole > 0, whole, 1.0), 0.0)


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


def variance_inside(width: FloatArray, scale: Scale) -> FloatArray:
    """Variance of an even spread over a range."""
    if scale is Scale.DECIMAL:
        return width**2 / 12.0
    return np.where(width > 0, ((width + 1.0) ** 2 - 1.0) / 12.0, 0.0)


def overlap(low: FloatArray, high: FloatArray, query: tuple[float, float], scale: Scale) -> FloatArray:
    """The share of ranges spread evenly that lies in a query range, both ends included."""
    step = 0.0 if scale is Scale.DECIMAL else 0.5
    low, high, query = low / 2, high / 2, (query[0] / 2, query[1] / 2)  # a width may be beyond all floats, its half not
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
