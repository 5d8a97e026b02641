"""`shoal verify`: does a released table hold what was asked of it?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.cli.together import print_together
from shoal.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    app.command("verify", help="Check a released table, ours or another tool's. Exit code 0 if it holds, 3 if not.")(
        verify
    )


def verify(
    release: Annotated[Path, typer.Argument(help=options.RELEASE_HELP)],
    quasi: Annotated[str | None, typer.Option(help=options.QUASI_HELP, metavar="A,B,C")] = None,
    k: Annotated[str | None, typer.Option("-k", help=options.K_HELP)] = None,
    person: Annotated[str | None, typer.Option(help=options.PERSON_HELP)] = None,
    sensitive: Annotated[str | None, typer.Option(help=options.SENSITIVE_COLUMNS_HELP, metavar="A,B")] = None,
    model: Annotated[list[str] | None, typer.Option(help=options.MODEL_HELP)] = None,
    certificate: Annotated[Path | None, typer.Option(help="take columns, models and hash from here")] = None,
    signer: Annotated[
        Path | None, typer.Option(help="the public key (PEM) with which the certificate must be signed")
    ] = None,
    hierarchies: Annotated[Path | None, typer.Option(help=options.HIERARCHIES_HELP)] = None,
    population: Annotated[Path | None, typer.Option(help=options.POPULATION_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    suppression_limit: Annotated[str | None, typer.Option(help=options.SUPPRESSION_HELP)] = None,
    before: Annotated[
        list[Path] | None,
        typer.Option("--with", help=options.WITH_HELP),
    ] = None,
    series: Annotated[Path | None, typer.Option(help=options.SERIES_HELP)] = None,
    setting: Annotated[
        str, typer.Option(help="with --with: growing (people came), same (versions of one table), moving (some left)")
    ] = "growing",
    changing: Annotated[str | None, typer.Option(help=options.CHANGING_HELP, metavar="A,B")] = None,
    same_order: Annotated[bool, typer.Option(help="with --with: row i is the same person in all releases")] = False,
    join_key: Annotated[
        str | None, typer.Option(help="with --with: columns by which releases are joined record by record", metavar="A")
    ] = None,
    strict: Annotated[bool, typer.Option(help="with --with: also newcomers who need not exist count")] = False,
    bound: Annotated[
        Path | None, typer.Option(help="a file of prices: is the lower bound one? needs --original", metavar="PRICES")
    ] = None,
    original: Annotated[Path | None, typer.Option(help="the table that the release was made of")] = None,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
) -> int:
    load_compiler()
    from shoal.pipeline.certificate import load_certificate
    from shoal.pipeline.series import releases_before
    from shoal.pipeline.verify_bound import verify_bound
    from shoal.pipeline.verify_files import Asked, verify_certified, verify_file, verify_with
    from shoal.pipeline.verify_together import TogetherOptions, with_together

    problems: list[Problem] = []
    number = options.whole_number(k, "-k", problems)
    limit = options.decimal_number(suppression_limit, "--suppression-limit", problems)
    if (bound is None) != (original is None):
        message = "--bound and --original belong together: prices are checked against the original table"
        problems.append(Problem("bad-option", message, hint="--bound prices.npz --original people.csv"))
    outcome: dict[str, Any]
    told: dict[str, Any] = {}
    certified: list[Mapping[str, Any]] = []
    if certificate is not None:
        given = {
            "--quasi": quasi,
            "-k": k,
            "--person": person,
            "--sensitive": sensitive,
            "--model": model or None,
            "--suppression-limit": suppression_limit,
        }
        problems += _not_with_a_certificate([name for name, value in given.items() if value is not None])
        if problems:
            raise InputError(problems)
        told = load_certificate(certificate)
        outcome = verify_certified(release, told, hierarchies, population, missing or (), signer)
        columns, number = tuple(told["quasi"]), told.get("job", {}).get("k")
    else:
        if signer is not None:
            problems.append(Problem("bad-option", "--signer is about a certificate", hint="name it with --certificate"))
        columns = options.names(quasi)
        wanted = Asked(
            quasi=columns,
            k=number,
            models=tuple(model or ()),
            person=person,
            sensitive=options.names(sensitive),
            suppression_limit=limit or 0.0,
        )
        outcome = verify_file(
            release,
            wanted,
            hierarchies=hierarchies,
            population=population,
            missing=tuple(missing or ()),
            earlier=problems,
        )
    if series is not None:
        if before:
            raise InputError(Problem("bad-option", "give --with or --series, not both"))
        entries = releases_before(series, release)
        before, certified = [entry.file for entry in entries], [entry.certificate for entry in entries]
    if before:
        how = TogetherOptions(
            options.names(sensitive), options.names(changing), setting, same_order, strict, options.names(join_key)
        )
        verdict = verify_with(
            release,
            before,
            quasi=columns,
            k=number,
            models=tuple(model or ()),
            person=person,
            hierarchies=hierarchies,
            missing=tuple(missing or ()),
            certificates=[*certified, told],
            options=how,
        )
        outcome = with_together(outcome, verdict)
    if bound is not None and original is not None:
        asked = {
            "quasi": columns,
            "k": number,
            "models": () if told else tuple(model or ()),
            "hierarchies": hierarchies,
            "missing": tuple(missing or ()),
            "suppression_limit": limit,
        }
        outcome["bound"] = verify_bound(original, bound, options.make_job(None, asked, []), told)
        outcome["passed"] = outcome["passed"] and outcome["bound"]["holds"]
    if as_json:
        print_json({"ok": outcome["passed"], **outcome})
    else:
        _print(outcome)
    return 0 if outcome["passed"] else 3


def _not_with_a_certificate(names: list[str]) -> list[Problem]:
    """What is asked of a certified release stands in its certificate; anything else would not be looked at."""
    hint = "leave it out, or leave out --certificate"
    return [
        Problem("bad-option", f"{name} cannot be given with --certificate, which says what to check", hint=hint)
        for name in names
    ]


def _print_bound(found: dict[str, Any]) -> None:
    if not found["holds"]:
        print_text(f"The lower bound is NOT confirmed: {found['reason']}.")
        return
    smallest = f"groups of at least {found['k']} records"
    print_text(f"Confirmed by the prices: no release with {smallest} loses less than {found['bound']:.4f}.")
    for note in found["notes"]:
        print_text(note)


def _print_row_order(found: dict[str, Any]) -> None:
    leaking = {name: told for name, told in found["attributes"].items() if told["leaks"]}
    if not leaking:
        return
    rows = [
        (name, f"{told['generalized']:,}", f"{told['narrowed']:,}", f"{told['decided']:,}")
        for name, told in leaking.items()
    ]
    heads = ("rows are sorted by", "generalized cells", "narrowed by neighbours", "decided by them")
    print_table("What the order of the rows gives away", heads, rows, right=(1, 2, 3))
    print_text(f"With it, {found['alone']:,} records stand alone. The checks look at cells, not at their order.")


def _print(outcome: dict[str, Any]) -> None:
    rows = [("records", f"{outcome['records']:,}"), ("classes", f"{outcome['classes']:,}")]
    smallest = outcome["smallest_class"]  # None: there is no class, every record is suppressed
    rows.append(("smallest class", "-" if smallest is None else f"{smallest:,}"))
    if outcome["suppressed_records"]:
        rows.append(("suppressed records", f"{outcome['suppressed_records']:,}"))
    print_table("Release", ("", ""), rows, right=(1,))
    print_table(
        "Checks",
        ("requirement", "result", "classes that fail", "smallest of them"),
        [
            (
                check["model"],
                "holds" if check["passed"] else "FAILS",
                f"{check['offending_classes']:,}",
                "-" if check["smallest_offending_class"] is None else str(check["smallest_offending_class"]),
            )
            for check in outcome["checks"]
        ],
        right=(2, 3),
    )
    if "together" in outcome:
        print_together(outcome["together"])
    if "bound" in outcome:
        _print_bound(outcome["bound"])
    _print_row_order(outcome["row_order"])
    for note in outcome.get("notes", []):
        print_text(note)
    if "signature" in outcome:
        print_text(outcome["signature"])
    print_text("The release holds." if outcome["passed"] else "The release does NOT hold.")
