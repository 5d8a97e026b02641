"""Raw and masked tables as points in one space, so that both can be clustered and the clusters compared.

Every column is measured against its raw domain, and takes part with about the same weight:

- numbers, dates, ordered categories: one feature from 0 to 1. By default it is the rank: the share of the raw values
  below, equal values taking their middle rank, so that no outlier stretches the scale; a released interval is the
  middle rank of the raw values inside, which a recipient knows too, since the cut says how many records are where.
  `range` scales the values instead, and an interval is its middle: with skewed numbers a half that reaches to the
  largest value is then far from all of its records. A suppressed cell is the middle of everything. If values are
  missing there is a second feature, 1 where the value is missing.
- categories: one feature per value of the raw domain, 1/sqrt(2) for the record's value and 0 for the others, so that
  two different categories are at distance 1 like the two ends of a number range. A released ancestor, set or `*`
  stands for several values. By default it is one more value, equally far from all others, as in the TDR paper; where
  a column has more than 100 such texts, as after local recoding, and always with `spread`, its weight is spread
  evenly over the values it may stand for. Of a domain with more than 100 values the most frequent ones have their own
  feature, the others share one.

Records with equal cells are one row with a weight: a masked table has few distinct rows, and is clustered as fast as
that allows. Cells are read from text, by the same reader that scores releases; nothing here knows how a table was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.cells import Cells, read_cells
from shoal.released.domain import Domain, DomainKind, text_codes
from shoal.released.reading import group_rows

Points = NDArray[np.float32]

CATEGORY_WEIGHT = np.float32(np.sqrt(0.5))
LARGEST_CATEGORY = 100
NUMBER_FORMS = ("rank", "range")
CATEGORY_FORMS = ("value", "spread")


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """How cells become features; see above."""

    numbers: str = "rank"
    categories: str = "value"

    def __post_init__(self) -> None:
        problems = [
            Problem("unknown-encoding", f"{what} can be encoded as {' or '.join(known)}, not as '{given}'")
            for what, given, known in (
                ("numbers", self.numbers, NUMBER_FORMS),
                ("categories", self.categories, CATEGORY_FORMS),
            )
            if given not in known
        ]
        if problems:
            raise InputError(problems)


DEFAULT_ENCODING = Encoding()


@dataclass(frozen=True, eq=False)
class Features:
    """The distinct rows of a table as points."""

    points: Points  # (rows, features)
    weights: NDArray[np.int64]  # (rows,) records of each row
    row_of_record: NDArray[np.int32]  # (records,)

    @property
    def of_records(self) -> Points:
        """(records, features): a point for every record. 4 bytes per record and feature."""
        return self.points[self.row_of_record]


def table_features(
    frame: pl.DataFrame,
    columns: Sequence[str],
    domains: Mapping[str, Domain],
    encoding: Encoding = DEFAULT_ENCODING,
) -> Features:
    """The points of a raw or released table; `domains` are those of the raw table for both."""
    blocks: list[Points] = []
    codes: list[NDArray[np.int32]] = []
    for name in columns:
        texts, numbers = text_codes(frame[name])
        blocks.append(column_features(domains[name], texts, encoding))
        codes.append(numbers)
    row_of_record, weights, first = group_rows(codes, frame.height)
    points = np.hstack([block[numbers[first]] for block, numbers in zip(blocks, codes, strict=True)])
    return Features(np.ascontiguousarray(points, dtype=np.float32), weights, row_of_record)


def column_features(domain: Domain, texts: pl.Series, encoding: Encoding = DEFAULT_ENCODING) -> Points:
    """(texts, features) the points of the distinct texts of one column."""
    cells = read_cells(domain, texts)
    if domain.kind in (DomainKind.NUMBER, DomainKind.ORDER):
        return _number_features(domain, cells, encoding.numbers)
    features = _spread_features(domain, cells)
    return features if encoding.categories == "spread" else _with_new_values(domain, cells, features)


def _number_features(domain: Domain, cells: Cells, numbers: str) -> Points:
    missing = np.isnan(cells.low)
    if len(domain.values) == 0 or domain.span == 0:
        middle = np.full(missing.shape[0], 0.5)
    elif numbers == "rank":
        middle = _middle_ranks(domain, cells)
    else:
        middle = np.clip(((cells.low + cells.high) / 2 - domain.positions[0]) / domain.span, 0.0, 1.0)
    middle = np.where(missing, 0.5, middle)
    features = middle[:, None] if not domain.missing_count else np.column_stack([middle, missing])
    return features.astype(np.float32)


def _middle_ranks(domain: Domain, cells: Cells) -> NDArray[np.float64]:
    """The middle rank of the raw values inside, as a share of all that are present."""
    before = np.concatenate([[0], np.cumsum(domain.counts)])
    inside = np.clip(cells.first, 0, len(domain.values)), np.clip(cells.last + 1, 0, len(domain.values))
    middle: NDArray[np.float64] = (before[inside[0]] + before[inside[1]]) / (2 * before[-1])
    return middle


def _spread_features(domain: Domain, cells: Cells) -> Points:
    """Every text shares its weight among the values it may stand for."""
    place = _feature_of_code(domain)
    features = np.zeros((cells.loss.shape[0], int(place.max()) + 1 if place.shape[0] else 1), dtype=np.float32)
    for text in range(features.shape[0]):
        codes = covered_codes(domain, cells, text)
        if codes.shape[0]:
            features[text] = np.bincount(place[codes], minlength=features.shape[1]) / codes.shape[0]
    return features * CATEGORY_WEIGHT


def covered_codes(domain: Domain, cells: Cells, text: int) -> NDArray[np.int32]:
    """The codes of the raw values that a text may stand for; a missing value has the code after the last."""
    if text in cells.members:
        return cells.members[text]
    codes = np.arange(cells.first[text], cells.last[text] + 1, dtype=np.int32)
    if cells.covers_missing[text] and domain.missing_count:
        codes = np.append(codes, np.int32(domain.missing_code))
    return codes


def _feature_of_code(domain: Domain) -> NDArray[np.int64]:
    """The feature of each value; the rare values of a large domain share the last one."""
    counts = np.append(domain.counts, domain.missing_count) if domain.missing_count else domain.counts
    if counts.shape[0] <= LARGEST_CATEGORY:
        return np.arange(counts.shape[0])
    place = np.full(counts.shape[0], LARGEST_CATEGORY - 1)
    frequent = np.argsort(-counts, kind="stable")[: LARGEST_CATEGORY - 1]
    place[np.sort(frequent)] = np.arange(LARGEST_CATEGORY - 1)
    return place


def _with_new_values(domain: Domain, cells: Cells, features: Points) -> Points:
    """Texts that stand for several values become values of their own, unless there are very many."""
    sizes = [covered_codes(domain, cells, text).shape[0] for text in range(features.shape[0])]
    several = np.array(sizes, dtype=np.int64) > 1
    if several.sum() > LARGEST_CATEGORY:
        return features
    own = np.zeros((features.shape[0], int(several.sum())), dtype=np.float32)
    own[np.flatnonzero(several), np.arange(own.shape[1])] = CATEGORY_WEIGHT
    return np.hstack([np.where(several[:, None], np.float32(0), features), own])
