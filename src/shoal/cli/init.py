"""`shoal init`: a first job file for a table, commented, which can be run as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import print_note, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import Problem


def register(app: typer.Typer) -> None:
    app.command("init", help="Look at a table and write a first job file for it, with a reason for every choice.")(init)


def init(
    data: Annotated[Path, typer.Argument(help=options.DATA_HELP)],
    output: Annotated[Path, typer.Option("-o", "--output", help="where the job file goes")] = Path("job.yaml"),
    k: Annotated[str | None, typer.Option("-k", help=options.K_HELP)] = None,
    person: Annotated[str | None, typer.Option(help=options.PERSON_HELP)] = None,
    scale: Annotated[list[str] | None, typer.Option(help=options.SCALE_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    delimiter: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    encoding: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    quote: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    header: Annotated[bool | None, typer.Option(help=options.HEADER_HELP)] = None,
    rename_duplicates: Annotated[bool, typer.Option("--rename-duplicates", help=options.DUPLICATES_HELP)] = False,
    decimal_comma: Annotated[bool, typer.Option("--decimal-comma", help=options.DECIMAL_COMMA_HELP)] = False,
    force: Annotated[bool, typer.Option("--force", help="overwrite a job file that is there")] = False,
    show: Annotated[bool, typer.Option("--show", help="print the job instead of writing it")] = False,
) -> None:
    load_compiler()
    from shoal.inspection.inspect import inspect_table
    from shoal.job.first_job import suggest_job, write_job
    from shoal.tables.formats.files import read_table

    problems: list[Problem] = []
    csv = {"delimiter": delimiter, "encoding": encoding, "quote": quote, "header": header}
    csv |= {"rename_duplicates": rename_duplicates or None, "decimal_comma": decimal_comma or None}
    settings: dict[str, Any] = {
        "k": options.whole_number(k, "-k", problems, least=2),
        "scales": options.pairs(scale, "--scale", problems),
        "missing": tuple(missing or ()),
        "csv": {name: value for name, value in csv.items() if value is not None},
    }
    if output.exists() and not force and not show:
        problems.append(Problem("output-exists", f"there is already a file '{output}'", hint="--force overwrites it"))
    job = options.checked_job(settings, problems)
    table = read_table(data, job.csv_options())
    found = inspect_table(table.frame, (), job.missing, 1, person, job.scales)
    commas = [name for name, fact in found.facts.items() if fact.decimal_comma]
    if commas:  # read anew, as the job will read it
        marks = tuple(text for fact in found.facts.values() for text in fact.missing_texts)
        csv_read = job.csv.model_copy(update={"decimal_comma": True})
        job = job.model_copy(update={"csv": csv_read, "missing": tuple(dict.fromkeys((*job.missing, *marks)))})
        table = read_table(data, job.csv_options())
        found = inspect_table(table.frame, (), job.missing, 1, person, job.scales)
    first = suggest_job(found, table.frame, job.k)
    if commas:
        first.remarks.append(f"numbers with a decimal comma are published with a point: {', '.join(commas)}")
    if person is not None:
        first.dropped.pop(person, None)
        first.person, first.person_why = person, "you said so"
    first.missing = sorted({*first.missing, *job.missing})
    text = write_job(first, data, output, job.csv, found)
    if show:
        print_text(text)
        return
    from shoal.tables.formats.atomic import atomic_output

    with atomic_output(output) as waiting:
        waiting.write_text(text, encoding="utf-8")
    _tell(first, output)


def _tell(first: Any, output: Path) -> None:
    from shoal.job.first_job import DECIDE

    undecided = [name for name, why in first.dropped.items() if why.startswith(DECIDE)]
    print_text(
        f"written: {output} ({len(first.quasi)} quasi-identifying, {len(first.sensitive)} sensitive, "
        f"{len(first.dropped)} dropped, {len(first.kept)} kept columns; k = {first.k})"
    )
    if undecided:
        print_note(f"decide yourself, they are dropped until then: {', '.join(undecided)}")
    if any(why.startswith(DECIDE) for why in first.quasi.values()):
        print_note("decide yourself: nothing told which columns others may know, so all numbers are taken for such")
    for remark in first.remarks:
        print_note(f"note: {remark}")
    if not first.quasi:
        print_note("no quasi-identifier was found: name them in the job file")
        return
    print_text(f"read it, then: shoal anonymize --job {output}")
