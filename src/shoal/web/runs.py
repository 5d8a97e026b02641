"""Runs: each a process of its own, waited for in turn, told to the page, kept on the disk.

The state of a run is in its `run.json`. A server that starts finds runs that a killed one left unfinished, and marks
them as lost; finished ones are as they were.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.errors import Problem
from shoal.job.job import Job
from shoal.web.events import Channels
from shoal.web.files import plain, read_json, write_json
from shoal.web.processes import Child
from shoal.web.series import given_out
from shoal.web.settings import make_job, planned_frontier
from shoal.web.turns import Turns
from shoal.web.workspace import Project, Workspace, new_number

UNFINISHED = ("waiting", "running")
MOST_POINTS = 400  # of the curve of the loss that is kept
_LOST = Problem("server-ended", "the server ended while this ran; nothing was written", hint="start it again")
_CRASHED = Problem(
    "process-ended",
    "the process of this run was ended from outside; nothing was written",
    hint="it may have needed more memory than there is",
)


class Runs:
    """All runs that wait or go on."""

    def __init__(self, channels: Channels, at_once: int | None = None) -> None:
        self._channels = channels
        self._turns = Turns(at_once or max(1, (os.cpu_count() or 2) // 2))
        self._children: dict[str, Child] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._cancelled: set[str] = set()

    def start(
        self,
        project: Project,
        settings: dict[str, Any],
        name: str,
        *,
        published: bool = True,
        sweep: dict[str, Any] | None = None,
        frontier: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Begin a run with these settings; a wrong setting is told now. Unpublished: only its numbers are kept.

        A sweep finds out how well clusters survive with other thresholds, a frontier what other k and algorithms cost;
        neither is published, and the frontier waits until nothing else goes on.
        """
        folder = project.runs_folder / new_number()
        before = given_out(project).settings(settings) if published else {}
        job = make_job(settings, project.table, folder if published else None, project.population, before)
        folder.mkdir(mode=0o700)
        job.save(folder / "job.yaml")
        wanted = {"published": published, "sweep": sweep, "frontier": frontier, "settings": settings}
        version = project.read()["source"].get("version", 1)
        state = {"number": folder.name, "name": name, "made": time.time(), "version": version, **wanted, **_begun(job)}
        self._begin(project, folder, state)
        return state

    def fill_frontier(self, project: Project) -> None:
        """Begin the frontier of a project by the settings of its last finished run, or go on with it."""
        runs = project.runs()
        begun = next((run for run in runs if run.get("frontier") is not None), None)
        finished = [run for run in runs if run["published"] and run["state"] == "done"]
        if begun is None and finished:
            settings = finished[-1]["settings"]
            self.start(project, settings, "Frontier", published=False, frontier=planned_frontier(settings))
        elif begun is not None and begun["state"] not in (*UNFINISHED, "done"):
            self._cancelled.discard(begun["number"])
            begun.pop("problems", None)
            self._begin(project, project.run_folder(begun["number"]), {**begun, "state": "waiting"})

    def _begin(self, project: Project, folder: Path, state: dict[str, Any]) -> None:
        self._save(project, folder, state)
        self._tasks[folder.name] = asyncio.create_task(self._carry_out(project, folder, state))

    async def stop(self, number: str, *, best: bool) -> None:
        """End the search with the best so far, or end everything."""
        child = self._children.get(number)
        if best and child is not None:
            await child.send({"order": "best"})
            return
        self._cancelled.add(number)
        if child is not None:
            await child.kill()
        elif number in self._tasks:
            self._tasks[number].cancel()

    async def wait(self, number: str) -> None:
        task = self._tasks.get(number)
        if task is not None:
            with suppress(asyncio.CancelledError):
                await task

    async def close(self) -> None:
        """End every run; they are lost."""
        tasks = list(self._tasks.values())
        for child in list(self._children.values()):
            await child.kill()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, project: Project, folder: Path, state: dict[str, Any]) -> None:
        number, gone = folder.name, _LOST
        try:
            if state.get("frontier") is not None:
                await self._turns.in_background(
                    lambda: self._follow(project, folder, state),
                    lambda: self._save(project, folder, {**state, "state": "waiting"}),
                )
            else:
                async with self._turns.turn():
                    if number not in self._cancelled:
                        await self._follow(project, folder, state)
            gone = _CRASHED
        finally:
            self._tasks.pop(number, None)
            if state["state"] in UNFINISHED and number in self._cancelled:
                state["state"] = "cancelled"
            elif state["state"] in UNFINISHED:
                state.update(state="lost", problems=[gone.as_dict()])
            self._end(project, folder, state)

    def _end(self, project: Project, folder: Path, state: dict[str, Any]) -> None:
        """Keep what became of a run; the first release of a project begins its frontier."""
        if state["state"] != "done":
            _remove_outputs(folder)
        state.pop("progress", None)
        if folder.is_dir():
            self._save(project, folder, state)
            if state["state"] == "done" and state["published"] and project.fills_frontier and not _has_one(project):
                self.fill_frontier(project)

    async def _follow(self, project: Project, folder: Path, state: dict[str, Any]) -> None:
        child = await Child.start("run")
        self._children[folder.name] = child
        try:
            state["state"] = "running"
            self._save(project, folder, state)
            await child.send({"folder": str(folder)})
            async for message in child.messages():
                kind = message.pop("event")
                if kind == "progress":
                    _keep_progress(state, message)
                elif kind == "bound":
                    state["bounds"].append([round(message["seconds"], 2), message["bound"]])
                elif kind == "table":
                    state.update(message)
                elif kind == "point":
                    state["points"].append(message["point"])
                    write_json(folder / "run.json", state)  # a server that is killed keeps it
                else:
                    state.update(message, state=kind)
                    continue  # how it ended is told when it was written down
                self._tell(project, state)
        finally:
            self._children.pop(folder.name, None)
            await child.kill()

    def _save(self, project: Project, folder: Path, state: dict[str, Any]) -> None:
        write_json(folder / "run.json", state)
        self._tell(project, state)

    def _tell(self, project: Project, state: dict[str, Any]) -> None:
        first = state["state"] == "waiting"  # later the page has the settings already
        shown = {key: value for key, value in state.items() if first or key != "settings"}
        self._channels.of(project.number).tell({"kind": "run", "run": plain(shown)})


def _begun(job: Job) -> dict[str, Any]:
    """The state of a run that has not begun."""
    asked = {"algorithm": job.algorithm, "k": job.k, "models": list(job.models), "together_with": len(job.earlier)}
    return {"state": "waiting", **asked, "points": [], "curve": [], "bounds": []}


def _has_one(project: Project) -> bool:
    return any(run.get("frontier") is not None for run in project.runs())


def _keep_progress(state: dict[str, Any], message: dict[str, Any]) -> None:
    state["progress"] = message
    if message.get("loss") is not None:
        state["curve"].append([round(message["seconds"], 2), message["loss"]])
        if len(state["curve"]) > MOST_POINTS:
            state["curve"] = state["curve"][::2]


def _remove_outputs(folder: Path) -> None:
    """What a run that did not end well has left, hidden files included."""
    for path in folder.glob("*") if folder.is_dir() else ():
        if path.name not in ("run.json", "job.yaml"):
            path.unlink(missing_ok=True)


def mark_lost(workspace: Workspace) -> None:
    """At the start: runs that a server left unfinished."""
    for project in workspace.every_project():
        for path in project.runs_folder.glob("*/run.json"):
            state = read_json(path)
            if state["state"] in UNFINISHED:
                _remove_outputs(path.parent)
                state.pop("progress", None)
                write_json(path, {**state, "state": "lost", "problems": [_LOST.as_dict()]})
