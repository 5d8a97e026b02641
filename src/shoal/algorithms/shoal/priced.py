"""A first grouping from prices of records: boxes that the prices leave no room in are groups that lose little.

The sum of the prices is what no grouping can lose less than, so a grouping is as good as what its groups lose above the
prices of their members. A box is worth taking if it costs no more than its k dearest records; they are taken, and the
boxes that they were in are looked at anew. What no box takes joins the group that it makes least worse.

Cost: a pass over a window for each time that it is looked at, some hundred thousand in a table of 30,000 records.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.construct import place_leftovers, total_energy
from shoal.algorithms.shoal.kernels.priced import take_groups
from shoal.encode.items import IntegerArray, LongArray, SearchProblem, renumber
from shoal.lower_bound.prices import PriceGuide


def with_prices(problem: SearchProblem, guide: PriceGuide) -> SearchProblem:
    """The problem with a price for each of its items."""
    return replace(problem, item_price=guide.prices[problem.item_row])


def priced_start(problem: SearchProblem, guide: PriceGuide, context: Context) -> tuple[IntegerArray, float] | None:
    """Groups of at least k with their energy; None if no box gives any."""
    everything = np.arange(problem.items, dtype=np.int32)
    group = place_leftovers(problem, everything, _boxed(problem, guide))
    if group.min() < 0:
        return None
    group = renumber(group)
    return group, total_energy(problem, group, context)


def _boxed(problem: SearchProblem, guide: PriceGuide) -> IntegerArray:
    """The group of every item, -1 for those that no box took. An item that holds many records is one by itself."""
    single = np.flatnonzero(problem.item_weight == 1)
    left = np.bincount(problem.item_row[single], minlength=guide.prices.shape[0]).astype(np.int64)
    rows, copies, groups = (np.empty(single.shape[0], dtype=np.int64) for _ in range(3))
    family = guide.family._replace(weights=left)
    filled, found = take_groups(family, guide.prices, guide.windows, rows, copies, groups)
    group = np.full(problem.items, -1, dtype=np.int32)
    items, boxed = _items_of(problem, single, rows[:filled], copies[:filled], groups[:filled])
    group[items] = boxed
    heavy = np.flatnonzero(problem.item_weight >= problem.k)
    group[heavy] = found + np.arange(heavy.shape[0], dtype=np.int32)
    return group


def _items_of(
    problem: SearchProblem, single: LongArray, rows: LongArray, copies: LongArray, groups: LongArray
) -> tuple[LongArray, LongArray]:
    """Deal the single items of each row to the groups that took copies of it."""
    order = np.argsort(rows, kind="stable")
    row, group = np.repeat(rows[order], copies[order]), np.repeat(groups[order], copies[order])
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    counts = np.diff(starts, append=row.shape[0])
    within = np.arange(row.shape[0]) - np.repeat(starts, counts)
    return single[np.searchsorted(problem.item_row[single], row) + within], group
