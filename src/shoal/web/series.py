"""The series of a project: releases that were given out, in the order of time, and what a next one must hold with."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.job.job import Job
from shoal.pipeline.series import Entry, entry_of, write_series
from shoal.web.files import read_json, write_json
from shoal.web.settings import make_job
from shoal.web.workspace import Project


@dataclass(frozen=True)
class GivenOut:
    """What was given out before, as a job names it."""

    releases: tuple[Path, ...] = ()
    original: Path | None = None  # the table behind the last of them, if it is still there
    names: tuple[str, ...] = ()  # of the runs

    def settings(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """The settings of a job whose release holds together with these."""
        if not self.releases or wanted.get("hold_together") is False:
            return {}
        return {
            "earlier": self.releases,
            "earlier_original": self.original,
            "strategy": wanted.get("strategy") or "keep",
            "setting": wanted.get("setting") or "growing",
            "changing": tuple(wanted.get("changing") or ()),
            "person_key": tuple(wanted.get("person_key") or ()),
        }


def given_out(project: Project) -> GivenOut:
    runs = _runs(project)
    entries = [_entry(project, run) for run in runs]
    last = entries[-1].original() if entries else None
    return GivenOut(tuple(entry.file for entry in entries), last, tuple(run["name"] for run in runs))


def keep_job(project: Project) -> None:
    """Keep the settings of a project as a job beside it, as long as they make one."""
    settings = project.read()["settings"]
    try:
        before = given_out(project).settings(settings)
        make_job(settings, project.table, project.folder, project.population, before).save(project.folder / "job.yaml")
    except ShoalError:
        (project.folder / "job.yaml").unlink(missing_ok=True)


def mark(project: Project, state: dict[str, Any], out: bool) -> None:
    """Note that a release was given out, or that it was not; the file of the series says the same."""
    state.update(given_out=out, given_out_at=time.time() if out else None)
    write_json(project.run_folder(state["number"]) / "run.json", state)
    write(project)
    keep_job(project)


def write(project: Project) -> None:
    """The file of the series as the runs tell it; none, if nothing was given out."""
    entries = [_entry(project, run) for run in _runs(project)]
    if entries:
        write_series(project.series, entries)
    else:
        project.series.unlink(missing_ok=True)


def _runs(project: Project) -> list[dict[str, Any]]:
    """The runs whose releases were given out, the earliest first."""
    found = [run for run in project.runs() if run.get("given_out") is True and run["state"] == "done"]
    return sorted(found, key=lambda run: float(run.get("given_out_at") or run["made"]))


def _entry(project: Project, run: dict[str, Any]) -> Entry:
    folder = project.run_folder(run["number"])
    table = Job.load(folder / "job.yaml").input
    return entry_of(
        next(folder.glob("release.*")),
        table if isinstance(table, Path) else None,
        read_json(folder / "certificate.json"),
    )
