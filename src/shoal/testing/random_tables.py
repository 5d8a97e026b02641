"""Random encoded tables for tests: trees of random shape, numbers and flat categories in turn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable, Kind


def random_table(
    seed: int, records: int, *, attributes: int = 3, values: int = 6, weights: bool = False, labels: int = 3
) -> EncodedTable:
    """A table with random hierarchies; `weights` gives attributes random priorities; a column "label" is added."""
    random = np.random.default_rng(seed)
    made, codes = [], []
    for number in range(attributes):
        made.append(_random_attribute(random, number, values, weights))
        codes.append(random.integers(0, made[-1].size, records))
    rows, inverse, sizes = np.unique(np.vstack(codes), axis=1, return_inverse=True, return_counts=True)
    label = EncodedColumn("label", random.integers(0, labels, records).astype(np.int32), labels)
    return EncodedTable(
        tuple(made),
        np.ascontiguousarray(rows, dtype=np.int32),
        sizes.astype(np.int64),
        inverse.reshape(-1).astype(np.int32),
        {"label": label},
    )


def _random_attribute(random: np.random.Generator, number: int, values: int, weights: bool) -> EncodedAttribute:
    size = int(random.integers(1, values + 1))
    kind = (Kind.TREE, Kind.INTERVAL, Kind.FLAT)[number % 3]
    ancestors = random_ancestors(random, size, 2 if kind is Kind.FLAT else int(random.integers(2, 5)))
    counts = np.bincount(ancestors.ravel()) / size
    weight = float(random.integers(0, 5)) / 4 if weights else 1.0
    positions = np.arange(size) / max(1, size - 1)
    return EncodedAttribute(f"a{number}", kind, size, positions, ancestors, counts[ancestors], weight)


def random_ancestors(random: np.random.Generator, size: int, levels: int) -> NDArray[np.int32]:
    """(levels, size) a random tree over leaves in order: each level joins neighbours of the one below."""
    rows = [np.arange(size)]
    for _ in range(levels - 2):
        below = rows[-1]
        cuts = random.random(size) < 0.5
        joined = np.zeros(size, dtype=np.int64)
        for code, (left, right) in enumerate(pairwise(below), start=1):
            joined[code] = joined[code - 1] + (left != right and cuts[code])
        rows.append(joined)
    rows.append(np.zeros(size, dtype=np.int64))
    first, numbered = 0, []
    for row in rows:
        numbered.append(row + first)
        first += int(row.max(initial=-1)) + 1
    return np.vstack(numbered).astype(np.int32)
