"""What all routes share, and the small things that they have in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from shoal.tables.formats.sql.address import address_text
from shoal.web.databases import Databases
from shoal.web.events import Channels
from shoal.web.files import plain
from shoal.web.open_table import stated_by
from shoal.web.places import Places
from shoal.web.processes import TableProcesses
from shoal.web.runs import Runs
from shoal.web.sessions import Sessions
from shoal.web.users import Users
from shoal.web.workspace import Project, Workspace

LARGEST_BODY = 32_000_000  # bytes of what is no upload: settings with their trees, or lines of a hierarchy
UPLOAD_LIMIT = 200 << 20
STATIC = Path(__file__).parent / "static"


@dataclass
class Bench:
    """The workbench: where projects are, who may come in, what may be opened, and what is going on."""

    workspace: Workspace
    sessions: Sessions
    places: Places
    databases: Databases
    address: str  # of this server
    hosts: frozenset[str]
    cookie: str
    users: Users | None = None  # None: whoever has the link
    upload_limit: int = UPLOAD_LIMIT
    on_entered: Callable[[], None] = lambda: None
    tables: TableProcesses = field(default_factory=TableProcesses)
    channels: Channels = field(default_factory=Channels)

    def __post_init__(self) -> None:
        self.runs = Runs(self.channels)

    async def asked(
        self, project: Project, question: dict[str, Any], settings: dict[str, Any] | None = None
    ) -> Response:
        """The answer of the process that has the table of a project, read as these settings state (else those of the
        project)."""
        stated = stated_by(project.read()["settings"] if settings is None else settings)
        question = {**question, "stated": stated}
        answer = await self.tables.ask(project.folder, address_text(project.table), question)
        return told({"problems": answer["problems"]}, 422) if "problems" in answer else told(answer["value"])


def bench_of(request: Request) -> Bench:
    bench: Bench = request.app.state.bench
    return bench


def project_of(request: Request) -> Project:
    """The project that is asked for, if it belongs to who asks."""
    return bench_of(request).workspace.get(request.scope["user"], request.path_params["project"])


def run_folder_of(request: Request) -> Path:
    return project_of(request).run_folder(request.path_params["run"])


def told(value: Any, status: int = 200) -> Response:
    return JSONResponse(plain(value), status)


async def read_body(request: Request, most: int) -> bytes:
    """The body of a request, which may have at most so many bytes: no more is ever held."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        raise HTTPException(413)
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise HTTPException(413)
    return bytes(body)


async def body_of(request: Request) -> dict[str, Any]:
    try:
        content = json.loads(await read_body(request, LARGEST_BODY) or b"{}")
    except ValueError:
        raise HTTPException(400) from None
    if not isinstance(content, dict):
        raise HTTPException(400)
    return content


def settings_of(wanted: dict[str, Any], otherwise: dict[str, Any]) -> dict[str, Any]:
    """The settings of a request. Hierarchies are trees and builders there: a text would name a file of this machine."""
    settings = wanted.get("settings", otherwise)
    trees = settings.get("hierarchies", {}) if isinstance(settings, dict) else None
    if not isinstance(trees, dict) or any(not isinstance(spec, dict | list) for spec in trees.values()):
        raise HTTPException(400)
    return dict(settings)
