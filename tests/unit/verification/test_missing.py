"""However a missing value is written, it is one value and one person."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.encode.population import person_numbers
from shoal.errors import RequirementError
from shoal.models.registry import parse_model
from shoal.pipeline.verify_files import Asked, verify_file
from shoal.verification.check import verify_release
from shoal.verification.classes import value_numbers
from shoal.verification.reading import Knowledge

SPELLINGS = [None, "", "NaN", "nan", "?"]
DISEASES = pl.DataFrame(
    {
        "age": [number % 40 + 20 for number in range(120)],
        "sex": ["mf"[number // 7 % 2] for number in range(120)],
        "disease": [
            SPELLINGS[number // 3 % 5] if number % 3 == 0 else ["flu", "cold", "ms"][number // 2 % 3]
            for number in range(120)
        ],
    }
)
NAN = float("nan")
TREE = {"*": {"light": ["flu", "cold"], "heavy": ["ms"]}}


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["", "NaN", "nan", "?", "b", "a"])])
def test_all_spellings_have_the_last_number(kind: pl.DataType) -> None:
    column = pl.Series(["b", *SPELLINGS, "a", "b"], dtype=kind)
    numbers, distinct = value_numbers(column, ["?"])
    assert numbers.tolist() == [1, 2, 2, 2, 2, 2, 0, 1]
    assert distinct.cast(pl.String).to_list() == ["a", "b", None]
    numbers, distinct = value_numbers(column)
    assert distinct.cast(pl.String).to_list() == ["?", "a", "b", None]


def test_not_a_number_is_missing() -> None:
    numbers, distinct = value_numbers(pl.Series([2.0, NAN, None, 1.0]))
    assert numbers.tolist() == [1, 2, 2, 0]
    assert distinct.to_list() == [1.0, 2.0, None]
    assert value_numbers(pl.Series([NAN, NAN]))[1].to_list() == [None]


def test_persons_without_a_number_are_one_person() -> None:
    assert len(set(person_numbers(pl.Series([*SPELLINGS, "?"]), ["?"]).tolist())) == 1
    assert len(set(person_numbers(pl.Series([*SPELLINGS, "a", "b"])).tolist())) == 4  # `?` is a person here
    assert len(set(person_numbers(pl.Series([NAN, None, 1.0])).tolist())) == 2


def test_a_file_with_two_ways_to_leave_a_cell_empty_does_not_pass(tmp_path: Path) -> None:
    file = tmp_path / "release.csv"
    file.write_text("age,pid,dis\n" + '30,,\n30,"",""\n' * 5)
    found = verify_file(file, Asked(quasi=("age",), k=2, person="pid", models=("distinct-l:dis:2",)))
    assert not found["passed"]
    assert [check["measured"] for check in found["checks"]] == [1.0, 1.0]


def test_texts_that_mean_missing_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "release.csv"
    file.write_text("age,dis\n30,?\n30,-\n30,\n")
    asked = Asked(quasi=("age",), k=2, models=("distinct-l:dis:2",))
    measured = [
        verify_file(file, asked, missing=missing)["checks"][1]["measured"] for missing in ((), ("?",), ("?", "-"))
    ]
    assert measured == [3.0, 2.0, 1.0]


def test_a_population_of_one_person_without_a_name_is_one_person(tmp_path: Path) -> None:
    people = tmp_path / "population.csv"
    people.write_text('a,id\nx,\nx,""\nx,?\nx,NaN\n')
    table = pl.DataFrame({"a": ["x"] * 8, "id": [str(number) for number in range(8)]})
    settings = {"quasi": ["a"], "person": "id", "missing": ("?",), "population": people, "algorithm": "mondrian"}
    with pytest.raises(RequirementError, match="the largest k that can be met is 1"):
        shoal.anonymize(table, models=["k-map:4"], **settings)
    found = verify_release(
        table.select("a"), ["a"], [parse_model("k-map:2:id")], Knowledge(population=pl.read_csv(people), missing=("?",))
    )
    assert found.checks[0].measured == 1.0


@pytest.mark.parametrize(
    "spec",
    [
        "t-closeness:disease:0.2",
        "t-closeness:disease:0.2:hierarchical",
        "delta-disclosure:disease:2",
        "beta-likeness:disease:1",
        "distinct-l:disease:3",
    ],
)
def test_releases_with_many_spellings_are_as_those_with_one(spec: str) -> None:
    settings = {"quasi": ["age", "sex"], "k": 3, "algorithm": "mondrian", "hierarchies": {"disease": TREE}}
    many = shoal.anonymize(DISEASES, models=[spec], missing=("?",), **settings)
    present = pl.col("disease").is_in(["flu", "cold", "ms"])
    plain = DISEASES.with_columns(disease=pl.when(present).then("disease"))
    one = shoal.anonymize(plain, models=[spec], **settings)
    assert many.certificate["checks"] == one.certificate["checks"]


def test_numbers_with_null_and_not_a_number() -> None:
    values = [[None, NAN][number // 3 % 2] if number % 3 == 0 else float(number % 3) for number in range(120)]
    table = DISEASES.with_columns(disease=pl.Series(values, dtype=pl.Float64))
    settings = {"quasi": ["age", "sex"], "k": 3, "algorithm": "mondrian"}
    for distance in ("", ":ordered"):
        spec = f"t-closeness:disease:0.2{distance}"
        two = shoal.anonymize(table, models=[spec], **settings)
        one = shoal.anonymize(table.with_columns(pl.col("disease").fill_nan(None)), models=[spec], **settings)
        assert two.certificate["checks"] == one.certificate["checks"]
