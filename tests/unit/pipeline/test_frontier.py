"""`result.frontier()`: the same table with other k."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.sample.hospital import hospital_table


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return hospital_table(300).select("age", "sex", "diagnosis")


def made(patients: pl.DataFrame, k: int, models: tuple[str, ...] = ()) -> shoal.Result:
    quasi, sensitive = ["age", "sex"], ["diagnosis"]
    return shoal.anonymize(patients, quasi=quasi, sensitive=sensitive, k=k, models=models, algorithm="mondrian")


def test_every_k_is_that_of_a_run_of_its_own(patients: pl.DataFrame) -> None:
    records = made(patients, 10).frontier([20, 3])
    assert [record["k"] for record in records] == [3, 20]
    for record in records:
        alone = made(patients, record["k"])
        assert record["gcp"] == alone.metrics["gcp"]
        assert record["smallest_class"] == alone.certificate["smallest_class"]


def test_other_models_stay(patients: pl.DataFrame) -> None:
    models = ("l-diversity:diagnosis:2",)
    assert made(patients, 5, models).frontier([4])[0]["gcp"] == made(patients, 4, models).metrics["gcp"]


def test_a_k_that_cannot_be_met_says_why(patients: pl.DataFrame) -> None:
    records = made(patients, 5).frontier([5, 1000])
    assert "gcp" in records[0]
    assert records[1]["error"]


def test_what_is_refused(patients: pl.DataFrame) -> None:
    result = made(patients, 5)
    with pytest.raises(InputError, match="k must be at least 2"):
        result.frontier([1])
    with pytest.raises(InputError, match="not kept with a result"):
        pickle.loads(pickle.dumps(result)).frontier([5])


def test_reports_show_it(patients: pl.DataFrame) -> None:
    result = made(patients, 5)
    html = result.report(frontier=result.frontier([2, 5]))
    assert "Other k" in html
    assert "mondrian, k = 2" in html
