"""Top-down specialization of records, class by class, with local lifting back.

A class is a segment of `order` and a level per attribute. Its children under an attribute are the nodes one level
down. `nodes[level, code]` numbers the nodes of a level in tree order, over the flat numbering of codes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Int32, Int64
from shoal.kernels.compile import kernel


class Rule(NamedTuple):
    """What a class must have, and how records go back to a parent that breaks it."""

    k: Any  # int: at least so many records
    alpha: Any  # float: no sensitive value has a larger share
    whole: Any  # bool: branches go back as a whole; else single records do, where branches can spare them


class Scratch(NamedTuple):
    """Memory that is used again for every class."""

    branch: Int32  # (records,) the branch of each record, -1: it stays at the parent
    sizes: Int64  # (most nodes,) records per branch
    ends: Int64  # (most nodes,)
    most: Int64  # (most nodes,) count of the commonest value per branch
    counts: Int64  # (most nodes, values) count of each value per branch
    kept: Int64  # (values,) count of each value at the parent
    spare: Int32  # (records,)


SLACK = 1e-9  # shares are compared with this tolerance, so that 3 of 10 is within 0.3


@kernel
def _count_branches(records: Any, nodes_of_code: Any, codes: Any, values: Any, scratch: Any) -> Any:
    """Put every record into its branch; count the records and values of each. Returns its first node and their number.

    IN  scratch.counts  all 0
    """
    branch, sizes, most, counts = scratch.branch, scratch.sizes, scratch.most, scratch.counts
    first = nodes_of_code[codes[records[0]]]
    last = first
    for position in range(records.shape[0]):
        node = nodes_of_code[codes[records[position]]]
        first = min(first, node)
        last = max(last, node)
    branches = last - first + 1
    for number in range(branches):
        sizes[number] = 0
        most[number] = 0
    for position in range(records.shape[0]):
        record = records[position]
        number = nodes_of_code[codes[record]] - first
        branch[record] = number
        sizes[number] += 1
        counts[number, values[record]] += 1
        most[number] = max(most[number], counts[number, values[record]])
    return first, branches


@kernel
def _clear_counts(records: Any, nodes_of_code: Any, codes: Any, values: Any, first: Any, counts: Any) -> None:
    """Set the counts of the records back to 0, and no others: there may be many values."""
    for position in range(records.shape[0]):
        record = records[position]
        counts[nodes_of_code[codes[record]] - first, values[record]] = 0


@kernel
def _most_without(counts: Any, most: Any, number: Any, value: Any) -> Any:
    """The count of the commonest value of a branch when one record with the given value has gone."""
    if counts[number, value] < most[number]:
        return most[number]
    for other in range(counts.shape[1]):
        if other != value and counts[number, other] == most[number]:
            return most[number]
    return most[number] - 1


@kernel
def _lift_branch(records: Any, values: Any, branch: Any, number: Any, kept: Any, parent: Any) -> None:
    """Move the records of one branch back to the parent.

    IN/OUT parent  int64 (2,) records and the largest count of a value; kept int64 (values,) counts of the values
    """
    for position in range(records.shape[0]):
        record = records[position]
        if branch[record] == number:
            branch[record] = -1
            kept[values[record]] += 1
            parent[0] += 1
            if kept[values[record]] > parent[1]:
                parent[1] = kept[values[record]]


@kernel
def _lift_surplus(records: Any, values: Any, k: Any, alpha: Any, scratch: Any, parent: Any) -> None:
    """Move as many records as the parent needs out of branches that can spare them."""
    branch, sizes, most, counts, kept = scratch.branch, scratch.sizes, scratch.most, scratch.counts, scratch.kept
    wanted = max(k, int(np.ceil(parent[1] / alpha - SLACK)))
    for position in range(records.shape[0]):
        if parent[0] >= wanted:
            return
        record = records[position]
        value = values[record]
        number = branch[record]
        if number < 0 or sizes[number] <= k or kept[value] + 1 > alpha * wanted + SLACK:
            continue
        remaining = _most_without(counts, most, number, value)
        if remaining > alpha * (sizes[number] - 1) + SLACK:
            continue
        branch[record] = -1
        sizes[number] -= 1
        counts[number, value] -= 1
        most[number] = remaining
        kept[value] += 1
        parent[0] += 1
        parent[1] = max(parent[1], kept[value])


@kernel
def _smallest(sizes: Any, branches: Any) -> Any:
    """The smallest branch that has records, -1 if none has."""
    found = -1
    for number in range(branches):
        if sizes[number] > 0 and (found < 0 or sizes[number] < sizes[found]):
            found = number
    return found


@kernel
def _settle(records: Any, values: Any, rule: Any, branches: Any, scratch: Any) -> Any:
    """Lift back what breaks the model, and what the parent needs. Returns the number of records at the parent."""
    branch, sizes, most, kept = scratch.branch, scratch.sizes, scratch.most, scratch.kept
    k, alpha, whole = rule
    kept[:] = 0
    parent = np.zeros(2, np.int64)  # records, count of the commonest value
    for number in range(branches):
        if 0 < sizes[number] < k or most[number] > alpha * sizes[number] + SLACK:
            _lift_branch(records, values, branch, number, kept, parent)
            sizes[number] = 0
    while 0 < parent[0] < k or parent[1] > alpha * parent[0] + SLACK:
        if not whole:
            _lift_surplus(records, values, k, alpha, scratch, parent)
        if parent[0] >= k and parent[1] <= alpha * parent[0] + SLACK:
            break
        number = _smallest(sizes, branches)
        if number < 0:
            break
        _lift_branch(records, values, branch, number, kept, parent)
        sizes[number] = 0
    return parent[0]


@kernel
def specialize(records: Any, nodes_of_code: Any, codes: Any, values: Any, rule: Any, scratch: Any) -> Any:
    """Specialize one class under one attribute: which records go to which branch, which stay (-1).

    IN  records        int32 (records of the class,)
    IN  nodes_of_code  int32 (all codes,) node of each code one level down
    IN  codes, values  int32 (all records,) codes of the attribute; sensitive values
    OUT scratch.branch, for the records of the class; scratch.sizes of the branches
    Returns (records specialized, branches used).
    """
    first, branches = _count_branches(records, nodes_of_code, codes, values, scratch)
    stayed = _settle(records, values, rule, branches, scratch)
    _clear_counts(records, nodes_of_code, codes, values, first, scratch.counts)
    used = 0
    for number in range(branches):
        if scratch.sizes[number] > 0:
            used += 1
    return records.shape[0] - stayed, used


@kernel
def _specialize_best(records: Any, levels: Any, codes: Any, nodes: Any, values: Any, rule: Any, scratch: Any) -> Any:
    """Specialize under the attribute that moves the most records, of equals the one of fewer branches.

    OUT scratch.branch, scratch.sizes
    Returns the attribute and how many records it specialized; -1 and 0 if none can.
    """
    attributes = codes.shape[0]
    best = -1
    best_moved = 0
    best_branches = 0
    for step in range(attributes + 1):  # all in turn, then the best once more for what it leaves in scratch
        attribute = step if step < attributes else best
        if attribute < 0 or levels[attribute] == 0:
            continue
        below = nodes[levels[attribute] - 1]
        moved, used = specialize(records, below, codes[attribute], values, rule, scratch)
        if moved > best_moved or (moved == best_moved and moved > 0 and used < best_branches):
            best = attribute
            best_moved = moved
            best_branches = used
    return best, best_moved


@kernel
def _order_by_branch(records: Any, scratch: Any) -> Any:
    """Reorder the records of a class by branch, those that stay last; scratch.ends are the ends of the branches.

    Returns the number of branches, gaps included.
    """
    branch, sizes, ends, spare = scratch.branch, scratch.sizes, scratch.ends, scratch.spare
    branches = 0
    for position in range(records.shape[0]):
        branches = max(branches, branch[records[position]] + 1)
    stay = 0
    for number in range(branches):
        ends[number] = stay
        stay += sizes[number]
    for position in range(records.shape[0]):
        record = records[position]
        number = branch[record]
        if number < 0:
            spare[stay] = record
            stay += 1
        else:
            spare[ends[number]] = record
            ends[number] += 1
    for position in range(records.shape[0]):  # one by one: assigning slices takes seconds to compile
        records[position] = spare[position]
    return branches


@kernel
def _push(stack: Any, height: Any, start: Any, end: Any, levels: Any) -> Any:
    stack[height, 0] = start
    stack[height, 1] = end
    for attribute in range(levels.shape[0]):
        stack[height, 2 + attribute] = levels[attribute]
    return height + 1


@kernel
def top_down(
    codes: Any, nodes: Any, tops: Any, values: Any, rule: Any, scratch: Any, stack: Any, order: Any, groups: Any
) -> Any:
    """Specialize the class of all records until no class can be specialized any more.

    IN  codes   int32 (attributes, records), flat numbering
    IN  nodes   int32 (levels, all codes)
    IN  tops    int32 (attributes,) the highest level
    IN  values  int32 (records,) sensitive values; all 0 when alpha is 1
    IN/OUT order  int32 (records,) all records
    OUT groups  int32 (records,)
    Scratch: stack int64 (records / k + 2, 2 + attributes); classes on it share no record and have k each
    Returns the number of groups.
    """
    attributes = codes.shape[0]
    levels = np.empty(attributes, np.int64)
    height = _push(stack, 0, 0, order.shape[0], tops)
    found = 0
    while height > 0:
        height -= 1
        start = stack[height, 0]
        end = stack[height, 1]
        records = order[start:end]
        for attribute in range(attributes):
            levels[attribute] = stack[height, 2 + attribute]
        best, moved = _specialize_best(records, levels, codes, nodes, values, rule, scratch)
        if best < 0:
            for position in range(records.shape[0]):
                groups[records[position]] = found
            found += 1
            continue
        branches = _order_by_branch(records, scratch)
        if moved < records.shape[0]:
            height = _push(stack, height, start + moved, end, levels)
        levels[best] -= 1
        for number in range(branches - 1, -1, -1):
            if scratch.sizes[number] > 0:
                branch_end = start + scratch.ends[number]
                height = _push(stack, height, branch_end - scratch.sizes[number], branch_end, levels)
    return found
