"""`shoal import-arx`: a project of ARX as a job with its files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.output import print_note, print_text
from shoal.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    app.command("import-arx", help="Make a job of a project of ARX: data, roles, hierarchies, models.")(import_arx)


def import_arx(
    project: Annotated[Path, typer.Argument(help="the project: a .deid file")],
    output: Annotated[Path, typer.Option("-o", "--output", help="the folder that data, hierarchies and job go to")],
) -> None:
    from shoal.job.arx_project import read_arx_project, write_arx_project

    found = read_arx_project(project)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(Problem("output-exists", f"'{output}' is there already", hint="name a new folder"))
    job = write_arx_project(found, output)
    print_text(
        f"written: {output / 'job.yaml'} ({len(job.quasi)} quasi-identifying, {len(job.sensitive)} sensitive, "
        f"{len(job.identifiers)} identifying columns, {len(found.hierarchies)} hierarchies, {len(job.models)} models)"
    )
    for what in found.left_out:
        print_note(f"not carried over: {what}")
    print_text(f"then: shoal anonymize --job {output / 'job.yaml'}")
