"""Comparisons: the grid, resuming, processes, failures, charts."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from shoal.comparison.frontier import Task, compare, comparison_report, frontier_charts, grid
from shoal.errors import InputError, Problem, RequirementError


def plain_run(calls: list[Task], task: Task) -> dict[str, object]:
    calls.append(task)
    if task.k == 50:
        raise RequirementError(Problem("too-few", "there are too few records"))
    return {"gcp": task.k / 100, "highest_risk": 1 / task.k, "average_risk": 0.9 / task.k, "seconds": 0.5}


def test_the_grid_has_every_pair_once() -> None:
    tasks = grid(["a", "b", "a"], [2, 10, 2])
    assert [(task.algorithm, task.k) for task in tasks] == [("a", 10), ("b", 10), ("a", 2), ("b", 2)]


def test_a_comparison_goes_on_where_it_stopped(tmp_path: Path) -> None:
    calls: list[Task] = []
    results = tmp_path / "runs.jsonl"
    run = partial(plain_run, calls)
    tasks = grid(["a", "b"], [2, 10])
    compare(run, tasks[:2], fingerprint="x", results=results)
    with results.open("a") as file:
        file.write('{"algorithm": "b", "k": 2, "se')  # cut off in the middle of a line
    records = compare(run, tasks, fingerprint="x", results=results)
    assert len(calls) == 4
    assert [(record["algorithm"], record["k"]) for record in records] == [(task.algorithm, task.k) for task in tasks]
    assert compare(run, tasks, fingerprint="x", results=results) == records
    assert len(calls) == 4
    compare(run, tasks, fingerprint="another table", results=results)
    assert len(calls) == 8
    for line in results.read_text().splitlines():
        if line.startswith('{"algorithm": "b", "k": 2, "se') and not line.endswith("}"):
            continue
        json.loads(line)


def test_a_failed_task_does_not_stop_the_others(tmp_path: Path) -> None:
    calls: list[Task] = []
    seen = []
    results = tmp_path / "runs.jsonl"
    tasks = grid(["a"], [2, 50])
    records = compare(partial(plain_run, calls), tasks, fingerprint="x", results=results, progress=seen.append)
    assert records[0]["error"][0]["reason"] == "too-few"
    assert records[1]["gcp"] == 0.02
    assert seen[-1].fraction == 1
    compare(partial(plain_run, calls), tasks, fingerprint="x", results=results)
    assert len(calls) == 3  # the failure was tried again
    assert "failed: too-few" in comparison_report(records)


def test_charts_of_the_measures_there_are() -> None:
    records = compare(partial(plain_run, []), grid(["a", "b"], [2, 5]), fingerprint="x")
    titles = [title for title, _, _ in frontier_charts(records)]
    assert titles == ["privacy and usefulness", "loss (GCP)", "average risk", "seconds"]
    page = comparison_report(records)
    assert "Comparison of algorithms" in page


def test_processes_give_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task lives in a module of its own, because the processes have to import it."""
    module = "def measure(task):\n    return {'gcp': len(task.algorithm) / task.k, 'seconds': 0.0}\n"
    (tmp_path / "comparison_task.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    measure = import_module("comparison_task").measure
    tasks = grid(["a", "bb"], [2, 3])
    alone = compare(measure, tasks, fingerprint="x")
    together = compare(measure, tasks, fingerprint="x", processes=2)
    assert alone == together
    assert alone[1]["gcp"] == pytest.approx(2 / 3)


def test_finished_runs_are_added_only_to_a_file_of_finished_runs(tmp_path: Path) -> None:
    calls: list[Task] = []
    for name, content in (("table.csv", b"age,zip\n1,2\n"), ("latin.txt", b'{"a": "\xe9"}\n')):
        (tmp_path / name).write_bytes(content)
    for name, reason in (
        ("table.csv", "not-results"),
        ("latin.txt", "not-results"),
        ("nowhere/runs.jsonl", "no-such-folder"),
        (".", "not-writable"),
    ):
        with pytest.raises(InputError) as refused:
            compare(partial(plain_run, calls), grid(["a"], [2]), fingerprint="x", results=tmp_path / name)
        assert refused.value.reasons == (reason,)
    assert calls == []
    assert (tmp_path / "table.csv").read_bytes() == b"age,zip\n1,2\n"
