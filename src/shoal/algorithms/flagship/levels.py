"""A first grouping from the other side: the best levels for all, classes that are large enough leave, and again.

The idea is that of ARX's local recoding (F. Prasser et al., Flexible data anonymization using ARX, 2020). The choice
of levels is another one: an unplaced record has a price, and the levels are found by a climb in their lattice that
maximises the sum of (price - loss) over the records that they place. The price rises step by step, so that cheap
classes leave first. Cost: every step of the climb passes once per attribute over the rows that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.flagship.problem import IntegerArray
from shoal.encode.encoded_table import EncodedAttribute
from shoal.kernels.flagship_levels import change_level, count_classes, gain_of_level, take_classes


@dataclass(frozen=True)
class Prices:
    """The price of an unplaced record: where it starts, as a share of the loss of suppressing it, and how it rises."""

    first: float
    ratio: float


class LevelSearch:
    """The unplaced rows of a table at one level per attribute."""

    def __init__(
        self,
        attributes: Sequence[EncodedAttribute],
        codes: IntegerArray,
        weights: NDArray[np.int64],
        k: int,
        generator: np.random.Generator,
    ) -> None:
        self.codes, self.weights, self.k = codes, weights, k
        self.keys = [
            generator.integers(1, 2**63, size=int(one.ancestors.max()) + 1, dtype=np.uint64)[one.ancestors]
            for one in attributes
        ]
        self.losses = [one.level_cost * one.weight for one in attributes]
        self.levels = [0] * len(attributes)
        self.tops = [one.levels - 1 for one in attributes]
        rows = codes.shape[1]
        self.rows = np.arange(rows, dtype=np.int32)
        self.base = np.zeros(rows, dtype=np.uint64)
        self.cost = np.zeros(rows)
        for number, key in enumerate(self.keys):
            self.base += key[0][codes[number]]
        size = 1 << max(4, (2 * rows + 2).bit_length())
        self.class_keys = np.zeros(size, dtype=np.uint64)
        self.class_sums = np.zeros(size, dtype=np.int64)
        self.class_numbers = np.zeros(size, dtype=np.int32)
        self.slots = np.zeros(rows, dtype=np.int32)

    def gain(self, attribute: int, level: int, price: float) -> float:
        """The sum of (price - loss) over the records that are placed if one attribute has another level."""
        old = self.levels[attribute]
        key, loss, codes = self.keys[attribute], self.losses[attribute], self.codes[attribute]
        keys, sums = self._table()
        count_classes(self.rows, self.weights, self.base, key[old], key[level], codes, keys, sums, self.slots)
        return float(
            gain_of_level(
                self.rows, self.weights, self.cost, loss[old], loss[level], codes, sums, self.slots, self.k, price
            )
        )

    def _table(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """A hash table of the size that the rows still left need."""
        size = 1 << max(4, (2 * self.rows.shape[0] + 2).bit_length())
        return self.class_keys[:size], self.class_sums[:size]

    def set_level(self, attribute: int, level: int) -> None:
        old = self.levels[attribute]
        key, loss = self.keys[attribute], self.losses[attribute]
        codes = self.codes[attribute]
        change_level(self.rows, codes, self.base, self.cost, key[old], key[level], loss[old], loss[level])
        self.levels[attribute] = level

    def climb(self, price: float) -> float:
        """Change one level at a time as long as the gain rises."""
        best = self.gain(0, self.levels[0], price)
        while True:
            choice = None
            for attribute, present in enumerate(self.levels):
                for level in (present - 1, present + 1):
                    if 0 <= level <= self.tops[attribute]:
                        gain = self.gain(attribute, level, price)
                        if gain > best:
                            best, choice = gain, (attribute, level)
            if choice is None:
                return best
            self.set_level(*choice)

    def descend(self, price: float) -> float:
        """From the top, lower one level at a time, the one that gains most; stop at the best levels on the way."""
        for attribute, top in enumerate(self.tops):
            self.set_level(attribute, top)
        best, best_levels = self.gain(0, self.levels[0], price), list(self.levels)
        gain = best
        while any(self.levels) and gain != 0:
            gain, attribute = max(
                (self.gain(attribute, level - 1, price), attribute)
                for attribute, level in enumerate(self.levels)
                if level > 0
            )
            self.set_level(attribute, self.levels[attribute] - 1)
            if gain > best:
                best, best_levels = gain, list(self.levels)
        for attribute, level in enumerate(best_levels):
            self.set_level(attribute, level)
        return best

    def leave(self, first_group: int, group: IntegerArray) -> int:
        """Let the classes of the present levels go; returns the next group number."""
        self.gain(0, self.levels[0], 0.0)
        numbers = self.class_numbers[: self._table()[0].shape[0]]
        left, following = take_classes(self.rows, self._table()[1], self.slots, self.k, first_group, group, numbers)
        self.rows = self.rows[:left].copy()
        return int(following)


def level_classes(
    attributes: Sequence[EncodedAttribute],
    codes: IntegerArray,
    weights: NDArray[np.int64],
    k: int,
    prices: Prices,
    generator: np.random.Generator,
) -> IntegerArray:
    """The class of every row; rows that never find k records like them get -1."""
    group = np.full(codes.shape[1], -1, dtype=np.int32)
    search = LevelSearch(attributes, codes, weights, k, generator)
    used = search.leave(0, group)  # equal rows
    total = sum(one.weight for one in attributes)
    price = prices.first * total
    while search.rows.size and price <= total * prices.ratio:
        found = search.climb(price)
        if found <= 0 and search.descend(price) > 0:
            found = search.climb(price)
        before = used
        if found > 0:
            used = search.leave(used, group)
        if used == before:
            price *= prices.ratio
    return group
