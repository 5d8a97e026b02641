"""Columns that are published as they are: named, and refused where they undo the release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.job.kept import _strength, find_telling
from shoal.job.plan import make_plan
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.tables.distinct import code_columns

RECORDS = 400


@pytest.fixture
def people() -> pl.DataFrame:
    random = np.random.default_rng(4)
    town = random.integers(0, 12, RECORDS)
    born = [f"19{year}-0{month}-1{day}" for year, month, day in random.integers((50, 1, 0), (90, 9, 9), (RECORDS, 3))]
    return pl.DataFrame(
        {
            "age": random.integers(18, 90, RECORDS),
            "town": [f"town {number}" for number in town],
            "born": born,
            "case": [f"c{number}" for number in random.permutation(RECORDS)],
            "town_code": (town * 7) % 31,
            "birthday": born,
            "patient": random.integers(0, 90, RECORDS),
            "ward": random.choice(["a", "b", "c"], RECORDS),
            "hours": random.choice([40, 40, 40, 38, 20, 10], RECORDS),
        }
    )


def refused(frame: pl.DataFrame, **settings: Any) -> list[tuple[str | None, str]]:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(frame, algorithm="mondrian", k=5, **settings)
    return [(problem.column, problem.reason) for problem in caught.value.problems]


QUASI = {"quasi": ["age", "town", "born"]}
TELLING = [
    ("case", "near-unique"),
    ("town_code", "decides-quasi"),
    ("birthday", "near-unique"),
    ("birthday", "same-as-quasi"),
    ("patient", "tells-apart"),
]


def test_columns_without_a_role_are_told_together(people: pl.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(people, k=5, **QUASI)
    (problem,) = caught.value.problems
    assert problem.reason == "unnamed-columns"
    unnamed = ["case", "town_code", "birthday", "patient", "ward", "hours"]
    assert all(f"'{name}'" in problem.message for name in unnamed)
    assert f"--keep {','.join(unnamed)}" in str(problem.hint)
    assert refused(people, keep=["ward"], identifiers=["case"], **QUASI) == [(None, "unnamed-columns")]
    assert refused(people, keep_rest=True, drop_rest=True, **QUASI)[0] == (None, "keep-or-drop")


def test_columns_that_undo_the_release_are_refused(people: pl.DataFrame) -> None:
    assert refused(people, keep_rest=True, **QUASI) == TELLING
    assert refused(people, keep=["ward", "case"], drop_rest=True, **QUASI) == [("case", "near-unique")]


def test_they_are_released_where_they_are_allowed(people: pl.DataFrame) -> None:
    allowed = ["case", "town_code", "birthday", "patient"]
    made = shoal.anonymize(people, algorithm="mondrian", k=5, keep_rest=True, allow=allowed, **QUASI)
    for name in people.columns[3:]:
        assert made.release[name].equals(people[name])
    assert made.certificate["job"]["allow"] == allowed


def test_columns_that_are_dropped(people: pl.DataFrame) -> None:
    made = shoal.anonymize(people, algorithm="mondrian", k=5, drop_rest=True, keep="ward", sensitive="hours", **QUASI)
    assert made.release.columns == ["age", "town", "born", "ward", "hours"]


def test_a_quasi_identifier_that_is_kept_is_not_generalized(people: pl.DataFrame) -> None:
    made = shoal.anonymize(
        people, quasi=["age", "ward"], keep=["ward"], drop_rest=True, k=5, algorithm="mondrian", seed=1
    )
    assert made.release["ward"].equals(people["ward"])
    assert made.per_attribute["ward"]["gcp"] == 0
    assert made.certificate["columns"]["ward"]["at_most"] == 0


def test_contradictions(people: pl.DataFrame) -> None:
    assert refused(people, keep=["ward"], sensitive="ward", drop_rest=True, **QUASI) == [("ward", "two-roles")]
    assert refused(people, keep=["nothing"], drop_rest=True, **QUASI) == [("nothing", "unknown-column")]
    assert refused(people, allow=["nothing"], drop_rest=True, **QUASI) == [("nothing", "unknown-column")]
    assert refused(people, allow=["ward"], drop_rest=True, **QUASI) == [("ward", "not-kept")]


def test_a_label_is_kept_and_looked_at_too(people: pl.DataFrame) -> None:
    settings = {**QUASI, "drop_rest": True, "class_column": "town_code"}
    assert refused(people, **settings) == [("town_code", "decides-quasi")]


def test_the_plan_knows_what_was_allowed(people: pl.DataFrame) -> None:
    job = shoal.Job.make(k=5, keep=["ward", "case"], allow=["case"], drop_rest=True, **QUASI)
    plan = make_plan(job, people, Requirement.of([KAnonymity(5)]))
    assert plan.kept == ["case", "ward"]
    assert list(plan.telling) == ["case"]
    assert set(plan.dropped) == {"town_code", "birthday", "patient", "hours"}


def test_strength_against_a_count_over_all_pairs() -> None:
    random = np.random.default_rng(1)
    for _ in range(30):
        kept, other = random.integers(0, 4, 25), random.integers(0, 3, 25)
        rows = range(25)
        near = [
            np.mean([other[i] == other[j] for j in rows if j != i and kept[j] == kept[i]])
            for i in rows
            if (kept == kept[i]).sum() > 1
        ]
        by_chance = np.mean([other[i] == other[j] for i in rows for j in rows if i != j])
        assert _strength(kept, other) == pytest.approx((np.mean(near) - by_chance) / (1 - by_chance))
    assert _strength(np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)) == 0.0


def test_many_records_are_looked_at_by_a_part_of_them() -> None:
    records = 500_000
    town = np.arange(records) % 40
    frame = pl.DataFrame({"town": [f"t{number}" for number in town.tolist()], "code": town, "coin": town % 2})
    found = find_telling(frame, ["code", "coin"], code_columns(frame, ["town"]), 10, ())
    assert {name: [finding.reason for finding in findings] for name, findings in found.items()} == {
        "code": ["decides-quasi"]
    }


def test_a_real_code_column(data_folder: Path) -> None:
    adult = pl.read_csv(data_folder / "adult" / "adult_arx.csv", infer_schema=False)
    codes = {name: number for number, name in enumerate(adult["education"].unique(maintain_order=True))}
    frame = adult.with_columns(adult["education"].replace_strict(codes).alias("number"))
    quasi = code_columns(frame, ["education", "age", "sex"])
    found = find_telling(frame, ["number", "salary-class", "race"], quasi, 10, ())
    assert list(found) == ["number"]
