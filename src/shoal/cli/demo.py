"""`shoal demo`: the main job on the embedded sample."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    k: Annotated[str, typer.Option("-k", help=options.K_HELP)] = "10",
    patients: Annotated[str, typer.Option(help="how many patients to invent")] = "10000",
    seed: Annotated[str, typer.Option(help="same seed, same table and release")] = "0",
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help=options.QUIET_HELP)] = False,
) -> None:
    load_compiler()
    from shoal.pipeline.run import run
    from shoal.sample.demo import demo_files

    problems: list[Problem] = []
    numbers = {
        "k": options.whole_number(k, "-k", problems, least=2),
        "patients": options.whole_number(patients, "--patients", problems, least=1),
        "seed": options.whole_number(seed, "--seed", problems, least=0),
    }
    if problems:
        raise InputError(problems)
    given = {name: number for name, number in numbers.items() if number is not None}
    if not (quiet or as_json):
        print_note(
            f"{given['patients']:,} patients are invented for {folder / 'patients.csv'}; the first run on a machine "
            "compiles for a while."
        )
    with _folder(folder), demo_files(folder, **given) as job, ProgressBar(quiet or as_json) as progress:
        result = run(job, progress=progress)
    if as_json:
        print_json({"ok": True, "output": str(job.output), **result.summary()})
    elif not quiet:
        print_result(result, job.output)
        print_text(
            f"certificate: {job.certificate}\nreport: {job.report}\njob, to change and repeat: {folder / 'job.yaml'}"
        )


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """Make a folder; if the block fails, what was made is removed again."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(Problem("not-writable", f"the folder '{folder}' cannot be made")) from None
    try:
        yield
    except BaseException:
        for place in made:
            with suppress(OSError):
                place.rmdir()
        raise
