"""Which key a record has: the codes of its columns, joined into one number, are looked up among those of all keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import IntegerArray
from shoal.kernels.mixed_radix import LARGEST_KEY


class KeyIndex:
    """Built from the distinct keys in lexicographic order; memory: 8 bytes per key (more where numbers overflow)."""

    def __init__(self, key_codes: IntegerArray, sizes: Sequence[int]) -> None:
        self._sizes = [max(1, size) for size in sizes]
        self._joints: dict[int, NDArray[np.int64]] = {}  # before these columns the number so far is replaced by a rank
        number = np.zeros(key_codes.shape[1], dtype=np.int64)
        span = 1
        for column, (codes, size) in enumerate(zip(key_codes, self._sizes, strict=True)):
            if span * size >= LARGEST_KEY:
                self._joints[column], number = np.unique(number, return_inverse=True)
                span = max(1, self._joints[column].shape[0])
            number = number * size + codes
            span *= size
        self._numbers = number

    def find(self, columns: Sequence[IntegerArray]) -> NDArray[np.int64]:
        """(records,) the key of each record; -1 where there is none."""
        number = np.zeros(columns[0].shape[0], dtype=np.int64)
        known = np.ones(number.shape[0], dtype=np.bool_)
        for column, (codes, size) in enumerate(zip(columns, self._sizes, strict=True)):
            known &= codes >= 0
            if column in self._joints:
                number = _places(self._joints[column], number, known)
            number = number * size + codes
        found = _places(self._numbers, number, known)
        return np.where(known, found, -1)


def _places(known_numbers: NDArray[np.int64], wanted: NDArray[np.int64], known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where each wanted number stands among the sorted known ones; `known` is cleared where it is not there."""
    place = np.minimum(np.searchsorted(known_numbers, wanted), known_numbers.shape[0] - 1)
    known &= known_numbers[place] == wanted
    return np.asarray(place, dtype=np.int64)
