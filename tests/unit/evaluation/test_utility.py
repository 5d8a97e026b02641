"""Statistics before and after."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from shoal.evaluation.usefulness.learning import model_accuracy
from shoal.evaluation.usefulness.queries import _answer, _condition, query_errors
from shoal.evaluation.usefulness.utility import cramer, utility
from shoal.released.domain import make_domains
from shoal.released.reading import read_release
from shoal.tables.schema import Attribute, Role, Scale


def test_an_exact_release_keeps_every_statistic(tables: SimpleNamespace) -> None:
    original = tables.random_table(300, 2)
    found = utility(tables.read(original, original), original, original, ["illness"])
    row = found["moments"]["age"]
    assert row["mean_before"] == pytest.approx(original["age"].mean())
    assert row["mean_after"] == pytest.approx(row["mean_before"])
    assert row["deviation_after"] == pytest.approx(original["age"].to_numpy().std())
    assert max(found["marginals"].values()) == pytest.approx(0, abs=1e-9)
    assert found["mean_table_distance"] == pytest.approx(0, abs=1e-9)
    for entry in found["tables"]:
        assert entry["association_after"] == pytest.approx(entry["association_before"])
    assert len(found["tables"]) == 6


def test_a_suppressed_release_keeps_none(tables: SimpleNamespace) -> None:
    original = tables.random_table(300, 2)
    stars = original.with_columns([pl.lit("*").alias(name) for name in tables.quasi])
    found = utility(tables.read(original, stars), original, stars)
    assert found["moments"] == {}
    for entry in found["tables"]:
        assert entry["association_after"] == pytest.approx(0, abs=1e-6)


def test_moments_of_ranges() -> None:
    original = pl.DataFrame({"x": [0, 10, 20, 30], "y": [0, 1, 2, 3]})
    release = pl.DataFrame({"x": ["[0, 10]", "[0, 10]", "[20, 30]", "[20, 30]"], "y": ["0", "1", "[2, 3]", "[2, 3]"]})
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, Scale.INTEGER) for name in "xy"]
    table = read_release(original, release, ["x", "y"], make_domains(original, attributes))
    found = utility(table, original, release)
    values = np.concatenate([np.arange(0, 11), np.arange(20, 31)])  # every range spread over its whole numbers
    assert found["moments"]["x"]["mean_after"] == pytest.approx(values.mean())
    assert found["moments"]["x"]["deviation_after"] == pytest.approx(values.std())
    expected = np.corrcoef([5, 5, 25, 25], [0, 1, 2.5, 2.5])[0, 1]
    assert found["correlations"][0]["after"] == pytest.approx(expected)
    assert found["correlations"][0]["before"] == pytest.approx(1)


def test_cramer() -> None:
    assert cramer(np.array([[0.5, 0.0], [0.0, 0.5]])) == pytest.approx(1)
    assert cramer(np.array([[0.25, 0.25], [0.25, 0.25]])) == pytest.approx(0, abs=1e-9)
    assert cramer(np.array([[0.5, 0.5]])) == 0


def test_queries_on_an_exact_release_have_no_error(tables: SimpleNamespace) -> None:
    original = tables.random_table(300, 3)
    found = query_errors(tables.read(original, original), original, queries=100)
    assert found["queries"] == 100
    assert found["mean_error"] == pytest.approx(0, abs=1e-9)
    assert sum(row["queries"] for row in found["by_selectivity"]) == 100


def test_an_answer_is_the_expected_count(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(60, 4)
    table = tables.read(original, release)
    random = np.random.default_rng(5)
    condition = _condition(table.columns["age"].domain, 0.4, random)
    assert condition.ends is not None
    expected = 0.0
    for text in release["age"].to_list():
        low, high = (int(part) for part in text.strip("[]").split(", ")) if text[0] == "[" else (int(text),) * 2
        ages = range(low, high + 1)
        expected += sum(condition.ends[0] <= age <= condition.ends[1] for age in ages) / len(ages)
    assert _answer([condition], table) == pytest.approx(expected)


def test_queries_are_the_same_for_the_same_seed(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(200, 5)
    table = tables.read(original, release)
    assert query_errors(table, original, queries=50) == query_errors(table, original, queries=50)
    assert query_errors(table, original, queries=50) != query_errors(table, original, queries=50, seed=1)


def test_models_trained_on_an_exact_release_are_those_of_the_original(tables: SimpleNamespace) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    original = tables.random_table(600, 1)
    found = model_accuracy(tables.read(original, original), original, "illness")
    assert found is not None
    accuracy = {(row["model"], row["trained"]): row["accuracy"] for row in found["results"]}
    for model in ("gradient boosting", "logistic regression"):
        assert accuracy[model, "release"] == accuracy[model, "original"]
        assert accuracy[model, "original"] > accuracy[model, "majority"]


def test_models_say_why_they_were_not_trained(tables: SimpleNamespace) -> None:
    original, release = tables.anonymized(50, 5)
    same = original.with_columns(illness=pl.lit("x"))
    assert "values" in model_accuracy(tables.read(same, same), same, "illness")["skipped"]
    shorter = tables.read(original, release.head(40))
    assert "belong together" in model_accuracy(shorter, original, "illness")["skipped"]


def test_labels_of_too_many_values_are_grouped_where_that_is_asked_for(tables: SimpleNamespace) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    original = tables.random_table(400, 1)
    costly = original.with_columns(illness=pl.int_range(400).cast(pl.String))
    named = original.with_columns(illness=pl.format("illness {}", pl.int_range(400) % 60))
    for table, told in ((costly, "in 4 ranges of about as many records"), (named, "the 7 commonest values, and all")):
        assert "values" in model_accuracy(tables.read(table, table), table, "illness")["skipped"]
        found = model_accuracy(tables.read(table, table), table, "illness", grouped=True)
        assert found["grouped"].startswith(told)
        assert 0.1 < found["majority"] < 1.0
