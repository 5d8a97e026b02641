"""The exact order of numbers and dates. Positions are floats: large or long numbers that differ may share one.

A value with a type is its number. Texts are looked at closely only where positions are equal: most often that is one
number in two spellings (1.5 and 1.50), else two numbers that a float cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.dates import exact_times
from shoal.tables.scales import TEXT_LIKE
from shoal.tables.schema import Scale

Integers = NDArray[np.int64]
Key = TypeVar("Key", Decimal, tuple[int, int])


def exact_order(distinct: pl.Series, positions: NDArray[np.float64], scale: Scale) -> tuple[Integers, Integers]:
    """The distinct values in rising order, and for each place of that order a rank: equal for one number only.

    The scale is one with distances, and every value has a position.
    """
    is_text = isinstance(distinct.dtype, TEXT_LIKE)
    texts = distinct.cast(pl.String) if is_text else distinct
    spelling = _places(texts)
    order = np.lexsort((spelling, positions))
    shared = np.flatnonzero(np.diff(positions[order]) == 0)
    if not is_text or shared.shape[0] == 0:
        return order, np.arange(len(order), dtype=np.int64)
    tied = order[np.union1d(shared, shared + 1)]
    within = np.zeros(len(texts), dtype=np.int64)
    within[tied] = _exact_ranks(texts.gather(tied), scale)
    order = np.lexsort((spelling, within, positions))
    changes = (np.diff(positions[order]) != 0) | (np.diff(within[order]) != 0)
    return order, np.append(0, np.cumsum(changes)).astype(np.int64)


def _places(values: pl.Series) -> Integers:
    """The place of each value in sorted order."""
    return values.rank("ordinal").to_numpy().astype(np.int64)


def _exact_ranks(texts: pl.Series, scale: Scale) -> Integers:
    """Equal ranks for equal numbers, rising with them."""
    if scale is Scale.DATE:
        return _dense_ranks(exact_times(texts))
    return _dense_ranks([_exact_number(text) for text in texts.to_list()])


def _exact_number(text: str) -> Decimal:
    try:
        return Decimal(text.strip())
    except InvalidOperation:  # an exponent beyond all bounds: it has a position, so it is a number next to 0
        return Decimal(0)


def _dense_ranks(keys: Sequence[Key]) -> Integers:
    rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([rank_of[key] for key in keys], dtype=np.int64)
