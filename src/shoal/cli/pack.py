"""`shoal pack`: an evidence pack about a release, for a data protection file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.output import print_text
from shoal.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    app.command("pack", help="Pack job, certificate, reports, hashes and answers for a data protection file.")(pack)


def pack(
    folder: Annotated[Path, typer.Argument(help="the folder with release, certificate, report and job")],
    output: Annotated[Path, typer.Option("-o", "--output", help="where the pack goes")] = Path("evidence.zip"),
    force: Annotated[bool, typer.Option("--force", help="overwrite a pack that is there")] = False,
) -> None:
    from shoal.pipeline.evidence import find_evidence, write_evidence

    if output.exists() and not force:
        raise InputError(Problem("output-exists", f"there is already a file '{output}'", hint="--force overwrites it"))
    names = write_evidence(find_evidence(folder), output)
    print_text(f"written: {output} ({', '.join(names)})")
    print_text("It answers by numbers and is no legal advice.")
