"""Algorithms side by side: what makes two comparisons the same, and what is refused before any run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.algorithms.registry import algorithm_names
from shoal.comparison.compare_algorithms import compare_algorithms, comparison_fingerprint, not_by_classes
from shoal.errors import InputError
from shoal.hierarchies.builders import flat
from shoal.job.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    table = tmp_path / "people.csv"
    table.write_text("age,zip,disease\n" + "".join(f"{20 + n % 9},z{n % 4},d{n % 3}\n" for n in range(36)))
    return Job.make(input=table, quasi=("age", "zip"))


def tree_folder(folder: Path, top: str) -> Path:
    folder.mkdir()
    (folder / "zip.csv").write_text("".join(f"z{n};{top}{n // 2};*\n" for n in range(4)))
    return folder


CHANGES: dict[str, Callable[[Path], dict[str, object]]] = {
    "a model": lambda folder: {"models": ("l-diversity:disease:2",)},
    "another model": lambda folder: {"models": ("l-diversity:disease:3",)},
    "a folder of hierarchies": lambda folder: {"hierarchies": tree_folder(folder / "one", "a")},
    "a folder with other labels": lambda folder: {"hierarchies": tree_folder(folder / "two", "b")},
    "a builder": lambda folder: {"hierarchies": {"zip": {"builder": "prefix"}}},
    "another builder": lambda folder: {"hierarchies": {"zip": {"builder": "flat"}}},
    "a tree": lambda folder: {"hierarchies": {"zip": flat([f"z{n}" for n in range(4)])}},
    "a population": lambda folder: {"population": folder / "people.csv"},
    "priorities": lambda folder: {"priorities": ("zip",)},
}


def test_whatever_decides_the_releases_is_in_the_fingerprint(job: Job, tmp_path: Path) -> None:
    changed = [job.model_copy(update=change(tmp_path)) for change in CHANGES.values()]
    prints = [comparison_fingerprint(one) for one in (job, *changed)]
    assert len(set(prints)) == len(prints)
    assert [comparison_fingerprint(one) for one in (job, *changed)] == prints
    assert comparison_fingerprint(job, usefulness=True) not in prints


def test_the_fingerprint_follows_the_bytes_of_files_not_their_places(job: Job, tmp_path: Path) -> None:
    first, second = tree_folder(tmp_path / "first", "a"), tree_folder(tmp_path / "second", "a")
    one = comparison_fingerprint(job.model_copy(update={"hierarchies": first}))
    assert comparison_fingerprint(job.model_copy(update={"hierarchies": second})) == one
    named = job.model_copy(update={"hierarchies": {"zip": str(first / "zip.csv")}})
    assert comparison_fingerprint(named) == one
    (first / "zip.csv").write_text("".join(f"z{n};c{n % 2};*\n" for n in range(4)))
    assert comparison_fingerprint(job.model_copy(update={"hierarchies": first})) != one
    assert comparison_fingerprint(named) != one


def test_every_problem_is_told_before_any_run(job: Job, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("something else\n")
    with pytest.raises(InputError) as refused:
        compare_algorithms(job, ["mondrain"], [1, 5, -2], results=notes)
    assert sorted(refused.value.reasons) == ["bad-k", "bad-k", "not-results", "unknown-algorithm"]
    assert notes.read_text() == "something else\n"
    with pytest.raises(InputError) as refused:
        compare_algorithms(job, [], [5])
    assert refused.value.reasons == ("no-algorithm",)
    assert job.input is not None
    with pytest.raises(InputError) as refused:
        compare_algorithms(job, ["mondrian"], [5], results=job.input)
    assert refused.value.reasons == ("output-is-input",)


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        ({}, []),
        ({"models": ("k-anonymity:5",)}, []),
        ({"models": ("qid:age:5",)}, ["nonhomogeneous"]),
        ({"models": ("l-diversity:disease:2",)}, ["nonhomogeneous"]),
        ({"person": "age"}, ["nonhomogeneous"]),
        ({"suppression_limit": 0.1}, ["nonhomogeneous"]),
        ({"models": ("no such model",)}, []),
    ],
)
def test_what_needs_classes_leaves_algorithms_without_classes_out(job: Job, settings: dict, left_out: list) -> None:
    assert not_by_classes(job.model_copy(update=settings), algorithm_names()) == left_out
