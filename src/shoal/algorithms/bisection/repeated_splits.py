"""Splitting groups in two until none can be split: large ones one level at a time, small ones all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.algorithms.base import Context

PIECES = 16  # fixed pieces of work, whatever the number of threads: groups above this part of the table are large

Node = tuple[int, int, np.uint64]  # first record, one past the last, seed
Split = Callable[[Node, bool], list[Node]]  # the two halves of a node (True), or all that comes of it (False)


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
