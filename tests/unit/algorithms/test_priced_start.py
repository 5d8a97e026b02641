"""The first grouping from prices of records, and the search that is guided by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.algorithms.test_shoal import make_table, plain_loss

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.kernels.priced import take_groups
from shoal.algorithms.shoal.priced import priced_start
from shoal.algorithms.shoal.shoal import Shoal
from shoal.encode.items import make_problem, record_groups
from shoal.lower_bound.bound import price_guide
from shoal.lower_bound.prices import PriceGuide
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table


def guide_of(seed: int, records: int, k: int, values: int = 6) -> PriceGuide | None:
    table = random_table(seed, records, attributes=4, values=values, weights=True)
    return price_guide(table, k, Context(), suppression=False, effort=1.0)


@pytest.mark.parametrize("seed", range(8))
def test_all_groups_hold_k_and_their_loss_is_counted_right(seed: int) -> None:
    k = 2 + seed % 4
    table = make_table(40, seed, copies=1 + 4 * seed)  # rows that occur more than 3k times are heavy items
    problem = make_problem(table, k)
    guide = price_guide(table, k, Context(), suppression=False, effort=1.0)
    assert guide is not None
    start = priced_start(problem, guide, Context())
    assert start is not None
    group, energy = start
    assert np.bincount(group, problem.item_weight).min() >= k
    records = record_groups(problem, group, table.row_of_record)
    assert energy / problem.scale == pytest.approx(plain_loss(table, records))


@pytest.mark.parametrize("seed", range(5))
def test_the_box_that_wastes_least_gives_the_next_group(seed: int) -> None:
    """Against a plain search over all boxes before every group."""
    k = 3
    guide = guide_of(seed, 60, k, values=5)
    assert guide is not None
    family, left = guide.family, guide.family.weights.copy()
    windows, prices = guide.windows, guide.prices
    cost = [
        family.cost[number]
        + family.scale * min(1.0, family.position[family.entries[last]] - family.position[family.entries[first]])
        for number, first, last in windows
    ]

    def waste(window: int, left: np.ndarray) -> float:
        rows = family.entries[windows[window, 1] : windows[window, 2] + 1]
        each = np.sort(np.repeat(prices[rows], left[rows]))
        return cost[window] - each[-k:].mean() if each.size >= k else np.inf

    rows, copies, groups = (np.empty(60, dtype=np.int64) for _ in range(3))
    filled, found = take_groups(family._replace(weights=left.copy()), prices, windows, rows, copies, groups)
    assert found > 0
    for group in range(found):
        chosen = (groups[:filled] == group).nonzero()[0]
        assert copies[chosen].sum() == k
        worth = (prices[rows[chosen]] * copies[chosen]).sum() / k
        best = [window for window in range(windows.shape[0]) if np.isfinite(waste(window, left))]
        least = min(waste(window, left) for window in best)
        fits = [
            window
            for window in best
            if set(rows[chosen]) <= set(family.entries[windows[window, 1] : windows[window, 2] + 1])
        ]
        assert min(cost[window] for window in fits) - worth <= least + 1e-9
        left[rows[chosen]] -= copies[chosen]
        assert left.min() >= 0
    assert not any(np.isfinite(waste(window, left)) for window in range(windows.shape[0]))


def test_the_groups_are_the_same_with_and_without_the_bound_and_with_two_threads() -> None:
    table = random_table(3, 300, attributes=4)
    requirement = Requirement((KAnonymity(4),))
    context = Context(seed=1)
    several = [context, replace(context, wants_bound=False), replace(context, threads=2)]
    found = [Shoal(effort=0.1).cluster(table, requirement, one).groups for one in several]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
