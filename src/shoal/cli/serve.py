"""`shoal serve`: the workbench in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.output import print_text
from shoal.errors import InputError, Problem
from shoal.tables.formats.sql.address import SqlAddress, is_address, parse_address


def register(app: typer.Typer) -> None:
    app.command("serve", help="Open the workbench in the browser, on this machine only.")(serve)


def serve(
    data: Annotated[str | None, typer.Argument(help="a table to open (file or address), or a folder")] = None,
    workspace: Annotated[Path | None, typer.Option(help="folder that keeps projects; else they are deleted")] = None,
    folder: Annotated[list[Path] | None, typer.Option(help="folder whose tables may be opened (repeatable)")] = None,
    database: Annotated[
        list[str] | None, typer.Option(help="database whose tables may be opened, such as postgresql://host/db")
    ] = None,
    port: Annotated[str | None, typer.Option(help="8432 or, if it is taken, a free one, unless given")] = None,
    host: Annotated[str, typer.Option(help="where to listen; other machines only with --password-file")] = "127.0.0.1",
    name: Annotated[list[str] | None, typer.Option(help="a name browsers call this server by (repeatable)")] = None,
    password_file: Annotated[Path | None, typer.Option(help="who may log in; each sees own projects only")] = None,
    add_user: Annotated[str | None, typer.Option(help="add a user to the password file, and end")] = None,
    upload_limit: Annotated[str, typer.Option(help="largest upload, in MB")] = "200",
    sample: Annotated[bool, typer.Option("--sample", help="begin with the embedded sample")] = False,
    browser: Annotated[bool, typer.Option("--open", help="open the browser too")] = False,
) -> None:
    problems: list[Problem] = []
    number = options.whole_number(port, "--port", problems, least=0)
    megabytes = options.whole_number(upload_limit, "--upload-limit", problems, least=1)
    named = _place(data, problems) if data is not None else None
    databases = [found for text in database or () if (found := _database(text, problems)) is not None]
    for path in [*([named] if isinstance(named, Path) else []), *(folder or [])]:
        if not path.exists():
            problems.append(Problem("no-such-file", f"there is no file or folder '{path}'"))
    for library in ("starlette", "uvicorn"):
        if find_spec(library) is None:
            hint = "pip install 'shoal[web]'"
            problems.append(Problem("not-installed", f"the workbench needs {library}", hint=hint))
    if add_user is not None and password_file is None:
        problems.append(Problem("no-password-file", "a user needs a file", hint="--password-file FILE"))
    if problems:
        raise InputError(problems)
    if add_user is not None and password_file is not None:
        _add_user(password_file, add_user)
        return
    from shoal.web.serve import ServerOptions
    from shoal.web.serve import serve as start

    try:
        start(
            ServerOptions(
                data=named,
                folders=tuple(folder or ()),
                databases=tuple(databases),
                workspace=workspace,
                host=host,
                port=number,
                names=tuple(name or ()),
                password_file=password_file,
                upload_limit=(megabytes or 1) << 20,
                open_browser=browser,
                sample=sample,
            )
        )
    except KeyboardInterrupt:  # how a server ends
        print_text("The workbench has ended.")


def _place(text: str, problems: list[Problem]) -> Path | SqlAddress | None:
    """A file, a folder or a table of a database."""
    return _database(text, problems) if is_address(text) else Path(text)


def _database(text: str, problems: list[Problem]) -> SqlAddress | None:
    try:
        return parse_address(text)
    except InputError as error:
        problems += error.problems
        return None


def _add_user(file: Path, name: str) -> None:
    from shoal.web.users import add_user

    add_user(file, name, typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    print_text(f"{name} may log in now.")
