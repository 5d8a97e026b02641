"""Job files: the paths in them lead to the same files, wherever the job is saved and loaded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shoal.job.job import Job

SETTINGS = ("input", "output", "population", "certificate", "report")


def files_of(job: Job) -> list[str]:
    """Every file that a job means, by its real place."""
    named = [getattr(job, name) for name in SETTINGS if getattr(job, name) is not None]
    trees = job.hierarchies
    named += [trees] if isinstance(trees, Path) else [spec for name, spec in trees.items() if name == "zip"]
    return [os.path.realpath(path) for path in named]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "sub" / "deep")
    return tmp_path


@pytest.mark.parametrize("ending", ["yaml", "json"])
@pytest.mark.parametrize("target", ["", "sub", "sub/deep", "elsewhere", "link", "{here}/sub", "{here}/elsewhere"])
def test_saved_paths_lead_to_the_same_files(folder: Path, target: str, ending: str) -> None:
    trees = {"zip": "trees/zip.csv", "age": {"builder": "prefix"}, "sex": "flat"}
    (folder / "sub" / "job.yaml").write_text(
        "input: t.csv\noutput: ../out.csv\nreport: deep/r.html\nhierarchies: {zip: trees/zip.csv, sex: flat}\n"
    )
    jobs = [
        Job.load("sub/job.yaml"),
        Job.load(folder / "sub" / "job.yaml"),
        Job.make(input="t.csv", population="sub/people.csv", certificate="../c.json", hierarchies=trees),
        Job.make(input=folder / "t.csv", output="/nowhere/out.csv", hierarchies="sub/trees"),
        Job.make(input="link/t.csv"),
    ]
    saved = Path(target.format(here=folder)) / f"saved.{ending}"
    for job in jobs:
        job.save(saved)
        again = Job.load(saved)
        assert files_of(again) == files_of(job)
        again.save(saved)
        assert Job.load(saved) == again


def test_a_job_beside_its_files_can_be_moved_with_them(folder: Path) -> None:
    Job.make(input=folder / "sub" / "t.csv", output="sub/out.csv", k=5).save(folder / "sub" / "job.yaml")
    assert (folder / "sub" / "job.yaml").read_text() == "input: t.csv\noutput: out.csv\nk: 5\n"
    Job.make(input=folder / "elsewhere" / "t.csv", k=5).save("sub/job.yaml")
    assert str(folder / "elsewhere" / "t.csv") in (folder / "sub" / "job.yaml").read_text()


def test_names_of_builders_are_no_paths(folder: Path) -> None:
    job = Job.make(hierarchies={"sex": "flat", "zip": {"builder": "prefix"}})
    job.save("sub/job.yaml")
    assert Job.load("sub/job.yaml").hierarchies == {"sex": "flat", "zip": {"builder": "prefix"}}
