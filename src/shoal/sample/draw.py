"""Seeded drawing of whole columns, the same on every machine.

Only uniform numbers are taken from the generator, whose stream is fixed; everything else is built from them with
plain arithmetic, so that no change in another library's sampling methods changes the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]


def pick(random: np.random.Generator, weights: FloatArray, rows: IntegerArray) -> IntegerArray:
    """For each entry of `rows` a column of `weights` (rows, columns), drawn by the weights of that row."""
    cumulative = np.cumsum(weights, axis=1)
    cumulative /= cumulative[:, -1:]
    cumulative[:, -1] = 1.0
    # One sorted line for all rows: row r lies between r and r + 1, so a single search answers every entry.
    line = (cumulative + np.arange(len(weights))[:, None]).ravel()
    found = np.searchsorted(line, rows + random.random(len(rows)), side="right") - rows * weights.shape[1]
    return np.asarray(np.minimum(found, weights.shape[1] - 1), dtype=np.int64)


def pick_one_of(random: np.random.Generator, weights: Sequence[float], count: int) -> IntegerArray:
    return pick(random, np.array([weights], dtype=np.float64), np.zeros(count, dtype=np.int64))


def pick_word(random: np.random.Generator, words: Sequence[str], count: int) -> pl.Series:
    """Words that are all equally likely."""
    return texts(words, (random.random(count) * len(words)).astype(np.int64))


def texts(words: Sequence[str], numbers: IntegerArray) -> pl.Series:
    return pl.Series(words, dtype=pl.String).gather(numbers)


def bell(random: np.random.Generator, count: int) -> FloatArray:
    """Nearly normal numbers with mean 0 and deviation 1: sums of twelve uniform ones."""
    total = np.zeros(count)
    for _ in range(12):
        total += random.random(count)
    return total - 6.0


def between(points: Mapping[int, Sequence[float]], size: int) -> FloatArray:
    """(size, weights) weights at 0, 1, ..., size - 1, on straight lines between the given points."""
    positions = np.arange(size, dtype=np.float64)
    columns = np.array(list(points.values()), dtype=np.float64).T
    return np.stack([np.interp(positions, list(points), column) for column in columns], axis=1)
