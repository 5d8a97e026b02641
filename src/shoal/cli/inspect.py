"""`shoal inspect`: what is in a table, which roles its columns might have, and how exposed its people are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import in_words, print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import Problem


def register(app: typer.Typer) -> None:
    app.command("inspect", help="Show columns, suggested roles, uniqueness and the risk of column combinations.")(
        inspect
    )


def inspect(
    data: Annotated[Path, typer.Argument(help=options.DATA_HELP)],
    quasi: Annotated[str | None, typer.Option(help="look at combinations of these columns", metavar="A,B,C")] = None,
    sensitive: Annotated[str | None, typer.Option(help="columns you take for sensitive", metavar="A,B")] = None,
    identifiers: Annotated[str | None, typer.Option(help="columns you take for identifying", metavar="A,B")] = None,
    person: Annotated[str | None, typer.Option(help="column that tells persons apart")] = None,
    scale: Annotated[list[str] | None, typer.Option(help=options.SCALE_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    delimiter: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    encoding: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    quote: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    header: Annotated[bool | None, typer.Option(help=options.HEADER_HELP)] = None,
    rename_duplicates: Annotated[bool, typer.Option("--rename-duplicates", help=options.DUPLICATES_HELP)] = False,
    decimal_comma: Annotated[bool, typer.Option("--decimal-comma", help=options.DECIMAL_COMMA_HELP)] = False,
    size: Annotated[str, typer.Option(help="look at combinations of up to so many columns")] = "3",
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
) -> None:
    load_compiler()
    from shoal.api import inspect as inspect_frame
    from shoal.tables.formats.files import read_table

    problems: list[Problem] = []
    largest = options.whole_number(size, "--size", problems, least=1)
    csv = {"delimiter": delimiter, "encoding": encoding, "quote": quote, "header": header}
    csv |= {"rename_duplicates": rename_duplicates or None, "decimal_comma": decimal_comma or None}
    settings: dict[str, Any] = {
        "scales": options.pairs(scale, "--scale", problems),
        "missing": tuple(missing or ()),
        "csv": {name: value for name, value in csv.items() if value is not None},
    }
    job = options.checked_job(settings, problems)
    table = read_table(data, job.csv_options())
    found = inspect_frame(
        table.frame,
        quasi=options.names(quasi),
        sensitive=options.names(sensitive),
        identifiers=options.names(identifiers),
        missing=job.missing,
        scales=job.scales,
        largest=largest or 3,
        person=person,
    )
    if as_json:
        print_json(found)
        return
    _print_columns(found)
    _print_combinations(found)
    for line in _remarks(found):
        print_text(line)


def _print_columns(found: dict[str, Any]) -> None:
    print_table(
        f"{found['records']:,} records",
        ("column", "scale", "values", "missing", "role", "why"),
        [
            (c["name"], c["scale"], f"{c['distinct']:,}", f"{c['missing']:,}", c["role"], c["why"])
            for c in found["columns"]
        ],
        right=(2, 3),
        whole=(1, 2, 3, 4),
    )


def _print_combinations(found: dict[str, Any]) -> None:
    about = "about " if found["estimated"] else ""
    asked = found["combinations"]
    if asked and not found["telling"]:
        most = max(len(entry["columns"]) for entry in asked)
        what = "a quasi-identifier" if most == 1 else f"a combination of up to {most} quasi-identifiers"
        print_text(f"Nobody stands alone with the values of {what}.\n")
        return
    print_table(
        "Combinations of columns that single people out most"
        + (" (extrapolated from 50,000 records)" if found["estimated"] else "")
        + ("" if found["complete"] else "; the first 400 combinations only"),
        ("columns", "records that stand alone", "share"),
        [(" + ".join(c["columns"]), f"{about}{c['unique']:,}", f"{c['unique_share']:.1%}") for c in found["telling"]],
        right=(1, 2),
    )


def _dependences(found: dict[str, Any]) -> list[str]:
    """Columns that say the same or tell others, a line for each group; identifying ones tell all, and are dropped."""
    lines = [f"{in_words(group)} say the same: give them the same role." for group in found["same_groups"]]
    role = {column["name"]: column["role"] for column in found["columns"]}
    told: dict[str, list[str]] = {}
    for pair in found["settled"]:
        if role[pair["by"]] != "identifying":
            told.setdefault(pair["by"], []).append(pair["column"])
    return lines + [f"'{by}' tells {in_words(columns)}." for by, columns in told.items()]


def _remarks(found: dict[str, Any]) -> list[str]:
    """What a reader should know or do, one line each."""
    lines = _dependences(found)
    texts = sorted({text for column in found["columns"] for text in column["missing_texts"]})
    if texts:
        options_text = " ".join(f"--missing '{text}'" for text in texts)
        lines.append(f"Texts that probably mean 'missing': {options_text}")
    for column in found["columns"]:
        numbers = ", ".join(f"{number:g}" for number in column["missing_numbers"])
        if numbers:
            lines.append(f"'{column['name']}': {numbers} may mean 'missing'; it lies far outside all others.")
    commas = [column["name"] for column in found["columns"] if column["decimal_comma"]]
    if commas:
        lines.append(
            f"Numbers with a decimal comma, taken for words: {', '.join(commas)}. To read them: --decimal-comma"
        )
    if found["person"] is not None:
        column, why = found["person"]["column"], found["person"]["why"]
        lines.append(f"Several records per person? '{column}' has {why}. If so: --person {column}")
    undecided = [column["name"] for column in found["columns"] if column["role"] == "decide yourself"]
    if undecided:
        lines.append(f"Decide yourself: {', '.join(undecided)}. Until then it is safe to drop them.")
    lines.append("Roles are suggestions. Name them with --quasi, --sensitive, --identifiers and --keep.")
    return lines
