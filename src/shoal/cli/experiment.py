"""`shoal experiment`: a paper's experiment, re-run.

The experiments are part of the source tree, beside the tests: they need the real tables and the packages of the
development set-up, which a user of the library does not. The verb finds them from an editable install or from inside
a checkout, and says so where there are none.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import ProgressBar, print_json, print_note, print_table, print_text
from shoal.errors import InputError, Problem
from shoal.progress import Progress

CATALOGUE = "experiments.catalogue"
STOPPED = 130


def register(app: typer.Typer) -> None:
    app.command("experiment", help="Re-run the experiment of a paper; without a name, list them.")(experiment)


def experiment(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="experiments, or 'all'")] = None,
    data: Annotated[Path | None, typer.Option(help="folder of real tables (or SHOAL_DATA)")] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="folder for results; finished cases there are kept")
    ] = Path("shoal-experiments"),
    quick: Annotated[bool, typer.Option("--quick", help="a part of the cases, to see that it works")] = False,
    full: Annotated[bool, typer.Option("--full", help="all cases of the papers, also those that cost most")] = False,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    catalogue = _catalogue()
    if not names:
        _list(catalogue, as_json)
        return
    if quick and full:
        raise InputError(Problem("bad-option", "--quick and --full cannot be had together"))
    extent = catalogue.Extent("quick" if quick else "full" if full else "usual")
    answers: list[dict[str, Any]] = []
    try:
        for chosen in catalogue.find_experiments(names):
            with ProgressBar(quiet or as_json) as bar:
                progress = _Lines() if not quiet and not sys.stderr.isatty() else bar
                findings = catalogue.run_experiment(chosen, output, data=data, extent=extent, progress=progress)
            answers.append({"name": chosen.name, "page": str(output / f"{chosen.file}.md"), "findings": findings})
            if not as_json:
                _show(chosen, findings, output)
    except KeyboardInterrupt:
        print_note(f"stopped; finished cases are kept in {output}, and the same command goes on from there")
        sys.exit(STOPPED)
    catalogue.join_pages(output, output / "papers.md")
    if as_json:
        print_json({"ok": True, "experiments": [_plain(answer) for answer in answers]})
    else:
        print_text(f"written: {output / 'papers.md'}")


def _catalogue() -> Any:
    """The module that knows the experiments, or an InputError that says where they are."""
    if find_spec("experiments") is None or find_spec(CATALOGUE) is None:
        places = [Path(__file__).resolve().parents[3], *_checkouts(Path.cwd())]
        root = next((place for place in places if (place / "experiments" / "catalogue.py").is_file()), None)
        if root is None:
            message = "the experiments are part of the source tree, not of the installed package"
            hint = "run this inside a checkout of the project (or 'make experiments' there)"
            raise InputError(Problem("no-experiments", message, hint=hint))
        sys.path.insert(0, str(root))
        sys.modules.pop("experiments", None)
    return import_module(CATALOGUE)


def _checkouts(here: Path) -> list[Path]:
    """This folder and those above it, if they are the project's source tree."""
    return [place for place in (here, *here.parents) if (place / "src" / "shoal" / "cli" / "experiment.py").is_file()]


def _list(catalogue: Any, as_json: bool) -> None:
    found = [{"name": one.name, "title": one.title, "tables": one.tables} for one in catalogue.EXPERIMENTS]
    if as_json:
        print_json({"experiments": found})
        return
    print_table(
        "Experiments", ("name", "what", "tables"), [(one["name"], one["title"], one["tables"]) for one in found]
    )


def _show(chosen: Any, findings: list[Any], output: Path) -> None:
    rows = [("yes" if one.holds else "NO", one.claim, one.measured) for one in findings]
    print_table(f"{chosen.name}: {chosen.title}", ("holds", "claim", "measured"), rows)
    print_text(f"written: {output / f'{chosen.file}.md'}")


def _plain(answer: dict[str, Any]) -> dict[str, Any]:
    findings = [{"claim": one.claim, "measured": one.measured, "holds": one.holds} for one in answer["findings"]]
    return {**answer, "findings": findings}


class _Lines:
    """Progress where there is no terminal: a line for every tenth, on standard error."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, event: Progress) -> None:
        part = (event.note or "").partition(":")[0]
        now = f"{part} {int(event.fraction * 10) * 10} %"
        if now != self._last:
            self._last = now
            print_note(f"{event.fraction:4.0%}  {event.note or ''}")
