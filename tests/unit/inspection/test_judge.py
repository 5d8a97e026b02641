"""Suggested roles: nothing that identifies is called harmless."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

import shoal
from shoal.inspection.inspect import inspect_table
from shoal.job.first_job import suggest_job, write_job
from shoal.job.job import CsvSettings

RECORDS = 400


@pytest.fixture(scope="module")
def stays() -> pl.DataFrame:
    """Hospital stays as they come: German and English names, several stays per patient, codes, moments, weights."""
    random = np.random.default_rng(5)
    start = datetime(2024, 1, 1)
    moments = [start + timedelta(seconds=int(second)) for second in random.integers(0, 3e7, RECORDS)]
    ages = random.integers(18, 90, RECORDS)
    code = random.integers(0, 40, RECORDS)
    return pl.DataFrame(
        {
            "patient_nbr": random.integers(10_000, 10_000 + RECORDS // 2, RECORDS),
            "encounterKey": np.arange(RECORDS) + 77_000,
            "Nachname": [f"N{n}" for n in random.integers(0, 150, RECORDS)],
            "arrival": moments,
            "alter": ages,
            "Altersgruppe": [f"from {10 * (age // 10)}" for age in ages],
            "main_code": [f"{'EIJ'[n % 3]}{n:02d}.{n % 10}" for n in code],
            "wgt": random.random(RECORDS),
            "q17": random.integers(0, 50, RECORDS),
            "lab_x": random.random(RECORDS),
            "free": [f"the patient said that {a} and {b}" for a, b in random.integers(0, 9999, (RECORDS, 2))],
            "num_lab_procedures": random.integers(0, 118, RECORDS),
            "admission_type_id": random.integers(1, 8, RECORDS),
            "source": ["import 4"] * RECORDS,
        }
    )


def test_roles(stays: pl.DataFrame) -> None:
    found = {column["name"]: column for column in shoal.inspect(stays)["columns"]}
    assert {name: column["role"] for name, column in found.items()} == {
        "patient_nbr": "identifying",
        "encounterKey": "identifying",
        "Nachname": "identifying",
        "arrival": "quasi-identifying",
        "alter": "quasi-identifying",
        "Altersgruppe": "quasi-identifying",
        "main_code": "sensitive",
        "wgt": "decide yourself",
        "q17": "decide yourself",
        "lab_x": "sensitive",
        "free": "identifying",
        "num_lab_procedures": "sensitive",
        "admission_type_id": "quasi-identifying",
        "source": "insensitive",
    }
    assert "to the second" in found["arrival"]["why"]
    assert "ICD-10" in found["main_code"]["why"]
    assert found["wgt"]["nearly_unique"]
    assert all(column["safe_role"] == "identifying" for column in found.values() if column["role"] == "decide yourself")


def test_only_constant_columns_are_harmless(stays: pl.DataFrame) -> None:
    """Without telling names, formats and uniqueness still speak; what says nothing is for the user to decide."""
    unnamed = stays.rename({name: f"c{number}x" for number, name in enumerate(stays.columns)})
    found = shoal.inspect(unnamed)["columns"]
    assert [column["name"] for column in found if column["role"] == "insensitive"] == ["c13x"]
    assert {found[1]["role"], found[10]["role"]} == {"identifying"}
    assert found[6]["role"] == "sensitive"


def test_several_records_per_person_are_found(stays: pl.DataFrame) -> None:
    person = shoal.inspect(stays)["person"]
    assert person is not None
    assert person["column"] == "patient_nbr"
    assert shoal.inspect(stays, person="patient_nbr")["person"] is None
    once = stays.unique("patient_nbr").drop("Nachname")
    assert shoal.inspect(once)["person"] is None


def test_what_says_the_same_has_the_same_role() -> None:
    frame = pl.DataFrame({"region": ["a", "b", "c", "a", "b", "c"] * 9, "qq": [1, 2, 3, 1, 2, 3] * 9})
    found = shoal.inspect(frame.with_columns(fine=pl.Series([1, 2, 3, 4, 5, 6] * 9)))
    assert found["same"] == [["region", "qq"]]
    assert {pair["by"] for pair in found["settled"]} == {"fine"}
    assert {column["name"]: column["role"] for column in found["columns"]} == {
        "region": "quasi-identifying",
        "qq": "quasi-identifying",
        "fine": "quasi-identifying",
    }


def test_what_the_user_says_is_taken(stays: pl.DataFrame) -> None:
    found = shoal.inspect(stays, quasi=["q17"], sensitive="wgt", identifiers=["alter"], scales={"q17": "category"})
    columns = {column["name"]: column for column in found["columns"]}
    assert (columns["q17"]["role"], columns["q17"]["scale"]) == ("quasi-identifying", "category")
    assert columns["wgt"]["role"] == "sensitive"
    assert columns["alter"]["role"] == "identifying"
    assert {tuple(entry["columns"]) for entry in found["combinations"]} == {("q17",)}


def test_unknown_columns_are_all_told(stays: pl.DataFrame) -> None:
    with pytest.raises(shoal.InputError) as told:
        inspect_table(stays, ["nobody"], person="nothing")
    assert told.value.reasons == ("unknown-column", "unknown-column")


def test_no_value_is_told(stays: pl.DataFrame) -> None:
    secret = stays.with_columns(Nachname=pl.lit("SECRET") + pl.col("Nachname"))
    assert "SECRET" not in str(shoal.inspect(secret))


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [None, None], "b": ["", ""]}),
        pl.DataFrame({"a": [[1], [2], [1]], "b": [{"x": 1}, {"x": 2}, {"x": 1}], "c": [b"a", b"b", b"c"]}),
        pl.DataFrame({"c": pl.Series(["a", "b", "a"], dtype=pl.Categorical), "d": [True, None, False]}),
        pl.DataFrame({"a": [float("inf"), 1.0, float("nan")], "b": ["inf", "1", "nan"]}),
        pl.DataFrame({"": [1, 2], "a\nb": ["x", "y"], "# c: {": [1, 1], "yes": ["m", "n"]}),
    ],
)
def test_odd_tables_are_judged_and_give_a_job_that_can_be_read(frame: pl.DataFrame) -> None:
    found = inspect_table(frame)
    text = write_job(suggest_job(found, frame), Path("d #.csv"), Path("job.yaml"), CsvSettings(), found)
    content = yaml.safe_load(text)
    named = [name for role in ("identifiers", "quasi", "sensitive", "keep") for name in content.get(role) or []]
    assert sorted(set(named)) == sorted(named)
    assert set(named) <= set(frame.columns)
    assert set(frame.columns) - set(named) <= set(found.with_role("insensitive"))


def test_categories_have_formats_too() -> None:
    codes = [f"{letter}{number:02d}.1" for letter in "EIJ" for number in range(9)]
    column = pl.Series("q", codes * 4, dtype=pl.Categorical)
    assert shoal.inspect(column.to_frame())["columns"][0]["role"] == "sensitive"
