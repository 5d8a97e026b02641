"""The workbench as an ASGI application: the guard at the door, the routes behind it, errors in our words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from shoal.errors import InternalError, Problem, ShoalError
from shoal.web import door_routes, project_routes, run_routes
from shoal.web.bench import STATIC, Bench, told
from shoal.web.guard import Guard
from shoal.web.runs import mark_lost
from shoal.web.worker import problems_of
from shoal.web.workspace import NotThereError


def make_app(bench: Bench) -> Starlette:
    routes = [
        Route("/", _page),
        Mount("/static", StaticFiles(directory=STATIC)),
        *door_routes.ROUTES,
        *project_routes.ROUTES,
        *run_routes.ROUTES,
    ]
    guard = Middleware(
        Guard,
        hosts=bench.hosts,
        cookie=bench.cookie,
        sessions=bench.sessions,
        door="/login" if bench.users is not None else None,
    )

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        mark_lost(bench.workspace)
        yield
        await bench.runs.close()
        await bench.tables.close_all()

    handlers: dict[Any, Any] = {
        ShoalError: _known_error,
        NotThereError: _not_there,
        HTTPException: _http_error,
    }
    app = Starlette(routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=life)
    app.state.bench = bench
    return app


async def _page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


async def _known_error(request: Request, error: Exception) -> Response:
    return told({"problems": problems_of(error)}, 500 if isinstance(error, InternalError) else 422)


async def _not_there(request: Request, error: Exception) -> Response:
    return _refused(404, Problem("not-there", "there is no such thing here"))


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _refused(status, Problem(f"http-{status}", "this cannot be answered"))


def _refused(status: int, problem: Problem) -> Response:
    return told({"problems": [problem.as_dict()]}, status)
