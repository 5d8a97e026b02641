"""Pictures of columns: bins at round places, none of them small, and shares that a count finds too."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from shoal.evaluation.evaluate import EvaluationOptions, evaluate_release
from shoal.evaluation.usefulness.shapes import LEAST, OTHERS


def shapes(original: pl.DataFrame, release: pl.DataFrame) -> dict[str, list[dict[str, float]]]:
    options = EvaluationOptions(k=2, parts=("utility",))
    found = evaluate_release(original, release, original.columns, options)
    assert "shapes" not in found.as_dict()  # it names values
    return found.shapes or {}


def random_table(records: int) -> pl.DataFrame:
    random = np.random.default_rng(1)
    born = [date(1930, 1, 1) + timedelta(days=int(day)) for day in random.integers(0, 30_000, records)]
    words = np.array([f"word {number}" for number in range(40)])
    return pl.DataFrame(
        {
            "age": random.integers(0, 95, records),
            "born": born,
            "pay": random.lognormal(7, 1, records).round(2),
            "word": words[np.minimum(39, random.geometric(0.15, records))],
        }
    )


def test_an_unchanged_table_looks_the_same() -> None:
    table = random_table(2000)
    for shape in shapes(table, table).values():
        assert len(shape) > 3
        for row in shape:
            assert row["before"] == pytest.approx(row["after"], abs=1e-9)
        assert sum(row["before"] for row in shape) == pytest.approx(1.0)


def test_bins_are_counted_as_by_hand() -> None:
    table = random_table(2000)
    ages = {str(row["label"]): row["before"] for row in shapes(table, table)["age"]}
    for decade in range(10, 80, 10):
        inside = table["age"].is_between(decade, decade + 9).mean()
        assert ages[f"{decade} \N{EN DASH} {decade + 9}"] == pytest.approx(inside)
    years = [str(row["label"]) for row in shapes(table, table)["born"]]
    assert years[0] == "≤ 1939"
    assert "1950 \N{EN DASH} 1959" in years


def test_no_bin_is_small_and_no_rare_value_is_named() -> None:
    table = random_table(600)
    for name, shape in shapes(table, table).items():
        for row in shape:
            assert row["before"] * 600 > LEAST - 0.5 or row["label"] == OTHERS, (name, row)
    rare = set(table["word"].value_counts().filter(pl.col("count") < LEAST)["word"])
    assert rare
    assert not rare & {row["label"] for row in shapes(table, table)["word"]}


def test_what_was_suppressed_is_flat() -> None:
    table = random_table(500).select("age")
    release = pl.DataFrame({"age": ["*"] * 500})
    after = [row["after"] for row in shapes(table, release)["age"]]
    wide = [value for value in after if value > 0.05]
    assert sum(after) == pytest.approx(1.0)
    assert max(wide) - min(wide) < 0.06


@pytest.mark.parametrize(
    "values", [[None] * 30, [5] * 30, [0.5, None] * 15, [date(2024, 1, 1 + n % 3) for n in range(30)]]
)
def test_odd_columns_have_a_picture(values: list[object]) -> None:
    table = pl.DataFrame({"a": values, "b": ["x", "y"] * 15})
    shape = shapes(table, table)["a"]
    assert sum(row["before"] for row in shape) == pytest.approx(1.0)
