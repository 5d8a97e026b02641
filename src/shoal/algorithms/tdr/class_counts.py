"""How many records of each class have each code of an attribute.

Gains depend on the value of one attribute and the class alone, so these counts, taken once, are all that scores need
from the labels: no refinement reads a label again. The counts are kept as (code, class) pairs in the order of the
codes, which is the order of the values: a split of a number range is found in one pass, without sorting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.tdr.kernels.gain import best_split, children_gain, disclosure_gains
from shoal.encode.encoded_table import EncodedTable

DENSE_CELLS = 4_000_000  # up to this many (code, class) cells are counted in one dense array
SMALLEST_GAIN = 1e-13  # a gain below this is rounding


@dataclass(frozen=True)
class ClassCounts:
    """The pairs of one attribute: those of code c are first_pair[c] .. first_pair[c + 1] - 1."""

    first_pair: NDArray[np.int64]
    pair_class: NDArray[np.int32]
    pair_count: NDArray[np.int64]
    classes: int

    def code_records(self) -> NDArray[np.int64]:
        """(codes,) the records of each code."""
        before = np.concatenate([[0], np.cumsum(self.pair_count)])
        return np.diff(before[self.first_pair])

    def gain(self, bounds: NDArray[np.int64]) -> tuple[float, NDArray[np.int64]]:
        """The gain of cutting a range at the bounds, and the records of each part."""
        records = np.empty(bounds.shape[0] - 1, dtype=np.int64)
        gain = children_gain(self.first_pair, self.pair_class, self.pair_count, bounds, self.classes, records)
        return _clean(gain), records

    def split(self, low: int, high: int, positions: NDArray[np.float64], smallest: int = 1) -> int:
        """The first code of the right half in the best split of a range into halves of at least `smallest` records,
        or -1 if there is no such split."""
        pairs = self.first_pair, self.pair_class, self.pair_count
        return int(best_split(*pairs, low, high, positions, smallest, self.classes))

    def disclosures(self, suppressed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The gain of disclosing each of the suppressed codes."""
        gains = np.empty(suppressed.shape[0], dtype=np.float64)
        disclosure_gains(self.first_pair, self.pair_class, self.pair_count, suppressed, self.classes, gains)
        gains[gains < SMALLEST_GAIN] = 0.0
        return gains


def _clean(gain: float) -> float:
    return gain if gain >= SMALLEST_GAIN else 0.0


def count_classes(table: EncodedTable, labels: NDArray[np.int32] | None, classes: int) -> list[ClassCounts]:
    """The class counts of every attribute; without labels all records are of one class."""
    return [_count_attribute(table, number, labels, classes) for number in range(table.width)]


def _count_attribute(table: EncodedTable, number: int, labels: NDArray[np.int32] | None, classes: int) -> ClassCounts:
    size = table.attributes[number].size
    if labels is None:
        dense = np.zeros(size, dtype=np.int64)
        np.add.at(dense, table.codes[number], table.weights)
        return _from_dense(dense, size, 1)
    keys = table.codes[number][table.row_of_record].astype(np.int64)
    keys *= classes
    keys += labels
    if size * classes <= DENSE_CELLS:
        return _from_dense(np.bincount(keys, minlength=size * classes), size, classes)
    pairs, counts = np.unique(keys, return_counts=True)
    return _from_pairs(pairs, counts, size, classes)


def _from_dense(dense: NDArray[np.int64], size: int, classes: int) -> ClassCounts:
    pairs = np.flatnonzero(dense)
    return _from_pairs(pairs, dense[pairs], size, classes)


def _from_pairs(pairs: NDArray[np.int64], counts: NDArray[np.int64], size: int, classes: int) -> ClassCounts:
    first_pair = np.searchsorted(pairs, np.arange(size + 1, dtype=np.int64) * classes)
    return ClassCounts(
        first_pair.astype(np.int64), (pairs % classes).astype(np.int32), counts.astype(np.int64), classes
    )
