"""The highest risk that a refinement would leave: how surely a sensitive value can be guessed in some group.

The risk of a group is told from the counts of its sensitive values, and grows towards what a rule forbids:

| rule       | risk                                                                             |
|------------|----------------------------------------------------------------------------------|
| share      | the share of the commonest value                                                 |
| value      | the share of one named value                                                     |
| distinct   | 1 / the number of different values                                               |
| entropy    | exp(-entropy) of the values                                                      |
| recursive  | the commonest value's records / those of the l-th commonest and all rarer values |
| close      | the earth mover's distance to the table: values equally far apart, ranked, or in a hierarchy |
| gain       | the highest share of a value over the share that it may have                     |
| ratio      | the highest |ln(share in the group / share in the table)|                        |
| categories | 1 / the number of different categories of values                                 |
| weight     | 1 / the sum of the weights of the values                                         |

None of them falls when a group is split: the larger risk of the parts is at least that of the whole (distances are
convex in the distribution, the others maxima, or they count what a part can only lose). So the risk that refining a
value would leave is kept by taking maxima over new groups alone, as the floors of `kernels.groups` are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SHARE, VALUE, DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2, 3, 4
CLOSE_EQUAL, CLOSE_ORDERED, CLOSE_HIERARCHICAL, GAIN, RATIO, CATEGORIES, WEIGHT = 5, 6, 7, 8, 9, 10, 11
CERTAIN = 1e300  # the risk of a group whose recursive tail is empty, or that lacks a value that has to be there


@kernel
def risk_of_counts(
    kind: int,  # IN  one of those above
    named: int,  # IN  VALUE: the code; RECURSIVE: l; RATIO: how many codes the table has
    scale: Floats,  # IN  (codes,) CLOSE, RATIO: shares in the table; GAIN: highest shares; WEIGHT: weights
    nodes: Int32s,  # IN  (levels, codes) CLOSE_HIERARCHICAL: the node of each code; CATEGORIES: its category
    counts: Int64s,  # IN  (codes,) records of each sensitive code
    present: Int32s,  # IN  (codes,) the codes that may have records come first
    filled: int,  # IN  how many of them there are
) -> float:
    """The risk of a group; 0 if it has no records."""
    total, commonest, different, logs = 0, 0, 0, 0.0
    for place in range(filled):
        count = counts[present[place]]
        if count > 0:
            total += count
            commonest = max(commonest, count)
            different += 1
            logs += count * np.log(count)
    if total == 0:
        return 0.0
    if kind == SHARE:
        return float(commonest / total)
    if kind == VALUE:
        return float(counts[named] / total)
    if kind == DISTINCT:
        return 1.0 / different
    if kind == ENTROPY:
        return float(np.exp(logs / total) / total)
    if kind == RECURSIVE:
        tail = total - _most_of(counts, present, filled, named - 1)
        return float(commonest / tail) if tail > 0 else CERTAIN
    if kind == RATIO and different < named:
        return CERTAIN
    if kind == CLOSE_ORDERED:
        return _ordered_distance(scale, counts, total)
    if kind == CLOSE_HIERARCHICAL:
        return _hierarchical_distance(scale, nodes, counts, total)
    if kind == CATEGORIES:
        return 1.0 / _categories(nodes, counts)
    return _against_scale(kind, scale, counts, present, filled, total)


@kernel
def _against_scale(kind: int, scale: Floats, counts: Int64s, present: Int32s, filled: int, total: int) -> float:
    """CLOSE_EQUAL, GAIN, RATIO and WEIGHT: each value that is there against its own number."""
    found = 0.0
    for place in range(filled):
        count, own = counts[present[place]], scale[present[place]]
        if count == 0:
            continue
        share = count / total
        if kind == CLOSE_EQUAL:
            found += max(0.0, share - own)
        elif kind == WEIGHT:
            found += count * own
        elif own <= 0.0:
            return CERTAIN
        elif kind == GAIN:
            found = max(found, share / own)
        else:
            found = max(found, abs(np.log(share / own)))
    if kind == WEIGHT:
        return 1.0 / found if found > 0.0 else CERTAIN
    return float(found)


@kernel
def _ordered_distance(scale: Floats, counts: Int64s, total: int) -> float:
    """Codes are ranks; only those that occur in the table count."""
    distance, ahead, ranks = 0.0, 0.0, 0
    for code in range(scale.shape[0]):
        if scale[code] > 0:
            ahead += counts[code] / total - scale[code]
            distance += abs(ahead)
            ranks += 1
    return distance / max(1, ranks - 1)


@kernel
def _hierarchical_distance(scale: Floats, nodes: Int32s, counts: Int64s, total: int) -> float:
    """The codes of a node are neighbours: what has more than its share in the table must leave it, level by level."""
    distance = 0.0
    for level in range(nodes.shape[0]):
        node, excess = -1, 0.0
        for code in range(scale.shape[0]):
            if nodes[level, code] != node:
                distance += max(0.0, excess)
                node, excess = nodes[level, code], 0.0
            excess += counts[code] / total - scale[code]
        distance += max(0.0, excess)
    return float(distance / max(1, nodes.shape[0]))


@kernel
def _categories(nodes: Int32s, counts: Int64s) -> int:
    """The codes of a category are neighbours."""
    found, last = 0, -1
    for code in range(nodes.shape[1]):
        if counts[code] > 0 and nodes[0, code] != last:
            found += 1
            last = nodes[0, code]
    return max(1, found)


@kernel
def _most_of(counts: Int64s, present: Int32s, filled: int, many: int) -> int:
    """The records of the `many` commonest codes; of equal ones the place decides, so that nothing has to be marked."""
    records, last_count, last_place = 0, np.iinfo(np.int64).max, -1
    for _ in range(many):
        best, best_place = 0, -1
        for place in range(filled):
            count = counts[present[place]]
            after = count < last_count or (count == last_count and place > last_place)
            if after and count > best:
                best, best_place = count, place
        if best_place < 0:
            break
        records += best
        last_count, last_place = best, best_place
    return records


@kernel
def _add_row(
    row: int, first_pair: Int64s, pair_code: Int32s, pair_count: Int64s, counts: Int64s, present: Int32s, filled: int
) -> int:
    """Add the sensitive values of a row to the counts; returns how many codes are present now."""
    for pair in range(first_pair[row], first_pair[row + 1]):
        code = pair_code[pair]
        if counts[code] == 0:
            present[filled] = code
            filled += 1
        counts[code] += pair_count[pair]
    return filled


@kernel
def _by_slot(column: Int32s, slots: Int32s, first: int, last: int, begins: Int32s, places: Int32s, width: int) -> None:
    """The positions first .. last - 1 in the order of their slots; slot s has places[begins[s]:begins[s + 1]]."""
    begins[: width + 1] = 0
    for position in range(first, last):
        begins[slots[column[position]] + 1] += 1
    for slot in range(width):
        begins[slot + 1] += begins[slot]
    for position in range(first, last):
        slot = slots[column[position]]
        places[begins[slot]] = position
        begins[slot] += 1
    for slot in range(width, 0, -1):
        begins[slot] = begins[slot - 1]
    begins[0] = 0


@kernel
def measure_risks(
    order: Int32s,  # IN  (rows,) rows, group by group
    codes: Int32s,  # IN  (attributes, rows) in that order
    refined: int,  # IN  the attribute just refined: groups that did not change are measured on it alone
    offsets: Int64s,  # IN  (attributes,) where the codes of each begin in the tables of codes
    value_of_code: Int32s,  # IN  (all codes,) the cut value of each code
    slot_of_code: Int32s,  # IN  (all codes,) its child slot; of a suppressed code the number of its disclosure
    slot_counts: Int32s,  # IN  (values,) child slots; 0 never refined again, -1 suppressed values
    open_values: Flags,  # IN  (values,) disclosures that are still possible
    start: Int32s,  # IN  (capacity,) first place of each group in `order`
    end: Int32s,  # IN  (capacity,) one past its last place
    touched: Int32s,  # IN  (capacity,) the groups that the last refinement made
    changed: Flags,  # IN  (capacity,) whether each of them is new
    touched_count: int,  # IN
    kind: int,  # IN  which risk
    named: int,  # IN  as for `risk_of_counts`, like the next two
    scale: Floats,
    nodes: Int32s,
    first_pair: Int64s,  # IN  (rows + 1,) where the sensitive values of a row begin
    pair_code: Int32s,  # IN  (pairs,)
    pair_count: Int64s,  # IN  (pairs,)
    counts: Int64s,  # scratch (sensitive codes,) all zero, left all zero
    whole: Int64s,  # scratch (sensitive codes,) all zero, left all zero
    present: Int32s,  # scratch (sensitive codes,)
    all_present: Int32s,  # scratch (sensitive codes,)
    begins: Int32s,  # scratch (largest attribute + 2,)
    places: Int32s,  # scratch (rows,)
    own_codes: Int32s,  # IN  (largest attribute,) 0, 1, 2, ...: slots of suppressed values are their codes
    risks: Floats,  # IN/OUT (values,) the highest risk that refining a value leaves
) -> None:
    """Raise the risks by what refinements would make of the touched groups."""
    for number in range(touched_count):
        group = touched[number]
        first, last = start[group], end[group]
        for attribute in range(codes.shape[0]):
            if not changed[number] and attribute != refined:
                continue
            column, offset = codes[attribute], offsets[attribute]
            value = value_of_code[offset + column[first]]
            if slot_counts[value] == 0:
                continue
            suppressed = slot_counts[value] < 0
            if suppressed:
                slots, width = own_codes, 0
                for position in range(first, last):
                    width = max(width, column[position] + 1)
            else:
                slots, width = slot_of_code[offset:], slot_counts[value]
            _by_slot(column, slots, first, last, begins, places, width)
            all_filled = 0
            if suppressed:
                for position in range(first, last):
                    all_filled = _add_row(
                        order[position], first_pair, pair_code, pair_count, whole, all_present, all_filled
                    )
            for slot in range(width):
                if begins[slot] == begins[slot + 1]:
                    continue
                refinement = slot_of_code[offset + slot] if suppressed else value
                if suppressed and not open_values[refinement]:
                    continue
                filled = 0
                for place in range(begins[slot], begins[slot + 1]):
                    row = order[places[place]]
                    filled = _add_row(row, first_pair, pair_code, pair_count, counts, present, filled)
                risk = risk_of_counts(kind, named, scale, nodes, counts, present, filled)
                if suppressed:  # the others stay together
                    for place in range(filled):
                        whole[present[place]] -= counts[present[place]]
                    risk = max(risk, risk_of_counts(kind, named, scale, nodes, whole, all_present, all_filled))
                    for place in range(filled):
                        whole[present[place]] += counts[present[place]]
                risks[refinement] = max(risks[refinement], risk)
                for place in range(filled):
                    counts[present[place]] = 0
            for place in range(all_filled):
                whole[all_present[place]] = 0
