"""Equivalence classes as mixed-radix numbers.

The value of each attribute is a digit; an attribute has as many digits as values (its radix). Read together they are
one number, so that lifting an attribute merges the numbers of an arithmetic progression, whose stride is the product
of the radices to the right. No search is needed to find which classes merge.

The product of all radices may be larger than an integer of 63 bits. Then the digits are spread over several words,
each with strides of its own; numbers are compared word by word, and a progression still runs inside one word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LARGEST_WORD = 2**62


@dataclass(frozen=True)
class MixedRadix:
    """Radices from left to right, the stride of each digit inside its word, and the word it is in."""

    radices: NDArray[np.int64]
    strides: NDArray[np.int64]
    words: NDArray[np.int64]

    @classmethod
    def of(cls, radices: Sequence[int], largest: int = LARGEST_WORD) -> MixedRadix:
        strides = [0] * len(radices)
        words = [0] * len(radices)
        product, word = 1, 0
        for position in range(len(radices) - 1, -1, -1):
            radix = int(radices[position])
            if product * radix > largest and product > 1:
                product, word = 1, word + 1
            strides[position], words[position] = product, word
            product *= radix
        from_left = word - np.array(words, dtype=np.int64)
        return cls(np.array(radices, dtype=np.int64), np.array(strides, dtype=np.int64), from_left)

    @property
    def word_count(self) -> int:
        return int(self.words.max(initial=0)) + 1

    def numbers(self, digits: NDArray[np.integer]) -> NDArray[np.int64]:
        """(classes, words) the numbers, counted from 0, of digits (attributes, classes)."""
        found = np.zeros((digits.shape[1], self.word_count), dtype=np.int64)
        for position in range(self.radices.shape[0]):
            found[:, self.words[position]] += digits[position].astype(np.int64) * self.strides[position]
        return found

    def base(self, numbers: NDArray[np.int64], position: int) -> NDArray[np.int64]:
        """The first members of the progressions that the numbers are in when one attribute is lifted."""
        word, stride = self.words[position], self.strides[position]
        found = numbers.copy()
        digits = numbers[:, word] // stride % self.radices[position]
        found[:, word] -= digits * stride
        return found

    def progression(self, number: NDArray[np.int64], position: int) -> NDArray[np.int64]:
        """(radix, words) all numbers that merge with this one when one attribute is lifted."""
        members = np.repeat(self.base(number[np.newaxis, :], position), self.radices[position], axis=0)
        members[:, self.words[position]] += np.arange(self.radices[position]) * self.strides[position]
        return members


def equal_numbers(columns: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(class of each row, one row of each class): rows agree in all columns; classes in order, first column first."""
    order = np.lexsort(columns[::-1])
    changes = np.zeros(order.shape[0], dtype=bool)
    changes[:1] = True
    for column in columns:
        ordered = column[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    inverse = np.empty(order.shape[0], dtype=np.int64)
    inverse[order] = np.cumsum(changes) - 1
    return inverse, order[changes]
