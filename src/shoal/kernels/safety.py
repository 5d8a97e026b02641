"""How far a group is from safe, told from histograms: small functions for the inner loops of the algorithms.

A group has one row of counts: for every column that a rule looks at, how often each code occurs in the group, and at
the end of the row, for every such column, how many different codes occur. Adding or removing a record changes a few
counts; `group_deficit` reads the row. Nothing here allocates, so a search can ask "would this move break a rule?"
for every move: add or remove, ask, and undo if not.

The rules are a namedtuple of arrays, made by `shoal.models.safety.bind_safety`. Deficits are in the unit of records
where that makes sense, 0 exactly when safe, and fall smoothly as a group gets nearer to safe, so that a repair can
follow them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int32, Int64
from shoal.kernels.compile import kernel

SIZE = 0  # numbers[0] records
DISTINCT = 1  # numbers[0] different codes
CAPPED = 2  # no code above caps[slot] of the group
BETWEEN = 3  # every code between floors[slot] and caps[slot] of the group
ENTROPY = 4  # entropy at least numbers[0]
RECURSIVE = 5  # commonest < numbers[0] * (all but the numbers[1] - 1 commonest)
CLOSE_EQUAL = 6  # earth mover's distance to the table at most numbers[0]: any two codes 1 apart
CLOSE_ORDERED = 7  # ... codes ranked
CLOSE_HIERARCHICAL = 8  # ... codes in a hierarchy
CATEGORIES = 9  # numbers[0] different nodes
WEIGHT = 10  # the caps, taken as weights, add up to numbers[0] over the records
NEEDED = 11  # as many records in slot numbers[1] of the row as the largest code of the group says

KIND, COLUMN, LEVELS = 0, 1, 2
FLOOR, CAP = 0, 1

TINY = 1e-9


class Safety(NamedTuple):
    """The rules of a requirement as arrays: few of them, because every one costs compile time."""

    rules: Int64  # (rules, 3): what KIND of rule, which COLUMN it looks at, how many LEVELS of nodes count
    numbers: Float64  # (rules, 2)
    bounds: Float64  # (2, rules, widest column): the lower and upper bound (FLOOR, CAP) of the share of each code
    nodes: Int32  # (rules, levels, widest column): the node of each code at each level below the root
    starts: Int64  # (columns + 1,) where the counts of each column start in a row; the last: where distincts start
    shares: Float64  # (row length,) share of each code in the whole table
    codes: Int32  # (columns, records); of ordered columns the codes are ranks
    complete: bool  # False: the requirement has models that these rules do not cover


@kernel
def row_length(safety: Any) -> Any:
    """How long the row of a group is."""
    return safety.starts[-1] + safety.codes.shape[0]


@kernel
def add_record(safety: Any, row: Any, record: Any) -> None:
    distinct = safety.starts[-1]
    for column in range(safety.codes.shape[0]):
        slot = safety.starts[column] + safety.codes[column, record]
        if row[slot] == 0:
            row[distinct + column] += 1
        row[slot] += 1


@kernel
def remove_record(safety: Any, row: Any, record: Any) -> None:
    distinct = safety.starts[-1]
    for column in range(safety.codes.shape[0]):
        slot = safety.starts[column] + safety.codes[column, record]
        row[slot] -= 1
        if row[slot] == 0:
            row[distinct + column] -= 1


@kernel
def group_deficit(safety: Any, row: Any, size: Any) -> Any:
    """How far a group is from safe: 0 when every rule holds.

    The commonest rules are told here: handing the arrays on to a function would cost more than the answer.
    IN  row   int32 (row length,) the counts of the group
    IN  size  the number of its records
    """
    rules, numbers, bounds, starts = safety.rules, safety.numbers, safety.bounds, safety.starts
    total = 0.0
    if size == 0:
        return total
    for rule in range(rules.shape[0]):
        kind = rules[rule, KIND]
        column = rules[rule, COLUMN]
        if kind == SIZE:
            total += max(0.0, numbers[rule, 0] - size)
        elif kind == DISTINCT:
            total += max(0.0, numbers[rule, 0] - row[starts[-1] + column])
        elif kind == CAPPED:
            start = starts[column]
            for slot in range(start, starts[column + 1]):
                above = row[slot] - bounds[CAP, rule, slot - start] * size
                if above > TINY:
                    total += above
        elif kind == CLOSE_EQUAL:
            distance = 0.0
            for slot in range(starts[column], starts[column + 1]):
                distance += max(0.0, row[slot] - safety.shares[slot] * size)
            if distance - numbers[rule, 0] * size > TINY:
                total += distance - numbers[rule, 0] * size
        else:
            total += rule_deficit(safety, rule, row, size)
    return total


@kernel
def rule_deficit(safety: Any, rule: Any, row: Any, size: Any) -> Any:
    """The deficit of one of the rules that look at all codes of a column together."""
    kind = safety.rules[rule, KIND]
    wanted = safety.numbers[rule, 0]
    column = safety.rules[rule, COLUMN]
    start = safety.starts[column]
    stop = safety.starts[column + 1]
    if kind == BETWEEN:
        deficit = _outside(safety, rule, row, size, start, stop)
    elif kind == ENTROPY:
        deficit = (wanted - _entropy(row, size, start, stop)) * size
    elif kind == RECURSIVE:
        deficit = _recursive(row, start, stop, wanted, int(safety.numbers[rule, 1]))
    elif kind == CLOSE_ORDERED:
        deficit = (_ordered_distance(safety, row, size, start, stop) - wanted) * size
    elif kind == CATEGORIES:
        deficit = wanted - _categories(safety, rule, row, start, stop)
    elif kind == WEIGHT:
        deficit = wanted - _weight(safety, rule, row, start, stop)
    elif kind == NEEDED:
        deficit = _largest_code(row, start, stop) - row[int(safety.numbers[rule, 1])]
    else:
        deficit = (_hierarchical_distance(safety, rule, row, size, start, stop) - wanted) * size
    return deficit if deficit > TINY else 0.0


@kernel
def _outside(safety: Any, rule: Any, row: Any, size: Any, start: Any, stop: Any) -> Any:
    total = 0.0
    for slot in range(start, stop):
        above = row[slot] - safety.bounds[CAP, rule, slot - start] * size
        if above > TINY:
            total += above
        floor = safety.bounds[FLOOR, rule, slot - start] * size
        if floor - row[slot] > TINY:
            total += max(1.0, floor) - row[slot]  # a code that is missing needs a whole record
    return total


@kernel
def _categories(safety: Any, rule: Any, row: Any, start: Any, stop: Any) -> Any:
    """The codes of a node are neighbours."""
    found = 0
    last = -1
    for slot in range(start, stop):
        node = safety.nodes[rule, 0, slot - start]
        if row[slot] > 0 and node != last:
            found += 1
            last = node
    return found


@kernel
def _weight(safety: Any, rule: Any, row: Any, start: Any, stop: Any) -> Any:
    total = 0.0
    for slot in range(start, stop):
        total += row[slot] * safety.bounds[CAP, rule, slot - start]
    return total


@kernel
def _largest_code(row: Any, start: Any, stop: Any) -> Any:
    for slot in range(stop - 1, start, -1):
        if row[slot] > 0:
            return float(slot - start)
    return 0.0


@kernel
def _entropy(row: Any, size: Any, start: Any, stop: Any) -> Any:
    total = 0.0
    for slot in range(start, stop):
        if row[slot] > 0:
            total += row[slot] * np.log(row[slot])
    return np.log(size) - total / size


@kernel
def _recursive(row: Any, start: Any, stop: Any, c: Any, rank: Any) -> Any:
    """Take the commonest away one by one; ties are broken by the slot, so that nothing has to be marked."""
    tail = 0
    for slot in range(start, stop):
        tail += row[slot]
    commonest = 0
    last_count = np.iinfo(np.int64).max
    last_slot = -1
    for taken in range(rank - 1):
        best = 0
        best_slot = -1
        for slot in range(start, stop):
            count = row[slot]
            after = count < last_count or (count == last_count and slot > last_slot)
            if after and count > best:
                best = count
                best_slot = slot
        if best_slot < 0:
            break
        if taken == 0:
            commonest = best
        tail -= best
        last_count = best
        last_slot = best_slot
    missing = commonest - c * tail
    return missing + 0.5 if missing > -TINY else 0.0


@kernel
def _ordered_distance(safety: Any, row: Any, size: Any, start: Any, stop: Any) -> Any:
    """Only codes that occur in the table have a rank."""
    total = 0.0
    ahead = 0.0
    ranks = 0
    for slot in range(start, stop):
        if safety.shares[slot] > 0:
            ahead += row[slot] / size - safety.shares[slot]
            total += abs(ahead)
            ranks += 1
    return total / max(1, ranks - 1)


@kernel
def _hierarchical_distance(safety: Any, rule: Any, row: Any, size: Any, start: Any, stop: Any) -> Any:
    """The codes under a node are neighbours: one pass per level finds the mass that must leave each node."""
    levels = safety.rules[rule, LEVELS]
    total = 0.0
    for level in range(levels):
        node = -1
        excess = 0.0
        for slot in range(start, stop):
            here = safety.nodes[rule, level, slot - start]
            if here != node:
                total += max(0.0, excess)
                excess = 0.0
                node = here
            excess += row[slot] / size - safety.shares[slot]
        total += max(0.0, excess)
    return total / max(1, levels)


@kernel
def exchange_deficit(safety: Any, row: Any, size: Any, leaving: Any, joining: Any) -> Any:
    """The deficit after one record left and another joined; the row is as before afterwards."""
    remove_record(safety, row, leaving)
    add_record(safety, row, joining)
    deficit = group_deficit(safety, row, size)
    remove_record(safety, row, joining)
    add_record(safety, row, leaving)
    return deficit


@kernel
def fill_rows(safety: Any, groups: Any, rows: Any) -> None:
    """The row of every group, from the group of every record.

    IN  groups  int32 (records,)
    OUT rows    int32 (groups, row length), all zero before
    """
    for record in range(groups.shape[0]):
        add_record(safety, rows[groups[record]], record)


@kernel
def all_deficits(safety: Any, starts: Any, members: Any, row: Any, deficits: Any) -> None:
    """The deficit of every group, with one row for all of them: what a group adds is taken out again.

    IN  starts    int64 (groups + 1,)
    IN  members   int32 (records,) in the order of the groups
    IN  row       int32 (row length,) all zero, before and after
    OUT deficits  float64 (groups,)
    """
    for group in range(deficits.shape[0]):
        for place in range(starts[group], starts[group + 1]):
            add_record(safety, row, np.int64(members[place]))
        deficits[group] = group_deficit(safety, row, starts[group + 1] - starts[group])
        for place in range(starts[group], starts[group + 1]):
            remove_record(safety, row, np.int64(members[place]))
