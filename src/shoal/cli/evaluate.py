"""`shoal evaluate`: loss, risk and usefulness of any release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.losses import print_losses
from shoal.cli.output import ProgressBar, print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.cli.together import print_measured
from shoal.errors import InputError, Problem
from shoal.tables.formats.atomic import atomic_output, check_different, check_outputs

FAST = ("risk", "combinations", "attack", "utility", "queries")


def register(app: typer.Typer) -> None:
    app.command("evaluate", help="Loss, risk and usefulness of a release, ours or another tool's.")(evaluate)


def evaluate(
    original: Annotated[Path, typer.Argument(help="the original table")],
    release: Annotated[Path, typer.Argument(help=options.RELEASE_HELP)],
    quasi: Annotated[str | None, typer.Option(help="quasi-identifiers (default: what differs)", metavar="A,B")] = None,
    sensitive: Annotated[str | None, typer.Option(help=options.SENSITIVE_COLUMNS_HELP, metavar="A,B")] = None,
    class_column: Annotated[str | None, typer.Option("--class", help="a label to predict from the release")] = None,
    person: Annotated[str | None, typer.Option(help="column that tells persons apart; risks are of persons")] = None,
    k: Annotated[str | None, typer.Option("-k", help="the k that was asked for")] = None,
    hierarchies: Annotated[Path | None, typer.Option(help=options.HIERARCHIES_HELP)] = None,
    priority: Annotated[list[str] | None, typer.Option(help=options.PRIORITY_HELP)] = None,
    scale: Annotated[list[str] | None, typer.Option(help=options.SCALE_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    delimiter: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    decimal_comma: Annotated[bool, typer.Option("--decimal-comma", help=options.DECIMAL_COMMA_HELP)] = False,
    encoding: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    quote: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    header: Annotated[bool | None, typer.Option(help=options.HEADER_HELP)] = None,
    job: Annotated[Path | None, typer.Option(help="the job of the release; options given here override it")] = None,
    population: Annotated[Path | None, typer.Option(help="a table of everybody, for the journalist's risk")] = None,
    external: Annotated[Path | None, typer.Option(help="what an attacker knows, instead of the original")] = None,
    control: Annotated[Path | None, typer.Option(help="people who are not in the release, to compare attacks")] = None,
    anonymeter: Annotated[
        Path | None, typer.Option(help="a Python that has anonymeter: its attacks too", metavar="PYTHON")
    ] = None,
    party: Annotated[
        str | None, typer.Option(help="what one of two parties knows, the other knows the rest", metavar="A,B")
    ] = None,
    sampling_fraction: Annotated[str | None, typer.Option(help="share of the population in the table")] = None,
    threshold: Annotated[str | None, typer.Option(help="records above this risk are counted")] = None,
    beta: Annotated[str | None, typer.Option(help="exponent of the height weights of distortion (1)")] = None,
    clusters: Annotated[str | None, typer.Option(help="compare so many clusters of original and release")] = None,
    shuffled: Annotated[
        bool | None,
        typer.Option("--shuffled/--same-order", help="whether the rows are in another order (found out if not given)"),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="the private key of the release: what compares record with record needs it")
    ] = None,
    before: Annotated[
        list[Path] | None,
        typer.Option("--with", help=options.WITH_HELP),
    ] = None,
    before_original: Annotated[Path | None, typer.Option("--with-original", help=options.WITH_ORIGINAL_HELP)] = None,
    series: Annotated[Path | None, typer.Option(help=options.SERIES_HELP)] = None,
    person_key: Annotated[str | None, typer.Option(help=options.PERSON_KEY_HELP)] = None,
    join_key: Annotated[
        str | None, typer.Option(help="columns of all releases by which they are joined record by record", metavar="A")
    ] = None,
    seed: Annotated[str | None, typer.Option(help="of samples and queries")] = None,
    charts: Annotated[Path | None, typer.Option(help=options.CHARTS_HELP)] = None,
    report: Annotated[Path | None, typer.Option(help="write a report (HTML)")] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="the release's certificate: scales, orders, and what goes into the report")
    ] = None,
    public: Annotated[bool, typer.Option(help="the report leaves out what could help an attacker")] = False,
    language: Annotated[str | None, typer.Option(help="of the report: en or de; or SHOAL_LANGUAGE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    load_compiler()
    from shoal.evaluation.options import PARTS, EvaluationOptions
    from shoal.pipeline.evaluate_files import EvaluatedFiles, certificate_summary, evaluate_files
    from shoal.pipeline.evaluate_together import EarlierFiles
    from shoal.reports.charts.draw import check_pictures
    from shoal.reports.charts.export import save_charts

    problems: list[Problem] = []
    wanted = {*FAST, *(["models"] if class_column is not None else [])}
    csv = {"delimiter": delimiter, "encoding": encoding, "quote": quote, "header": header}
    csv["decimal_comma"] = decimal_comma or None
    settings: dict[str, Any] = {
        "quasi": options.names(quasi),
        "sensitive": options.names(sensitive),
        "class": class_column,
        "person": person,
        "k": options.whole_number(k, "-k", problems, least=2),
        "hierarchies": hierarchies,
        "priorities": options.priorities(priority, problems),
        "scales": options.pairs(scale, "--scale", problems),
        "missing": tuple(missing or ()),
        "csv": {name: value for name, value in csv.items() if value is not None},
    }
    made = options.make_job(job, settings, problems)
    if key is None and shuffled is None and made.key is not None and made.key.is_file():
        key = made.key
    given: dict[str, Any] = {
        "k": made.k,
        "sensitive": made.sensitive or None,
        "class_column": made.class_column,
        "person": made.person,
        "party": options.names(party) or None,
        "sampling_fraction": options.decimal_number(sampling_fraction, "--sampling-fraction", problems),
        "beta": options.positive_number(beta, "--beta", problems),
        "threshold": options.decimal_number(threshold, "--threshold", problems),
        "seed": options.whole_number(seed, "--seed", problems, least=0),
        "suppression_limit": made.suppression_limit if job is not None else None,
        "same_order": True if key is not None else None if shuffled is None else not shuffled,
        "parts": tuple(part for part in PARTS if part in wanted),
    }
    inputs = (original, release, population, external, control, certificate, hierarchies, key)
    inputs = (*inputs, before_original, *(before or ()))
    problems += check_outputs((report,), inputs)
    if charts is not None:
        problems += [*check_pictures(charts), *check_different((report, charts))]
    summary = None
    if certificate is not None:
        try:
            summary = certificate_summary(certificate, release)
        except InputError as error:
            problems += error.problems
    earlier, their_original = _earlier(release, before or [], before_original, series, problems)
    chosen = EvaluationOptions(**{name: value for name, value in given.items() if value is not None})
    files = EvaluatedFiles(
        original=original,
        release=release,
        certificate=summary["certificate"] if summary is not None else {},
        key=key,
        population=population,
        external=external,
        control=control,
        anonymeter=anonymeter,
        before=EarlierFiles(earlier, their_original, options.names(person_key), options.names(join_key)),
    )
    with ProgressBar(quiet or as_json) as progress:
        evaluation = evaluate_files(
            files,
            job=made,
            options=chosen,
            clusters=options.whole_number(clusters, "--clusters", problems, least=1),
            earlier=problems,
            progress=progress,
        )
    content = evaluation.as_dict()
    if report is not None:
        with atomic_output(report, private=not public) as path:
            html = evaluation.report(public=public, summary=summary, language=language)
            path.write_text(html, encoding="utf-8")
    if charts is not None:
        save_charts(content, charts)
    if as_json:
        print_json({"ok": True, **content})
    else:
        _print(content, [path for path in (report, charts) if path is not None])


def _earlier(
    release: Path, before: list[Path], original: Path | None, series: Path | None, problems: list[Problem]
) -> tuple[tuple[Path, ...], Path | None]:
    """The earlier releases, as named or by their series, and the table behind the last of them."""
    from shoal.pipeline.evaluate_together import EarlierFiles

    if series is None:
        return tuple(before), original
    if before:
        problems.append(Problem("bad-option", "give --with or --series, not both"))
    try:
        found = EarlierFiles.of_series(series, release)
    except InputError as error:
        problems += error.problems
        return (), None
    return found.releases, original or found.original


def _print(found: dict[str, Any], written: list[Path]) -> None:
    before, after = found["risk"]["before"], found["risk"]["after"]
    scores = found["scores"]
    by_classes = found["risk"]["basis"] == "classes"
    smallest = "Smallest class" if by_classes else "Smallest class (release: fewest records that fit a person)"
    print_table(
        f"{found['records']:,} records, quasi-identifiers: {', '.join(found['quasi'])}",
        ("", "original", "release"),
        [
            (smallest, f"{before['smallest_class']:,}", f"{after['smallest_class']:,}"),
            ("Highest risk (prosecutor)", f"{before['highest']:.1%}", f"{after['highest']:.1%}"),
            ("Average risk (marketer)", f"{before['average']:.1%}", f"{after['average']:.1%}"),
            ("Records that stand alone", f"{before['unique']:,}", f"{after['unique']:,}"),
        ],
        right=(1, 2),
    )
    print_table("Loss", ("metric", "value"), [(n, f"{v:,.6g}") for n, v in scores["totals"].items()], right=(1,))
    parts = scores["per_attribute"]
    by_attribute = {name: {metric: of[name] for metric, of in parts.items() if name in of} for name in parts["gcp"]}
    print_losses("Loss per attribute (GCP)", by_attribute)
    if found.get("queries"):
        error = found["queries"]["median_error"]
        print_text(
            f"Counts in random ranges are off by {error:.1%} (median of {found['queries']['queries']:,} queries)."
        )
    if found.get("clusters") and "f_measure" in found["clusters"]:
        agreement = {name: value for name, value in found["clusters"].items() if isinstance(value, float)}
        print_table("Clusters", ("measure", "value"), [(n, f"{v:.4f}") for n, v in agreement.items()], right=(1,))
    if found.get("clusters") and "skipped" in found["clusters"]:
        print_text(f"Clusters were not compared: {found['clusters']['skipped']}.")
    if found.get("together"):
        print_measured(found["together"])
    for note in found["samples"]:
        print_text(f"Sampled: {note}")
    if scores["unreadable"]:
        lost = sum(scores["unreadable"].values())
        print_text(f"Cells that could not be read count as lost: {lost:,} (labels need --hierarchies)")
    for note in found["notes"]:
        print_text(f"Note: {note}.")
    for path in written:
        print_text(f"written: {path}")
