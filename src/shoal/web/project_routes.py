"""Projects: where their tables come from, their settings, and what is asked about their tables."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from shoal.errors import ShoalError
from shoal.web.bench import bench_of, body_of, project_of, settings_of, told
from shoal.web.catalogue import catalogue
from shoal.web.files import plain
from shoal.web.settings import make_job
from shoal.web.tables import from_file, from_sample, from_upload
from shoal.web.worker import problems_of
from shoal.web.workspace import NotThereError, Project

QUESTIONS = frozenset({"overview", "rows", "risk", "values", "hierarchy"})


async def choices(request: Request) -> Response:
    """What there is to choose from."""
    bench = bench_of(request)
    user = request.scope["user"] if bench.users is not None else None
    return told({**catalogue(), "upload_limit": bench.upload_limit, "folders": bench.places.names(), "user": user})


async def folder(request: Request) -> Response:
    below = request.query_params.get("below", "")
    return told({"entries": bench_of(request).places.entries(request.path_params["number"], below)})


async def all_projects(request: Request) -> Response:
    projects = bench_of(request).workspace.all(request.scope["user"])
    return told({"projects": [_short(project) for project in projects]})


def _short(project: Project) -> dict[str, Any]:
    content = project.read()
    return {
        "number": project.number,
        "name": content["name"],
        "made": content["made"],
        "table": content["source"]["name"],
        "runs": len(project.runs()),
    }


async def new_project(request: Request) -> Response:
    bench, user, wanted = bench_of(request), request.scope["user"], await body_of(request)
    if wanted.get("kind") == "sample":
        made = await asyncio.to_thread(from_sample, bench.workspace, user)
    else:
        number = wanted.get("number")
        table = bench.places.table(number if isinstance(number, int) else -1, str(wanted.get("below", "")))
        made = from_file(bench.workspace, user, table)
    return told(made.shown(), 201)


async def uploaded(request: Request) -> Response:
    bench = bench_of(request)
    length = request.headers.get("content-length", "")
    made = await from_upload(
        bench.workspace,
        request.scope["user"],
        request.query_params.get("name", ""),
        request.stream(),
        int(length) if length.isdigit() else 0,
        bench.upload_limit,
    )
    return told(made.shown(), 201)


async def show_project(request: Request) -> Response:
    return told(project_of(request).shown())


async def change_project(request: Request) -> Response:
    project, wanted = project_of(request), await body_of(request)
    changes: dict[str, Any] = {}
    if "name" in wanted:
        changes["name"] = str(wanted["name"])[:120]
    if "settings" in wanted:
        changes["settings"] = settings_of(wanted, {})
    project.change(**changes)
    return told({})


async def delete_project(request: Request) -> Response:
    bench, project = bench_of(request), project_of(request)
    for run in project.runs():
        await bench.runs.stop(run["number"], best=False)
        await bench.runs.wait(run["number"])
    await bench.tables.close(project.folder)
    bench.workspace.delete(request.scope["user"], project.number)
    return told({})


async def ask(request: Request) -> Response:
    question = await body_of(request)
    if question.get("ask") not in QUESTIONS:
        raise HTTPException(400)
    if question["ask"] == "hierarchy" and not isinstance(question.get("spec"), dict | list):
        raise HTTPException(400)  # a text would name a file
    return await bench_of(request).asked(project_of(request), question)


async def check(request: Request) -> Response:
    """Whether the settings can be met at all; impossible ones come with the nearest that can."""
    project = project_of(request)
    settings = settings_of(await body_of(request), {})
    try:
        job = make_job(settings, project.table, None)
    except ShoalError as error:
        return told({"problems": problems_of(error), "impossible": False})
    file = project.folder / "check.yaml"
    job.save(file)
    return await bench_of(request).asked(project, {"ask": "check", "job": str(file)})


async def events(request: Request) -> Response:
    project = project_of(request)
    last = request.headers.get("last-event-id", "")
    stream = (
        bench_of(request)
        .channels.of(project.number)
        .listen(int(last) if last.isdigit() else None, lambda: {"runs": plain(project.runs())})
    )
    return StreamingResponse(stream, media_type="text/event-stream")


async def table(request: Request) -> Response:
    """The table itself, if it is kept in the project: so that the job can be run elsewhere."""
    project = project_of(request)
    source = project.read()["source"]
    if source["kind"] == "file":
        raise NotThereError
    return FileResponse(project.table, filename=source["name"], content_disposition_type="attachment")


ROUTES = [
    Route("/api/catalogue", choices),
    Route("/api/folders/{number:int}", folder),
    Route("/api/projects", all_projects),
    Route("/api/projects", new_project, methods=["POST"]),
    Route("/api/upload", uploaded, methods=["PUT"]),
    Route("/api/projects/{project}", show_project),
    Route("/api/projects/{project}", change_project, methods=["PUT"]),
    Route("/api/projects/{project}", delete_project, methods=["DELETE"]),
    Route("/api/projects/{project}/ask", ask, methods=["POST"]),
    Route("/api/projects/{project}/check", check, methods=["POST"]),
    Route("/api/projects/{project}/events", events),
    Route("/api/projects/{project}/table", table),
]
