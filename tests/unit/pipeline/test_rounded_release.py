"""Ends of released ranges: whole units, in every form of a column, by every engine, and with the bound."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.pipeline.verify_bound import verify_bound
from shoal.released.ranges import parse_ranges
from shoal.tables.schema import Scale


def people(records: int = 300) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    born = [dt.date(1930, 1, 1) + dt.timedelta(int(days)) for days in draw.permutation(29_000)[:records]]
    came = [dt.datetime(2020, 1, 1) + dt.timedelta(seconds=int(s)) for s in draw.permutation(31_000_000)[:records]]
    return pl.DataFrame({"born": born, "came": came, "age": draw.integers(18, 90, records), "w": draw.random(records)})


def released(frame: pl.DataFrame, **settings: Any) -> shoal.Result:
    chosen = {"algorithm": "mondrian", "k": 4, "quasi": list(frame.columns), **settings}
    return shoal.anonymize(frame, **chosen)


@pytest.mark.parametrize("form", ["typed", "text", "day first", "zone"])
def test_birth_dates_and_times_end_at_whole_units_without_a_word(form: str) -> None:
    frame = people().select("born", "came")
    if form == "text":
        frame = frame.with_columns(pl.all().cast(pl.String))
    elif form == "day first":
        frame = frame.with_columns(pl.col("born").dt.strftime("%d.%m.%Y"))
    elif form == "zone":
        frame = frame.with_columns(pl.col("came").dt.replace_time_zone("UTC"))
    result = released(frame)
    assert {name: column["round"] for name, column in result.certificate["columns"].items()} == {
        "born": "quarter",
        "came": "day",
    }
    first = "01." if form == "day first" else "-01, "
    assert all(first in text for text in result.release["born"])
    for name in ("born", "came"):  # every record lies in its range
        ranges = parse_ranges(result.release[name], Scale.DATE)
        days = people()[name].cast(pl.Datetime("us")).to_physical().to_numpy() / 86_400_000_000
        assert (ranges.low <= days).all()
        assert (days <= ranges.high).all()
    assert result.metrics["lonely_ends"] <= 4  # ends that somebody has by chance
    exact = released(frame, round={"born": "exact", "came": "exact"})
    assert exact.metrics["lonely_ends"] > 100
    assert result.metrics["gcp"] - exact.metrics["gcp"] < 0.02  # the stated loss, and the other choice of groups
    assert "round" not in exact.certificate["columns"]["born"]


def test_widths_that_the_job_names_are_kept_in_every_cell() -> None:
    result = released(people(), round={"age": 5, "w": "0.25", "born": "year", "came": "month"})
    ages = parse_ranges(result.release["age"], Scale.INTEGER)
    assert (ages.low % 5 == 0).all()
    assert (ages.high % 5 == 4).all()
    weights = parse_ranges(result.release["w"], Scale.DECIMAL)
    assert (weights.low * 4 % 1 == 0).all()
    assert result.release["born"].str.contains(r"^\[\d{4}-01-01, \d{4}-12-31\]$").all()
    assert result.release["came"].str.contains(r"^\[\d{4}-\d\d-01, \d{4}-\d\d-01\]$").all()
    assert shoal.verify(result.release, quasi=["born", "came", "age", "w"], k=4).passed
    alike = released(pl.DataFrame({"age": [21] * 9}), round={"age": 5}, k=3)
    assert set(alike.release["age"]) == {"[20, 24]"}  # a single value is its unit, too


def test_missing_values_stay_what_they_are() -> None:
    frame = pl.DataFrame({"age": [*range(20, 50), None, None, None, None]})
    result = released(frame, round={"age": 10})
    assert result.release["age"][30:].null_count() + (result.release["age"][30:] == "*").sum() == 4


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_engines_round_alike(tmp_path: Path, ending: str) -> None:
    frame = people(600).with_columns(
        pl.col("born").dt.truncate("1mo")
    )  # some dates are shared, some rows counted twice
    frame = pl.concat([frame, frame.head(200)]).select("born", "age")
    path = tmp_path / f"in.{ending}"
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    made = []
    for engine in ("local", "stream"):
        job = shoal.Job(input=path, output=tmp_path / f"{engine}.{ending}", quasi=("born", "age"), k=5, engine=engine)
        certificate = shoal.run(job.model_copy(update={"effort": "low"})).certificate
        made.append(
            (certificate["columns"], certificate["loss"]["gcp"], (tmp_path / f"{engine}.{ending}").read_bytes())
        )
    assert made[0] == made[1]
    assert made[0][0]["born"]["round"] == "quarter"


def test_the_bound_of_a_rounded_release_is_confirmed(tmp_path: Path) -> None:
    table, prices, place = tmp_path / "in.csv", tmp_path / "prices.npz", tmp_path / "c.json"
    people(200).select("born", "age").write_csv(table)
    job = shoal.Job(
        input=table, output=tmp_path / "out.csv", quasi=("born", "age"), k=5, round={"age": "10"}, prices=prices,
        certificate=place, effort="low",
    )  # fmt: skip
    result = shoal.run(job)
    certificate = json.loads(place.read_text())
    assert certificate["columns"]["age"]["round"] == "10"
    found = verify_bound(table, prices, shoal.Job(quasi=("born", "age"), k=5), certificate)
    assert found["holds"]
    assert 0 < found["bound"] <= result.metrics["gcp"]
    assert not verify_bound(
        table, prices, shoal.Job(quasi=("born", "age"), k=5, round={"born": "exact", "age": "exact"})
    )["holds"]  # nor is it one of ranges that end anywhere


@pytest.mark.parametrize(
    ("rounding", "settings"),
    [
        ({"age": "month"}, {}),
        ({"born": "5"}, {}),
        ({"age": 0.5}, {}),
        ({"age": 5}, {"recodings": {"age": "mean"}}),
        ({"age": 5}, {"keep": ["age"]}),
        ({"age": 5}, {"scales": {"age": "category"}}),
        ({"age": 5}, {"hierarchies": {"age": {"builder": "intervals", "width": 5}}}),
        ({"nobody": 5}, {}),
        ({"w": 5}, {"quasi": ["age", "born"], "keep": ["w"], "allow": ["w"]}),
    ],
)
def test_what_cannot_be_rounded_is_told(rounding: dict[str, Any], settings: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        released(people(60).drop("came"), round=rounding, **settings)
    assert set(caught.value.reasons) & {"bad-rounding", "unknown-column"}
