"""`shoal experiment` through a real process, and what its runs share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shoal as package
from shoal.cli.experiment import _catalogue
from shoal.progress import Progress

NAMES = {"koc", "cb", "two-level", "dbca", "tdr", "optimum"}


def test_without_a_name_the_experiments_are_listed(shoal) -> None:
    outcome = shoal("experiment", "--json")
    assert outcome.code == 0, outcome.err
    assert {one["name"] for one in outcome.json["experiments"]} == NAMES
    assert all(name in shoal("experiment").out for name in NAMES)


def test_unknown_names_are_told_at_once(shoal) -> None:
    outcome = shoal("experiment", "nope", "two_level", "kocc", "--json")
    assert outcome.code == 2
    assert [problem["reason"] for problem in outcome.json["problems"]] == ["unknown-experiment"] * 2
    assert "koc" in outcome.json["problems"][1]["hint"]


def test_a_folder_of_tables_that_is_none_is_told(shoal, tmp_path: Path) -> None:
    outcome = shoal("experiment", "koc", "--data", tmp_path, "--json")
    assert outcome.code == 2
    assert outcome.reasons == {"no-data"}
    assert not (tmp_path / "shoal-experiments").exists()


def test_an_experiment_runs_goes_on_where_it_was_and_writes_its_page(shoal, tmp_path: Path) -> None:
    call = ("experiment", "optimum", "--quick", "-o", "results", "--json")
    first = shoal(*call)
    assert first.code == 0, first.err
    findings = first.json["experiments"][0]["findings"]
    assert findings[0]["claim"].startswith("no result is below")
    assert findings[0]["holds"] is True
    page = (tmp_path / "results" / "optimum.md").read_text()
    assert "](optimum.svg)" in page
    assert (tmp_path / "results" / "optimum.svg").read_text().startswith("<svg")
    assert "](optimum_means.csv)" in page
    assert "shoal," in (tmp_path / "results" / "optimum_means.csv").read_text()
    assert "](optimum.md) | small random ones | 2 of 2 |" in (tmp_path / "results" / "papers.md").read_text()
    results = tmp_path / "results" / "optimum.csv"
    lines = results.read_text().splitlines()
    kept = [*lines[:-3], lines[-3].replace(lines[-3].split(",")[4], "123.0")]
    results.write_text("\n".join(kept) + "\n")  # two cases are lacking, and one is marked
    again = shoal(*call)
    assert again.code == 0, again.err
    assert results.read_text().splitlines()[: len(kept)] == kept  # what was there is not run again
    assert len(results.read_text().splitlines()) == len(lines)
    assert "0 of 2 cases" in again.err


def test_an_installed_package_says_where_the_experiments_are(tmp_path: Path) -> None:
    """The package alone, as a wheel installs it, in a folder that is no checkout."""
    place = tmp_path / "installed"
    shutil.copytree(Path(package.__file__).parent, place / "shoal", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "shoal.cli.main", "experiment", "koc"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(place)},
        check=False,
    )
    assert done.returncode == 2
    assert "part of the source tree" in done.stderr


def test_cases_that_are_done_are_left_out_and_progress_is_told(tmp_path: Path) -> None:
    _catalogue()
    from experiments.common import append_row, waiting_cases

    file, told = tmp_path / "some.csv", list[Progress]()
    for done in ("b", "d"):
        append_row(file, {"name": done, "k": 2, "loss": 0.5})
    cases = [(name, 2) for name in "abcd"]
    assert list(waiting_cases(file, ("name", "k"), cases, told.append)) == [("a", 2), ("c", 2)]
    assert [event.fraction for event in told] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(("records", "k"), [(6, 2), (7, 2), (7, 3)])
def test_the_best_loss_is_that_of_all_partitions(records: int, k: int) -> None:
    """Two ways to the optimum: sets of records against every assignment of group numbers."""
    _catalogue()
    from itertools import product

    import numpy as np
    from experiments.census import groups_loss
    from experiments.optimum import best_loss, small_table

    for seed in range(3):
        table = small_table(seed, records)
        found = np.inf
        for numbers in product(range(records // k), repeat=records):
            groups = np.array(numbers, dtype=np.int32)
            sizes = np.bincount(groups)
            if numbers[0] == 0 and sizes.min() >= k:
                found = min(found, groups_loss(table, groups))
        assert best_loss(seed, records, k) == pytest.approx(found)
