"""Every verdict on counted classes is the one on records, and every type of column passes an engine as it is."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.contract.test_engines import streamed
from tests.contract.test_models import DISEASES, FRAME, QUASI, SPECS

import shoal
from shoal.engines.counting import RowCounter
from shoal.errors import InputError
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.registry import model_names, parse_model
from shoal.verification.check import verify_release
from shoal.verification.reading import Knowledge

STRICTER = {
    "k-anonymity": "k-anonymity:20", "qid": "qid:age+town:40", "xy-anonymity": "xy-anonymity:patient:40",
    "k-map": "k-map:300", "l-diversity": "l-diversity:disease:4", "distinct-l": "distinct-l:disease:4",
    "entropy-l": "entropy-l:disease:3.9", "recursive-cl": "recursive-cl:disease:1,3", "alpha-k": "alpha-k:disease:0.2",
    "confidence": "confidence:age+town:disease=d2:0.05", "p-alpha": "p-alpha:disease:4,1.1",
    "t-closeness": "t-closeness:disease:0.01", "beta-likeness": "beta-likeness:disease:0.01",
    "delta-disclosure": "delta-disclosure:disease:0.01",
}  # fmt: skip


def classes_of_four() -> pl.DataFrame:
    """A release whose classes are told by town and a coarse age."""
    return FRAME.with_columns((pl.col("age") // 30 * 30).alias("age"), pl.lit("*").alias("colour"))


@pytest.mark.parametrize("name", model_names())
def test_a_verdict_on_counted_classes_is_that_on_records(name: str) -> None:
    release = classes_of_four()
    models = [parse_model(spec) for spec in (*SPECS[name], STRICTER[name])]
    trees = {"disease": make_hierarchy(DISEASES, FRAME["disease"], "disease")}
    looked_at = [*QUASI, "disease", "income", "patient"]
    pieces = [release[start : start + 7].select(looked_at) for start in range(0, release.height, 7)]
    counted = RowCounter(dict(release.select(looked_at).schema), looked_at).add_all(pieces).result()
    known = Knowledge(hierarchies=trees, population=FRAME)
    whole = verify_release(release, QUASI, models, known)
    found = verify_release(counted.frame(looked_at), QUASI, models, known, counts=counted.counts)
    assert found == whole
    assert not found.checks[-1].passed  # the stricter one


@pytest.mark.parametrize("name", model_names())
def test_a_model_on_a_stream_gives_the_release_of_a_local_run(name: str, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "in.parquet", row_group_size=40)
    FRAME.write_csv(tmp_path / "population.csv")
    settings: dict[str, Any] = {
        "input": tmp_path / "in.parquet", "quasi": QUASI, "sensitive": ["disease", "income"], "k": 4, "effort": "low",
        "drop_rest": True, "models": SPECS[name], "hierarchies": {"disease": DISEASES},
    }  # fmt: skip
    if name == "k-map":
        settings["population"] = tmp_path / "population.csv"
    paths = {
        engine: {"output": tmp_path / f"{engine}.parquet", "certificate": tmp_path / f"{engine}.json"}
        for engine in ("local", "stream")
    }
    whole = shoal.run(shoal.Job.make(engine="local", **paths["local"], **settings))
    found = streamed(shoal.Job.make(engine="stream", **paths["stream"], **settings))
    assert found.verification == whole.verification
    for kind in ("output", "certificate"):
        assert paths["stream"][kind].read_bytes() == paths["local"][kind].read_bytes()


def typed_people(records: int = 240) -> pl.DataFrame:
    """Columns of every type that a file can hold and that has a counterpart in Spark, with missing cells."""
    random = np.random.default_rng(8)

    def some(values: list[Any], dtype: Any) -> pl.Series:
        chosen = [None if random.random() < 0.05 else values[place] for place in random.integers(0, 12, records)]
        return pl.Series(chosen, dtype=dtype)

    day, moment, instant = date(1990, 1, 1), datetime(2020, 3, 1, 10, tzinfo=UTC), pl.Datetime("us", "UTC")
    micro = timedelta(microseconds=1)
    return pl.DataFrame(
        {
            "born": some([day + timedelta(days=40 * number) for number in range(12)], pl.Date),
            "seen": some([moment + number * (micro + timedelta(hours=1)) for number in range(12)], instant),
            "came": some([datetime(2021, 1, 1 + number, microsecond=7) for number in range(12)], pl.Datetime("us")),
            "paid": some([Decimal(number * 7) / 10 for number in range(12)], pl.Decimal(10, 2)),
            "alive": some([True, False] * 6, pl.Boolean),
            "small": some(list(range(12)), pl.Int16),
            "part": some([number / 8 for number in range(12)], pl.Float32),
            "kept day": some([day + timedelta(days=number) for number in range(12)], pl.Date),
            "kept time": some([moment + number * micro for number in range(12)], instant),
            "kept local": some([datetime(2021, 1, 1, microsecond=number) for number in range(12)], pl.Datetime("us")),
            "kept sum": some([Decimal(number) / 4 for number in range(12)], pl.Decimal(12, 4)),
            "kept truth": some([True, False] * 6, pl.Boolean),
            "kept bytes": some([bytes([number, 0]) for number in range(12)], pl.Binary),
            "kept float": some([0.1 * number for number in range(12)], pl.Float64),
        }
    )  # fmt: skip


TYPED: dict[str, Any] = {
    "quasi": ("born", "seen", "came", "paid", "alive", "small", "part"), "k": 4, "effort": "low", "keep_rest": True,
    "allow": [name for name in typed_people(1).columns if name.startswith("kept")],
}  # fmt: skip


def test_every_type_passes_a_stream_as_it_is(tmp_path: Path) -> None:
    nanoseconds = pl.Series([3 + 10**9 * (number % 5) + number % 2 for number in range(240)])
    frame = typed_people().with_columns(
        nanoseconds.cast(pl.Datetime("ns")).alias("fine"),  # two moments of one microsecond
        pl.Series("kept clock", [time(10, number % 60, 1, number % 2) for number in range(240)]),
        pl.Series("kept length", [timedelta(microseconds=number % 9) for number in range(240)]),
        pl.Series("kept list", [[number % 3, None] for number in range(240)]),
        pl.Series("kept kind", ["a", "b"] * 120, dtype=pl.Categorical),
    )
    frame.write_parquet(tmp_path / "in.parquet", row_group_size=50)
    settings = {**TYPED, "quasi": (*TYPED["quasi"], "fine"), "input": tmp_path / "in.parquet"}
    settings["allow"] = [name for name in frame.columns if name.startswith("kept")]
    for engine, run in (("local", shoal.run), ("stream", streamed)):
        places = {"output": tmp_path / f"{engine}.parquet", "certificate": tmp_path / f"{engine}.json"}
        run(shoal.Job.make(engine=engine, **places, **settings))
    whole, found = (pl.read_parquet(tmp_path / f"{engine}.parquet") for engine in ("local", "stream"))
    assert found.schema == whole.schema
    assert found.equals(whole, null_equal=True)
    certificates = [json.loads((tmp_path / f"{engine}.json").read_text()) for engine in ("local", "stream")]
    assert certificates[0] == certificates[1]


def test_types_that_depend_on_the_whole_table_do_not_stream(tmp_path: Path) -> None:
    kinds = pl.Enum(["a", "b", "c"])
    frame = typed_people(60).with_columns(pl.Series("kind", ["a", "b"] * 30, dtype=kinds))
    frame.write_parquet(tmp_path / "in.parquet")
    job = shoal.Job.make(
        engine="stream", input=tmp_path / "in.parquet", output=tmp_path / "out.parquet", **{**TYPED, "drop_rest": False}
    )
    with pytest.raises(InputError) as refused:
        shoal.run(job)
    assert {(one.reason, one.column) for one in refused.value.problems} >= {("cannot-stream", "kind")}
