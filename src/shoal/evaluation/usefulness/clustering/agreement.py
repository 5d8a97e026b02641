"""How alike are two clusterings of the same records, such as one of the raw and one of the released table?

Everything is computed from the contingency of the two: how many records are in cluster i of the first and cluster j
of the second. That table is built in one pass; only its cells that are not zero are kept, so many clusters are fine.

- overall F-measure: for each cluster of the first clustering the best harmonic mean of recall and precision that a
  cluster of the second reaches, weighted by size (C. van Rijsbergen, Information Retrieval, 1979). Not symmetric.
- match point: the share of all ordered pairs of records, a record with itself included, on which the two agree
  whether both are in one cluster (Fung, Wang, Wang, Hung 2009). From sums of squares, never from an n x n matrix.
- adjusted Rand index: agreement on pairs, corrected for chance (L. Hubert, P. Arabie, Comparing partitions, 1985).
- normalised mutual information, by the mean of the two entropies.

All are 1 for equal clusterings, whatever the clusters are called.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import InputError, Problem

Counts = NDArray[np.int64]
LARGEST_TABLE = 1_000_000  # cells of a contingency table that is returned as a whole


@dataclass(frozen=True, eq=False)
class Contingency:
    """The cells (first[i], second[i]) with counts[i] > 0 records; clusters are numbered by their sorted labels."""

    first: Counts
    second: Counts
    counts: Counts
    first_sizes: Counts
    second_sizes: Counts

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike) -> Contingency:
        """The contingency of two label arrays of the same records. Any labels that can be sorted will do."""
        one, other = np.asarray(first), np.asarray(second)
        _check(one, other)
        _, one_codes = np.unique(one, return_inverse=True)
        _, other_codes = np.unique(other, return_inverse=True)
        width = int(other_codes.max()) + 1
        cells, counts = np.unique(one_codes.astype(np.int64) * width + other_codes, return_counts=True)
        return cls(cells // width, cells % width, counts, np.bincount(one_codes), np.bincount(other_codes))

    @classmethod
    def of_table(cls, table: ArrayLike) -> Contingency:
        """The contingency given as a matrix, a row per cluster of the first clustering."""
        matrix = np.asarray(table, dtype=np.int64)
        first, second = np.nonzero(matrix)
        return cls(first, second, matrix[first, second], matrix.sum(axis=1), matrix.sum(axis=0))

    @property
    def records(self) -> int:
        return int(self.first_sizes.sum())

    @cached_property
    def table(self) -> Counts:
        """The whole matrix, zeros included."""
        shape = self.first_sizes.shape[0], self.second_sizes.shape[0]
        if shape[0] * shape[1] > LARGEST_TABLE:
            message = f"a table of {shape[0]} x {shape[1]} clusters is too large to show"
            raise InputError(Problem("too-many-clusters", message))
        matrix = np.zeros(shape, dtype=np.int64)
        matrix[self.first, self.second] = self.counts
        return matrix


def _check(one: NDArray[Any], other: NDArray[Any]) -> None:
    if one.ndim != 1 or other.ndim != 1 or one.shape != other.shape:
        message = "two clusterings can be compared only if both give one label to each of the same records"
        raise InputError(Problem("different-records", message))
    if one.shape[0] == 0:
        raise InputError(Problem("no-records", "there are no records to compare"))


def f_measures(contingency: Contingency) -> NDArray[np.float64]:
    """(clusters of the first,) the best F that any cluster of the second reaches for each of them.

    2 recall precision / (recall + precision) is 2 n_ij / (|C_i| + |K_j|).
    """
    sizes = contingency.first_sizes[contingency.first] + contingency.second_sizes[contingency.second]
    best = np.zeros(contingency.first_sizes.shape[0])
    np.maximum.at(best, contingency.first, 2 * contingency.counts / sizes)
    return best


def overall_f_measure(contingency: Contingency) -> float:
    return float((f_measures(contingency) * contingency.first_sizes).sum() / contingency.records)


def match_point(contingency: Contingency) -> float:
    """Pairs that differ are together in exactly one of the two: (sum |C|^2 - sum n^2) + (sum |K|^2 - sum n^2)."""
    pairs = contingency.records**2
    together = _squares(contingency.counts)
    differing = _squares(contingency.first_sizes) + _squares(contingency.second_sizes) - 2 * together
    return (pairs - differing) / pairs


def _squares(counts: Counts) -> int:
    """Exact also where the sum of squares leaves 64 bits."""
    return sum(count * count for count in counts.tolist())


def adjusted_rand(contingency: Contingency) -> float:
    records = contingency.records
    together = (_squares(contingency.counts) - records) / 2
    first = (_squares(contingency.first_sizes) - records) / 2
    second = (_squares(contingency.second_sizes) - records) / 2
    pairs = records * (records - 1) / 2
    expected = first * second / pairs if pairs else 0.0
    largest = (first + second) / 2
    return 1.0 if largest == expected else (together - expected) / (largest - expected)


def normalized_mutual_information(contingency: Contingency) -> float:
    first, second = _entropy(contingency.first_sizes), _entropy(contingency.second_sizes)
    if first == 0.0 and second == 0.0:
        return 1.0
    mutual = max(0.0, first + second - _entropy(contingency.counts))
    return float(min(1.0, 2 * mutual / (first + second)))


def _entropy(counts: Counts) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum()) if shares.shape[0] > 1 else 0.0


@dataclass(frozen=True, eq=False)
class ClusterComparison:
    """Two clusterings side by side: the four numbers, and the contingency behind them."""

    f_measure: float
    match_point: float
    adjusted_rand: float
    mutual_information: float
    contingency: Contingency

    def as_dict(self) -> dict[str, Any]:
        return {
            "f_measure": self.f_measure,
            "match_point": self.match_point,
            "adjusted_rand": self.adjusted_rand,
            "mutual_information": self.mutual_information,
            "contingency": self.contingency.table.tolist(),
        }


def compare_clusterings(first: ArrayLike, second: ArrayLike) -> ClusterComparison:
    """Compare two label arrays: the first is the yardstick (the raw clusters), the second what came out."""
    contingency = Contingency.of(first, second)
    return ClusterComparison(
        overall_f_measure(contingency),
        match_point(contingency),
        adjusted_rand(contingency),
        normalized_mutual_information(contingency),
        contingency,
    )
