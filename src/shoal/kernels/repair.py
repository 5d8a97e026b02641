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
from shoal.kernels.outline import (
    COUNT,
    DEFICIT,
    DISTINCT,
    EXAMPLE,
    FIRST,
    HIGH,
    KIND,
    LOSS,
    LOW,
    MARK,
    MEMBER,
    NEXT,
    NOBODY,
    SIZE,
    SORT,
    changed_loss,
    clear_outline,
    deficit_after,
    draw_outline,
    merge_groups,
    move_record,
    refresh,
)
from shoal.kernels.safety import add_record, group_deficit, remove_record

NOTHING, EXCHANGE, GIVE, TAKE, MERGE = 0, 1, 2, 3, 4
LEAST_GAIN = 1e-7  # a smaller change of the deficit is rounding, not progress


class Search(NamedTuple):
    """How far to look, and room for what is found."""

    nearest: Any  # int64 (reach,) the nearest groups
    prices: Any  # float64 (reach,) what merging with them costs
    gains: Any  # float64 (most members + 1, most members + 1)
    tally: Any  # int64 (4,) members listed here and there, sorts of them here and there
    helpers: int  # how many groups that can help are tried
    mergers: int  # with how many of the nearest groups a merger is tried


@kernel
def list_sorts(geometry: Any, block: Any, outline: Any, listed: Any) -> Any:
    """Which sorts the listed members are of, and the loss without each of them; the number of sorts is returned."""
    sorts = 0
    for place in range(listed):
        record = outline.listing[MEMBER, place]
        outline.without[place] = changed_loss(geometry, block, outline, record, NOBODY)
        known = 0
        while known < sorts and block.chain[SORT, outline.listing[EXAMPLE, known]] != block.chain[SORT, record]:
            known += 1
        if known == sorts:
            outline.listing[EXAMPLE, sorts] = record
            sorts += 1
        outline.listing[KIND, place] = known
    outline.without[listed] = changed_loss(geometry, block, outline, NOBODY, NOBODY)
    return sorts


@kernel
def united_loss(geometry: Any, block: Any, outline: Any, group: Any, other: Any, most: Any, stamp: Any) -> Any:
    """The loss of one record of two groups together; stops early, with a larger number, once above `most`."""
    total = 0.0
    for attribute in range(block.codes.shape[1]):
        start = geometry.code_offsets[attribute]
        if geometry.kinds[attribute] != FLAT:
            low: Any = np.int64(min(block.box[LOW, attribute, group], block.box[LOW, attribute, other]))
            high: Any = np.int64(max(block.box[HIGH, attribute, group], block.box[HIGH, attribute, other]))
            total += geometry.weights[attribute] * range_cost(geometry, attribute, low, high)
        else:
            codes = outline.edges[DISTINCT, attribute]
            record = block.groups[FIRST, other]
            while record >= 0:
                slot = start + block.codes[record, attribute]
                if outline.codes[COUNT, slot] == 0 and outline.codes[MARK, slot] != stamp:
                    outline.codes[MARK, slot] = stamp
                    codes += 1
                record = block.chain[NEXT, record]
            size = geometry.code_offsets[attribute + 1] - start
            if size > 1:
                total += geometry.weights[attribute] * (codes - 1) / (size - 1)
        if total > most:
            return total
    return total


@kernel
def find_nearest(geometry: Any, block: Any, outline: Any, group: Any, nearest: Any, prices: Any, stamp: Any) -> Any:
    """The groups whose union with this one raises the loss least.

    OUT nearest, prices  int64, float64 (wanted,) in rising order of the price; how many were found is returned
    """
    wanted = nearest.shape[0]
    found = 0
    own = block.scores[LOSS, group] * block.groups[SIZE, group]
    for other in range(block.groups.shape[1]):
        if other == group or block.groups[FIRST, other] < 0:
            continue
        before = own + block.scores[LOSS, other] * block.groups[SIZE, other]
        size = block.groups[SIZE, group] + block.groups[SIZE, other]
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
def _score(price: Any, gain: Any) -> Any:
    """Loss paid per unit of deficit; a step that lowers the loss as well is better the more it does of both."""
    return price / gain if price > 0.0 else price * gain


@kernel
def fill_gains(
    safety: Any, block: Any, group: Any, other: Any, here: Any, there: Any, tally: Any, polish: Any, gains: Any
) -> Any:
    """How much deficit is removed when a record of one sort goes to the other group and one of another sort comes.

    Records that are alike for every rule are of one sort, so there are few cases. The last line and column mean that
    nobody goes or comes.
    IN  tally   how many sorts each outline has
    IN  polish  both groups are safe and shall stay so: the gain is then 1 for every step that is allowed
    OUT gains   float64 (sorts + 1, sorts + 1); 0 where the step does not help or hurts the other group
    """
    helpful = False
    for i in range(tally[2] + 1):
        giving = here.listing[EXAMPLE, i] if i < tally[2] else NOBODY
        for j in range(tally[3] + 1):
            taking = there.listing[EXAMPLE, j] if j < tally[3] else NOBODY
            gains[i, j] = 0.0
            if giving >= 0 and taking >= 0:
                if block.chain[SORT, giving] == block.chain[SORT, taking]:
                    gains[i, j] = 1.0 if polish else 0.0
                    continue
            elif giving == taking:
                continue
            elif (giving >= 0 and block.groups[SIZE, group] == 1) or (taking >= 0 and block.groups[SIZE, other] == 1):
                continue
            deficit = deficit_after(safety, here.row, block.groups[SIZE, group], giving, taking)
            if deficit > block.scores[DEFICIT, group] - (0.0 if polish else LEAST_GAIN):
                continue
            other_deficit = deficit_after(safety, there.row, block.groups[SIZE, other], taking, giving)
            if other_deficit > block.scores[DEFICIT, other]:
                continue
            gains[i, j] = block.scores[DEFICIT, group] - deficit + block.scores[DEFICIT, other] - other_deficit
            if polish:
                gains[i, j] = 1.0
            helpful = True
    return helpful or polish


@kernel
def weigh_steps(
    geometry: Any, block: Any, group: Any, other: Any, here: Any, there: Any, tally: Any, gains: Any,
    best: Any,
) -> None:  # fmt: skip
    """Is one of the steps that help better than the best step so far?

    A group without a record never costs more than with another one in its place: that bound spares most of the work.
    OUT best  float64 (5,): score, kind of step, other group, record given, record taken
    """
    before = (
        block.scores[LOSS, group] * block.groups[SIZE, group] + block.scores[LOSS, other] * block.groups[SIZE, other]
    )
    for i in range(tally[0] + 1):
        giving = here.listing[MEMBER, i] if i < tally[0] else NOBODY
        line = here.listing[KIND, i] if i < tally[0] else tally[2]
        for j in range(tally[1] + 1):
            taking = there.listing[MEMBER, j] if j < tally[1] else NOBODY
            gain = gains[line, there.listing[KIND, j] if j < tally[1] else tally[3]]
            if gain <= 0.0:
                continue
            size = block.groups[SIZE, group] - (giving >= 0) + (taking >= 0)
            other_size = block.groups[SIZE, other] + (giving >= 0) - (taking >= 0)
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
def weigh_merge(safety: Any, block: Any, group: Any, other: Any, here: Any, price: Any, best: Any) -> None:
    """Is merging the two groups better than the best step so far?"""
    most_gain = block.scores[DEFICIT, group] + block.scores[DEFICIT, other]
    if _score(price, most_gain) >= best[0]:
        return
    record = block.groups[FIRST, other]
    while record >= 0:
        add_record(safety, here.row, record)
        record = block.chain[NEXT, record]
    deficit = group_deficit(safety, here.row, block.groups[SIZE, group] + block.groups[SIZE, other])
    record = block.groups[FIRST, other]
    while record >= 0:
        remove_record(safety, here.row, record)
        record = block.chain[NEXT, record]
    gain = most_gain - deficit
    if gain > LEAST_GAIN and _score(price, gain) < best[0]:
        best[0] = _score(price, gain)
        best[1] = MERGE
        best[2] = other


@kernel
def best_step(
    geometry: Any, safety: Any, block: Any, group: Any, here: Any, there: Any, search: Any, stamp: Any, polish: Any,
    best: Any,
) -> None:  # fmt: skip
    """The best step of a group, into `best`: the nearest groups that can help are tried, up to a number.

    With `polish` the group is safe, and a step is wanted that lowers the loss. Outlines are clear before and after.
    """
    best[0] = -LEAST_GAIN if polish else np.inf
    best[1] = NOTHING
    best[2] = NOBODY
    tally = search.tally
    tally[0] = draw_outline(geometry, safety, block, group, here)
    tally[2] = list_sorts(geometry, block, here, tally[0])
    found = find_nearest(geometry, block, here, group, search.nearest, search.prices, stamp)
    helpers = 0
    for place in range(found):
        other = search.nearest[place]
        tally[1] = draw_outline(geometry, safety, block, other, there)
        if place < search.mergers and not polish:
            weigh_merge(safety, block, group, other, here, search.prices[place], best)
        tally[3] = list_sorts(geometry, block, there, tally[1])
        if search.helpers > 0 and fill_gains(safety, block, group, other, here, there, tally, polish, search.gains):
            weigh_steps(geometry, block, group, other, here, there, tally, search.gains, best)
            helpers += 1
        clear_outline(geometry, safety, block, other, there)
        if helpers >= search.helpers and place + 1 >= search.mergers:
            break
    clear_outline(geometry, safety, block, group, here)
    if best[1] == NOTHING and found > 0:
        best[2] = search.nearest[0]


@kernel
def take_step(geometry: Any, safety: Any, block: Any, group: Any, outline: Any, best: Any) -> None:
    """Do what `best` says."""
    kind = np.int64(best[1])
    other = np.int64(best[2])
    if kind == MERGE:
        merge_groups(block, group, other)
    if kind == EXCHANGE or kind == GIVE:
        move_record(block, group, other, np.int64(best[3]))
    if kind == EXCHANGE or kind == TAKE:
        move_record(block, other, group, np.int64(best[4]))
    refresh(geometry, safety, block, group, outline)
    if block.groups[FIRST, other] >= 0:
        refresh(geometry, safety, block, other, outline)


@kernel
def repair_block(
    geometry: Any, safety: Any, block: Any, here: Any, there: Any, search: Any, forced: bool, given_up: Any
) -> Any:
    """Step after step until every group is safe or no step helps; returns how many groups are still unsafe.

    IN   forced    merge with the nearest group when no step helps (ends with everything safe, or one group)
    OUT  given_up  uint8 (groups,) 1 where a group found no step
    The block changes in place.
    """
    groups = block.groups.shape[1]
    best = np.empty(5, dtype=np.float64)
    stamp = np.int64(1)
    for group in range(groups):
        refresh(geometry, safety, block, group, here)
    while True:
        worst: Any = np.int64(-1)
        for group in range(groups):
            if block.scores[DEFICIT, group] > 0.0 and given_up[group] == 0:
                if worst < 0 or block.groups[SIZE, group] < block.groups[SIZE, worst]:
                    worst = group
        if worst < 0:
            break
        best_step(geometry, safety, block, worst, here, there, search, stamp, False, best)
        stamp += groups
        if best[1] == NOTHING and forced and best[2] >= 0:
            best[1] = MERGE
        if best[1] == NOTHING:
            given_up[worst] = 1
            continue
        take_step(geometry, safety, block, worst, here, best)
    unsafe = 0
    for group in range(groups):
        if block.scores[DEFICIT, group] > 0.0:
            unsafe += 1
    return unsafe


@kernel
def polish_block(
    geometry: Any, safety: Any, block: Any, here: Any, there: Any, search: Any, rounds: Any, steps: Any
) -> Any:
    """Steps between safe groups that lower the loss and leave both safe; returns how many were taken.

    IN  rounds  how often every group is looked at
    IN  steps   how many steps a group may take in one round
    The block changes in place.
    """
    groups = block.groups.shape[1]
    best = np.empty(5, dtype=np.float64)
    stamp = np.int64(1)
    taken = 0
    for group in range(groups):
        refresh(geometry, safety, block, group, here)
    for _ in range(rounds):
        before = taken
        for group in range(groups):
            for _ in range(steps):
                if block.scores[LOSS, group] == 0.0 or block.scores[DEFICIT, group] > 0.0:
                    break
                best_step(geometry, safety, block, group, here, there, search, stamp, True, best)
                stamp += groups
                if best[1] == NOTHING:
                    break
                take_step(geometry, safety, block, group, here, best)
                taken += 1
        if taken == before:
            break
    return taken
