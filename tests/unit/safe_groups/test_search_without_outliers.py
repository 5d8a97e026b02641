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


def total(frame: pl.DataFrame, k: int, limit: float, models: tuple[str, ...] = ()) -> tuple[float, float]:
    """Loss with suppressed records counted as 1, and its lower bound."""
    found = shoal.anonymize(
        frame,
        quasi=["age", "zip"],
        sensitive=["ill"] if "ill" in frame.columns else [],
        scales={"zip": "category"},
        k=k,
        models=models,
        suppression_limit=limit,
        effort="low",
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


def test_outliers_are_suppressed_under_models_too() -> None:
    """The same four people where every group needs two illnesses, none above two thirds: the rest can hold that."""
    frame = table(outliers=4, seed=1)
    frame = frame.with_columns(ill=pl.Series(np.random.default_rng(2).choice(list("abc"), frame.height)))
    models = ("l-diversity:ill:1.5",)
    without, _ = total(frame, 20, 0.0, models)
    assert total(frame, 20, 0.01, models)[0] <= without + 1e-12
    loss, bound = total(frame, 20, 0.05, models)
    assert bound <= loss < 0.8 * without


def test_what_is_left_must_hold_the_models() -> None:
    """Both rare illnesses are those of people far away: without them nothing is safe, so they stay."""
    frame = table(outliers=2, seed=3)
    ill = ["a"] * (frame.height - 2) + ["b", "c"]
    found = shoal.anonymize(
        frame.with_columns(ill=pl.Series(ill)),
        quasi=["age", "zip"],
        sensitive=["ill"],
        k=20,
        models=["distinct-l:ill:2"],
        suppression_limit=0.05,
        effort="low",
    )
    assert found.certificate["passed"]
