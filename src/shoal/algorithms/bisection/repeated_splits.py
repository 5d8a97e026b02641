"""Splitting groups in two until none can be split: large ones one level at a time, small ones all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context

PIECES = 16  # fixed pieces of work, whatever the number of threads: groups above this part of the table are large

Node = tuple[int, int, np.uint64]  # first record, one past the last, seed
Split = Callable[[Node, bool], list[Node]]  # the two halves of a node (True), or all that comes of it (False)
# (order, begin, end, seed, once, last, seeds of the halves) -> records of the first half, 0: all is done
Bisect = Callable[[NDArray[np.int64], int, int, np.uint64, bool, NDArray[np.uint8], NDArray[np.uint64]], int]


def split_records(
    records: int, seed: int, bisect: Bisect, context: Context
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The records group by group, and where each group starts and the last one ends.

    `bisect` puts the records of a piece into order and marks the `last` one of every group that is not split further.
    """
    order, last = np.arange(records, dtype=np.int64), np.zeros(records, dtype=np.uint8)

    def split(node: Node, once: bool) -> list[Node]:
        begin, end, seed = node
        seeds = np.empty(2, dtype=np.uint64)
        first = bisect(order, begin, end, seed, once, last, seeds)
        return [(begin, begin + first, seeds[0]), (begin + first, end, seeds[1])] if first else []

    split_all(records, seed, split, context)
    return order, np.concatenate([[0], np.flatnonzero(last) + 1]).astype(np.int64)


def split_all(records: int, seed: int, split: Split, context: Context) -> None:
    """Split the whole table and all that comes of it; every node has its own random stream."""
    waiting: list[Node] = [(0, records, np.uint64(seed))]
    small: list[Node] = []
    while waiting:
        large = [node for node in waiting if node[1] - node[0] > records // PIECES]
        small += [node for node in waiting if node[1] - node[0] <= records // PIECES]
        waiting = [half for halves in context.map(lambda node: split(node, True), large) for half in halves]
    context.report(0.3)
    context.map(lambda node: split(node, False), small)
