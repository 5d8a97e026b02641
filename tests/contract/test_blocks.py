"""Tables whose distinct rows do not fit into memory: blocks on the disk, each a table of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.contract.test_engines import TINY, make_job, people, write_table

import shoal
from shoal.encode.block_cuts import RowSample, row_hashes
from shoal.errors import RequirementError
from shoal.job.draft import resolve
from shoal.job.job import Job
from shoal.metrics.score import score
from shoal.pipeline.counted import release_by
from shoal.pipeline.engines import open_stream
from shoal.progress import Watch
from shoal.recode.mapped import load_mapped, save_mapped
from shoal.released.domain import make_domains
from shoal.tables.formats.pieces import PieceSizes
from shoal.tables.schema import Attribute, Role, Scale

JOBS: dict[str, dict[str, Any]] = {
    "k": {"k": 4},
    "input order": {"k": 3, "order": "input"},
    "cells": {"k": 4, "recoding": "cell-suppression", "missing": ("?",)},
    "hierarchy": {"k": 4, "hierarchies": {"age": {"builder": "ranges", "width": 5, "levels": 3}}},
    "weights": {"k": 5, "priorities": {"age": 2.0}, "objective": "distortion"},
}


def in_blocks(job: Job, most_rows: int, sizes: PieceSizes = TINY, watch: Watch | None = None) -> shoal.Result:
    """Released by an engine whose memory holds so many distinct rows."""
    scratch = Path(str(job.output)).parent / f"scratch-{most_rows}-{sizes.rows}"
    scratch.mkdir()
    with open_stream(job, scratch, most_rows, sizes) as engine:
        return release_by(resolve(job), engine, watch or Watch())


@pytest.mark.parametrize(("name", "ending"), [(name, "csv") for name in JOBS] + [("k", "parquet")])
def test_a_release_in_blocks_is_checked_like_any_other(tmp_path: Path, name: str, ending: str) -> None:
    frame = people(5, 900)
    write_table(frame, tmp_path / f"in.{ending}")
    whole = shoal.run(make_job(tmp_path, ending, "local", **JOBS[name]))
    result = in_blocks(make_job(tmp_path, ending, "stream", **JOBS[name]), 60)
    certificate = json.loads((tmp_path / "stream.json").read_text())
    notes = [note for note in certificate["notes"] if "blocks" in note]
    assert len(notes) == 1
    assert int(notes[0].split(" in ")[1].split()[0]) > 2
    assert whole.metrics["gcp"] < result.metrics["gcp"] < 2.5 * whole.metrics["gcp"]  # groups never cross a cut
    assert result.risk["before"] == whole.risk["before"]
    read = pl.read_csv(tmp_path / "stream.csv", infer_schema=False) if ending == "csv" else None
    release = read if read is not None else pl.read_parquet(tmp_path / "stream.parquet")
    if JOBS[name].get("order") == "input":
        assert release["note"].to_list() == frame["note"].to_list()
    # another way: every record has kept its other cells, and its released cells cover what it had
    both = frame.join(release, on="note", suffix=" after", validate="1:1")
    assert both.height == frame.height == release.height
    assert both["illness"].equals(both["illness after"])
    again = both.select(pl.col("note"), *(pl.col(f"{one} after").alias(one) for one in ("age", "town", "job")))
    if ending == "csv" and name in ("k", "input order"):
        for before, after in zip(both["age"].to_list(), again["age"].to_list(), strict=True):
            assert covers(after, before)
    sizes = again.group_by("age", "town", "job").len()["len"]
    assert int(sizes.min()) >= JOBS[name]["k"]  # type: ignore[arg-type]


def covers(released: str | None, value: str | None) -> bool:
    if released is None or value is None or not released.startswith("["):
        return released in (value, "*")
    low, high = released[1:-1].split(", ")
    return int(low) <= int(value) <= int(high)


def test_scores_of_blocks_are_those_of_the_released_table(tmp_path: Path) -> None:
    """The tables read side by side, record by record, lose what the classes alone say."""
    quasi, scales = ("age", "town", "job"), (Scale.INTEGER, Scale.CATEGORY, Scale.CATEGORY)
    write_table(people(8, 700), tmp_path / "in.parquet")
    job = make_job(tmp_path, "parquet", "stream", k=4, order="input")
    result = in_blocks(job, 60)
    original, release = (pl.read_parquet(tmp_path / name) for name in ("in.parquet", "stream.parquet"))
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, scale) for name, scale in zip(quasi, scales, strict=True)]
    found = score(original, release, quasi, make_domains(original, attributes, {}, job.missing), k=4).totals
    for name in ("gcp", "discernibility", "c_avg", "iloss", "exact_cells", "lonely_ends", "precision"):
        assert result.metrics[name] == pytest.approx(found[name], rel=1e-9), name


def test_blocks_do_not_depend_on_memory_pieces_and_the_order_of_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.pipeline.counted_blocks.BLOCK_ROWS", 50)
    frame = people(6, 800).drop("note")
    job = make_job(tmp_path, "csv", "stream", k=4, allow=("income",))
    seen = set()
    for most, sizes, seed in ((60, TINY, None), (90, PieceSizes(rows=500, bytes=9000, sample=1, bucket=300), None),
                              (70, TINY, 4)):  # fmt: skip
        write_table(frame if seed is None else frame.sample(fraction=1.0, shuffle=True, seed=seed), tmp_path / "in.csv")
        in_blocks(job, most, sizes)
        release = pl.read_csv(tmp_path / "stream.csv", infer_schema=False)
        classes = release.group_by("age", "town", "job").len().sort(pl.all())
        seen.add(classes.write_csv())
    assert len(seen) == 1


def test_too_few_records_are_told_in_blocks_too(tmp_path: Path) -> None:
    write_table(people(1, 200), tmp_path / "in.csv")
    with pytest.raises(RequirementError):
        in_blocks(make_job(tmp_path, "csv", "stream", k=300), 30)
    assert not (tmp_path / "stream.csv").exists()


def test_the_sample_is_the_same_for_every_cut_of_a_table() -> None:
    codes = np.random.default_rng(2).integers(0, 9, (4, 5_000)).astype(np.int32)
    one = RowSample(300).add_all([codes])
    parts = np.array_split(np.random.default_rng(3).permutation(5_000), 7)
    two = RowSample(300).add_all(codes[:, places] for places in parts)
    assert one.step == two.step > 1
    assert np.array_equal(one.rows(), two.rows())
    assert one.rows().shape[1] <= 300
    assert (row_hashes(one.rows()) % np.uint64(one.step) == 0).all()


def test_arrays_in_a_file_are_read_where_they_lie(tmp_path: Path) -> None:
    kept = {"a": np.arange(1000), "b": (pl.Series([1, None]), np.zeros(0, dtype=np.int32), "text")}
    save_mapped(kept, tmp_path / "one")
    found = load_mapped(tmp_path / "one")
    assert np.array_equal(found["a"], kept["a"])
    assert not found["a"].flags.owndata
    assert found["b"][0].equals(pl.Series([1, None]))
    with pytest.raises(ValueError, match="read-only"):
        found["a"][0] = 1
