"""A row of codes read as one number: each column is a digit, its number of codes the radix of the digit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

LARGEST_KEY = 2**62


def row_keys(rows: int, columns: Iterable[tuple[NDArray[np.integer], int]]) -> NDArray[np.int64]:
    """(rows,) a number per row that sorts like its codes, column after column, the same for equal rows only.

    `columns` are the codes (rows,) of each column and how many different codes it can have. Where the number would
    overflow, the number so far is replaced by its rank among those that occur, which costs a sort.
    """
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for codes, size in columns:
        size = max(1, size)
        if span * size >= LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            span = max(1, distinct.shape[0])
            del distinct
        key *= size
        key += codes
        span *= size
    return key
