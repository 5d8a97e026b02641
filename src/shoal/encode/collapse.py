"""Equal rows are stored once, with the number of records that share them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.mixed_radix import row_keys


def collapse_rows(
    columns: Sequence[NDArray[np.int32]], sizes: Sequence[int], counts: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Codes of the distinct rows (attributes, rows) in lexicographic order, their weights, and the row of each record.

    With `counts` each given row stands for that many records, and the weights are sums of them.

    A row is read as one mixed-radix number; where that would overflow, the number so far is replaced by its rank.
    Costs one sort of n integers (a few where it overflows) and about 40 bytes per record at its peak.
    """
    records = columns[0].shape[0]
    order, starts = _runs(row_keys(records, zip(columns, sizes, strict=True)))
    held = np.diff(starts, append=records)
    row_of_record = np.empty(records, dtype=np.int32)
    row_of_record[order] = np.repeat(np.arange(starts.shape[0], dtype=np.int32), held)
    some_record = order[starts]
    distinct_codes = np.empty((len(columns), starts.shape[0]), dtype=np.int32)
    for number, codes in enumerate(columns):
        distinct_codes[number] = codes[some_record]
    weights = held if counts is None else np.add.reduceat(counts[order], starts)
    return distinct_codes, weights.astype(np.int64), row_of_record


def _runs(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The records in the order of their keys, and where in it each run of equal keys starts."""
    order = pl.Series(key).arg_sort().to_numpy()  # on all threads
    key = key[order]
    begins = np.ones(key.shape[0], dtype=np.bool_)
    np.not_equal(key[1:], key[:-1], out=begins[1:])
    return order, np.flatnonzero(begins)
