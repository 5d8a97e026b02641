"""The same work on every column of a table, on as many threads as polars uses.

polars and large operations of numpy let other threads run. Who calls gets the answers in order, so the number of
threads changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import polars as pl

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def on_threads(work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
    """`work` on every item, answers in the order of the items; the first error in that order is raised."""
    threads = min(len(items), pl.thread_pool_size())
    if threads <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return list(pool.map(work, items))
