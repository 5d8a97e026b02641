"""Make unsafe groups safe inside one block of neighbouring groups, at the least loss that local steps find.

An unsafe group looks at its nearest groups (those whose union with it costs least) and takes the step that pays the
least loss for each unit of deficit it removes: exchange two records, give a record, take a record, or merge. No step
makes the other group less safe. The records of a block are numbered 0..records-1; a group is a linked list of them.
All numbers of records and groups are int64, so that every function is compiled once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost
from shoal.kernels.safety import add_record, group_deficit, remove_record

NOBODY = np.int64(-1)
NOTHING, EXCHANGE, GIVE, TAKE, MERGE = 0, 1, 2, 3, 4
LEAST_GAIN = 1e-7  # a smaller change of the deficit is rounding, not progress


class Block(NamedTuple):
    """The groups of a block while they change."""

    codes: Any  # int32 (records, attributes)
    sorts: Any  # int32 (records,) records with the same number are alike for every rule
    following: Any  # int64 (records,) the next record of the same group, or -1
    first: Any  # int64 (groups,) the first record of each group, or -1 once it was merged away
    sizes: Any  # int64 (groups,)
    low: Any  # int32 (attributes, groups)
    high: Any  # int32 (attributes, groups)
    losses: Any  # float64 (groups,) loss of one record of the group
    deficits: Any  # float64 (groups,)


class Outline(NamedTuple):
    """One group in enough detail to tell what it costs after a record left or joined."""

    edges: Any  # int32 (4, attributes): lowest, second lowest, highest, second highest code
    counts: Any  # int32 (all codes,) how often each code of a FLAT attribute occurs
    distinct: Any  # int32 (attributes,) how many codes of a FLAT attribute occur
    row: Any  # int32 (row length,) counts for the rules
    members: Any  # int64 (most members,) the records that may move
    without: Any  # float64 (most members + 1,) loss of one record after each of them left; the last: nobody left
    member_sorts: Any  # int64 (most members,) which of the group's sorts a member is of
    sort_records: Any  # int64 (most members,) one record of each sort
    marks: Any  # int64 (all codes,) when a code was last seen, to count the codes of another group once


class Search(NamedTuple):
    """How far to look, and room for what is found."""

    nearest: Any  # int64 (reach,) the nearest groups
    prices: Any  # float64 (reach,) what merging with them costs
    gains: Any  # float64 (most members + 1, most members + 1)
    listed: Any  # int64 (2,) members listed in the outlines of the group and of the other one
    sorts: Any  # int64 (2,) sorts among them
    helpers: int  # how many groups that can help are tried
    mergers: int  # with how many of the nearest groups a merger is tried


@kernel
def draw_outline(geometry: Any, safety: Any, block: Any, group: int, outline: Any) -> Any:
    """Fill the outline of a group; the number of members that may move is returned."""
    attributes = block.codes.shape[1]
    edges, counts, distinct = outline.edges, outline.counts, outline.distinct
    for attribute in range(attributes):
        edges[0, attribute] = np.iinfo(np.int32).max
        edges[1, attribute] = np.iinfo(np.int32).max
        edges[2, attribute] = -1
        edges[3, attribute] = -1
        distinct[attribute] = 0
    most = outline.members.shape[0]
    stride = (block.sizes[group] + most - 1) // most
    listed = 0
    place = 0
    record = block.first[group]
    while record >= 0:
        add_record(safety, outline.row, record)
        if place % stride == 0:
            outline.members[listed] = record
            listed += 1
        place += 1
        for attribute in range(attributes):
            code = block.codes[record, attribute]
            if geometry.kinds[attribute] == FLAT:
                slot = geometry.code_offsets[attribute] + code
                if counts[slot] == 0:
                    distinct[attribute] += 1
                counts[slot] += 1
            if code < edges[0, attribute]:
                edges[1, attribute] = edges[0, attribute]
                edges[0, attribute] = code
            elif code < edges[1, attribute]:
                edges[1, attribute] = code
            if code > edges[2, attribute]:
                edges[3, attribute] = edges[2, attribute]
                edges[2, attribute] = code
            elif code > edges[3, attribute]:
                edges[3, attribute] = code
        record = block.following[record]
    return listed


@kernel
def clear_outline(geometry: Any, safety: Any, block: Any, group: int, outline: Any) -> None:
    """Take out again what `draw_outline` counted, before the group changes."""
    record = block.first[group]
    while record >= 0:
        remove_record(safety, outline.row, record)
        for attribute in range(block.codes.shape[1]):
            if geometry.kinds[attribute] == FLAT:
                outline.counts[geometry.code_offsets[attribute] + block.codes[record, attribute]] = 0
        record = block.following[record]


@kernel
def changed_loss(geometry: Any, block: Any, outline: Any, leaving: int, joining: int) -> Any:
    """The loss of one record of the group after `leaving` left and `joining` joined (-1: nobody)."""
    total = 0.0
    for attribute in range(block.codes.shape[1]):
        out = np.int64(block.codes[leaving, attribute]) if leaving >= 0 else NOBODY
        new = np.int64(block.codes[joining, attribute]) if joining >= 0 else NOBODY
        start = geometry.code_offsets[attribute]
        if geometry.kinds[attribute] == FLAT:
            codes = outline.distinct[attribute]
            if out != new:
                if out >= 0 and outline.counts[start + out] == 1:
                    codes -= 1
                if new >= 0 and outline.counts[start + new] == 0:
                    codes += 1
            size = geometry.code_offsets[attribute + 1] - start
            if size > 1:
                total += geometry.weights[attribute] * (codes - 1) / (size - 1)
            continue
        low = np.int64(outline.edges[1 if out == outline.edges[0, attribute] else 0, attribute])
        high = np.int64(outline.edges[3 if out == outline.edges[2, attribute] else 2, attribute])
        if new >= 0:
            low = min(low, new)
            high = max(high, new)
        if low < high:
            total += geometry.weights[attribute] * range_cost(geometry, attribute, low, high)
    return total


@kernel
def list_sorts(geometry: Any, block: Any, outline: Any, listed: int) -> Any:
    """Which sorts the listed members are of, and the loss without each of them; the number of sorts is returned."""
    sorts = 0
    for place in range(listed):
        record = outline.members[place]
        outline.without[place] = changed_loss(geometry, block, outline, record, NOBODY)
        known = 0
        while known < sorts and block.sorts[outline.sort_records[known]] != block.sorts[record]:
            known += 1
        if known == sorts:
            outline.sort_records[sorts] = record
            sorts += 1
        outline.member_sorts[place] = known
    outline.without[listed] = changed_loss(geometry, block, outline, NOBODY, NOBODY)
    return sorts


@kernel
def united_loss(geometry: Any, block: Any, outline: Any, group: int, other: int, most: float, stamp: int) -> Any:
    """The loss of one record of two groups together; stops early, with a larger number, once above `most`."""
    total = 0.0
    for attribute in range(block.codes.shape[1]):
        start = geometry.code_offsets[attribute]
        if geometry.kinds[attribute] != FLAT:
            low = np.int64(min(block.low[attribute, group], block.low[attribute, other]))
            high = np.int64(max(block.high[attribute, group], block.high[attribute, other]))
            total += geometry.weights[attribute] * range_cost(geometry, attribute, low, high)
        else:
            codes = outline.distinct[attribute]
            record = block.first[other]
            while record >= 0:
                slot = start + block.codes[record, attribute]
                if outline.counts[slot] == 0 and outline.marks[slot] != stamp:
                    outline.marks[slot] = stamp
                    codes += 1
                record = block.following[record]
            size = geometry.code_offsets[attribute + 1] - start
            if size > 1:
                total += geometry.weights[attribute] * (codes - 1) / (size - 1)
        if total > most:
            return total
    return total


@kernel
def refresh(geometry: Any, safety: Any, block: Any, group: int, outline: Any) -> None:
    """Box, loss and deficit of a group after it changed."""
    draw_outline(geometry, safety, block, group, outline)
    for attribute in range(block.codes.shape[1]):
        block.low[attribute, group] = outline.edges[0, attribute]
        block.high[attribute, group] = outline.edges[2, attribute]
    block.losses[group] = changed_loss(geometry, block, outline, NOBODY, NOBODY)
    block.deficits[group] = group_deficit(safety, outline.row, block.sizes[group])
    clear_outline(geometry, safety, block, group, outline)


@kernel
def find_nearest(geometry: Any, block: Any, outline: Any, group: int, nearest: Any, prices: Any, stamp: int) -> Any:
    """The groups whose union with this one raises the loss least.

    OUT nearest, prices  int64, float64 (wanted,) in rising order of the price; how many were found is returned
    """
    wanted = nearest.shape[0]
    found = 0
    own = block.losses[group] * block.sizes[group]
    for other in range(block.first.shape[0]):
        if other == group or block.first[other] < 0:
            continue
        before = own + block.losses[other] * block.sizes[other]
        size = block.sizes[group] + block.sizes[other]
        limit = np.inf if found < wanted else (prices[found - 1] + before) / size
        price = united_loss(geometry, block, outline, group, other, limit, stamp + other) * size - before
        if found == wanted and price >= prices[found - 1]:
            continue
        place = found if found < wanted else wanted - 1
        while place > 0 and prices[place - 1] > price:
            prices[place] = prices[place - 1]
            nearest[place] = nearest[place - 1]
            place -= 1
        prices[place] = price
        nearest[place] = other
        if found < wanted:
            found += 1
    return found


@kernel
def _score(price: float, gain: float) -> Any:
    """Loss paid per unit of deficit; a step that lowers the loss as well is better the more it does of both."""
    return price / gain if price > 0.0 else price * gain


@kernel
def _after(safety: Any, row: Any, size: int, leaving: int, joining: int) -> Any:
    """The deficit with one record out and another in (-1: nobody); the row is left as it was."""
    if leaving >= 0:
        remove_record(safety, row, leaving)
        size -= 1
    if joining >= 0:
        add_record(safety, row, joining)
        size += 1
    deficit = group_deficit(safety, row, size)
    if joining >= 0:
        remove_record(safety, row, joining)
    if leaving >= 0:
        add_record(safety, row, leaving)
    return deficit


@kernel
def fill_gains(safety: Any, block: Any, group: int, other: int, here: Any, there: Any, sorts: Any, gains: Any) -> Any:
    """How much deficit is removed when a record of one sort goes to the other group and one of another sort comes.

    Records that are alike for every rule are of one sort, so there are few cases. The last line and column mean that
    nobody goes or comes.
    IN  sorts  (2,) how many sorts each outline has
    OUT gains  float64 (sorts + 1, sorts + 1); 0 where the step does not help or hurts the other group
    """
    helpful = False
    for i in range(sorts[0] + 1):
        giving = here.sort_records[i] if i < sorts[0] else NOBODY
        for j in range(sorts[1] + 1):
            taking = there.sort_records[j] if j < sorts[1] else NOBODY
            gains[i, j] = 0.0
            if giving >= 0 and taking >= 0:
                if block.sorts[giving] == block.sorts[taking]:
                    continue
            elif giving == taking:
                continue
            elif giving >= 0 and block.sizes[group] == 1 or taking >= 0 and block.sizes[other] == 1:
                continue
            deficit = _after(safety, here.row, block.sizes[group], giving, taking)
            if deficit > block.deficits[group] - LEAST_GAIN:
                continue
            other_deficit = _after(safety, there.row, block.sizes[other], taking, giving)
            if other_deficit > block.deficits[other]:
                continue
            gains[i, j] = block.deficits[group] - deficit + block.deficits[other] - other_deficit
            helpful = True
    return helpful


@kernel
def weigh_steps(
    geometry: Any, block: Any, group: int, other: int, here: Any, there: Any, listed: Any, sorts: Any, gains: Any,
    best: Any,
) -> None:  # fmt: skip
    """Is one of the steps that help better than the best step so far?

    A group without a record never costs more than with another one in its place: that bound spares most of the work.
    OUT best  float64 (5,): score, kind of step, other group, record given, record taken
    """
    before = block.losses[group] * block.sizes[group] + block.losses[other] * block.sizes[other]
    for i in range(listed[0] + 1):
        giving = here.members[i] if i < listed[0] else NOBODY
        line = here.member_sorts[i] if i < listed[0] else sorts[0]
        for j in range(listed[1] + 1):
            taking = there.members[j] if j < listed[1] else NOBODY
            gain = gains[line, there.member_sorts[j] if j < listed[1] else sorts[1]]
            if gain <= 0.0:
                continue
            size = block.sizes[group] - (giving >= 0) + (taking >= 0)
            other_size = block.sizes[other] + (giving >= 0) - (taking >= 0)
            least = here.without[i] * size + there.without[j] * other_size - before
            if _score(least, gain) >= best[0]:
                continue
            price = changed_loss(geometry, block, here, giving, taking) * size - before
            if _score(price + there.without[j] * other_size, gain) >= best[0]:
                continue
            price += changed_loss(geometry, block, there, taking, giving) * other_size
            score = _score(price, gain)
            if score < best[0]:
                best[0] = score
                best[1] = EXCHANGE if giving >= 0 and taking >= 0 else (GIVE if giving >= 0 else TAKE)
                best[2] = other
                best[3] = giving
                best[4] = taking


@kernel
def weigh_merge(
    safety: Any, block: Any, group: int, other: int, here: Any, price: float, best: Any
) -> None:
    """Is merging the two groups better than the best step so far?"""
    most_gain = block.deficits[group] + block.deficits[other]
    if _score(price, most_gain) >= best[0]:
        return
    record = block.first[other]
    while record >= 0:
        add_record(safety, here.row, record)
        record = block.following[record]
    deficit = group_deficit(safety, here.row, block.sizes[group] + block.sizes[other])
    record = block.first[other]
    while record >= 0:
        remove_record(safety, here.row, record)
        record = block.following[record]
    gain = most_gain - deficit
    if gain > LEAST_GAIN and _score(price, gain) < best[0]:
        best[0] = _score(price, gain)
        best[1] = MERGE
        best[2] = other


@kernel
def _unlink(block: Any, group: int, record: int) -> None:
    if block.first[group] == record:
        block.first[group] = block.following[record]
        return
    before = block.first[group]
    while block.following[before] != record:
        before = block.following[before]
    block.following[before] = block.following[record]


@kernel
def _link(block: Any, group: int, record: int) -> None:
    block.following[record] = block.first[group]
    block.first[group] = record


@kernel
def move_record(block: Any, source: int, target: int, record: int) -> None:
    _unlink(block, source, record)
    _link(block, target, record)
    block.sizes[source] -= 1
    block.sizes[target] += 1


@kernel
def merge_groups(block: Any, group: int, other: int) -> None:
    """The other group's records join the group; the other group is gone."""
    last = block.first[other]
    while block.following[last] >= 0:
        last = block.following[last]
    block.following[last] = block.first[group]
    block.first[group] = block.first[other]
    block.first[other] = -1
    block.sizes[group] += block.sizes[other]
    block.sizes[other] = 0
    block.deficits[other] = 0.0


@kernel
def best_step(
    geometry: Any, safety: Any, block: Any, group: int, here: Any, there: Any, search: Any, stamp: int, best: Any
) -> None:  # fmt: skip
    """The best step of an unsafe group, into `best`: the nearest groups that can help are tried, up to a number.

    Outlines are clear before and after.
    """
    best[0] = np.inf
    best[1] = NOTHING
    best[2] = NOBODY
    listed = search.listed
    sorts = search.sorts
    listed[0] = draw_outline(geometry, safety, block, group, here)
    sorts[0] = list_sorts(geometry, block, here, listed[0])
    found = find_nearest(geometry, block, here, group, search.nearest, search.prices, stamp)
    helpers = 0
    for place in range(found):
        other = search.nearest[place]
        listed[1] = draw_outline(geometry, safety, block, other, there)
        if place < search.mergers:
            weigh_merge(safety, block, group, other, here, search.prices[place], best)
        sorts[1] = list_sorts(geometry, block, there, listed[1])
        if search.helpers > 0 and fill_gains(safety, block, group, other, here, there, sorts, search.gains):
            weigh_steps(geometry, block, group, other, here, there, listed, sorts, search.gains, best)
            helpers += 1
        clear_outline(geometry, safety, block, other, there)
        if helpers >= search.helpers and place + 1 >= search.mergers:
            break
    clear_outline(geometry, safety, block, group, here)
    if best[1] == NOTHING and found > 0:
        best[2] = search.nearest[0]


@kernel
def repair_block(
    geometry: Any, safety: Any, block: Any, here: Any, there: Any, search: Any, forced: bool, given_up: Any
) -> Any:
    """Step after step until every group is safe or no step helps; returns how many groups are still unsafe.

    IN   forced    merge with the nearest group when no step helps (ends with everything safe, or one group)
    OUT  given_up  uint8 (groups,) 1 where a group found no step
    The block changes in place.
    """
    groups = block.first.shape[0]
    best = np.empty(5, dtype=np.float64)
    stamp = np.int64(1)
    for group in range(groups):
        refresh(geometry, safety, block, group, here)
    while True:
        worst = np.int64(-1)
        for group in range(groups):
            if block.deficits[group] > 0.0 and given_up[group] == 0:
                if worst < 0 or block.sizes[group] < block.sizes[worst]:
                    worst = group
        if worst < 0:
            break
        best_step(geometry, safety, block, worst, here, there, search, stamp, best)
        stamp += groups
        other = np.int64(best[2])
        kind = int(best[1])
        if kind == NOTHING and forced and other >= 0:
            kind = MERGE
        if kind == NOTHING:
            given_up[worst] = 1
            continue
        if kind == MERGE:
            merge_groups(block, worst, other)
        if kind == EXCHANGE or kind == GIVE:
            move_record(block, worst, other, np.int64(best[3]))
        if kind == EXCHANGE or kind == TAKE:
            move_record(block, other, worst, np.int64(best[4]))
        refresh(geometry, safety, block, worst, here)
        if block.first[other] >= 0:
            refresh(geometry, safety, block, other, here)
    unsafe = 0
    for group in range(groups):
        if block.deficits[group] > 0.0:
            unsafe += 1
    return unsafe
