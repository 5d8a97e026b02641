"""Prices by branch and bound around records: against all partitions and all boxes, however early it is cut short."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from tests.property.test_lower_bound import best_partition, box_loss, random_table
from tests.property.test_record_prices import larger_table, largest_excess

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedTable
from shoal.lower_bound import prices as prices_module
from shoal.lower_bound.anchored import AnchoredBoxes
from shoal.lower_bound.bound import CERTAIN_EFFORT, lower_bound
from shoal.lower_bound.prices import anchored_prices
from shoal.lower_bound.smallest_boxes import smallest_boxes

CASES = int(os.environ.get("SHOAL_BOUND_CASES", "1000"))


def limited(monkeypatch: pytest.MonkeyPatch, nodes: int, depths: int) -> None:
    monkeypatch.setattr(prices_module, "AnchoredBoxes", lambda table, k: AnchoredBoxes(table, k, nodes, depths))


def found(table: EncodedTable, k: int, ceiling: float, threads: int = 1) -> np.ndarray:
    context = Context(threads=threads)
    start = np.minimum(smallest_boxes(table, k, context), ceiling)
    return anchored_prices(table, k, context, start, ceiling, 1.0)


def test_never_above_the_best_partition_whatever_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(61)
    looked = tight = refused = tried = 0
    for case in range(CASES):
        k, suppression = int(random.choice([2, 2, 3, 4])), case % 4 == 0
        table = random_table(random, int(random.integers(max(4, k), 8)))
        if table.rows < 2 or (table.records < 2 * k and not suppression):
            continue
        free = case % 2 == 0
        limited(monkeypatch, *((2000, 12) if free else (int(random.integers(1, 6)), int(random.integers(0, 3)))))
        ceiling = float(table.attribute_weights.sum()) if suppression else np.inf
        prices = found(table, k, ceiling)
        total = float(prices @ table.weights) / (table.records * table.width)
        best = best_partition(table, k, suppression)
        assert total <= best + 1e-9
        looked += 1
        tight += total > best - 1e-6
        if case % 5 == 0:
            assert largest_excess(table, k, prices) <= 1e-10
            if free and not suppression and total > 0.01:
                tried += 1
                refused += largest_excess(table, k, prices + 0.03 * np.abs(prices)) > 1e-6
    assert looked > CASES / 3
    assert tight > looked / 10
    assert refused > 0.95 * tried > 0


def test_on_more_records_threads_change_nothing_and_no_group_is_above_its_loss() -> None:
    random = np.random.default_rng(62)
    table = larger_table(random)
    few = replace(table, codes=table.codes[:, :150], weights=table.weights[:150], record_rows=None)
    one, two = (found(few, 3, np.inf, threads) for threads in (1, 2))
    assert (one == two).all()
    of_record = one[few.row_of_record]
    for _ in range(200):
        middle = int(random.integers(few.records))
        near = np.argsort([box_loss(few, (middle, other)) for other in range(few.records)], kind="stable")[:8]
        group = tuple(int(one) for one in random.choice(near, 3, replace=False))
        assert of_record[list(group)].mean() <= box_loss(few, group) + 1e-10


def test_high_effort_on_a_small_table_takes_it() -> None:
    table = random_table(np.random.default_rng(63), 40)
    assert table.rows > 4
    default, high = lower_bound(table, 3), lower_bound(table, 3, effort=CERTAIN_EFFORT)
    assert high.value >= default.value
    assert high.method in ("branch and bound around records", "prices of records")
