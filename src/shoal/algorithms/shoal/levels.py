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

from shoal.algorithms.shoal.kernels.levels import change_level, count_classes, take_classes
from shoal.encode.encoded_table import EncodedAttribute
from shoal.encode.items import IntegerArray

_PATIENCE = 3  # so many prices in a row may place nothing before the levels are sought from the top


@dataclass(frozen=True)
class Prices:
    """The price of an unplaced record: where it starts, as a share of the loss of suppressing it, and how it rises."""

    first: float
    ratio: float


def _fixed(loss: float | NDArray[np.float64]) -> NDArray[np.int64]:
    """A loss as a whole number: 24 bits after the point leave room for the sum over a billion records."""
    return np.asarray(np.rint(np.asarray(loss) * 2**24), dtype=np.int64)


def _places(rows: int) -> int:
    """How many places a hash table of the classes of so many rows has."""
    return 1 << max(4, (4 * rows // 3).bit_length())


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
        self.losses = [_fixed(one.level_cost * one.weight) for one in attributes]
        self.levels = [0] * len(attributes)
        self.tops = [one.levels - 1 for one in attributes]
        rows = codes.shape[1]
        self.rows = np.arange(rows, dtype=np.int32)
        self.base = np.zeros(rows, dtype=np.uint64)
        self.loss = np.zeros(rows, dtype=np.int64)
        for number, key in enumerate(self.keys):
            self.base += key[0][codes[number]]
        self.table = np.zeros((_places(rows), 2), dtype=np.int64)
        self.tries = 0
        self.counted: dict[tuple[int, ...], tuple[int, int]] = {}  # levels -> records placed, and their loss

    def gain(self, attribute: int, level: int, price: float) -> int:
        """The sum of (price - loss) over the records that are placed if one attribute has another level.

        What is placed does not depend on the price, so it is counted once as long as no row leaves.
        """
        levels = (*self.levels[:attribute], level, *self.levels[attribute + 1 :])
        if levels not in self.counted:
            self.counted[levels] = self._count(attribute, level)
        placed, lost = self.counted[levels]
        return placed * int(_fixed(price)) - lost

    def _count(self, attribute: int, level: int) -> tuple[int, int]:
        """How many records are placed if one attribute has another level, and what they lose."""
        old = self.levels[attribute]
        key, loss = self.keys[attribute], self.losses[attribute]
        self.tries += 1
        placed, lost = count_classes(
            self.weights,
            self.base,
            self.loss,
            self.codes[attribute],
            key[old],
            key[level],
            loss[old],
            loss[level],
            self.table[: _places(self.rows.shape[0])],
            self.tries,
            self.k,
        )
        return int(placed), int(lost)

    def set_level(self, attribute: int, level: int) -> None:
        old = self.levels[attribute]
        key, loss = self.keys[attribute], self.losses[attribute]
        codes = self.codes[attribute]
        change_level(codes, self.base, self.loss, key[old], key[level], loss[old], loss[level])
        self.levels[attribute] = level

    def climb(self, price: float) -> int:
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

    def descend(self, price: float) -> int:
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
        self._count(0, self.levels[0])
        table = self.table[: _places(self.rows.shape[0])]
        found = np.empty(self.rows.shape[0], dtype=np.int32)
        following = take_classes(self.base, table, self.tries, self.k, first_group, found)
        group[self.rows] = found
        if following == first_group:
            return first_group
        self.counted.clear()
        left = found < 0
        self.rows, self.weights = self.rows[left], self.weights[left]
        self.base, self.loss = self.base[left], self.loss[left]
        self.codes = np.ascontiguousarray(self.codes[:, left])
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
    in_vain = 0
    while search.rows.size and price <= total * prices.ratio:
        found = search.climb(price)
        if found <= 0 and in_vain >= _PATIENCE and search.descend(price) > 0:
            found = search.climb(price)
        before = used
        if found > 0:
            used = search.leave(used, group)
        in_vain = in_vain + 1 if used == before else 0
        if used == before:
            price *= prices.ratio
    return group
