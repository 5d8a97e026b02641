"""What the search asks before a step when there are models besides k-anonymity: what is it worth in safety?

Every group has a deficit, how far it is from safe, and a deficit has a price: a step is made if what the groups lose
and what they are charged for their deficits does not rise. At a low price groups may be unsafe for a while, on their
way to others; at a very high one no step makes the groups less safe.

Columns of which only the different values count and that have many of them, such as persons, have no counts: the
members of a group are looked through. A guard is None when only k-anonymity was asked for; the compiled search then
has none of this in it.
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
        "persons",  # int32 (columns, items) codes within the block of the columns whose different values count
        "wanted",  # float64 (columns,) how many different ones a group needs
        "distinct",  # int32 (groups, columns) how many it has
        "change",  # int64 (2, columns): scratch
        "seen",  # int64 (columns, codes) the stamp of the last group that a code was seen in
        "stamp",  # int64 (1,) the last stamp
        "price",  # float64 (1,) what a deficit of 1 is charged
        "where",  # int64 (columns, codes) where a code was seen last on the bench
        "sort",  # int64 (items,) equal for records that are the same to all rules
        "sort_deficit",  # float64 (sorts,) the deficit with one more record of a sort
        "sort_turn",  # int64 (sorts,) when that was counted
        "turn",  # int64 (1,) now
        "laid",  # int64 (places,) the records on the bench
        "laid_sort",  # int64 (places,) their sorts
        "laid_persons",  # int32 (columns, places) their codes
        "twin",  # int64 (columns, places) the place of another record of the same person, in a ring
        "grown",  # int64 (places,) the records of a group on the bench
        "row",  # int32 (row length,) the counts of a group on the bench; zero between two groups
        "found",  # int64 (columns,) how many different ones it has
    ],
)

_TINY = 1e-9
TAKEN = np.int32(1 << 30)  # on the bench: more than the cost of any item that has no group
_REPELLED = np.int32(1 << 29)  # what a person costs whose group has one of its records


@inlined
def penalty(deficit: Any) -> Any:
    """What a deficit counts: a group that is nearly safe is not safe."""
    return deficit + 1.0 if deficit > 0.0 else 0.0


@inlined
def charge(guard: Any, group: Any) -> Any:
    """What a group is charged for its deficit."""
    return guard.price[0] * (guard.deficit[group] + 1.0) if guard.deficit[group] > 0.0 else 0.0


@kernel
def refill_guard(guard: Any, state: Any, chosen: Any, count: Any) -> Any:
    """Count the chosen groups anew; returns the sum of the penalties of their deficits."""
    total = 0.0
    for number in range(count):
        group = chosen[number]
        row = guard.histogram[group]
        for slot in range(row.shape[0]):
            row[slot] = 0
        start = state.first[group]
        for place in range(start, start + state.held[group]):
            add_record(guard.safety, row, guard.record[state.members[place]])
        deficit = group_deficit(guard.safety, row, state.size[group])
        guard.stamp[0] += 1
        for column in range(guard.persons.shape[0]):
            found = 0
            for place in range(start, start + state.held[group]):
                code = guard.persons[column, state.members[place]]
                if guard.seen[column, code] != guard.stamp[0]:
                    guard.seen[column, code] = guard.stamp[0]
                    found += 1
            guard.distinct[group, column] = found
            if state.held[group] > 0:
                deficit += max(0.0, guard.wanted[column] - found)
        guard.deficit[group] = deficit
        total += penalty(deficit)
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
def _has_person(guard: Any, state: Any, column: Any, group: Any, code: Any, but: Any) -> Any:
    """Whether a member of a group, other than one item, has this code."""
    start = state.first[group]
    for place in range(start, start + state.held[group]):
        member = state.members[place]
        if member != but and guard.persons[column, member] == code:
            return True
    return False


@kernel
def _missing_after(guard: Any, state: Any, side: Any, group: Any, leaving: Any, coming: Any) -> Any:
    """How many different codes a group lacks if an item leaves and another comes (-1: nobody).

    OUT guard.change[side]  by how much the number of different ones changes
    """
    missing = 0.0
    for column in range(guard.persons.shape[0]):
        gone = guard.persons[column, leaving] if leaving >= 0 else -1
        new = guard.persons[column, coming] if coming >= 0 else -1
        change = 0
        if gone != new:
            if gone >= 0 and not _has_person(guard, state, column, group, gone, leaving):
                change -= 1
            if new >= 0 and not _has_person(guard, state, column, group, new, leaving):
                change += 1
        guard.change[side, column] = change
        missing += max(0.0, guard.wanted[column] - (guard.distinct[group, column] + change))
    return missing


@kernel
def guarded_exchange(
    guard: Any, state: Any, group: Any, item: Any, other: Any, partner: Any, more: Any, limit: Any
) -> Any:
    """Let an item go from one group to another, and a partner back (-1: nobody), if that costs at most `limit`.

    The cost is `more`, what the groups lose more, and what they are charged more for their deficits. Only the guard's
    own counts change; True if the exchange is allowed.
    """
    starts, codes = guard.safety.starts, guard.safety.codes
    price = guard.price[0]
    before = penalty(guard.deficit[group]) + penalty(guard.deficit[other])
    if more - price * before > limit:
        return False
    going = guard.record[item]
    coming = guard.record[partner] if partner >= 0 else np.int64(-1)
    moved = 1 if partner < 0 else 0
    _replace(guard.histogram, group, starts, codes, going, coming)
    here = group_deficit(guard.safety, guard.histogram[group], state.size[group] - moved)
    if state.size[group] > moved:
        here += _missing_after(guard, state, 0, group, item, partner)
    rise = penalty(here) - before
    if rise <= _TINY or more + price * rise <= limit:
        _replace(guard.histogram, other, starts, codes, coming, going)
        there = group_deficit(guard.safety, guard.histogram[other], state.size[other] + moved)
        there += _missing_after(guard, state, 1, other, partner, item)
        rise += penalty(there)
        if -_TINY < rise < _TINY:
            rise = 0.0
        if more + price * rise <= limit:
            guard.deficit[group], guard.deficit[other] = here, there
            for column in range(guard.persons.shape[0]):
                guard.distinct[group, column] += guard.change[0, column]
                guard.distinct[other, column] += guard.change[1, column]
            return True
        _replace(guard.histogram, other, starts, codes, going, coming)
    _replace(guard.histogram, group, starts, codes, coming, going)
    return False


@inlined
def _count(row: Any, starts: Any, codes: Any, record: Any) -> None:
    """Count one record of a group on the bench in."""
    distinct = starts[-1]
    for column in range(codes.shape[0]):
        slot = starts[column] + codes[column, record]
        if row[slot] == 0:
            row[distinct + column] += 1
        row[slot] += 1


@inlined
def _count_out(row: Any, starts: Any, codes: Any, record: Any) -> None:
    """Count one record of a group on the bench out."""
    distinct = starts[-1]
    for column in range(codes.shape[0]):
        slot = starts[column] + codes[column, record]
        row[slot] -= 1
        if row[slot] == 0:
            row[distinct + column] -= 1


@kernel
def lay_out(guard: Any, items: Any, count: Any) -> None:
    """Remember who lies on the bench, and where other records of the same person lie: in a ring."""
    guard.stamp[0] += 1
    for place in range(count):
        item = items[place]
        guard.laid[place] = guard.record[item]
        guard.laid_sort[place] = guard.sort[item]
        for column in range(guard.persons.shape[0]):
            code = guard.persons[column, item]
            guard.laid_persons[column, place] = code
            guard.twin[column, place] = place
            if guard.seen[column, code] == guard.stamp[0]:
                before = guard.where[column, code]
                guard.twin[column, place] = guard.twin[column, before]
                guard.twin[column, before] = place
            guard.seen[column, code] = guard.stamp[0]
            guard.where[column, code] = place


@inlined
def begin_group(guard: Any) -> None:
    """A new group on the bench; `row` is zero."""
    guard.stamp[0] += 1
    for column in range(guard.persons.shape[0]):
        guard.found[column] = 0


@inlined
def _count_person(guard: Any, column: Any, place: Any) -> None:
    code = guard.laid_persons[column, place]
    if guard.seen[column, code] != guard.stamp[0]:
        guard.seen[column, code] = guard.stamp[0]
        guard.found[column] += 1


@inlined
def grow_with(guard: Any, bench: Any, place: Any, held: Any) -> None:
    """Count an item into the growing group; other records of the same person are taken only if there is nobody else."""
    guard.grown[held] = guard.laid[place]
    _count(guard.row, guard.safety.starts, guard.safety.codes, guard.laid[place])
    for column in range(guard.persons.shape[0]):
        _count_person(guard, column, place)
        other = guard.twin[column, place]
        while other != place:
            if bench.cost[other] < TAKEN:
                bench.cost[other] += _REPELLED
            other = guard.twin[column, other]


@inlined
def end_group(guard: Any, held: Any) -> None:
    """Take the counts of the grown group back."""
    for number in range(held):
        _count_out(guard.row, guard.safety.starts, guard.safety.codes, guard.grown[number])


@inlined
def _missing(guard: Any, place: Any) -> Any:
    """How many different codes the growing group lacks if one more joins (-1: nobody)."""
    missing = 0.0
    for column in range(guard.persons.shape[0]):
        found = guard.found[column]
        if place >= 0 and guard.seen[column, guard.laid_persons[column, place]] != guard.stamp[0]:
            found += 1
        missing += max(0.0, guard.wanted[column] - found)
    return missing


@inlined
def _deficit_with(guard: Any, place: Any, size: Any) -> Any:
    """The deficit of the growing group, of so many records, if one more joins. It is counted once for every sort."""
    sort = guard.laid_sort[place]
    if guard.sort_turn[sort] != guard.turn[0]:
        record = guard.laid[place]
        _count(guard.row, guard.safety.starts, guard.safety.codes, record)
        guard.sort_deficit[sort] = group_deficit(guard.safety, guard.row, size + 1)
        _count_out(guard.row, guard.safety.starts, guard.safety.codes, record)
        guard.sort_turn[sort] = guard.turn[0]
    return guard.sort_deficit[sort] + _missing(guard, place)


@kernel
def last_place(guard: Any, bench: Any, cheapest: Any, count: Any, size: Any, k: Any) -> Any:
    """Who joins the growing group of so many records next, -1 if it is done: chosen so that the group becomes safe."""
    if bench.group[cheapest] >= 0:
        cheapest = np.int64(-1)
        for place in range(count):
            if bench.group[place] < 0 and (cheapest < 0 or bench.cost[place] < bench.cost[cheapest]):
                cheapest = np.int64(place)
    if cheapest < 0 or size + 1 < k:
        return cheapest
    now = group_deficit(guard.safety, guard.row, size) + _missing(guard, np.int64(-1))
    if size >= k and (now <= 0.0 or size >= 2 * k):
        return np.int64(-1)
    guard.turn[0] += 1
    if _deficit_with(guard, cheapest, size) <= 0.0:
        return cheapest
    best, least, lowest = np.int64(-1), np.inf, 0.0
    for place in range(count):
        if bench.group[place] < 0:
            deficit = _deficit_with(guard, np.int64(place), size)
            loss = (bench.cost[place] >> bench.bits[0]) / bench.unit[0] * k
            score = loss + guard.price[0] * penalty(deficit)
            if score < least:
                best, least, lowest = np.int64(place), score, deficit
    return best if size < k or lowest < now - _TINY else np.int64(-1)


@kernel
def bench_penalty(guard: Any, bench: Any, groups: Any, count: Any) -> Any:
    """The penalties of the deficits of all groups on the bench together."""
    total = 0.0
    for group in range(groups):
        begin_group(guard)
        held = np.int64(0)
        for place in range(count):
            if bench.group[place] == group:
                guard.grown[held] = guard.laid[place]
                _count(guard.row, guard.safety.starts, guard.safety.codes, guard.laid[place])
                for column in range(guard.persons.shape[0]):
                    _count_person(guard, column, place)
                held += 1
        if held > 0:
            total += penalty(group_deficit(guard.safety, guard.row, held) + _missing(guard, np.int64(-1)))
        end_group(guard, held)
    return total
