"""What the search asks before a move when there are models besides k-anonymity: would a group become less safe?

A guard is None when only k-anonymity was asked for; the compiled search then has none of this in it.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.inline import inlined
from shoal.kernels.safety import add_record, group_deficit

Guard = namedtuple(
    "Guard",
    [
        "safety",  # Safety: the rules
        "record",  # int64 (items,) the record of each item
        "histogram",  # int32 (groups, row length) the counts that the rules look at
        "deficit",  # float64 (groups,) how far each group is from safe
    ],
)

_TINY = 1e-9


@kernel
def refill_guard(guard: Any, state: Any, chosen: Any, count: Any) -> Any:
    """Count the chosen groups anew; returns the sum of their deficits."""
    total = 0.0
    for number in range(count):
        group = chosen[number]
        row = guard.histogram[group]
        for slot in range(row.shape[0]):
            row[slot] = 0
        start = state.first[group]
        for place in range(start, start + state.held[group]):
            add_record(guard.safety, row, guard.record[state.members[place]])
        guard.deficit[group] = group_deficit(guard.safety, row, state.size[group])
        total += guard.deficit[group]
    return total


@inlined
def _replace(histogram: Any, group: Any, starts: Any, codes: Any, out: Any, into: Any) -> None:
    """Count one record of a group out and another one in (-1: nobody)."""
    distinct = starts[-1]
    for column in range(codes.shape[0]):
        if out >= 0:
            slot = starts[column] + codes[column, out]
            histogram[group, slot] -= 1
            if histogram[group, slot] == 0:
                histogram[group, distinct + column] -= 1
        if into >= 0:
            slot = starts[column] + codes[column, into]
            if histogram[group, slot] == 0:
                histogram[group, distinct + column] += 1
            histogram[group, slot] += 1


@kernel
def guarded_exchange(guard: Any, state: Any, group: Any, item: Any, other: Any, partner: Any) -> Any:
    """Let an item go from one group to another, and a partner back (-1: nobody), if neither gets less safe.

    Only the guard's own counts change; True if the exchange is allowed.
    """
    starts, codes = guard.safety.starts, guard.safety.codes
    going = guard.record[item]
    coming = guard.record[partner] if partner >= 0 else np.int64(-1)
    moved = 1 if partner < 0 else 0
    _replace(guard.histogram, group, starts, codes, going, coming)
    here_after = group_deficit(guard.safety, guard.histogram[group], state.size[group] - moved)
    if here_after <= guard.deficit[group] + _TINY:
        _replace(guard.histogram, other, starts, codes, coming, going)
        there_after = group_deficit(guard.safety, guard.histogram[other], state.size[other] + moved)
        if there_after <= guard.deficit[other] + _TINY:
            guard.deficit[group], guard.deficit[other] = here_after, there_after
            return True
        _replace(guard.histogram, other, starts, codes, going, coming)
    _replace(guard.histogram, group, starts, codes, coming, going)
    return False
