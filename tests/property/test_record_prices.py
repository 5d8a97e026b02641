"""Prices of records hold in every box: checked from the definition, by code that the ascent does not use."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.property.test_lower_bound import best_partition, box_loss, flat, interval, random_table, tree

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.lower_bound.bound import CERTAIN_EFFORT, lower_bound
from shoal.lower_bound.prices import record_prices
from shoal.lower_bound.smallest_boxes import smallest_boxes

FloatArray = NDArray[np.float64]


def made_table(random: np.random.Generator, records: int) -> EncodedTable:
    """Trees, categories without and at most one number, weights, copies, missing values."""
    return random_table(random, records)


def prices_of(table: EncodedTable, k: int, ceiling: float = np.inf, threads: int = 1) -> FloatArray:
    context = Context(threads=threads)
    return record_prices(table, k, context, smallest_boxes(table, k, context), ceiling).of_row


def largest_excess(table: EncodedTable, k: int, prices: FloatArray) -> float:
    """How much the prices of a box are above its loss at most, over all boxes: every way to generalize each value.

    A box says what it allows of each attribute: a node, a range, or a set of values. Prices are per record.
    """
    codes = table.record_codes
    allowed: list[list[tuple[frozenset[int], float]]] = []
    for number, one in enumerate(table.attributes):
        ways: dict[frozenset[int], float] = {}
        present = sorted(set(codes[number].tolist()))
        if one.kind is Kind.TREE:
            for level, code in product(range(one.levels), present):
                alike = frozenset(np.flatnonzero(one.ancestors[level] == one.ancestors[level, code]).tolist())
                ways[alike] = min(ways.get(alike, np.inf), one.level_cost[level, code])
        elif one.kind is Kind.INTERVAL:
            for low, high in product(present, present):
                if low <= high:
                    ways[frozenset(range(low, high + 1))] = min(1.0, one.positions[high] - one.positions[low])
        else:
            for size in range(1, len(present) + 1):
                for some in combinations(present, size):
                    ways[frozenset(some)] = (size - 1) / (one.size - 1)
        allowed.append([(values, one.weight * loss) for values, loss in ways.items()])
    excess = -np.inf
    for box in product(*allowed):
        inside = np.ones(table.records, dtype=bool)
        for number, (values, _) in enumerate(box):
            inside &= np.isin(codes[number], list(values))
        if inside.sum() >= k:
            mean = np.sort(prices[table.row_of_record[inside]])[-k:].mean()
            excess = max(excess, float(mean - sum(loss for _, loss in box)))
    return excess


def test_prices_hold_in_every_box() -> None:
    random = np.random.default_rng(31)
    raised = better = 0
    for _ in range(60):
        k = int(random.choice([2, 3, 4]))
        table = made_table(random, int(random.integers(2 * k, 20)))
        prices = prices_of(table, k)
        assert largest_excess(table, k, prices) <= 1e-10
        higher = prices + 0.03 * np.abs(prices)
        kinds = [one.kind for one in table.attributes]
        exact = Kind.FLAT not in kinds and kinds.count(Kind.INTERVAL) <= 1
        if exact and prices @ table.weights > 0.01 * table.records:  # else the ascent knows lower boxes only
            assert largest_excess(table, k, higher) > 1e-6
            raised += 1
        better += lower_bound(table, k).value > lower_bound(table, k, effort=0).value + 1e-6
    assert raised > 10
    assert better > 10


@pytest.mark.parametrize("suppression", [False, True])
def test_never_above_the_best_partition(suppression: bool) -> None:
    random = np.random.default_rng(32 + suppression)
    tight = 0
    for _ in range(300):
        k = int(random.choice([2, 2, 3, 4]))
        table = made_table(random, int(random.integers(max(4, k), 9)))
        if table.rows < 2 or (table.records < 2 * k and not suppression):
            continue
        everything = float(table.attribute_weights.sum())
        prices = prices_of(table, k, everything if suppression else np.inf)
        assert not suppression or prices.max() <= everything
        total = float(prices @ table.weights) / (table.records * table.width)
        best = best_partition(table, k, suppression)
        assert total <= best + 1e-9
        tight += total > best - 1e-6
    assert tight > 0


@pytest.mark.parametrize("suppression", [False, True])
def test_the_certain_bound_of_large_tables_is_never_above_the_best_partition(suppression: bool) -> None:
    """The way of large tables, taken for small ones: prices below ceilings, without boxes that they cannot exceed."""
    random = np.random.default_rng(41 + suppression)
    looked = above_zero = 0
    for _ in range(400):
        k = int(random.choice([2, 2, 3, 4]))
        table = made_table(random, int(random.integers(max(4, k), 9)))
        if table.rows < 2 or (table.records < 2 * k and not suppression):
            continue
        bound = lower_bound(table, k, suppression=suppression, exact_rows=0, effort=CERTAIN_EFFORT)
        assert bound.confidence == 1.0
        assert bound.value <= best_partition(table, k, suppression) + 1e-9
        assert bound.prices is not None
        assert largest_excess(table, k, bound.prices.of_row) <= 1e-10
        looked += 1
        above_zero += bound.value > 0.01
    assert looked > 200
    assert above_zero > 50


def test_boxes_that_ceilings_rule_out_change_nothing() -> None:
    """Ceilings far above all prices leave boxes out and give the same prices; low ones a lower bound, fewer boxes."""
    table = larger_table(np.random.default_rng(36))
    start = smallest_boxes(table, 5, Context())
    free = record_prices(table, 5, Context(), start).of_row
    high = record_prices(table, 5, Context(), start, np.full(table.rows, 4.4)).of_row
    low = record_prices(table, 5, Context(), start, 1.2 * start).of_row
    assert (high == free).all()
    assert (low <= 1.2 * start).all()
    assert start @ table.weights <= low @ table.weights < free @ table.weights


def larger_table(random: np.random.Generator) -> EncodedTable:
    attributes = (interval(40, random, 1.0), tree(9, random, 2.0), tree(7, random, 1.0), flat(4, 0.5))
    codes = np.array([random.integers(0, one.size, 700) for one in attributes])
    rows, row_of_record, weights = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
    return EncodedTable(
        attributes, rows.astype(np.int32), weights.astype(np.int64), row_of_record.ravel().astype(np.int32)
    )


def test_threads_do_not_change_the_prices() -> None:
    table = larger_table(np.random.default_rng(33))
    assert (prices_of(table, 5, threads=1) == prices_of(table, 5, threads=2)).all()


def test_fewer_steps_still_hold() -> None:
    """Whatever the steps suffice for, no group of neighbours is priced above its loss."""
    random = np.random.default_rng(34)
    table = larger_table(random)
    start = smallest_boxes(table, 5, Context())
    totals = []
    for effort in (1e-9, 4e-5, 4e-4, 1.0):
        prices = record_prices(table, 5, Context(), start, effort=effort).of_row
        totals.append(float(prices @ table.weights))
        if effort == 1e-9:
            assert (prices == -np.inf).all()
            continue
        of_record = prices[table.row_of_record]
        for _ in range(300):  # groups around a record: the nearest, with some left out
            middle = int(random.integers(table.records))
            near = np.argsort([box_loss(table, (middle, other)) for other in range(table.records)], kind="stable")[:12]
            group = tuple(int(one) for one in random.choice(near, 5, replace=False))
            assert of_record[list(group)].mean() <= box_loss(table, group) + 1e-10
    assert totals[-1] == max(totals)


def test_a_table_that_takes_too_many_steps_keeps_the_other_bound() -> None:
    table = larger_table(np.random.default_rng(35))
    assert lower_bound(table, 5, effort=1e-9) == lower_bound(table, 5, effort=0)
    assert lower_bound(table, 5).method == "prices of records"


def test_a_worked_example() -> None:
    """Six records on a line, k = 2: 0, 0.1, 0.2, 0.8, 0.9, 1. The best pairs lose 0.1, 0.6 and 0.1, triples 0.2."""
    positions = np.array([0.0, 0.1, 0.2, 0.8, 0.9, 1.0])
    random = np.random.default_rng(0)
    one = interval(6, random, 1.0)
    attribute = type(one)("number", Kind.INTERVAL, 6, positions, one.ancestors[:, :6], one.level_cost[:, :6], 1.0)
    codes = np.arange(6, dtype=np.int32)
    table = EncodedTable((attribute,), codes[None, :], np.ones(6, dtype=np.int64), codes)
    by_hand = np.array([0.15, 0.05, 0.15, 0.15, 0.05, 0.15])
    assert largest_excess(table, 2, by_hand) == pytest.approx(0.0)
    assert best_partition(table, 2) == pytest.approx(0.2)
    assert 0.115 < lower_bound(table, 2).value <= 0.2
