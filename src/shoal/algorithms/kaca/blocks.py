"""Rows in blocks of similar ones, so that a search can leave out most of the table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.kaca.distance import IntegerArray, Ladders
from shoal.kernels.climbing import Blocks

ROWS_PER_BLOCK = 32  # small enough for tight bounds, large enough that there are few bounds to look at


def block_order(
    ladders: Ladders, codes: IntegerArray, size: int = ROWS_PER_BLOCK
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(order of the rows, bounds of the blocks in it): the dearest attribute is halved until blocks are small."""
    order = np.arange(codes.shape[0])
    bounds = [0, codes.shape[0]]
    stack = [(0, codes.shape[0])]
    while stack:
        start, stop = stack.pop()
        if stop - start <= size:
            continue
        inside = codes[order[start:stop]]
        low, high = inside.min(axis=0), inside.max(axis=0)
        costs = ladders.cover_costs(low[np.newaxis], high[np.newaxis])[0]
        costs[low == high] = -1.0
        dearest = int(np.argmax(costs))
        order[start:stop] = order[start:stop][np.argsort(inside[:, dearest], kind="stable")]
        middle = (start + stop) // 2
        bounds.append(middle)
        stack += [(start, middle), (middle, stop)]
    return order, np.unique(bounds)


def make_blocks(codes: IntegerArray, order: NDArray[np.int64], bounds: NDArray[np.int64]) -> Blocks:
    """Blocks of the rows (rows, attributes) as given by `block_order`, fresh arrays that a kernel may change."""
    counts = np.diff(bounds).astype(np.int32)
    ordered = codes[order]
    members = order.astype(np.int32)
    places = np.empty_like(members)
    places[members] = np.arange(members.shape[0], dtype=np.int32)
    homes = np.empty_like(members)
    homes[members] = np.repeat(np.arange(counts.shape[0], dtype=np.int32), counts)
    low, high = np.minimum.reduceat(ordered, bounds[:-1]), np.maximum.reduceat(ordered, bounds[:-1])
    return Blocks(bounds[:-1].astype(np.int32), counts, members, places, homes, low, high)
