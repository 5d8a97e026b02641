"""`shoal verify --bound`: the independent check of prices, against brute force over groups and against the ascent."""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from tests.property.test_lower_bound import best_partition, box_loss, random_table

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.lower_bound.prices import record_prices
from shoal.lower_bound.smallest_boxes import smallest_boxes
from shoal.released.domain import Domain
from shoal.tables.schema import Scale
from shoal.verification.bound import BoundCheck, PricedColumn, check_prices

CASES = int(os.environ.get("SHOAL_BOUND_CASES", "1000"))


def columns_of(table: EncodedTable) -> list[PricedColumn]:
    """The columns of an encoded table as the check sees those of an original one."""
    columns = []
    for one, codes in zip(table.attributes, table.record_codes, strict=True):
        size = one.size - (one.missing_code >= 0)
        values = tuple(f"{code:03d}" for code in range(size))
        counts = np.bincount(codes, minlength=one.size).astype(np.int64)
        missing = int(counts[one.missing_code]) if one.missing_code >= 0 else 0
        scale, tree = Scale.CATEGORY, None
        if one.kind is Kind.INTERVAL:
            scale = Scale.DECIMAL
        if one.kind is Kind.TREE:
            nodes = int(one.ancestors.max()) + 1
            tree = Hierarchy(values, (*values, *(f"n{node}" for node in range(nodes - size))), one.ancestors)
        domain = Domain("q", scale, values, one.positions[:size], counts[:size], missing, tree)
        columns.append(PricedColumn(domain, codes, one.weight))
    return columns


def checked(table: EncodedTable, k: int, of_record: NDArray[np.float64], suppression: bool = False) -> BoundCheck:
    return check_prices(columns_of(table), of_record, k, suppression=suppression)


def prices_of(table: EncodedTable, k: int, suppression: bool) -> NDArray[np.float64]:
    context = Context()
    everything = float(table.attribute_weights.sum()) if suppression else np.inf
    found = record_prices(table, k, context, smallest_boxes(table, k, context), everything, 0.1)
    return found.of_row[table.row_of_record]


def test_prices_of_the_ascent_are_confirmed_and_higher_ones_are_not() -> None:
    random = np.random.default_rng(41)
    refused = tried = 0
    for case in range(CASES):
        k, suppression = int(random.choice([2, 2, 3, 4])), case % 3 == 0
        table = random_table(random, int(random.integers(max(4, k), 9 if case % 4 else 24)))
        if table.rows < 2:
            continue
        prices = prices_of(table, k, suppression)
        found = checked(table, k, prices, suppression)
        assert found.holds, (case, found)
        if table.records < 9:
            assert found.bound <= best_partition(table, k, suppression) + 1e-9
        if found.bound > 0.01:
            tried += 1
            refused += not checked(table, k, prices + 0.03 * np.abs(prices), suppression).holds
    assert tried > CASES / 4
    assert refused > 0.9 * tried  # the rest was not raised as far as it goes


def test_what_is_confirmed_holds_for_every_group() -> None:
    """Random prices, near what groups cost: whenever they are confirmed, no k records are priced above their box."""
    random = np.random.default_rng(42)
    confirmed = 0
    for _ in range(400):
        k = int(random.choice([2, 3]))
        table = random_table(random, 7)
        if table.rows < 2:
            continue
        start = smallest_boxes(table, k, Context())[table.row_of_record]
        prices = start * random.choice([0.9, 1.0, 1.1]) + random.normal(0.0, 0.05, 7)
        worst = max(float(prices[list(group)].mean()) - box_loss(table, group) for group in combinations(range(7), k))
        found = checked(table, k, prices)
        if found.holds:
            confirmed += 1
            assert worst <= 1e-9
    assert confirmed > 50


def test_nothing_but_numbers_and_no_price_above_suppression() -> None:
    table = random_table(np.random.default_rng(43), 8)
    wrong = np.zeros(8)
    wrong[3] = np.nan
    assert not checked(table, 2, wrong).holds
    assert checked(table, 2, np.zeros(8)).holds
    high = np.full(8, -100.0)
    high[0] = float(table.attribute_weights.sum()) + 0.1
    assert checked(table, 2, high).holds
    assert not checked(table, 2, high, suppression=True).holds
