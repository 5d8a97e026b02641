"""`shoal m-invariant`: the next release of a table that people leave and enter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.output import print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    help_text = "Release a table that people leave and enter, so that all releases tell no value better than 1/m."
    app.command("m-invariant", help=help_text)(m_invariant)


def m_invariant(
    data: Annotated[Path, typer.Argument(help="the table")],
    output: Annotated[Path, typer.Option("-o", "--output", help="where the release goes")],
    counterfeits: Annotated[Path, typer.Option(help="where it goes how many counterfeits a group has; published")],
    persons: Annotated[Path, typer.Option(help="private: what the next release needs (.parquet)")],
    quasi: Annotated[str, typer.Option(help=options.QUASI_HELP, metavar="A,B,C")],
    sensitive: Annotated[str, typer.Option(help="the sensitive column")],
    person_key: Annotated[str, typer.Option(help="columns that tell persons apart", metavar="A,B")],
    m: Annotated[str, typer.Option("-m", help="different sensitive values in every group, at least")] = "2",
    before: Annotated[Path | None, typer.Option(help="the private file of the last release")] = None,
    hierarchies: Annotated[Path | None, typer.Option(help=options.HIERARCHIES_HELP)] = None,
    seed: Annotated[str, typer.Option(help=options.SEED_HELP)] = "0",
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
) -> None:
    load_compiler()
    from shoal.pipeline.m_invariant import publish_m_invariant

    problems: list[Problem] = []
    values = options.whole_number(m, "-m", problems, least=2)
    number = options.whole_number(seed, "--seed", problems, least=0)
    if problems or values is None or number is None:
        raise InputError(problems)
    made = publish_m_invariant(
        data,
        output,
        counterfeits,
        persons,
        before=before,
        quasi=options.names(quasi),
        sensitive=sensitive,
        person_key=options.names(person_key),
        m=values,
        hierarchies=hierarchies,
        seed=number,
    )
    invented = int(made.counterfeits["counterfeits"].sum())
    groups = int(made.release["group"].n_unique())
    if as_json:
        told = {
            "records": made.release.height,
            "groups": groups,
            "counterfeits": invented,
            "gcp": made.loss,
            "m": values,
        }
        print_json({"ok": True, "output": str(output), **told})
        return
    rows = [
        ("Records", f"{made.release.height:,}"),
        ("of them counterfeits", f"{invented:,}"),
        ("Groups", f"{groups:,}"),
        ("Information lost (GCP, 0 to 1)", f"{made.loss:.4f}"),
    ]
    print_table(f"{values}-invariant release", ("", ""), rows, right=(1,))
    print_text(f"written: {output} and {counterfeits}; keep {persons} private for the next release")
