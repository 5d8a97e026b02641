"""Groups from priced boxes: the box with the least reduced cost gives one, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.lower_bound.kernels.prices import Heap, add_row, highest_mean


@kernel
def _dearest(family: Any, prices: Any, heap: Any, first: Any, last: Any) -> Any:
    """The k highest prices of a window among the records that are left; returns as `add_row`."""
    count, held, total = 0, 0, 0.0
    for entry in range(first, last + 1):
        row = family.entries[entry]
        if family.weights[row] > 0:
            count, held, total = add_row(family, prices, heap, row, count, held, total)
    return count, held, total


@kernel
def _sink(order: Any, size: Any, waste: Any) -> None:
    """Move the first window of the heap down to where it belongs."""
    window = order[0]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and waste[order[below + 1]] < waste[order[below]]:
            below += 1
        if waste[order[below]] >= waste[window]:
            break
        order[place] = order[below]
        place = below
    order[place] = window


@kernel
def take_groups(family: Any, prices: Any, windows: Any, rows: Any, copies: Any, groups: Any) -> Any:
    """Let the window that costs least above the k highest prices in it give a group of these k, as long as one can.

    Records that leave make the others no cheaper, so a window whose waste is still the least once it is measured
    anew is the least of all.

    IN/OUT family         `lower_bound.kernels.prices`; weights: how many records of each row are left
    IN  windows           int64 (windows, 3) class, first and last entry
    OUT rows, copies, groups  int64 (as many as there are records,) so many copies of a row are in a group
    Returns how many of these there are and how many groups.
    """
    k = family.k
    heap = Heap(np.empty(k + 2), np.empty(k + 2, dtype=np.int64), np.empty(k + 2, dtype=np.int64))
    size = windows.shape[0]
    cost, waste = np.empty(size), np.empty(size)
    for window in range(size):
        number, first, last = windows[window, 0], windows[window, 1], windows[window, 2]
        width = family.position[family.entries[last]] - family.position[family.entries[first]]
        cost[window] = family.cost[number] + family.scale * min(1.0, width)
        _, held, total = _dearest(family, prices, heap, first, last)
        waste[window] = cost[window] - highest_mean(family, heap, held, total) if held >= k else np.inf
    order = np.argsort(waste)
    found = filled = 0
    while size > 0 and waste[order[0]] < np.inf:
        window = order[0]
        first, last = windows[window, 1], windows[window, 2]
        count, held, total = _dearest(family, prices, heap, first, last)
        now = cost[window] - highest_mean(family, heap, held, total) if held >= k else np.inf
        if now <= waste[window]:
            for place in range(count):
                taken = heap.copies[place] - (held - k if place == 0 else 0)
                if taken > 0:
                    rows[filled], copies[filled], groups[filled] = heap.row[place], taken, found
                    family.weights[heap.row[place]] -= taken
                    filled += 1
            found += 1
        else:
            waste[window] = now
            _sink(order, size, waste)
    return filled, found
