"""Every problem of a job is told before any work: nothing is clustered, and nothing that was there is overwritten."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.algorithms.shoal.shoal import Shoal
from shoal.errors import InputError
from shoal.pipeline.certificate import load_certificate
from shoal.pipeline.run import check
from shoal.pipeline.verify_files import Asked, verify_certified, verify_file


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    random = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": random.integers(20, 60, 120),
            "sex": random.choice(["m", "f"], 120),
            "city": random.choice(["SECRET-A", "SECRET-B", "SECRET-C"], 120),
            "code": random.integers(1, 9, 120),
            "disease": random.choice(["flu", "gout", "cold", "angina"], 120),
        }
    )


@pytest.fixture
def folder(people: pl.DataFrame, tmp_path: Path) -> Path:
    people.write_csv(tmp_path / "people.csv")
    people.write_csv(tmp_path / "population.csv")
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "city.csv").write_text("SECRET-A;X;*\nSECRET-B;X;*\nSECRET-C;Y;*\n")
    (tmp_path / "trees" / "disease.csv").write_text("flu;lung;*\ncold;lung;*\nangina;heart;*\ngout;other;*\n")
    return tmp_path


def job(folder: Path, **settings: Any) -> shoal.Job:
    given = {
        "quasi": ("age", "sex", "city"),
        "keep_rest": True,
        "k": 3,
        "algorithm": "mondrian",
        "output": folder / "out.csv",
        **settings,
    }
    return shoal.Job.make(input=folder / "people.csv", **given)


def reasons_of(made: shoal.Job) -> dict[str | None, str]:
    with pytest.raises(InputError) as caught:
        check(made)
    assert "SECRET" not in str(caught.value)
    return {problem.column: problem.reason for problem in caught.value.problems}


def refused(frame: Any, **settings: Any) -> list[tuple[str | None, str]]:
    """(column, reason) of every problem; nothing must have been clustered."""
    stages = []
    with pytest.raises(InputError) as caught:
        shoal.anonymize(
            frame,
            algorithm="mondrian",
            progress=lambda event: stages.append(event.stage),
            **{"drop_rest": True, **settings},
        )
    assert "cluster" not in stages
    assert "SECRET" not in str(caught.value)
    return [(problem.column, problem.reason) for problem in caught.value.problems]


@pytest.mark.parametrize("place", ["output", "certificate", "report"])
@pytest.mark.parametrize("kind", ["population", "folder of hierarchies", "hierarchy", "link"])
def test_no_input_is_overwritten(folder: Path, place: str, kind: str) -> None:
    tree = folder / "trees" / "city.csv"
    settings: dict[str, Any] = {
        "population": {"population": folder / "population.csv", "models": ("k-map:3",)},
        "folder of hierarchies": {"hierarchies": folder / "trees"},
        "hierarchy": {"hierarchies": {"city": str(tree)}},
        "link": {"hierarchies": {"city": str(tree)}},
    }[kind]
    target = folder / "population.csv" if kind == "population" else tree
    if kind == "link":
        (folder / "link.csv").symlink_to(target)
        target = folder / "link.csv"
    before = target.read_bytes()
    assert reasons_of(job(folder, **{**settings, place: target})) == {None: "output-is-input"}
    with pytest.raises(InputError):
        shoal.run(job(folder, **{**settings, place: target}))
    assert target.read_bytes() == before


def test_a_release_may_lie_beside_the_hierarchies(folder: Path) -> None:
    made = job(folder, hierarchies=folder / "trees", output=folder / "trees" / "release.csv")
    for _ in range(2):  # the second time it is there already
        shoal.run(made)
    assert pl.read_csv(folder / "trees" / "release.csv").height == 120


@pytest.mark.parametrize("name", ["out.json", "out", "out.parquet.gz"])
def test_an_unknown_format_is_told_with_all_other_problems(folder: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        check(job(folder, output=folder / "nowhere" / name, quasi=("agee",)))
    assert set(caught.value.reasons) == {"unknown-format", "no-such-folder", "unknown-column"}
    assert f"'{folder / 'nowhere' / name}': " in str(caught.value)
    assert "is not a supported format" in str(caught.value)


def test_places_that_cannot_be(folder: Path) -> None:
    for name in ("a\0b.csv", "x" * 300 + ".csv"):
        assert set(reasons_of(job(folder, output=folder / name)).values()) == {"not-writable"}


def test_two_outputs_in_one_place(folder: Path) -> None:
    (folder / "out.csv").write_text("older")
    (folder / "other.html").hardlink_to(folder / "out.csv")
    assert reasons_of(job(folder, report=folder / "trees" / ".." / "out.csv")) == {None: "same-output"}
    assert reasons_of(job(folder, report=folder / "other.html")) == {None: "same-output"}


@pytest.mark.parametrize(
    ("models", "k"),
    [
        (["qid:age+city:5"], None),
        (["qid:age+city:5"], 3),
        (["xy-anonymity:city:disease:2"], 3),
        (["confidence:city:disease=flu:0.9"], 3),
    ],
)
def test_a_model_over_a_column_that_is_no_quasi_identifier(people: pl.DataFrame, models: list[str], k: int) -> None:
    assert refused(people, quasi=["age", "sex"], k=k, models=models) == [("city", "not-quasi-identifying")]


def test_a_model_over_a_column_that_is_not_there(people: pl.DataFrame) -> None:
    assert refused(people, quasi=["age", "sex"], models=["qid:age+nothing:5"]) == [("nothing", "unknown-column")]


@pytest.mark.parametrize(
    ("model", "column"),
    [
        ("l-diversity:sex:1.5", "sex"),
        ("xy-anonymity:age:3", "age"),
        ("xy-anonymity:age:sex:2", "sex"),
        ("t-closeness:sex:0.5", "sex"),
        ("k-anonymity:3:age", "age"),
        ("qid:sex:3:age", "age"),
    ],
)
def test_a_model_cannot_look_at_a_quasi_identifier(people: pl.DataFrame, model: str, column: str) -> None:
    assert refused(people, quasi=["age", "sex"], k=3, models=[model]) == [(column, "two-roles")]


@pytest.mark.parametrize("model", ["k-anonymity:3", "l-diversity:disease:1.5"])
@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_who_tells_persons_apart_is_not_released(people: pl.DataFrame, model: str, role: str) -> None:
    settings: dict[str, Any] = {"quasi": ["sex"], "sensitive": []}
    settings[role] = [*settings[role], "age"]
    assert refused(people, person="age", models=[model], **settings) == [("age", "two-roles")]


def test_a_person_may_be_named_as_an_identifier_too(people: pl.DataFrame) -> None:
    made = shoal.anonymize(
        people, keep_rest=True, algorithm="mondrian", quasi=["age"], k=3, person="code", identifiers=["code"]
    )
    assert "code" not in made.release.columns


def test_an_order_that_names_a_value_twice(people: pl.DataFrame) -> None:
    order = ("SECRET-A", "SECRET-B", "SECRET-C", "SECRET-A")
    for roles in ({"quasi": ["age", "city"]}, {"quasi": ["age"], "sensitive": ["city"]}):
        assert refused(people, k=3, orders={"city": order}, **roles) == [("city", "repeated-in-order")]
        found = refused(people, k=3, orders={"city": order}, person="nobody", **roles)
        assert set(found) == {("nobody", "unknown-column"), ("city", "repeated-in-order")}


def test_a_population_is_named_exactly_when_it_is_needed(folder: Path) -> None:
    assert reasons_of(job(folder, models=("k-map:3",))) == {None: "missing-population"}
    assert reasons_of(job(folder, population=folder / "population.csv")) == {None: "unused-population"}


def test_what_is_wrong_with_a_population_is_told_with_all_else(folder: Path, people: pl.DataFrame) -> None:
    settings: dict[str, Any] = {"models": ("k-map:3",), "orders": {"sex": ("m", "f", "m")}}
    found = reasons_of(job(folder, population=folder / "nowhere.csv", **settings))
    assert found == {None: "no-such-file", "sex": "repeated-in-order"}
    people.drop("sex").with_columns(age=pl.lit(b"\xffSECRET")).write_parquet(folder / "odd.parquet")
    found = reasons_of(job(folder, population=folder / "odd.parquet", models=("k-map:3",)))
    assert found == {"sex": "missing-column", "age": "unknown-type"}


def test_all_that_models_lack_is_told_at_once(people: pl.DataFrame) -> None:
    models = ["alpha-k:disease=SECRET:0.5", "t-closeness:disease:0.3:hierarchical", "t-closeness:city:0.3:ordered"]
    found = refused(people, quasi=["age", "sex"], k=3, models=models)
    assert found == [("disease", "unknown-value"), ("disease", "missing-hierarchy"), ("city", "unordered-column")]


def test_recodings_that_cannot_act_are_refused(people: pl.DataFrame) -> None:
    assert refused(people, quasi=["age"], k=3, recodings={"disease": "cell-suppression"}) == [
        ("disease", "bad-recoding")
    ]
    for recoding in ("mean", "midpoint"):
        assert refused(people, quasi=["age", "sex"], k=3, recodings={"sex": recoding, "age": recoding}) == [
            ("sex", "bad-recoding")
        ]
        with pytest.raises(InputError) as caught:
            shoal.anonymize(people, keep_rest=True, algorithm="tdr", quasi=["age"], k=3, recoding=recoding)
        assert caught.value.reasons == ("bad-recoding",)


def test_an_order_and_another_scale_contradict_each_other(people: pl.DataFrame) -> None:
    order = ("SECRET-A", "SECRET-B", "SECRET-C")
    for scale in ("category", "integer"):
        assert refused(people, quasi=["city"], k=3, orders={"city": order}, scales={"city": scale}) == [
            ("city", "two-scales")
        ]
    shoal.anonymize(
        people,
        drop_rest=True,
        quasi=["city"],
        k=3,
        orders={"city": order},
        scales={"city": "ordered"},
        algorithm="mondrian",
    )


def test_sets_of_quasi_identifiers_need_classes(people: pl.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(
            people, keep_rest=True, algorithm="nonhomogeneous", quasi=["age", "sex"], models=["qid:age:3", "qid:sex:3"]
        )
    assert caught.value.reasons == ("needs-classes",)


def test_a_setting_that_is_given_twice(people: pl.DataFrame) -> None:
    for settings in ({"parameters": {"effort": "low"}}, {"algorithm": Shoal(effort="low")}):
        with pytest.raises(InputError) as caught:
            shoal.anonymize(people, keep_rest=True, quasi=["age"], k=3, effort="high", **settings)
        assert caught.value.reasons == ("given-twice",)


def test_a_hierarchy_object_with_a_leaf_twice(people: pl.DataFrame) -> None:
    leaves = ("SECRET-A", "SECRET-B", "SECRET-C", "SECRET-A")
    tree = shoal.Hierarchy(leaves, (*leaves, "*"), np.array([[0, 1, 2, 3], [4, 4, 4, 4]], dtype=np.int32))
    assert refused(people, quasi=["city"], k=3, hierarchies={"city": tree}) == [("city", "duplicate-leaf")]


ODD = {
    "duration": pl.Series([dt.timedelta(days=number % 7) for number in range(120)]),
    "list": pl.Series([[number, 2] for number in range(120)]),
    "structure": pl.Series([{"a": number} for number in range(120)]),
    "bytes": pl.Series([b"\xffSECRET"] * 120),
    "array": pl.Series([[1, 2]] * 120, dtype=pl.Array(pl.Int64, 2)),
    "list of categories": pl.Series([["SECRET"]] * 120, dtype=pl.List(pl.Enum(["SECRET"]))),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_column_of_an_odd_type_is_kept_or_refused(people: pl.DataFrame, folder: Path, kind: str) -> None:
    frame = people.with_columns(ODD[kind].alias("odd"))
    made = shoal.anonymize(frame, keep_rest=True, allow="odd", algorithm="mondrian", quasi=["age", "sex"], k=3)
    assert made.release["odd"].equals(frame["odd"])
    without = shoal.anonymize(people, keep_rest=True, algorithm="mondrian", quasi=["age", "sex"], k=3)
    assert made.release.drop("odd").equals(without.release)
    roles: list[dict[str, Any]] = [
        {"quasi": ["age", "odd"]},
        {"quasi": ["age"], "sensitive": ["odd"]},
        {"quasi": ["age"], "person": "odd"},
        {"quasi": ["age"], "class_column": "odd"},
        {"quasi": ["age"], "models": ["distinct-l:odd:2"]},
    ]
    for settings in roles:
        assert refused(frame, k=3, **settings) == [("odd", "unknown-type")]
    assert refused(frame, k=3, quasi=["age"], keep=["odd"], allow=["odd"], output=folder / "out.csv") == [
        ("odd", "not-for-csv")
    ]
    shoal.anonymize(
        frame, keep_rest=True, algorithm="mondrian", k=3, quasi=["age"], identifiers=["odd"], output=folder / "out.csv"
    )
    shoal.anonymize(
        frame, keep_rest=True, allow="odd", algorithm="mondrian", k=3, quasi=["age"], output=folder / "out.parquet"
    )
    written = pl.read_parquet(folder / "out.parquet")["odd"]  # sorted by the released values, so in another order
    assert sorted(map(repr, written.to_list())) == sorted(map(repr, frame["odd"].to_list()))


def test_odd_types_of_pandas_come_back_as_they_were(people: pl.DataFrame) -> None:
    frame = people.to_pandas().assign(
        wait=pd.to_timedelta(range(120), unit="D"),
        month=pd.period_range("2020-01", periods=120, freq="M"),
        span=pd.interval_range(0, 120),
    )
    odd = ["wait", "month", "span"]
    made = shoal.anonymize(frame, keep_rest=True, allow=odd, algorithm="mondrian", quasi=["age", "sex"], k=3)
    pd.testing.assert_frame_equal(made.release[["wait", "month", "span"]], frame[["wait", "month", "span"]])


@pytest.mark.parametrize("distance", ["", ":ordered", ":hierarchical"])
def test_a_number_with_a_hierarchy_has_all_distances(people: pl.DataFrame, distance: str) -> None:
    # Leaves that do not occur, in an order that is not that of the numbers.
    rows = [[str(code), "odd" if code % 2 else "even", "*"] for code in range(12, 0, -1)]
    frame = people.with_columns(pl.when(pl.col("age") < 57).then("code").alias("code"))
    settings: dict[str, Any] = {"quasi": ["age", "sex"], "k": 3, "models": [f"t-closeness:code:0.25{distance}"]}
    made = shoal.anonymize(frame, keep_rest=True, algorithm="mondrian", hierarchies={"code": rows}, **settings)
    assert made.certificate["passed"]
    assert made.certificate["classes"] > 1


def test_a_folder_has_the_hierarchies_of_model_columns_too(folder: Path) -> None:
    model = "t-closeness:disease:0.3:hierarchical"
    made = job(
        folder, hierarchies=folder / "trees", models=(model,), certificate=folder / "c.json", quasi=("age", "sex")
    )
    shoal.run(made)
    asked = Asked(quasi=("age", "sex"), k=3, models=(model,))
    found = verify_file(folder / "out.csv", asked, hierarchies=folder / "trees")
    assert found["passed"]
    again = verify_certified(folder / "out.csv", load_certificate(folder / "c.json"), folder / "trees")
    assert again["passed"]
    assert not again["notes"]
