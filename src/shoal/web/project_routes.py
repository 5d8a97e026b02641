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
from shoal.web.series import keep_job
from shoal.web.settings import make_job
from shoal.web.tables import add_beside, from_database, from_file, from_sample, from_upload, newer_version
from shoal.web.worker import problems_of
from shoal.web.workspace import Project

QUESTIONS = frozenset({"overview", "rows", "risk", "values", "hierarchy"})


async def choices(request: Request) -> Response:
    """What there is to choose from."""
    bench = bench_of(request)
    user = request.scope["user"] if bench.users is not None else None
    sources = {"folders": bench.places.names(), "databases": bench.databases.names()}
    return told({**catalogue(), "upload_limit": bench.upload_limit, **sources, "user": user})


async def folder(request: Request) -> Response:
    below = request.query_params.get("below", "")
    return told({"entries": bench_of(request).places.entries(request.path_params["number"], below)})


async def database(request: Request) -> Response:
    """The tables of a database."""
    bench, number = bench_of(request), request.path_params["number"]
    return told({"tables": await asyncio.to_thread(bench.databases.tables, number)})


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
        return told(made.shown(), 201)
    given = wanted.get("number")
    number = given if isinstance(given, int) else -1
    if wanted.get("kind") == "database":
        address = bench.databases.table(number, str(wanted.get("table", "")), str(wanted.get("key", "")))
        made = from_database(bench.workspace, user, address)
    else:
        made = from_file(bench.workspace, user, bench.places.table(number, str(wanted.get("below", ""))))
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


async def replaced(request: Request) -> Response:
    """A newer version of the table."""
    project, bench = project_of(request), bench_of(request)
    length = request.headers.get("content-length", "")
    announced = int(length) if length.isdigit() else 0
    await newer_version(project, request.query_params.get("name", ""), request.stream(), announced, bench.upload_limit)
    await bench.tables.close(project.folder)
    keep_job(project)
    return told(project.shown(), 201)


async def added(request: Request) -> Response:
    """A further table of a project."""
    project, bench = project_of(request), bench_of(request)
    length = request.headers.get("content-length", "")
    await add_beside(
        project,
        request.path_params["kind"],
        request.query_params.get("name", ""),
        request.stream(),
        int(length) if length.isdigit() else 0,
        bench.upload_limit,
    )
    return told(project.shown(), 201)


async def taken_away(request: Request) -> Response:
    project = project_of(request)
    for path in project.beside(request.path_params["kind"]):
        if path.name == request.query_params.get("name", ""):
            path.unlink()
    return told(project.shown())


async def show_project(request: Request) -> Response:
    project = project_of(request)
    return told({**project.shown(), "history": project.history()})


async def change_project(request: Request) -> Response:
    project, wanted = project_of(request), await body_of(request)
    changes: dict[str, Any] = {}
    if "name" in wanted:
        changes["name"] = str(wanted["name"])[:120]
    if "settings" in wanted:
        changes["settings"] = settings_of(wanted, {})
    project.change(**changes)
    keep_job(project)
    return told({})


async def history(request: Request) -> Response:
    """The settings that can be gone back to, kept so that a page that is loaded again still can."""
    project, wanted = project_of(request), await body_of(request)
    steps: dict[str, Any] = {name: wanted.get(name) for name in ("past", "future")}
    if not all(isinstance(one, list) and all(isinstance(step, dict) for step in one) for one in steps.values()):
        raise HTTPException(400)
    project.keep_history(steps)
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
        job = make_job(settings, project.table, None, project.population)
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
    path = project_of(request).kept_table
    return FileResponse(path, filename=path.name, content_disposition_type="attachment")


ROUTES = [
    Route("/api/catalogue", choices),
    Route("/api/folders/{number:int}", folder),
    Route("/api/databases/{number:int}", database),
    Route("/api/projects", all_projects),
    Route("/api/projects", new_project, methods=["POST"]),
    Route("/api/upload", uploaded, methods=["PUT"]),
    Route("/api/projects/{project}", show_project),
    Route("/api/projects/{project}", change_project, methods=["PUT"]),
    Route("/api/projects/{project}", delete_project, methods=["DELETE"]),
    Route("/api/projects/{project}/history", history, methods=["PUT"]),
    Route("/api/projects/{project}/beside/{kind}", added, methods=["PUT"]),
    Route("/api/projects/{project}/beside/{kind}", taken_away, methods=["DELETE"]),
    Route("/api/projects/{project}/ask", ask, methods=["POST"]),
    Route("/api/projects/{project}/check", check, methods=["POST"]),
    Route("/api/projects/{project}/events", events),
    Route("/api/projects/{project}/table", table),
    Route("/api/projects/{project}/table", replaced, methods=["PUT"]),
]
