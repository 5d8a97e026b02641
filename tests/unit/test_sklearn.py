"""`shoal.sklearn.Anonymizer` in pipelines, and scikit-learn's own checks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from shoal.sklearn import NOT_APPLICABLE, Anonymizer


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    random = np.random.default_rng(1)
    ages = random.integers(20, 80, 200)
    return pd.DataFrame(
        {"age": ages, "town": random.choice(["a", "b", "c"], 200), "name": [f"p{n}" for n in range(200)]}
    )


@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn() -> None:
    results = check_estimator(
        Anonymizer(algorithm="mondrian"), expected_failed_checks=NOT_APPLICABLE, on_fail=None, on_skip=None
    )
    assert [(one["check_name"], str(one["exception"])) for one in results if one["status"] == "failed"] == []
    failed = {one["check_name"] for one in results if one["status"] == "xfail"}
    assert failed == set(NOT_APPLICABLE)  # no exception is listed that is not needed


def test_in_a_pipeline(people: pd.DataFrame) -> None:
    label = (people["age"] > 50).to_numpy()
    encode = ColumnTransformer([("town", OneHotEncoder(handle_unknown="ignore"), ["town"])], remainder=StandardScaler())
    steps = [("safe", Anonymizer(identifiers=["name"], k=5, algorithm="mondrian")), ("encode", encode)]
    pipeline = Pipeline([*steps, ("model", LogisticRegression())])
    pipeline.fit(people, label)
    assert pipeline.score(people, label) > 0.8
    assert list(pipeline.named_steps["safe"].get_feature_names_out()) == ["age", "town"]
    result = pipeline.named_steps["safe"].result_
    assert result.certificate["smallest_class"] >= 5


def test_frames_and_arrays(people: pd.DataFrame) -> None:
    made = Anonymizer(["age"], sensitive=["town"], identifiers=["name"], k=10, algorithm="mondrian", recoding="range")
    release = made.fit_transform(people)
    assert list(release.columns) == ["age", "town"]
    assert release.groupby("age").size().min() >= 10
    assert isinstance(made.fit_transform(pl.from_pandas(people)), pl.DataFrame)
    numbers = Anonymizer(k=5, algorithm="mondrian").fit_transform(people[["age"]].to_numpy())
    assert numbers.shape == (200, 1)
    assert np.unique(numbers, return_counts=True)[1].min() >= 5


def test_ordered_categories_and_neat_ranges() -> None:
    import shoal

    schools = np.random.default_rng(0).integers(0, 4, 80)
    frame = pd.DataFrame(
        {
            "born": pd.Timestamp("1940-01-01") + pd.to_timedelta(np.arange(80) * 40, unit="D"),
            "size": (np.arange(80) % 9).astype(float),
            "school": pd.Categorical.from_codes(schools, ["none", "low", "high", "top"], ordered=True),
        }
    )
    result = shoal.anonymize(frame, quasi=["born", "size", "school"], k=20, algorithm="mondrian")
    for column, form in (
        ("born", r"^\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d\]$"),
        ("size", r"^\[\d, \d\]$"),
        ("school", r"^(\[(none|low|high), (low|high|top)\]|none|low|high|top)$"),
    ):
        assert result.release[column].str.match(form).all(), column
    text = repr(result)
    assert "80 records" in text
    assert "k-anonymity:20  holds" in text
    assert "1940" not in text
    assert result.evaluate().scores.totals["gcp"] == pytest.approx(result.metrics["gcp"])
