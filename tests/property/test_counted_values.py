"""Boxes in which the values of a category are counted: against all sets of records, and against coarser boxes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from tests.property.test_bound_check import checked
from tests.property.test_lower_bound import best_partition, box_loss, flat, interval
from tests.property.test_record_prices import largest_excess

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable
from shoal.lower_bound import prices as prices_module
from shoal.lower_bound.bound import lower_bound
from shoal.lower_bound.kernels.counted import Counted, best_values, least_worth, list_prices, make_scratch, worth_above
from shoal.lower_bound.kernels.prices import Family
from shoal.lower_bound.prices import make_counting, record_prices
from shoal.lower_bound.smallest_boxes import smallest_boxes


def table_of(attributes: tuple[EncodedAttribute, ...], random: np.random.Generator, records: int) -> EncodedTable:
    codes = np.array([random.integers(0, one.size, records) for one in attributes])
    rows, row_of_record, weights = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
    return EncodedTable(
        attributes, rows.astype(np.int32), weights.astype(np.int64), row_of_record.ravel().astype(np.int32)
    )


def test_the_dearest_sets_are_found_and_levels_never_tell_less() -> None:
    """One window, one category: the knapsack against all sets of k records; every level is above it."""
    random = np.random.default_rng(51)
    for _ in range(300):
        k, rows, values = int(random.integers(2, 5)), int(random.integers(3, 8)), int(random.integers(2, 5))
        weights = random.integers(1, 4, rows)
        if weights.sum() < k:
            continue
        value, prices = random.integers(0, values, rows), random.normal(0.0, 0.5, rows)
        step = float(random.choice([0.1, 0.3, 1.0]))
        entries, begin = np.arange(rows, dtype=np.int32), np.array([0, rows])
        family = Family(k, entries, begin, np.zeros(1), np.zeros(rows), 0.0, weights)
        counted = Counted(value.astype(np.uint8)[None, :], np.array([step]), np.zeros((1, 1)), values)
        scratch = make_scratch(k, values)
        list_prices(family, counted, prices, scratch, 0, 0, rows - 1)
        worth, mask = best_values(scratch, k, step)
        everyone = np.repeat(np.arange(rows), weights)
        by_hand = max(
            prices[list(some)].mean() - step * (len(set(value[list(some)])) - 1) for some in combinations(everyone, k)
        )
        assert worth == pytest.approx(by_hand)
        inside = np.repeat(prices, weights)[[mask >> value[row] & 1 == 1 for row in everyone]]
        assert np.sort(inside)[-k:].mean() - step * (mask.bit_count() - 1) == pytest.approx(by_hand)
        assert least_worth(scratch, k, step, prices.min() - step * k, prices.max())[0] >= by_hand - 1e-12
        for level in random.normal(0.0, 0.5, 5):
            assert worth_above(family, counted, prices, scratch, 0, 0, rows - 1, level) >= by_hand - 1e-12


def test_they_hold_in_every_box_and_are_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(52)
    better = refused = 0
    for _ in range(40):
        k = int(random.choice([2, 3, 4]))
        attributes = (flat(5, 1.0), flat(4, float(random.choice([0.5, 2.0]))), interval(4, random, 1.0))
        table = table_of(attributes, random, int(random.integers(2 * k, 14)))
        start = smallest_boxes(table, k, Context())
        prices = record_prices(table, k, Context(), start).of_row
        assert largest_excess(table, k, prices) <= 1e-10
        of_record = prices[table.row_of_record]
        assert checked(table, k, of_record).holds
        with monkeypatch.context() as patched:
            patched.setattr(prices_module, "make_counting", lambda effort: replace(make_counting(effort), steps=0))
            coarser = record_prices(table, k, Context(), start).of_row
        assert prices @ table.weights >= coarser @ table.weights
        if prices @ table.weights > coarser @ table.weights + 1e-6:
            better += 1
            refused += not checked(table, k, of_record + 0.03 * np.abs(of_record)).holds
        if table.records < 9:
            assert prices @ table.weights / (table.records * table.width) <= best_partition(table, k) + 1e-9
    assert better > 20
    assert refused > 0.9 * better


def test_on_more_records_threads_change_nothing_and_no_group_is_above_its_loss() -> None:
    random = np.random.default_rng(53)
    table = table_of((interval(30, random, 1.0), flat(9, 1.0), flat(12, 2.0), flat(3, 1.0)), random, 400)
    start = smallest_boxes(table, 6, Context())
    one, two = (record_prices(table, 6, Context(threads=threads), start).of_row for threads in (1, 2))
    assert (one == two).all()
    of_record = one[table.row_of_record]
    for _ in range(200):
        middle = int(random.integers(table.records))
        near = np.argsort([box_loss(table, (middle, other)) for other in range(table.records)], kind="stable")[:12]
        group = tuple(int(one) for one in random.choice(near, 6, replace=False))
        assert of_record[list(group)].mean() <= box_loss(table, group) + 1e-10


def test_a_worked_example() -> None:
    """Six records with six values, k = 3: three have three values, two more than one, so every record loses 0.4."""
    codes = np.arange(6, dtype=np.int32)
    table = EncodedTable((flat(6, 1.0),), codes[None, :], np.ones(6, dtype=np.int64), codes)
    assert best_partition(table, 3) == pytest.approx(0.4)
    assert largest_excess(table, 3, np.full(6, 0.4)) == pytest.approx(0.0)
    assert lower_bound(table, 3, effort=0).value == pytest.approx(0.2)
    assert lower_bound(table, 3).value == pytest.approx(0.4, abs=2e-3)
