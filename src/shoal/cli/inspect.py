"""`shoal inspect`: what is in a table, which roles its columns might have, and how exposed its people are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.output import print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    app.command("inspect", help="Show columns, suggested roles, uniqueness and the risk of column combinations.")(
        inspect
    )


def inspect(
    data: Annotated[Path, typer.Argument(help="the table: CSV, Parquet or Arrow")],
    quasi: Annotated[str | None, typer.Option(help="look at these columns only", metavar="A,B,C")] = None,
    person: Annotated[str | None, typer.Option(help="column that tells persons apart")] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    size: Annotated[str, typer.Option(help="look at combinations of up to so many columns")] = "3",
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    load_compiler()
    from shoal.pipeline.inspect_files import inspect_table
    from shoal.tables.formats.csv.options import CsvOptions
    from shoal.tables.formats.files import read_table

    problems: list[Problem] = []
    largest = options.whole_number(size, "--size", problems, least=1)
    if problems:
        raise InputError(problems)
    table = read_table(data, CsvOptions(missing=tuple(missing or ())))
    found = inspect_table(table.frame, options.names(quasi), tuple(missing or ()), largest or 3, person)
    if as_json:
        print_json(found)
        return
    print_table(
        f"{found['records']:,} records",
        ("column", "scale", "distinct", "missing", "suggested role", "why"),
        [
            (c["name"], c["scale"], f"{c['distinct']:,}", f"{c['missing']:,}", c["role"], c["why"])
            for c in found["columns"]
        ],
        right=(2, 3),
    )
    print_table(
        "Combinations of columns that single people out most",
        ("columns", "records that stand alone", "share"),
        [(" + ".join(c["columns"]), f"{c['unique']:,}", f"{c['unique_share']:.1%}") for c in found["combinations"]],
        right=(1, 2),
    )
    print_text("Roles are suggestions; you know your data. Name them with --quasi, --sensitive and --identifiers.")
