"""Which attributes, and which combinations of them, make people stand out.

Every combination up to a given size is one more column joined to a smaller combination, so each costs one pass over
the distinct rows: all 575 combinations of 3 out of 15 columns of 100,000 records take a few seconds. The work is
bounded: when the passes would touch more than `LARGEST_WORK` rows, the size of the combinations is lowered, and the
result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.compile import kernel
from shoal.released.domain import text_codes
from shoal.released.reading import group_rows

LARGEST_WORK = 1_500_000_000  # rows touched by all passes together


MIX = np.int64(-7046029254386353131)  # spreads keys over a hash table


@kernel
def slot_of(key: int, table: NDArray[np.int64]) -> int:
    """Where a key stands in a hash table, or the empty entry (-1) where it belongs."""
    mask = table.shape[0] - 1
    slot = (key * MIX >> 24) & mask
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def empty_slots(groups: NDArray[np.int32], codes: NDArray[np.int32], size: int, table: NDArray[np.int64]) -> None:
    """Leave a hash table as it was: with -1 wherever a pair of group and code stands, or has pushed another one to."""
    mask = table.shape[0] - 1
    for row in range(groups.shape[0]):
        slot = ((np.int64(groups[row]) * size + codes[row]) * MIX >> 24) & mask
        while table[slot] != -1:
            table[slot] = -1
            slot = (slot + 1) & mask


@kernel
def join_column(
    groups: NDArray[np.int32],
    codes: NDArray[np.int32],
    size: int,
    table: NDArray[np.int64],
    number: NDArray[np.int32],
    joined: NDArray[np.int32],
) -> int:
    """Number the distinct pairs of group and code by first appearance; returns how many there are.

    IN   groups, codes  (rows,)
    IN   table          (2^b,) hash table, every entry -1; left that way
    IN   number         (2^b,) scratch
    OUT  joined         (rows,)
    """
    found = 0
    for row in range(groups.shape[0]):
        key = np.int64(groups[row]) * size + codes[row]
        slot = slot_of(key, table)
        if table[slot] == -1:
            table[slot] = key
            number[slot] = found
            found += 1
        joined[row] = number[slot]
    empty_slots(groups, codes, size, table)
    return found


class CombinationRisk:
    """The distinct rows of some columns with their weights, and the risk of any combination of the columns."""

    def __init__(self, frame: pl.DataFrame, columns: Sequence[str], threshold: float) -> None:
        self.columns = list(columns)
        self.threshold = threshold
        self.records = frame.height
        codes = [text_codes(frame[name])[1] for name in columns]
        _, self.weights, first = group_rows(codes, frame.height)
        self.codes = [np.ascontiguousarray(column[first]) for column in codes]
        self.sizes = [int(column.max()) + 1 for column in codes]
        slots = 1 << max(10, int(np.ceil(np.log2(max(2, 2 * self.rows)))))
        self._table = np.full(slots, -1, dtype=np.int64)
        self._number = np.empty(slots, dtype=np.int32)

    @property
    def rows(self) -> int:
        return int(self.weights.shape[0])

    def join(self, groups: NDArray[np.int32], column: int) -> NDArray[np.int32]:
        joined = np.empty(self.rows, dtype=np.int32)
        join_column(groups, self.codes[column], self.sizes[column], self._table, self._number, joined)
        return joined

    def describe(self, groups: NDArray[np.int32], chosen: Sequence[int]) -> dict[str, Any]:
        """Risk of one combination: unique records, records above the threshold, and the average."""
        sizes = np.bincount(groups, weights=self.weights)
        above = sizes * self.threshold < 1.0 - 1e-9
        return {
            "columns": [self.columns[number] for number in chosen],
            "unique": int(np.count_nonzero(sizes == 1)),
            "at_risk": int(sizes[above].sum()),
            "average": float(sizes.shape[0] / self.records),
            "smallest_class": int(sizes.min()),
        }

    def describe_all(self, largest: int) -> list[dict[str, Any]]:
        """Every combination of up to so many columns, each made of the one before it and one more column."""
        found: list[dict[str, Any]] = []

        def visit(groups: NDArray[np.int32], chosen: tuple[int, ...]) -> None:
            if chosen:
                found.append(self.describe(groups, chosen))
            if len(chosen) < largest:
                for column in range(chosen[-1] + 1 if chosen else 0, len(self.columns)):
                    visit(self.join(groups, column), (*chosen, column))

        visit(np.zeros(self.rows, dtype=np.int32), ())
        return found

    def describe_without(self, left_out: int) -> dict[str, Any]:
        """The combination of all columns but one."""
        others = [column for column in range(len(self.columns)) if column != left_out]
        groups = np.zeros(self.rows, dtype=np.int32)
        for column in others:
            groups = self.join(groups, column)
        return self.describe(groups, others)


def risky_combinations(
    frame: pl.DataFrame, columns: Sequence[str], *, largest: int = 3, threshold: float = 0.2, shown: int = 20
) -> dict[str, Any]:
    """The riskiest combinations up to `largest` columns, and what each single attribute adds to the risk."""
    data = CombinationRisk(frame, columns, threshold)
    allowed = _allowed_size(len(data.columns), min(largest, len(data.columns)), data.rows)
    found = data.describe_all(allowed)
    found.sort(key=lambda entry: (-entry["at_risk"], -entry["unique"], -entry["average"], len(entry["columns"])))
    return {
        "largest": allowed,
        "asked": largest,
        "examined": len(found),
        "threshold": threshold,
        "combinations": found[:shown],
        "attributes": attribute_parts(data),
    }


def attribute_parts(data: CombinationRisk) -> list[dict[str, Any]]:
    """For each attribute: average risk with it alone, and how much the risk of all falls when it is left out."""
    nothing = np.zeros(data.rows, dtype=np.int32)
    everything = data.describe(np.arange(data.rows, dtype=np.int32), range(len(data.columns)))
    parts = []
    for number, name in enumerate(data.columns):
        without = data.describe_without(number)
        alone = data.describe(data.join(nothing, number), [number])
        parts.append(
            {
                "attribute": name,
                "alone": alone["average"],
                "unique_without": without["unique"],
                "added_average": everything["average"] - without["average"],
                "added_unique": everything["unique"] - without["unique"],
            }
        )
    return sorted(parts, key=lambda part: -float(part["added_average"]))


def _allowed_size(width: int, largest: int, rows: int) -> int:
    while largest > 1 and sum(comb(width, size) for size in range(1, largest + 1)) * rows > LARGEST_WORK:
        largest -= 1
    return largest
