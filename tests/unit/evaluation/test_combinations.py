"""Combinations of attributes against a plain count of every one of them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from shoal.evaluation.risk import combinations as module
from shoal.evaluation.risk.combinations import risky_combinations


def test_every_combination_is_counted_right(tables: SimpleNamespace) -> None:
    frame = tables.random_table(150, 3)
    found = risky_combinations(frame, frame.columns, largest=4, threshold=0.34, shown=100)
    assert found["examined"] == 15
    by_columns = {tuple(entry["columns"]): entry for entry in found["combinations"]}
    for size in range(1, 5):
        for columns in combinations(frame.columns, size):
            counts = Counter(frame.select(columns).rows())
            entry = by_columns[columns]
            assert entry["unique"] == sum(count == 1 for count in counts.values())
            assert entry["at_risk"] == sum(count for count in counts.values() if 1 / count > 0.34)
            assert entry["average"] == pytest.approx(len(counts) / 150)
            assert entry["smallest_class"] == min(counts.values())


def test_what_an_attribute_adds(tables: SimpleNamespace) -> None:
    frame = tables.random_table(150, 4)
    parts = {part["attribute"]: part for part in risky_combinations(frame, frame.columns)["attributes"]}
    everything = Counter(frame.rows())
    for name in frame.columns:
        without = Counter(frame.drop(name).rows())
        assert parts[name]["added_average"] == pytest.approx((len(everything) - len(without)) / 150)
        assert parts[name]["added_unique"] == sum(count == 1 for count in everything.values()) - sum(
            count == 1 for count in without.values()
        )


def test_fifteen_columns_and_missing_values() -> None:
    random = np.random.default_rng(0)
    columns = {f"c{number}": random.integers(0, 4, 2000) for number in range(15)}
    frame = pl.DataFrame(columns).with_columns(c0=pl.when(pl.col("c0") > 0).then(pl.col("c0")))
    found = risky_combinations(frame, frame.columns, largest=3)
    assert found["examined"] == 15 + 105 + 455
    assert len(found["combinations"]) == 20


def test_too_much_work_lowers_the_size_and_says_so(monkeypatch: pytest.MonkeyPatch, tables: SimpleNamespace) -> None:
    monkeypatch.setattr(module, "LARGEST_WORK", 1000)
    found = risky_combinations(tables.random_table(150, 3), ("age", "job", "city", "illness"), largest=3)
    assert (found["largest"], found["asked"]) == (1, 3)
