"""The embedded sample: reproducible, plausible, and covered by its hierarchies."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.hierarchies.spec import make_hierarchy
from shoal.sample import hospital_hierarchies, hospital_roles, hospital_table
from shoal.sample.diagnoses import CHAPTERS, DIAGNOSES, ONLY_WOMEN
from shoal.sample.draw import between, pick
from shoal.sample.people import EDUCATION_GROUPS, MARITAL_GROUPS, MARITAL_STATUSES
from shoal.tables.schema import Role

CHAPTER_OF = {entry.name: chapter for chapter, entries in CHAPTERS.items() for entry in entries}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return hospital_table()


def share(table: pl.DataFrame, condition: pl.Expr) -> float:
    return table.select(condition.fill_null(False).mean()).item()


def test_columns_roles_and_size(table: pl.DataFrame) -> None:
    assert table.shape == (10_000, 12)
    assert list(hospital_roles()) == table.columns
    assert list(hospital_roles().values()).count(Role.QUASI_IDENTIFYING) == 8
    assert table["postcode"].str.contains(r"^\d{5}$").all()
    assert table["postcode"].str.starts_with("0").any()
    assert table["admission_date"].dtype == pl.Date


def test_the_same_seed_gives_the_same_table_everywhere() -> None:
    text = hospital_table(500, seed=7).write_csv()
    assert text == hospital_table(500, seed=7).write_csv()
    assert text != hospital_table(500, seed=8).write_csv()
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "294442c94c2cefe8"


@pytest.mark.parametrize("patients", [1, 2, 37])
def test_small_tables(patients: int) -> None:
    assert hospital_table(patients).height == patients


def test_no_patients_is_an_error() -> None:
    with pytest.raises(InputError):
        hospital_table(0)


def test_every_value_is_covered_by_the_hierarchies(table: pl.DataFrame) -> None:
    for column, spec in hospital_hierarchies().items():
        values = table[column].drop_nulls().unique().sort().cast(pl.String).to_list()
        hierarchy = make_hierarchy(spec, values, column)
        assert hierarchy.levels >= 3
        assert hierarchy.labels[hierarchy.root] == "*"


def test_word_lists_agree() -> None:
    assert {status for group in MARITAL_GROUPS.values() for status in group} == set(MARITAL_STATUSES)
    assert len(CHAPTER_OF) == len(DIAGNOSES)
    assert len({level for group in EDUCATION_GROUPS.values() for level in group}) == 11


def test_missing_values_are_few_and_only_where_meant(table: pl.DataFrame) -> None:
    missing = {name: count for name, count in table.null_count().row(0, named=True).items() if count}
    assert set(missing) == {"education", "occupation"}
    assert all(100 < count < 500 for count in missing.values())


def test_impossible_patients_do_not_occur(table: pl.DataFrame) -> None:
    age, sex, diagnosis = pl.col("age"), pl.col("sex"), pl.col("diagnosis")
    births = diagnosis.is_in(ONLY_WOMEN)
    assert not share(table, births & ((sex == "male") | (age < 16) | (age > 46)))
    assert not share(table, (diagnosis == "prostate cancer") & (sex == "female"))
    assert not share(table, (diagnosis == "newborn care") & (age > 0))
    assert not share(table, (pl.col("marital_status") != "never married") & (age < 18))
    assert not share(table, (pl.col("education") == "doctorate") & (age < 25))
    assert not share(
        table, (age < 6) & ~pl.col("occupation").is_in(["young child"]) & pl.col("occupation").is_not_null()
    )


def test_correlations(table: pl.DataFrame) -> None:
    old, young = table.filter(pl.col("age") >= 75), table.filter(pl.col("age").is_between(18, 40))
    assert share(old, pl.col("marital_status") == "widowed") > 10 * share(young, pl.col("marital_status") == "widowed")
    assert share(old, pl.col("diagnosis") == "heart failure") > 5 * share(young, pl.col("diagnosis") == "heart failure")
    graduates = table.filter(pl.col("education").is_in(EDUCATION_GROUPS["university degree"]))
    assert share(graduates, pl.col("occupation") == "physician") > 0.03
    assert share(table.filter(pl.col("education") == "apprenticeship"), pl.col("occupation") == "physician") == 0
    nurses = table.filter(pl.col("occupation") == "nurse")
    assert share(nurses, pl.col("sex") == "female") > 0.7
    foreign = table.group_by(pl.col("postcode").str.head(3)).agg(
        (pl.col("nationality") != "German").mean().alias("share")
    )
    shares = dict(foreign.iter_rows())
    assert shares["043"] > 3 * shares["046"]


def test_season_stay_and_cost(table: pl.DataFrame) -> None:
    winter = pl.col("admission_date").dt.month().is_in([12, 1, 2])
    assert share(table.filter(pl.col("diagnosis") == "pneumonia"), winter) > 0.3
    assert share(table.filter(pl.col("diagnosis").is_in(["concussion", "forearm fracture"])), winter) < 0.25
    assert share(table, pl.col("admission_date").dt.weekday() >= 6) < 0.22
    assert table["admission_date"].dt.year().unique().to_list() == [2024]
    assert table["length_of_stay"].min() == 1
    logs = table.select(pl.col("length_of_stay").log(), pl.col("cost").log())
    assert np.corrcoef(logs.to_numpy().T)[0, 1] > 0.5
    assert table["cost"].mean() > 1.2 * table["cost"].median()  # skewed to the right


def test_pick_follows_the_weights_of_each_row() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    weights = np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
    rows = np.repeat(np.arange(2), 20_000)
    drawn = pick(random, weights, rows)
    first = np.bincount(drawn[:20_000], minlength=3) / 20_000
    assert first[1] == 0
    assert abs(first[2] - 0.75) < 0.02
    assert set(drawn[20_000:]) == {1}


def test_between_interpolates() -> None:
    assert between({0: (0.0, 1.0), 4: (2.0, 1.0)}, 5).tolist() == [[0, 1], [0.5, 1], [1, 1], [1.5, 1], [2, 1]]
