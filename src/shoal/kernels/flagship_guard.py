"""What the search asks before a move when there are models besides k-anonymity: would a group become less safe?

A guard is None when only k-anonymity was asked for; the compiled search then has none of this in it.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from shoal.kernels.compile import kernel
from shoal.kernels.safety import add_record, group_deficit, remove_record

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


@kernel
def guarded_exchange(guard: Any, state: Any, group: Any, item: Any, other: Any, partner: Any) -> Any:
    """Let an item go from one group to another, and a partner back (-1: nobody), if neither gets less safe.

    Only the guard's own counts change; True if the exchange is allowed.
    """
    here, there = guard.histogram[group], guard.histogram[other]
    remove_record(guard.safety, here, guard.record[item])
    add_record(guard.safety, there, guard.record[item])
    moved = 1
    if partner >= 0:
        moved = 0
        remove_record(guard.safety, there, guard.record[partner])
        add_record(guard.safety, here, guard.record[partner])
    here_after = group_deficit(guard.safety, here, state.size[group] - moved)
    there_after = group_deficit(guard.safety, there, state.size[other] + moved)
    if here_after <= guard.deficit[group] + _TINY and there_after <= guard.deficit[other] + _TINY:
        guard.deficit[group], guard.deficit[other] = here_after, there_after
        return True
    remove_record(guard.safety, there, guard.record[item])
    add_record(guard.safety, here, guard.record[item])
    if partner >= 0:
        remove_record(guard.safety, here, guard.record[partner])
        add_record(guard.safety, there, guard.record[partner])
    return False
