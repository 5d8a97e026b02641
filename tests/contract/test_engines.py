"""The contract of engines: the same job gives the same bytes and the same certificate, whoever holds the records.

Tables are small and pieces tiny, so that every pass has many of them.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.registry import ABILITIES, support_table
from shoal.engines.stream import StreamEngine
from shoal.errors import InputError, RequirementError
from shoal.job.draft import resolve
from shoal.job.engine import settle_engine
from shoal.job.job import Job, memory_bytes
from shoal.pipeline.counted import release_by
from shoal.pipeline.engines import open_stream
from shoal.progress import Watch
from shoal.tables.formats.pieces import PieceSizes

TINY = PieceSizes(rows=37, bytes=700, sample=1, bucket=50)
FORM = {"delimiter": ",", "quote": '"', "header": True}


def people(seed: int, records: int = 260) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {number}" for number in random.integers(0, records // 2, records)],
            "age": pl.Series(random.integers(20, 50, records)).cast(pl.String).replace("33", None),
            "town": random.choice(["A", "B", "C, x", 'D "q"', "?", ""], records).tolist(),
            "job": random.choice(["nurse", "smith", "clerk"], records).tolist(),
            "income": pl.Series(np.round(random.normal(3000, 300, records), 1)).cast(pl.String),
            "illness": random.choice(["flu", "cold", "burn", "rash"], records, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
            "note": [f"two\nlines {number}" for number in range(records)],
        }
    )


JOBS: dict[str, dict[str, Any]] = {
    "k": {"k": 5},
    "means": {"k": 4, "quasi": ("age", "town", "income"), "recodings": {"age": "mean", "income": "midpoint"}},
    "l-diversity": {"k": 4, "models": ("l-diversity:illness:2",)},
    "t-closeness": {"k": 4, "models": ("t-closeness:illness:0.3",)},
    "persons": {"k": 3, "person": "name", "identifiers": ()},
    "suppression": {"k": 8, "suppression_limit": 0.05},
    "suppression and a model": {"k": 4, "suppression_limit": 0.1, "models": ("distinct-l:illness:2",)},
    "label": {"k": 5, "class": "illness", "sensitive": ()},
    "label as objective": {"k": 5, "class": "illness", "sensitive": (), "objective": "class"},
    "sets": {"models": ("qid:age+town:6", "qid:town+job:9")},
    "weights": {"k": 6, "priorities": {"age": 2.0}, "objective": "distortion"},
    "squares": {"k": 5, "quasi": ("age", "income"), "objective": "squares", "recoding": "mean"},
    "cells": {"k": 5, "recoding": "cell-suppression", "missing": ("?",)},
    "input order": {"k": 5, "order": "input"},
    "hierarchy": {
        "k": 5,
        "hierarchies": {"age": {"builder": "ranges", "width": 5, "levels": 3}},
        "recodings": {"age": "nodes"},
    },
}
QUICK = ("k", "l-diversity", "persons", "means", "suppression")


def write_table(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        typed = frame.with_columns(pl.col("age").cast(pl.Int64), pl.col("income").cast(pl.Float64))
        typed.write_parquet(path, row_group_size=50)


def make_job(folder: Path, ending: str, engine: str, **settings: Any) -> Job:
    roles = {"quasi": ("age", "town", "job"), "sensitive": ("illness",), "identifiers": ("name",)}
    settings = {"effort": "low", **roles, "keep_rest": True, "allow": ("note", "income"), **settings}
    settings["allow"] = tuple(name for name in settings["allow"] if name not in settings["quasi"])
    if ending == "csv":
        settings["csv"] = FORM
    return Job.make(
        input=folder / f"in.{ending}",
        output=folder / f"{engine}.{ending}",
        certificate=folder / f"{engine}.json",
        engine=engine,
        **settings,
    )


def streamed(job: Job, most_rows: int | None = None, watch: Watch | None = None) -> shoal.Result:
    """Released by an engine whose pieces are tiny."""
    scratch = Path(job.output).parent / "scratch" if isinstance(job.output, Path) else Path(tempfile.mkdtemp())
    scratch.mkdir(exist_ok=True)
    with open_stream(job, scratch, most_rows, TINY) as engine:
        return release_by(resolve(job), engine, watch or Watch())


@pytest.mark.parametrize(
    ("name", "ending"), [(name, "csv") for name in JOBS] + [(name, "parquet") for name in QUICK], ids=str
)
def test_the_same_bytes_and_the_same_certificate(tmp_path: Path, name: str, ending: str) -> None:
    write_table(people(len(name)), tmp_path / f"in.{ending}")
    whole = shoal.run(make_job(tmp_path, ending, "local", **JOBS[name]))
    found = streamed(make_job(tmp_path, ending, "stream", **JOBS[name]))
    assert (tmp_path / f"stream.{ending}").read_bytes() == (tmp_path / f"local.{ending}").read_bytes()
    assert (tmp_path / "stream.json").read_bytes() == (tmp_path / "local.json").read_bytes()
    assert found.metrics == pytest.approx(whole.metrics, rel=1e-9)
    assert found.risk == whole.risk
    assert found.verification == whole.verification


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_of_files_is_one_table(tmp_path: Path, ending: str) -> None:
    frame = people(7)
    write_table(frame, tmp_path / f"in.{ending}")
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, start in enumerate((0, 90, 91, 200)):
        stop = (90, 91, 200, frame.height)[number]
        write_table(frame[start:stop], folder / f"part-{number}.{ending}")
    (folder / "_SUCCESS").touch()
    shoal.run(make_job(tmp_path, ending, "local", k=5))
    job = make_job(tmp_path, ending, "stream", k=5).model_copy(update={"input": folder})
    assert settle_engine(job.model_copy(update={"engine": "auto"})).engine == "stream"
    streamed(job)
    assert (tmp_path / f"stream.{ending}").read_bytes() == (tmp_path / f"local.{ending}").read_bytes()


def test_auto_decides_by_memory(tmp_path: Path) -> None:
    write_table(people(1), tmp_path / "in.csv")
    write_table(people(1), tmp_path / "in.parquet")
    for ending in ("csv", "parquet"):
        job = make_job(tmp_path, ending, "auto", k=5)
        assert settle_engine(job).engine == "local"
        small = job.model_copy(update={"memory": "20KB"})
        assert settle_engine(small).engine == "stream"
        assert settle_engine(small.model_copy(update={"report": tmp_path / "r.html"})).engine == "local"
        assert settle_engine(small.model_copy(update={"algorithm": "mondrian"})).engine == "local"
    shoal.run(make_job(tmp_path, "csv", "local", k=5))
    shoal.run(make_job(tmp_path, "csv", "stream", k=5))
    assert (tmp_path / "stream.csv").read_bytes() == (tmp_path / "local.csv").read_bytes()


@pytest.mark.parametrize(
    ("settings", "reasons"),
    [
        ({"algorithm": "mondrian", "effort": None}, {"cannot-stream"}),
        ({"report": "report.html"}, {"cannot-stream"}),
        ({"output": None}, {"cannot-stream"}),
        ({"output": "out.arrow"}, {"cannot-stream"}),
        ({"key": "key.csv"}, {"cannot-stream"}),
        ({"quasi": ("age", "twon")}, {"unknown-column"}),
        ({"k": 1}, {"bad-k"}),
    ],
)
def test_what_cannot_be_done_is_told_before_any_work(
    tmp_path: Path, settings: dict[str, Any], reasons: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(people(1), tmp_path / "in.csv")
    monkeypatch.setattr(StreamEngine, "distinct", lambda *_: pytest.fail("records were read"))
    for name in ("report", "output", "key"):
        if settings.get(name):
            settings = {**settings, name: tmp_path / settings[name]}
    base = make_job(tmp_path, "csv", "stream", k=5)
    job = Job.make(**{**base.model_dump(by_alias=True), **settings})
    with pytest.raises(InputError) as caught:
        shoal.run(job)
    assert {problem.reason for problem in caught.value.problems} == reasons
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["in.csv"]


def test_what_the_data_forbid_leaves_no_file(tmp_path: Path) -> None:
    write_table(people(1), tmp_path / "in.csv")
    with pytest.raises(RequirementError):
        shoal.run(make_job(tmp_path, "csv", "stream", k=1000))
    with pytest.raises(RequirementError):
        shoal.run(make_job(tmp_path, "csv", "stream", k=3, models=("distinct-l:illness:9",)))
    for settings in ({"models": ("distinct-l:illness:2",)}, {"recodings": {"age": "mean"}}):
        with pytest.raises(InputError) as caught:
            streamed(make_job(tmp_path, "csv", "stream", k=5, **settings), 20)
        assert [problem.reason for problem in caught.value.problems] == ["too-many-distinct-rows"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["in.csv"]


def test_an_input_that_changes_meanwhile_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(1)
    write_table(frame, tmp_path / "in.csv")
    job = make_job(tmp_path, "csv", "stream", k=5)
    counted = StreamEngine.distinct

    def count_and_change(self: StreamEngine, *given: Any) -> Any:
        found = counted(self, *given)
        write_table(frame.with_columns(pl.lit("99").alias("age")), tmp_path / "in.csv")
        return found

    monkeypatch.setattr(StreamEngine, "distinct", count_and_change)
    with pytest.raises(shoal.errors.InternalError):
        streamed(job)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["in.csv"]


def test_progress_tells_the_share_of_the_table(tmp_path: Path) -> None:
    write_table(people(1), tmp_path / "in.csv")
    seen: list[tuple[str, float]] = []
    job = make_job(tmp_path, "csv", "stream", k=5)
    streamed(job, watch=Watch(lambda progress: seen.append((progress.stage, progress.fraction))))
    for stage in ("read", "write", "verify"):
        shares = [share for name, share in seen if name == stage]
        assert len(shares) > 5
        assert shares == sorted(shares)


def test_a_frame_does_not_stream() -> None:
    with pytest.raises(InputError):
        shoal.pipeline.run.run_frame(Job.make(quasi=("age",), k=5, engine="stream"), people(1))


def test_the_support_table_is_in_the_docs() -> None:
    page = Path(__file__).parents[2] / "docs" / "scale.md"
    assert support_table() in page.read_text(encoding="utf-8")
    assert set(ABILITIES) <= {"local", "stream", "spark"}


@pytest.mark.parametrize(
    ("text", "found"), [("4GB", 4 * 2**30), ("500 MB", 500 * 2**20), ("1.5g", 3 * 2**29), ("77", 77), ("many", None)]
)
def test_amounts_of_memory(text: str, found: int | None) -> None:
    assert memory_bytes(text) == found
    if found is None:
        with pytest.raises(InputError):
            Job.make(memory=text)


def test_the_engine_is_no_part_of_the_certificate(tmp_path: Path) -> None:
    write_table(people(1), tmp_path / "in.csv")
    shoal.run(make_job(tmp_path, "csv", "stream", k=5, memory="1GB"))
    assert not {"engine", "memory"} & set(json.loads((tmp_path / "stream.json").read_text())["job"])
