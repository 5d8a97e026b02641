"""Sorting by small whole numbers, in time that grows like the number of entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel


@kernel
def stable_order(keys: Any, count: Any) -> Any:
    """The places of the entries in the order of their keys (0..count-1), equal ones as they stand: a counting sort.

    IN  keys  int32 (entries,)
    OUT int64 (entries,), as np.argsort(keys, kind="stable")
    """
    following = np.zeros(count + 1, dtype=np.int64)
    for entry in range(keys.shape[0]):
        following[keys[entry] + 1] += 1
    for key in range(count):
        following[key + 1] += following[key]
    order = np.empty(keys.shape[0], dtype=np.int64)
    for entry in range(keys.shape[0]):
        order[following[keys[entry]]] = entry
        following[keys[entry]] += 1
    return order
