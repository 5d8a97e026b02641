"""`shoal demo`: the main job on the embedded sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.anonymize import print_result
from shoal.cli.output import ProgressBar, print_json, print_note, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    app.command("demo", help="Anonymize the embedded sample of a hospital: release, certificate and report.")(demo)


def demo(
    folder: Annotated[Path, typer.Option("-o", "--output", help="the folder to write into")] = Path("shoal-demo"),
    k: Annotated[str, typer.Option("-k", help="smallest number of records that look the same")] = "10",
    patients: Annotated[str, typer.Option(help="how many patients to invent")] = "10000",
    seed: Annotated[str, typer.Option(help="same seed, same table and release")] = "0",
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress, no summary")] = False,
) -> None:
    load_compiler()
    from shoal.pipeline import run
    from shoal.sample.demo import demo_job

    problems: list[Problem] = []
    numbers = [
        options.whole_number(k, "-k", problems),
        options.whole_number(patients, "--patients", problems),
        options.whole_number(seed, "--seed", problems),
    ]
    if numbers[1] is not None and numbers[1] < 1:
        problems.append(Problem("bad-option", "--patients must be at least 1"))
    if problems or None in numbers:
        raise InputError(problems)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(Problem("not-writable", f"the folder '{folder}' cannot be made")) from None
    job = demo_job(folder, k=numbers[0] or 0, patients=numbers[1] or 0, seed=numbers[2] or 0)
    if not (quiet or as_json):
        print_note(
            f"{numbers[1]:,} invented patients are in {job.input}; the first run on a machine compiles for a while."
        )
    with ProgressBar(quiet or as_json) as progress:
        result = run(job, progress=progress)
    if as_json:
        print_json({"ok": True, "output": str(job.output), **result.summary()})
    elif not quiet:
        print_result(result, job.output)
        print_text(
            f"certificate: {job.certificate}\nreport: {job.report}\njob, to change and repeat: {folder / 'job.yaml'}"
        )
