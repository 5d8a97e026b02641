"""How often the values of a column occur, while a table goes by piece by piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.distinct import as_text
from shoal.tables.hashed_counts import HashedCounts, to_be_hashed
from shoal.tables.scales import is_missing

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ValueSizes:
    """How many values of a column occur how often."""

    sizes: Counts  # how often, rising
    values: Counts  # how many values occur so often
    present_values: int  # values that are not missing
    present_records: int


@dataclass(frozen=True, eq=False)
class KeptFacts:
    """What is known of kept columns where nobody holds all records: evenly spread ones, and the sizes of all values."""

    sample: pl.DataFrame
    sizes: Mapping[str, ValueSizes]


class SizeCounter:
    """Counts the values of one column; those that mean 'missing' are few, and counted apart. For a `with` block."""

    def __init__(self, folder: Path, missing: Sequence[str]) -> None:
        self._present, self._missing = HashedCounts(folder), tuple(missing)
        self._absent: Counter[str | None] = Counter()

    def __enter__(self) -> SizeCounter:
        return self

    def __exit__(self, *_: object) -> None:
        self._present.__exit__()

    def add(self, column: pl.Series) -> None:
        absent = is_missing(column, self._missing)
        if absent.any():
            counted = as_text(column.filter(absent)).value_counts(name="count")
            self._absent.update(dict(counted.rows()))
        self._present.add(to_be_hashed(column.filter(~absent)).hash())

    def result(self) -> ValueSizes:
        sizes, values = self._present.sizes()
        absent = np.array(list(self._absent.values()), dtype=np.int64)
        every = np.concatenate([sizes, absent])
        joined, place = np.unique(every, return_inverse=True)
        total = np.bincount(place.reshape(-1), weights=np.concatenate([values, np.ones(absent.shape[0])]))
        return ValueSizes(joined, total.astype(np.int64), int(values.sum()), int((sizes * values).sum()))
