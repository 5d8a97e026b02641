"""Evaluating files: what is compared record by record needs rows that belong together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.evaluation.evaluate import EvaluationOptions, evaluate_release
from shoal.job.job import Job
from shoal.pipeline.evaluate_files import EvaluatedFiles, changed_columns, evaluate_files


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """A table and itself: its clusters are found again in full, if the rows belong together."""
    random = np.random.default_rng(4)
    frame = pl.DataFrame({"age": random.integers(18, 90, 60), "pay": random.integers(0, 9, 60)})
    original, release = tmp_path / "original.csv", tmp_path / "release.csv"
    frame.write_csv(original)
    frame.write_csv(release)
    return original, release


def clusters_of(original: Path, release: Path, **options: object) -> dict[str, object]:
    chosen = EvaluationOptions(parts=("risk",), **options)
    found = evaluate_files(
        EvaluatedFiles(original=original, release=release), job=Job(quasi=("age", "pay")), options=chosen, clusters=3
    )
    assert found.clusters is not None
    return found.clusters


def test_clusters_are_compared_only_where_rows_belong_together(tables: tuple[Path, Path]) -> None:
    original, release = tables
    assert clusters_of(original, release)["adjusted_rand"] == 1
    assert set(clusters_of(original, release, same_order=False)) == {"skipped"}
    release.write_text("\n".join(release.read_text().splitlines()[:-4]) + "\n")
    assert set(clusters_of(original, release)) == {"skipped"}


def test_rows_in_another_order_are_no_change(tables: tuple[Path, Path]) -> None:
    original = pl.read_csv(tables[0])
    release = original.sort("age").with_columns(pay=pl.col("pay") // 3)
    assert changed_columns(original, release) == ["age", "pay"]
    assert changed_columns(original, release, same_order=False) == ["pay"]


def test_wrong_settings_are_told_together(tables: tuple[Path, Path], tmp_path: Path) -> None:
    options = EvaluationOptions(k=0, seed=-1)
    files = EvaluatedFiles(original=tables[0], release=tables[1], control=tmp_path / "nowhere.csv")
    with pytest.raises(InputError) as refused:
        evaluate_files(files, job=Job(quasi=("age", "age")), options=options, clusters=0)
    assert set(refused.value.reasons) == {"bad-k", "bad-seed", "two-roles", "bad-clusters", "no-such-file"}


def test_seeds_of_any_size_and_a_single_name(tables: tuple[Path, Path]) -> None:
    frame = pl.read_csv(tables[0])
    options = EvaluationOptions(class_column="pay", seed=2**40, parts=("models",))
    found = [evaluate_release(frame, frame, quasi, options) for quasi in ("age", ["age"])]
    assert found[0].quasi == ("age",)
    assert found[0].models == found[1].models
    assert found[0].models is not None
    assert found[0].models["results"]
