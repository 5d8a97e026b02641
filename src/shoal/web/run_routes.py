"""Runs: start, watch, end, and what they hand out."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.reports.first_page import holders_story
from shoal.reports.story import Grave
from shoal.web import series
from shoal.web.bench import bench_of, body_of, project_of, run_folder_of, settings_of, told
from shoal.web.downloads import download
from shoal.web.files import read_json, write_json
from shoal.web.runs import UNFINISHED
from shoal.web.settings import with_algorithm
from shoal.web.workspace import NotThereError

LONGEST_NAME = 80
MOST_TASKS = 60
MOST_CLUSTERS = 30
LOOKS = frozenset({"rows", "map", "distribution", "clusters", "learning", "together", "beside"})


async def start(request: Request) -> Response:
    project, wanted = project_of(request), await body_of(request)
    settings = settings_of(wanted, project.read()["settings"])
    others = sum(1 for run in project.runs() if run["published"])
    name = str(wanted.get("name") or f"Run {others + 1}")[:LONGEST_NAME]
    return told(bench_of(request).runs.start(project, settings, name), 201)


async def show(request: Request) -> Response:
    """A run with everything that was found out about its release."""
    folder = run_folder_of(request)
    state = read_json(folder / "run.json")
    for part in ("summary", "evaluation"):
        file = folder / f"{part}.json"
        state[part] = read_json(file) if file.is_file() else None
    return told({**state, "story": await asyncio.to_thread(_story, state)})


def _story(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The release in plain words, as the first page of its report has it."""
    certificate = (state["summary"] or {}).get("certificate")
    if certificate is None:
        return []
    return [
        {"title": chapter.title, "sentences": [[text, isinstance(text, Grave)] for text in chapter.sentences]}
        for chapter in holders_story(certificate, state["evaluation"])
    ]


async def note(request: Request) -> Response:
    """Give a run another name, or note that its release was given out."""
    project, folder, wanted = project_of(request), run_folder_of(request), await body_of(request)
    state = read_json(folder / "run.json")
    if state["state"] not in UNFINISHED:  # the process of a run writes its state when it ends
        state["name"] = str(wanted.get("name") or "")[:LONGEST_NAME] or state["name"]
        write_json(folder / "run.json", state)
        if isinstance(wanted.get("given_out"), bool) and state["state"] == "done" and state["published"]:
            series.mark(project, state, wanted["given_out"])
    bench_of(request).channels.of(project.number).tell({"kind": "run", "run": state})
    return told({})


async def delete(request: Request) -> Response:
    bench, folder = bench_of(request), run_folder_of(request)
    await bench.runs.stop(folder.name, best=False)
    await bench.runs.wait(folder.name)
    shutil.rmtree(folder)
    series.write(project_of(request))
    bench.channels.of(project_of(request).number).tell({"kind": "removed", "number": folder.name})
    return told({})


async def stop(request: Request) -> Response:
    bench, folder = bench_of(request), run_folder_of(request)
    best = (await body_of(request)).get("best") is True
    await bench.runs.stop(folder.name, best=best)
    if not best:
        await bench.runs.wait(folder.name)
    return told({})


async def verify(request: Request) -> Response:
    """The check of the written release, once more, by a process that knows nothing of the run."""
    project, folder = project_of(request), run_folder_of(request)
    release = next(iter(folder.glob("release.*")), None)
    if release is None:
        raise NotThereError
    question = {
        "ask": "verify",
        "release": str(release),
        "certificate": str(folder / "certificate.json"),
        "missing": read_json(folder / "run.json")["settings"].get("missing", []),
    }
    return await bench_of(request).asked(project, question)


async def look(request: Request) -> Response:
    """A question about what a run released."""
    project, folder, question = project_of(request), run_folder_of(request), await body_of(request)
    if question.get("at") not in LOOKS:
        raise HTTPException(400)
    if question["at"] == "together":
        question["earlier"] = str(project.run_folder(str(question.get("earlier", ""))))
    if question["at"] == "beside":
        known = [path for path in project.beside("earlier") if path.name == question.get("earlier")]
        release = next(iter(folder.glob("release.*")), None)
        if not known or release is None:
            raise NotThereError
        question.update(earlier=str(known[0]), release=str(release))
    settings = read_json(folder / "run.json")["settings"]
    return await bench_of(request).asked(project, {**question, "ask": "look", "folder": str(folder)}, settings)


async def frontier(request: Request) -> Response:
    """Runs over several k and algorithms, of which only the numbers are kept."""
    project, wanted = project_of(request), await body_of(request)
    settings = settings_of(wanted, project.read()["settings"])
    tasks = [(str(name), k) for name in wanted.get("algorithms", ()) for k in wanted.get("ks", ())]
    if len(tasks) > MOST_TASKS or not all(isinstance(k, int) for _, k in tasks):
        raise HTTPException(400)
    started = [
        bench_of(request).runs.start(project, with_algorithm(settings, name, k), f"{name}, k {k}", published=False)
        for name, k in tasks
    ]
    return told({"started": len(started)}, 201)


async def frontier_by_itself(request: Request) -> Response:
    """Whether the frontier fills by itself: switched off, it stops; switched on again, it goes on."""
    bench, project, wanted = bench_of(request), project_of(request), (await body_of(request)).get("on")
    if not isinstance(wanted, bool):
        raise HTTPException(400)
    project.change(frontier=wanted)
    bench.channels.of(project.number).tell({"kind": "frontier", "on": wanted})
    if wanted:
        bench.runs.fill_frontier(project)
    else:
        for run in project.runs():
            if run.get("frontier") is not None and run["state"] in UNFINISHED:
                await bench.runs.stop(run["number"], best=False)
                await bench.runs.wait(run["number"])
    return told({})


async def sweep(request: Request) -> Response:
    """How well clusters survive, against the threshold."""
    project, wanted = project_of(request), await body_of(request)
    clusters, thresholds = wanted.get("clusters"), wanted.get("thresholds")
    if not isinstance(clusters, int) or not isinstance(thresholds, list) or not 0 < len(thresholds) <= MOST_TASKS:
        raise HTTPException(400)
    if not 2 <= clusters <= MOST_CLUSTERS or not all(isinstance(h, int) and h >= 2 for h in thresholds):
        raise HTTPException(400)
    settings = settings_of(wanted, project.read()["settings"])
    algorithm = str(wanted.get("algorithm", "tdr"))
    settings = with_algorithm(settings, algorithm, min(thresholds))
    name = f"{algorithm}, {clusters} clusters"
    asked = {"clusters": clusters, "thresholds": thresholds}
    return told(bench_of(request).runs.start(project, settings, name, published=False, sweep=asked), 201)


async def file(request: Request) -> Response:
    folder = run_folder_of(request)
    return await asyncio.to_thread(download, project_of(request), folder, request.path_params["name"])


_RUN = "/api/projects/{project}/runs/{run}"
ROUTES = [
    Route("/api/projects/{project}/runs", start, methods=["POST"]),
    Route("/api/projects/{project}/frontier", frontier, methods=["POST"]),
    Route("/api/projects/{project}/frontier", frontier_by_itself, methods=["PUT"]),
    Route("/api/projects/{project}/sweep", sweep, methods=["POST"]),
    Route(_RUN, show),
    Route(_RUN, note, methods=["PUT"]),
    Route(_RUN, delete, methods=["DELETE"]),
    Route(f"{_RUN}/stop", stop, methods=["POST"]),
    Route(f"{_RUN}/verify", verify, methods=["POST"]),
    Route(f"{_RUN}/look", look, methods=["POST"]),
    Route(_RUN + "/files/{name}", file),
]
