"""The way back from codes to values: for every quasi-identifier the value and the text behind each code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.encoded_table import Kind
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.tables.rounding import OuterEnds
from shoal.tables.schema import Scale


@dataclass(frozen=True, eq=False)
class ColumnCodebook:
    """What the codes of one quasi-identifier mean."""

    name: str
    kind: Kind
    scale: Scale
    values: pl.Series  # the value of each code, in the type of the input; null for missing
    texts: pl.Series  # the same as text; null for missing
    numbers: NDArray[np.float64]  # INTERVAL: the value of each code as a number (missing NaN); otherwise empty
    ranks: NDArray[np.int64]  # INTERVAL: rising with the codes, equal where two are exactly one number; otherwise empty
    missing_code: int = -1
    hierarchy: Hierarchy | None = None  # TREE: whose leaves the codes are; the missing code comes after the last leaf
    ends: OuterEnds | None = None  # INTERVAL: of the unit that each code is rounded to; null for missing

    @property
    def size(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Codebook:
    """The codebooks of all quasi-identifiers, in their order."""

    columns: tuple[ColumnCodebook, ...]
    missing_cells: Mapping[str, int]  # how many records lack a value, per quasi-identifier

    def __getitem__(self, name: str) -> ColumnCodebook:
        return next(column for column in self.columns if column.name == name)
