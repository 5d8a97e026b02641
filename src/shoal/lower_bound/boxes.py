"""Kinds of boxes that prices are held against, as the ascent sees them: a full sweep, and passes over a list.

`listed` are boxes as the kernels list them: class, first and last entry, and what more a kind needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.lower_bound.kernels.counted import Counted
from shoal.lower_bound.kernels.counted_sweep import Known, costs_of_boxes, cut_boxes, sweep_counted
from shoal.lower_bound.kernels.prices import Family, cut_listed, sweep

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]


@dataclass(frozen=True)
class Sweeping:
    """What a sweep needs to know, besides the prices, and what it notes."""

    risen: float  # how much any price can have risen so far
    margin: float  # windows within this of their cost are looked at
    class_holds: FloatArray  # (classes,) nothing is exceeded until prices have risen to this
    holds: NDArray[np.float32]  # (entries,) the same for the windows that begin there


class Boxes(Protocol):
    """A complete family of boxes."""

    @property
    def family(self) -> Family:
        """The classes that the boxes are parts of."""

    @property
    def columns(self) -> int:
        """How many numbers describe a box in a list."""

    def sweep(
        self, prices: FloatArray, known: Sweeping, part: IntegerArray, mend: bool, most: int, found: IntegerArray
    ) -> tuple[int, int]:
        """Look at some classes; returns how many boxes were cut, and the steps made."""

    def cut(
        self,
        prices: FloatArray,
        listed: IntegerArray,
        holds: FloatArray,
        risen: float,
        last_cut: IntegerArray,
        number: int,
        backward: bool,
    ) -> int:
        """Go once over a list; returns the steps made."""


@dataclass(frozen=True)
class Windows:
    """Windows of classes: the records that agree at a choice of rungs, in a range of one number."""

    family: Family
    columns: int = 3

    def sweep(
        self, prices: FloatArray, known: Sweeping, part: IntegerArray, mend: bool, most: int, found: IntegerArray
    ) -> tuple[int, int]:
        cuts, steps = sweep(
            *(self.family, prices, known.risen, known.margin, part, mend, most, known.class_holds, known.holds, found)
        )
        return int(cuts), int(steps)

    def cut(
        self,
        prices: FloatArray,
        listed: IntegerArray,
        holds: FloatArray,
        risen: float,
        last_cut: IntegerArray,
        number: int,
        backward: bool,
    ) -> int:
        return int(cut_listed(self.family, prices, listed, risen, holds, last_cut, number, backward))


class CountedWindows:
    """Windows in which the values of one open category are counted; which one is remembered for each class."""

    columns = 5

    def __init__(self, family: Family, counted: Counted) -> None:
        classes = family.cost.shape[0]
        self.family, self.counted = family, counted
        self.known = Known(np.full(classes, -1, dtype=np.int64), np.zeros(classes))

    def sweep(
        self, prices: FloatArray, known: Sweeping, part: IntegerArray, mend: bool, most: int, found: IntegerArray
    ) -> tuple[int, int]:
        holds = (known.class_holds, known.holds)
        cuts, steps = sweep_counted(
            self.family, self.counted, prices, known.risen, part, mend, most, self.known, *holds, found
        )
        return int(cuts), int(steps)

    def cut(
        self,
        prices: FloatArray,
        listed: IntegerArray,
        holds: FloatArray,
        risen: float,
        last_cut: IntegerArray,
        number: int,
        backward: bool,
    ) -> int:
        cost = np.empty(listed.shape[0])
        costs_of_boxes(self.family, self.counted, listed, cost)
        passed = (risen, holds, last_cut, number, backward)
        return int(cut_boxes(self.family, self.counted, prices, listed, cost, *passed))
