"""Certified releases, checked again: what the release alone tells is checked, and all else is named."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.pipeline.verify_files import verify_certified

RANDOM = np.random.default_rng(1)
TABLE = pl.DataFrame(
    {
        "age": RANDOM.integers(20, 60, 120),
        "city": RANDOM.choice(list("ABCDE"), 120),
        "disease": RANDOM.choice(["flu", "hiv", "cold", "ms"], 120),
    }
)
TREE = {"*": {"west": ["A", "B"], "east": ["C", "D", "E"]}}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return tmp_path / "release.csv"


def made(release: Path, table: pl.DataFrame = TABLE, **settings: Any) -> dict[str, Any]:
    settings = {"quasi": ["age", "city"], "algorithm": "mondrian", **settings}
    return dict(shoal.anonymize(table, keep_rest=True, output=release, **settings).certificate)


def change(release: Path) -> None:
    """The same cells, but not the file that was certified."""
    release.write_bytes(release.read_bytes() + b"20,A,flu\n")


def test_a_release_without_classes_is_told_by_its_hash_alone(release: Path) -> None:
    certificate = made(release, k=3, algorithm="nonhomogeneous")
    found = verify_certified(release, certificate)
    assert (found["passed"], found["same_file"], found["checks"]) == (True, True, [])
    assert "Not checked again, the release has no classes" in found["notes"][0]
    assert found["notes"][0].endswith("k-anonymity:3")
    assert found["notes"][1] == "Nothing but the hash of the file was checked."
    change(release)
    found = verify_certified(release, certificate)
    assert (found["passed"], found["same_file"]) == (False, False)


def test_a_given_order_is_not_in_the_certificate(release: Path) -> None:
    order = {"disease": ("cold", "flu", "ms", "hiv")}
    certificate = made(release, k=3, orders=order, models=["t-closeness:disease:0.4:ordered"])
    found = verify_certified(release, certificate)
    assert found["passed"]
    assert [check["model"] for check in found["checks"]] == ["k-anonymity:3"]
    assert found["notes"] == [
        "Not checked again, the certificate does not hold the order of values: t-closeness:disease:0.4:ordered"
    ]


def test_orders_of_numbers_are_checked_again(release: Path) -> None:
    table = TABLE.with_columns(disease=pl.Series(RANDOM.integers(0, 9, 120)))
    found = verify_certified(release, made(release, table, k=3, models=["t-closeness:disease:0.3:ordered"]))
    assert (found["passed"], len(found["checks"]), found["notes"]) == (True, 2, [])


def test_texts_that_mean_missing_are_given_again(release: Path) -> None:
    texts = [None if n % 6 == 0 else "?" if n % 3 == 0 else text for n, text in enumerate(TABLE["disease"])]
    table = TABLE.with_columns(disease=pl.Series(texts))
    certificate = made(release, table, k=3, models=["t-closeness:disease:0.2"], missing=("?",))
    found = verify_certified(release, certificate)
    assert (found["passed"], len(found["checks"])) == (True, 1)
    assert "--missing" in found["notes"][0]
    found = verify_certified(release, certificate, missing=["?"])
    assert (found["passed"], len(found["checks"]), found["notes"]) == (True, 2, [])


def test_a_named_value_is_checked_again_by_its_digest(release: Path) -> None:
    table = TABLE.with_columns(day=pl.Series([dt.datetime(2020, 1, 1 + number % 3) for number in range(120)]))
    named = r"alpha-k:day=2020-01-01 00\:00\:00.000000:0.4"
    certificate = made(release, table, k=3, models=[named])
    assert 0.33 < certificate["checks"][1]["measured"] <= 0.4
    found = verify_certified(release, certificate)
    assert [check["measured"] for check in found["checks"]] == [c["measured"] for c in certificate["checks"]]
    release.write_text(release.read_text().replace("2020-01-01T", "2020-01-01t"))
    found = verify_certified(release, certificate)
    assert (found["passed"], len(found["checks"])) == (False, 1)
    assert "the release does not have the value" in found["notes"][1]


def test_k_map_needs_the_hierarchies_and_the_population_again(release: Path, tmp_path: Path) -> None:
    people = tmp_path / "population.csv"
    TABLE.write_csv(people)
    settings: dict[str, Any] = {"models": ["k-map:8"], "population": people}
    certificate = made(release, hierarchies={"city": TREE}, **settings)
    found = verify_certified(release, certificate, population=people)
    assert (found["passed"], found["checks"]) == (True, [])
    assert found["notes"][0] == "Not checked again, the release alone does not tell: k-map:8"
    plain = verify_certified(release, made(release, **settings), population=people)
    assert (plain["passed"], len(plain["checks"]), plain["notes"]) == (True, 1, [])
    ordered = verify_certified(release, made(release, orders={"city": tuple("ABCDE")}, **settings), population=people)
    assert (ordered["passed"], ordered["checks"]) == (True, [])
    assert "order of values" in ordered["notes"][0]
