"""Suppression that is worth having: never more loss than without it, and less where outliers keep groups wide."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal


def table(outliers: int, seed: int) -> pl.DataFrame:
    """People in two narrow crowds, and a few far from everybody."""
    random = np.random.default_rng(seed)
    crowd = random.choice([30.0, 60.0], 300) + random.normal(0.0, 2.0, 300)
    far = random.uniform(0.0, 500.0, outliers)
    ages = np.concatenate([crowd, far]).round(1)
    return pl.DataFrame({"age": ages, "zip": random.integers(0, 12, ages.shape[0]).astype(str)})


def total(frame: pl.DataFrame, k: int, limit: float) -> tuple[float, float]:
    """Loss with suppressed records counted as 1, and its lower bound."""
    found = shoal.anonymize(
        frame, quasi=["age", "zip"], scales={"zip": "category"}, k=k, suppression_limit=limit, effort="low"
    )
    assert found.certificate["records"]["suppressed"] <= limit * frame.height
    assert found.certificate["passed"]
    return found.metrics["gcp"], found.metrics["lower_bound"]


@pytest.mark.parametrize("k", [3, 20])
def test_a_limit_never_makes_the_loss_larger(k: int) -> None:
    frame = table(outliers=6, seed=k)
    without, _ = total(frame, k, 0.0)
    for limit in (0.01, 0.05):
        loss, bound = total(frame, k, limit)
        assert bound <= loss <= without + 1e-12


def test_outliers_are_suppressed_where_that_pays() -> None:
    """Four people far away in groups of 20: with them, two whole groups are released as wide as everything."""
    frame = table(outliers=4, seed=1)
    assert total(frame, 20, 0.05)[0] < 0.8 * total(frame, 20, 0.0)[0]
