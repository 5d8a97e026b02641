"""The table as the algorithms see it: integer codes, no text, no frames.

Every quasi-identifier becomes a column of codes 0..size-1. What a set of codes costs when it is released as one
value depends on the attribute's kind:

- INTERVAL (numbers, dates, ordered categories): codes follow the order of the values; the cost of a group is
  `min(1, positions[high] - positions[low])`, with positions scaled to 0..1. A missing value has the last code and
  position 2, so any group that mixes missing and present values costs 1, the same as suppression.
- TREE (categories with a hierarchy): codes are the leaves in tree order, so the lowest common ancestor of a set is
  that of its lowest and highest code. `ancestors[level, code]` is a node number; the cost of lifting a code to a
  level is `level_cost[level, code]`. A missing value is an extra leaf right below the root.
- FLAT (categories without a hierarchy): the cost of a set is `(distinct codes - 1) / (size - 1)`.

`ancestors` and `level_cost` exist for every kind, so that algorithms which climb hierarchies work on any table: a
FLAT attribute has the levels (value, everything); an INTERVAL attribute has the levels of the user's hierarchy if
one was given, else of nested halves of its range. Level 0 is the value itself, the last level is everything.

Equal rows are stored once: `codes[:, row]` with `weights[row]` records; `row_of_record` leads from the records to the
rows. A table that knows its records has them in the order of the input (`record_rows`). A table by rows alone, as it
comes from counting equal rows, needs no memory for records; who asks for them all the same gets them row by row.
Memory: 4 bytes per row and attribute, plus 4 bytes per record where records are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

IntegerArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


class Kind(IntEnum):
    """How the cost of a set of codes is computed. The numbers are known to the kernels."""

    INTERVAL = 0
    TREE = 1
    FLAT = 2


@dataclass(frozen=True)
class EncodedAttribute:
    """One quasi-identifier as arrays."""

    name: str
    kind: Kind
    size: int  # number of codes
    positions: FloatArray  # (size,) INTERVAL: value scaled to 0..1, missing 2; otherwise the code itself over size - 1
    ancestors: IntegerArray  # (levels, size) node number of each code at each level; nodes are numbered over all levels
    level_cost: FloatArray  # (levels, size) loss of lifting a code to a level: 0 at level 0, 1 at the last level
    weight: float = 1.0  # importance in the loss; 1 unless the user set a priority
    missing_code: int = -1  # the code of missing values, -1 if there are none
    at_most: int | None = None  # the highest level to which values may be lifted; None: any
    halvings: bool = False  # True: the levels are halves of the range, made here because no hierarchy was given

    @property
    def levels(self) -> int:
        return int(self.ancestors.shape[0])

    @property
    def capped(self) -> bool:
        """Whether some values may never be released together."""
        return self.at_most is not None and self.at_most < self.levels - 1


@dataclass(frozen=True)
class EncodedColumn:
    """A column that is not generalized but that a model looks at (sensitive, class label, person)."""

    name: str
    codes: IntegerArray  # (records,)
    size: int  # number of distinct codes
    positions: FloatArray | None = None  # (size,) for ordered and numeric values: scaled to 0..1, missing 2
    ancestors: IntegerArray | None = None  # (levels, size) if the column has a hierarchy
    value_codes: Mapping[str, int] = field(default_factory=dict)  # code of each value that a model names, by its text
    categories: IntegerArray | None = None  # (size,) place of each code's group right below the root; missing: the last
    category_weights: FloatArray | None = None  # (size,) 0 in the first of these groups to 1 in the last; missing 0
    shares: FloatArray | None = None  # (size,) of each code in the whole table, where this is only a part of it


@dataclass(frozen=True)
class EncodedTable:
    """All quasi-identifiers over the collapsed rows, and the columns that models look at over the records."""

    attributes: tuple[EncodedAttribute, ...]
    codes: IntegerArray  # (attributes, rows), one contiguous line per attribute
    weights: NDArray[np.int64]  # (rows,) how many records share this row
    record_rows: IntegerArray | None = None  # (records,) the row of each record; None: only rows are known
    columns: Mapping[str, EncodedColumn] = field(default_factory=dict)
    population: IntegerArray | None = None  # (attributes, rows) the table of k-map, in the same codes
    population_owners: IntegerArray | None = None  # (rows,) a number for the person of each row, if they are told apart

    @property
    def records(self) -> int:
        return int(self.weights.sum()) if self.record_rows is None else int(self.record_rows.shape[0])

    @property
    def rows(self) -> int:
        return int(self.codes.shape[1])

    @property
    def width(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.attributes)

    @cached_property
    def row_of_record(self) -> IntegerArray:
        """(records,) the row of each record; row by row where the table does not know its records."""
        if self.record_rows is not None:
            return self.record_rows
        return np.repeat(np.arange(self.rows, dtype=np.int32), self.weights)

    @cached_property
    def record_codes(self) -> IntegerArray:
        """(attributes, records): the codes of every record, expanded. Costs 4 bytes per cell; ask only if needed."""
        return np.ascontiguousarray(self.codes[:, self.row_of_record])

    @cached_property
    def attribute_weights(self) -> FloatArray:
        return np.array([attribute.weight for attribute in self.attributes], dtype=np.float64)
