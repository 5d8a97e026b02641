"""The steps by which a group can be made safer or cheaper, and what each of them costs.

A group looks at its nearest groups (those whose union with it costs least). Between two groups it can exchange two
records, give a record, take a record, or merge. No step makes the other group less safe.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Float64, Int64
from shoal.kernels.compile import kernel
from shoal.kernels.geometry import FLAT, range_cost
from shoal.kernels.inline import inlined
from shoal.kernels.safety import add_record, group_deficit, remove_record
from shoal.safe_groups.kernels.group_bounds import (
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
    deficit_after,
)

NOTHING, EXCHANGE, GIVE, TAKE, MERGE = 0, 1, 2, 3, 4
LEAST_GAIN = 1e-7  # a smaller change of the deficit is rounding, not progress
ROUNDING = 1e-9
UNKNOWN = -1.0  # the gain of a step that nobody asked for yet; it is 1 or 0


class Search(NamedTuple):
    """How far to look, and room for what is found."""

    nearest: Int64  # (most nearest,) the nearest groups
    prices: Float64  # (most nearest,) what merging with them costs
    gains: Float64  # (most members + 1, most members + 1)
    own: Float64  # (sorts + 1, sorts + 1) the deficit of the group itself after each exchange; (1, 1): too many
    tally: Int64  # (4,) members listed here and there, sorts of them here and there
    helpers: int  # how many groups that can help are tried
    mergers: int  # with how many of the nearest groups a merger is tried


@kernel
def list_sorts(block: Any, detail: Any, listed: Any) -> Any:
    """Which sorts the listed members are of; the number of sorts is returned."""
    sorts = 0
    for place in range(listed):
        record = detail.listing[MEMBER, place]
        known = 0
        while known < sorts and block.chain[SORT, detail.listing[EXAMPLE, known]] != block.chain[SORT, record]:
            known += 1
        if known == sorts:
            detail.listing[EXAMPLE, sorts] = record
            sorts += 1
        detail.listing[KIND, place] = known
    return sorts


@kernel
def fill_without(geometry: Any, block: Any, detail: Any, listed: Any) -> None:
    """The loss of a group without each of its listed members, and as it is."""
    for place in range(listed):
        detail.without[place] = changed_loss(geometry, block, detail, detail.listing[MEMBER, place], NOBODY)
    detail.without[listed] = changed_loss(geometry, block, detail, NOBODY, NOBODY)


@kernel
def fill_growth(geometry: Any, block: Any, detail: Any, other: Any, listed: Any) -> None:
    """How much the loss of a group grows with each of another group's listed members; 0 with nobody.

    Losses are submodular: what a record adds to a group, it adds at least to the group without one of its members.
    """
    now = changed_loss(geometry, block, detail, NOBODY, NOBODY)
    for place in range(listed):
        detail.growth[place] = changed_loss(geometry, block, detail, NOBODY, other.listing[MEMBER, place]) - now
    detail.growth[listed] = 0.0


@inlined
def united_loss(geometry: Any, block: Any, detail: Any, group: Any, other: Any, most: Any, stamp: Any) -> Any:
    """The loss of one record of two groups together; stops early, with a larger number, once above `most`."""
    total = 0.0
    for attribute in range(block.codes.shape[1]):
        start = geometry.code_offsets[attribute]
        if geometry.kinds[attribute] != FLAT:
            low: Any = np.int64(min(block.box[LOW, attribute, group], block.box[LOW, attribute, other]))
            high: Any = np.int64(max(block.box[HIGH, attribute, group], block.box[HIGH, attribute, other]))
            total += geometry.weights[attribute] * range_cost(geometry, attribute, low, high)
        else:
            codes = detail.edges[DISTINCT, attribute]
            record = block.groups[FIRST, other]
            while record >= 0:
                slot = start + block.codes[record, attribute]
                if detail.codes[COUNT, slot] == 0 and detail.codes[MARK, slot] != stamp:
                    detail.codes[MARK, slot] = stamp
                    codes += 1
                record = block.chain[NEXT, record]
            size = geometry.code_offsets[attribute + 1] - start
            if size > 1:
                total += geometry.weights[attribute] * (codes - 1) / (size - 1)
        if total > most:
            return total
    return total


@kernel
def find_nearest(geometry: Any, block: Any, detail: Any, group: Any, nearest: Any, prices: Any, stamp: Any) -> Any:
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
        price = united_loss(geometry, block, detail, group, other, limit, stamp + other) * size - before
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
def score_of(price: Any, gain: Any) -> Any:
    """Loss paid per unit of deficit; a step that lowers the loss as well is better the more it does of both."""
    return price / gain if price > 0.0 else price * gain


@kernel
def forget_own(block: Any, detail: Any, sorts: Any, own: Any) -> None:
    """Before another group asks: nothing is known of what its deficit would be."""
    if own.shape[0] > 1:
        for place in range(sorts + 1):
            line = block.chain[SORT, detail.listing[EXAMPLE, place]] if place < sorts else own.shape[0] - 1
            for column in range(own.shape[1]):
                own[line, column] = UNKNOWN


@kernel
def own_deficit(safety: Any, block: Any, group: Any, here: Any, giving: Any, taking: Any, own: Any) -> Any:
    """The deficit of the group itself after a step: it depends on the two sorts alone, so it is found once for all."""
    size = block.groups[SIZE, group]
    if own.shape[0] == 1:
        return deficit_after(safety, here.row, size, giving, taking)
    line = block.chain[SORT, giving] if giving >= 0 else own.shape[0] - 1
    column = block.chain[SORT, taking] if taking >= 0 else own.shape[0] - 1
    if own[line, column] == UNKNOWN:
        own[line, column] = deficit_after(safety, here.row, size, giving, taking)
    return own[line, column]


@kernel
def step_gain(
    safety: Any, block: Any, group: Any, other: Any, here: Any, there: Any, giving: Any, taking: Any, polish: Any,
    own: Any,
) -> Any:  # fmt: skip
    """How much deficit is removed when one record goes to the other group and another one comes (-1: nobody).

    0 where the step does not help or hurts the other group.
    IN  polish  both groups are safe and shall stay so: the gain is then 1 for every step that is allowed
    """
    if giving >= 0 and taking >= 0:
        if block.chain[SORT, giving] == block.chain[SORT, taking]:
            return 1.0 if polish else 0.0
    elif giving == taking:
        return 0.0
    elif (giving >= 0 and block.groups[SIZE, group] == 1) or (taking >= 0 and block.groups[SIZE, other] == 1):
        return 0.0
    deficit = own_deficit(safety, block, group, here, giving, taking, own)
    if deficit > block.scores[DEFICIT, group] - (0.0 if polish else LEAST_GAIN):
        return 0.0
    other_deficit = deficit_after(safety, there.row, block.groups[SIZE, other], taking, giving)
    if other_deficit > block.scores[DEFICIT, other]:
        return 0.0
    if polish:
        return 1.0
    return block.scores[DEFICIT, group] - deficit + block.scores[DEFICIT, other] - other_deficit


@kernel
def fill_gains(safety: Any, block: Any, group: Any, other: Any, here: Any, there: Any, search: Any, polish: Any) -> Any:
    """The gain of every step between two groups; False if none helps.

    Records that are alike for every rule are of one sort, so there are few cases. The last line and column mean that
    nobody goes or comes. A polish asks for the gain of few steps: they are found when they are needed.
    OUT search.gains   float64 (sorts + 1, sorts + 1)
    """
    tally, gains = search.tally, search.gains
    helpful = polish
    for i in range(tally[2] + 1):
        giving = here.listing[EXAMPLE, i] if i < tally[2] else NOBODY
        for j in range(tally[3] + 1):
            gains[i, j] = UNKNOWN
            if not polish:
                taking = there.listing[EXAMPLE, j] if j < tally[3] else NOBODY
                gains[i, j] = step_gain(safety, block, group, other, here, there, giving, taking, False, search.own)
                helpful = helpful or gains[i, j] > 0.0
    return helpful


@kernel
def weigh_steps(
    geometry: Any, safety: Any, block: Any, group: Any, other: Any, here: Any, there: Any, search: Any, best: Any
) -> None:
    """Is one of the steps that help better than the best step so far?

    What a group costs without a record, plus what another one adds to it, is never more than it costs after the
    exchange: that bound spares most of the work.
    OUT best  float64 (5,): score, kind of step, other group, record given, record taken
    """
    tally, gains = search.tally, search.gains
    fill_without(geometry, block, there, tally[1])
    fill_growth(geometry, block, here, there, tally[1])
    fill_growth(geometry, block, there, here, tally[0])
    before = (
        block.scores[LOSS, group] * block.groups[SIZE, group] + block.scores[LOSS, other] * block.groups[SIZE, other]
    )
    for i in range(tally[0] + 1):
        giving = here.listing[MEMBER, i] if i < tally[0] else NOBODY
        line = here.listing[KIND, i] if i < tally[0] else tally[2]
        for j in range(tally[1] + 1):
            taking = there.listing[MEMBER, j] if j < tally[1] else NOBODY
            column = there.listing[KIND, j] if j < tally[1] else tally[3]
            gain = gains[line, column]
            if gain == 0.0:
                continue
            gain = abs(gain)
            size = block.groups[SIZE, group] - (giving >= 0) + (taking >= 0)
            other_size = block.groups[SIZE, other] + (giving >= 0) - (taking >= 0)
            other_least = (there.without[j] + there.growth[i]) * other_size
            least = (here.without[i] + here.growth[j]) * size + other_least - before
            if score_of(least - ROUNDING, gain) >= best[0]:
                continue
            price = changed_loss(geometry, block, here, giving, taking) * size - before
            if score_of(price + other_least - ROUNDING, gain) >= best[0]:
                continue
            price += changed_loss(geometry, block, there, taking, giving) * other_size
            if score_of(price, gain) >= best[0]:
                continue
            if gains[line, column] == UNKNOWN:
                gains[line, column] = step_gain(
                    safety, block, group, other, here, there, giving, taking, True, search.own
                )
            if gains[line, column] > 0.0:
                best[0] = score_of(price, gain)
                best[1] = EXCHANGE if giving >= 0 and taking >= 0 else (GIVE if giving >= 0 else TAKE)
                best[2] = other
                best[3] = giving
                best[4] = taking


@kernel
def weigh_merge(safety: Any, block: Any, group: Any, other: Any, here: Any, price: Any, best: Any) -> None:
    """Is merging the two groups better than the best step so far?"""
    most_gain = block.scores[DEFICIT, group] + block.scores[DEFICIT, other]
    if score_of(price, most_gain) >= best[0]:
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
    if gain > LEAST_GAIN and score_of(price, gain) < best[0]:
        best[0] = score_of(price, gain)
        best[1] = MERGE
        best[2] = other
