"""Which records are better suppressed than released with their groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.safe_groups.kernels.group_bounds import (
    LOSS,
    MEMBER,
    NOBODY,
    SIZE,
    changed_loss,
    clear_detail,
    deficit_after,
    fill_detail,
    refresh,
    unlink,
)


@kernel
def suppress_block(
    geometry: Any, safety: Any, block: Any, here: Any, price: Any, most: Any, leaving: Any, gains: Any
) -> Any:
    """Which records cost less suppressed than in their groups: group by group, the most costly member first.

    A member may leave while its group stays safe without it.
    IN  price    what a suppressed record costs
    IN  most     no more than so many records of a group
    OUT leaving  int64 (records,) the records, those of a group in the order in which they leave
    OUT gains    float64 (records,) the loss that each saves, at most the one before it in its group
    The number of records found is returned; the block changes.
    """
    found = 0
    for group in range(block.groups.shape[1]):
        refresh(geometry, safety, block, group, here)
        last = np.inf
        for _ in range(most):
            listed = fill_detail(geometry, safety, block, group, here)
            size = block.groups[SIZE, group]
            before = block.scores[LOSS, group] * size
            best = NOBODY
            best_gain = 1e-12
            for place in range(listed):
                record = here.listing[MEMBER, place]
                gain = before - changed_loss(geometry, block, here, record, NOBODY) * (size - 1) - price
                if gain > best_gain and deficit_after(safety, here.row, size, record, NOBODY) == 0.0:
                    best = record
                    best_gain = gain
            clear_detail(geometry, safety, block, group, here)
            if best < 0:
                break
            unlink(block, group, best)
            block.groups[SIZE, group] = size - 1
            refresh(geometry, safety, block, group, here)
            last = min(last, best_gain)
            leaving[found] = best
            gains[found] = last
            found += 1
    return found
