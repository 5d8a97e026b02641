"""A published file is in the order of its own values; its private key tells which row is which."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.evaluation.evaluate import EvaluationOptions
from shoal.pipeline.certificate import INPUT_ORDER
from shoal.pipeline.evaluate_files import EvaluatedFiles, evaluate_files
from shoal.pipeline.row_key import read_key
from shoal.pipeline.row_match import NEEDS_KEY
from shoal.pipeline.verify_files import Asked, verify_file
from shoal.tables.formats.files import read_table

ROLES: dict[str, Any] = {"quasi": ["age", "town"], "sensitive": ["disease"], "k": 5, "algorithm": "mondrian"}


@pytest.fixture
def people(tmp_path: Path) -> pl.DataFrame:
    random = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": np.sort(random.integers(18, 90, 300)),
            "town": [f"town {number}" for number in random.integers(0, 9, 300)],
            "disease": random.choice(["flu", "gout", "none"], 300),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    return frame


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "csv.gz"])
def test_the_file_does_not_show_the_order_of_the_input(people: pl.DataFrame, tmp_path: Path, ending: str) -> None:
    place, key = tmp_path / f"out.{ending}", tmp_path / "key.csv"
    made = shoal.anonymize(people, output=place, key=key, certificate=tmp_path / "c.json", **ROLES)
    published = read_table(place).frame
    assert not published.equals(made.release)
    assert published.equals(published.sort(published.columns))
    assert made.certificate["row_order"] == "released"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    order = read_key(key, people.height)
    assert published[order].cast(made.release.schema).equals(made.release)  # type: ignore[arg-type]


def test_the_same_rows_in_another_order_give_the_same_bytes(people: pl.DataFrame, tmp_path: Path) -> None:
    """With every value frequent enough, nothing has to be grouped, so the grouping is the same."""
    towns = people.select("town", "disease")
    files = []
    for number, frame in enumerate([towns, towns.reverse(), towns.sample(fraction=1.0, shuffle=True, seed=3)]):
        place = tmp_path / f"{number}.csv"
        shoal.anonymize(frame, quasi=["town"], sensitive=["disease"], k=5, algorithm="mondrian", output=place)
        files.append(place.read_bytes())
    assert len(set(files)) == 1


def test_the_order_of_the_input_is_kept_knowingly(people: pl.DataFrame, tmp_path: Path) -> None:
    made = shoal.anonymize(people, output=tmp_path / "out.csv", order="input", **ROLES)
    published = read_table(tmp_path / "out.csv").frame
    assert published["disease"].equals(people["disease"])
    assert made.certificate["row_order"] == "input"
    assert INPUT_ORDER in made.certificate["notes"]
    leak = verify_file(tmp_path / "out.csv", Asked(quasi=("age", "town"), k=5))["row_order"]
    assert leak["leaks"]
    assert leak["attributes"]["age"]["leaks"]
    shoal.anonymize(people, output=tmp_path / "out.csv", **ROLES)
    assert not verify_file(tmp_path / "out.csv", Asked(quasi=("age", "town"), k=5))["row_order"]["leaks"]


@pytest.mark.parametrize("recoding", ["range", "mean"])
def test_evaluate_needs_the_key_for_what_compares_records(people: pl.DataFrame, tmp_path: Path, recoding: str) -> None:
    key = tmp_path / "key.parquet"
    files = EvaluatedFiles(original=tmp_path / "people.csv", release=tmp_path / "out.csv")
    settings = {**ROLES, "recodings": {"age": recoding}}
    made = shoal.anonymize(people, output=files.release, key=key, **settings)
    job = shoal.Job.make(quasi=ROLES["quasi"])
    options = EvaluationOptions(parts=("risk",))
    with_key = evaluate_files(
        replace(files, key=key), job=job, options=EvaluationOptions(parts=("risk",), same_order=True)
    )
    assert with_key.notes == ()
    assert with_key.scores.totals["gcp"] == pytest.approx(made.metrics["gcp"])
    without = evaluate_files(files, job=job, options=options)
    assert without.notes == (NEEDS_KEY,)
    assert without.scores.not_covering == {}
    if recoding == "range":
        assert without.scores.totals["gcp"] == pytest.approx(made.metrics["gcp"])
    assert without.risk["after"]["smallest_class"] == made.certificate["smallest_class"]


def test_a_key_that_does_not_belong_to_it(people: pl.DataFrame, tmp_path: Path) -> None:
    for content in ("input_row,released_row\n1,1\n", "a,b\n1,2\n", "input_row,released_row\n" + "1,1\n" * 300):
        (tmp_path / "key.csv").write_text(content)
        with pytest.raises(InputError) as caught:
            read_key(tmp_path / "key.csv", 300)
        assert caught.value.reasons == ("bad-key",)
    with pytest.raises(InputError) as caught:
        shoal.anonymize(people, key=tmp_path / "k.csv", **ROLES)
    assert caught.value.reasons == ("key-without-output",)
