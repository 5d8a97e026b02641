"""Start the server: on loopback, with a link that opens one browser, once; elsewhere only with passwords."""

from __future__ import annotations

import hashlib
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import SqlAddress
from shoal.web.app import make_app
from shoal.web.bench import UPLOAD_LIMIT, Bench
from shoal.web.databases import Databases
from shoal.web.files import private_folder
from shoal.web.places import Places
from shoal.web.sessions import Sessions
from shoal.web.tables import from_database, from_file, from_sample
from shoal.web.users import OWNER, Users
from shoal.web.workspace import Workspace

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PORT = 8432


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """What can be said at the start."""

    data: Path | SqlAddress | None = None  # a table to open, or a folder of tables
    folders: tuple[Path, ...] = ()
    databases: tuple[SqlAddress, ...] = ()  # whose tables may be opened
    workspace: Path | None = None  # None: a folder that is deleted at the end
    host: str = LOOPBACK[0]
    port: int | None = None
    names: tuple[str, ...] = ()  # further names by which browsers call this server
    password_file: Path | None = None
    upload_limit: int = UPLOAD_LIMIT
    open_browser: bool = False
    sample: bool = False


def serve(options: ServerOptions) -> None:
    """Serve until interrupted."""
    import uvicorn

    if options.host not in LOOPBACK and options.password_file is None:
        message = f"to be reached at '{options.host}', the workbench needs passwords"
        raise InputError(Problem("no-password-file", message, hint="--password-file FILE"))
    users = Users(options.password_file) if options.password_file is not None else None
    with _place(options.workspace) as folder, _listening(options.host, options.port) as listener:
        bench = _bench(options, folder, users, listener.getsockname()[1])
        _first_project(bench.workspace, options)
        link = _greet(bench)
        if options.open_browser:
            import webbrowser

            webbrowser.open(link)
        settings = uvicorn.Config(
            make_app(bench), log_level="critical", access_log=False, server_header=False, timeout_graceful_shutdown=2
        )
        uvicorn.Server(settings).run(sockets=[listener])


def _bench(options: ServerOptions, folder: Path, users: Users | None, port: int) -> Bench:
    """What is served, and to whom."""
    sessions = Sessions(folder / "sessions.json")
    files = [options.data] if isinstance(options.data, Path) else []
    databases = [options.data] if isinstance(options.data, SqlAddress) else []
    again = f"http://{options.host}:{port}"
    return Bench(
        workspace=Workspace(folder / "projects"),
        sessions=sessions,
        places=Places([*files, *options.folders]),
        databases=Databases([*databases, *options.databases]),
        address=again,
        hosts=_host_headers(options, port),
        cookie=_cookie_name(folder),
        users=users,
        upload_limit=options.upload_limit,
        on_entered=lambda: _say(f"A browser has entered. For another one, once:\n  {_link(again, sessions)}"),
    )


def _greet(bench: Bench) -> str:
    """Say where the workbench is; the link that opens it."""
    start = _link(bench.address, bench.sessions) if bench.users is None else f"{bench.address}/login"
    once = "; it works once" if bench.users is None else ""
    _say(f"The workbench is ready. Open this link{once}:\n  {start}\nCtrl-C ends it.")
    return start


def _say(text: str) -> None:
    print(text, flush=True)


def _link(address: str, sessions: Sessions) -> str:
    return f"{address}/open?token={sessions.new_token()}"


def _host_headers(options: ServerOptions, port: int) -> frozenset[str]:
    """The names that are answered to. A proxy may stand before the server, so further names need no port."""
    own = {*LOOPBACK, options.host} if options.host in LOOPBACK else {options.host, socket.gethostname()}
    return frozenset({*(f"{name}:{port}" for name in (*own, *options.names)), *options.names})


def _first_project(workspace: Workspace, options: ServerOptions) -> None:
    """The table named at the start is opened at once, unless a project has it already."""
    if options.password_file is not None:
        return
    sources = [project.read()["source"] for project in workspace.all(OWNER)]
    if isinstance(options.data, SqlAddress):
        if options.data.table is not None and options.data.text not in [source.get("address") for source in sources]:
            from_database(workspace, OWNER, options.data)
    elif options.data is not None and options.data.is_file():
        path = options.data.resolve()
        if str(path) not in [source.get("path") for source in sources]:
            from_file(workspace, OWNER, path)
    elif options.sample and not workspace.all(OWNER):
        from_sample(workspace, OWNER)


@contextmanager
def _place(workspace: Path | None) -> Iterator[Path]:
    if workspace is not None:
        try:
            private_folder(workspace)
        except OSError:
            raise InputError(Problem("not-writable", f"the folder '{workspace}' cannot be made")) from None
        yield workspace
        return
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _listening(host: str, port: int | None) -> Iterator[socket.socket]:
    """The usual port, or any free one if that is taken; a port that was asked for must be free."""
    plain = host.strip("[]")
    listener = socket.socket(socket.AF_INET6 if ":" in plain else socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            listener.bind((plain, PORT if port is None else port))
        except OSError:
            if port is not None:
                message = f"port {port} of '{host}' cannot be used"
                raise InputError(Problem("port-taken", message, hint="try another")) from None
            listener.bind((plain, 0))
        listener.listen(128)
        yield listener
    finally:
        listener.close()


def _cookie_name(folder: Path) -> str:
    """Cookies do not know ports: each workspace has its own, so that two servers do not take each other's."""
    return "shoal-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
