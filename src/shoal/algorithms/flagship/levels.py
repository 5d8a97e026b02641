"""A first grouping from the other side: the best levels for all, classes that are large enough leave, and again.

The idea is that of ARX's local recoding (F. Prasser et al., 2020), with another choice of levels: unplaced records have a
price, and the levels are chosen by a climb in their lattice that maximises the sum of (price - loss) over the records
that they place. The price rises from round to round, so that cheap classes leave first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.flagship.problem import FloatArray, IntegerArray, SearchProblem
from shoal.encode.encoded_table import EncodedTable
from shoal.kernels.flagship_levels import change_level, count_classes, gain_of_level, take_classes


class LevelSearch:
    """The unplaced rows of a table at one level per attribute."""

    def __init__(self, table: EncodedTable, rows: IntegerArray, k: int, generator: np.random.Generator) -> None:
        self.table, self.k = table, k
        self.rows = rows.copy()
        self.keys = [generator.integers(1, 2**63, size=int(one.ancestors.max()) + 1, dtype=np.uint64)[one.ancestors]
                     for one in table.attributes]
        self.losses = [one.level_cost * one.weight for one in table.attributes]
        self.levels = [0] * table.width
        self.base = np.zeros(table.rows, dtype=np.uint64)
        self.cost = np.zeros(table.rows)
        for number, key in enumerate(self.keys):
            self.base += key[0][table.codes[number]]
        bits = max(4, int(np.ceil(np.log2(2 * rows.shape[0] + 2))))
        self.class_keys = np.zeros(1 << bits, dtype=np.uint64)
        self.class_sums = np.zeros(1 << bits, dtype=np.int64)
        self.class_numbers = np.zeros(1 << bits, dtype=np.int32)
        self.slots = np.zeros(rows.shape[0], dtype=np.int32)

    def gain(self, attribute: int, level: int, price: float) -> float:
        old, new = self.levels[attribute], level
        key, loss, codes = self.keys[attribute], self.losses[attribute], self.table.codes[attribute]
        count_classes(self.rows, self.table.weights, self.base, key[old], key[new], codes, self.class_keys,
                      self.class_sums, self.slots)
        return float(gain_of_level(self.rows, self.table.weights, self.cost, loss[old], loss[new], codes,
                                   self.class_sums, self.slots, self.k, price))

    def set_level(self, attribute: int, level: int) -> None:
        old = self.levels[attribute]
        key, loss = self.keys[attribute], self.losses[attribute]
        change_level(self.rows, self.table.codes[attribute], self.base, self.cost, key[old], key[level], loss[old],
                     loss[level])
        self.levels[attribute] = level

    def climb(self, price: float) -> float:
        """Change one level at a time as long as the gain rises."""
        best = self.gain(0, self.levels[0], price)
        while True:
            choice = None
            for attribute, one in enumerate(self.table.attributes):
                for level in (self.levels[attribute] - 1, self.levels[attribute] + 1):
                    if 0 <= level < one.levels:
                        gain = self.gain(attribute, level, price)
                        if gain > best:
                            best, choice = gain, (attribute, level)
            if choice is None:
                return best
            self.set_level(*choice)

    def descend(self, price: float) -> float:
        """From the top, lower one level at a time, the one that gains most; stop at the best levels on the way."""
        for attribute, one in enumerate(self.table.attributes):
            self.set_level(attribute, one.levels - 1)
        best, best_levels = self.gain(0, self.levels[0], price), list(self.levels)
        while any(self.levels):
            gains = [
                (self.gain(attribute, level - 1, price), attribute)
                for attribute, level in enumerate(self.levels)
                if level > 0
            ]
            gain, attribute = max(gains)
            self.set_level(attribute, self.levels[attribute] - 1)
            if gain > best:
                best, best_levels = gain, list(self.levels)
            if gain == 0:
                break
        for attribute, level in enumerate(best_levels):
            self.set_level(attribute, level)
        return best

    def leave(self, first_group: int, group: IntegerArray) -> int:
        """Let the classes of the present levels go; returns the next group number."""
        self.gain(0, self.levels[0], 0.0)
        left, following = take_classes(self.rows, self.class_sums, self.slots, self.k, first_group, group,
                                       self.class_numbers)
        self.rows = self.rows[:left].copy()
        return int(following)


def level_classes(table: EncodedTable, rows: IntegerArray, k: int, prices: FloatArray, generator: np.random.Generator
                  ) -> IntegerArray:
    """The class of every row (rows not asked for, and those that never find k like them: -1)."""
    group = np.full(table.rows, -1, dtype=np.int32)
    search = LevelSearch(table, rows, k, generator)
    used = search.leave(0, group)  # equal rows
    for price in prices:
        while search.rows.size:
            if search.climb(price) <= 0 and (search.descend(price) <= 0 or search.climb(price) <= 0):
                break
            before = used
            used = search.leave(used, group)
            if used == before:
                break
    return group
