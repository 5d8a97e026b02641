"""`shoal compare`: algorithms side by side on one table."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import ProgressBar, print_json, print_note, print_table
from shoal.cli.quick import load_compiler
from shoal.errors import Problem
from shoal.tables.formats.atomic import atomic_output, check_different, check_outputs

COLUMNS = (
    ("gcp", "loss (GCP)", "{:.4f}"),
    ("exact_cells", "exact cells", "{:.1%}"),
    ("listed_values", "values per cell", "{:.1f}"),
    ("weighted_gcp", "with priorities", "{:.4f}"),
    ("discernibility", "discernibility", "{:,.0f}"),
    ("smallest_class", "smallest class", "{:,}"),
    ("highest_risk", "highest risk", "{:.1%}"),
    ("query_error", "query error", "{:.1%}"),
    ("accuracy", "accuracy", "{:.1%}"),
    ("seconds", "seconds", "{:.2f}"),
    ("peak_megabytes", "peak MB", "{:,.0f}"),
)


def register(app: typer.Typer) -> None:
    app.command("compare", help="Run algorithms side by side: loss, risk, time and memory for each k.")(compare)


def compare(
    data: Annotated[Path, typer.Argument(help=options.DATA_HELP)],
    quasi: Annotated[str | None, typer.Option(help=options.QUASI_HELP, metavar="A,B,C")] = None,
    k: Annotated[str, typer.Option("-k", help="one k or several: 5,10,50")] = "10",
    algorithms: Annotated[str, typer.Option(help="names, or 'all'")] = "shoal,mondrian,k-member",
    sensitive: Annotated[str | None, typer.Option(help=options.SENSITIVE_COLUMNS_HELP, metavar="A,B")] = None,
    identifiers: Annotated[str | None, typer.Option(help="identifying columns", metavar="A,B")] = None,
    person: Annotated[str | None, typer.Option(help=options.PERSON_HELP)] = None,
    class_column: Annotated[str | None, typer.Option("--class", help=options.CLASS_HELP)] = None,
    model: Annotated[list[str] | None, typer.Option(help="a model besides k-anonymity (repeatable)")] = None,
    hierarchies: Annotated[Path | None, typer.Option(help=options.HIERARCHIES_HELP)] = None,
    priority: Annotated[list[str] | None, typer.Option(help=options.PRIORITY_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    seed: Annotated[str | None, typer.Option(help="same seed, same releases")] = None,
    usefulness: Annotated[bool, typer.Option(help="also query errors and, with --class, accuracy")] = False,
    processes: Annotated[
        str, typer.Option(help="runs at the same time, or 'all' cores; times are truest with 1")
    ] = "1",
    resume: Annotated[Path | None, typer.Option(help="keep finished runs here (JSON lines) and go on from it")] = None,
    as_csv: Annotated[Path | None, typer.Option("--csv", help="write the table as CSV")] = None,
    chart: Annotated[Path | None, typer.Option(help="write a page with charts over k (HTML)")] = None,
    charts: Annotated[Path | None, typer.Option(help=options.CHARTS_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    load_compiler()
    from shoal.algorithms.registry import algorithm_names
    from shoal.comparison.compare_algorithms import compare_algorithms, not_by_classes, without_priorities
    from shoal.comparison.frontier import chart_files, comparison_report
    from shoal.reports.charts.draw import check_pictures, save_pictures

    problems: list[Problem] = []
    ks = [number for part in options.names(k) if (number := options.whole_number(part, "-k", problems)) is not None]
    if not ks and not problems:
        problems.append(Problem("bad-k", "no k is given", hint="-k 5,10,50"))
    everything = algorithms.strip() == "all"
    chosen = algorithm_names() if everything else options.names(algorithms)
    cores = str(os.cpu_count() or 1)
    at_once = options.whole_number(cores if processes == "all" else processes, "--processes", problems, least=1)
    problems += check_outputs((as_csv, chart, resume), (data, hierarchies))
    if charts is not None:
        problems += check_different((as_csv, chart, resume, charts))
        problems += check_pictures(charts)
    settings: dict[str, Any] = {
        "input": data,
        "quasi": options.names(quasi),
        "sensitive": options.names(sensitive),
        "identifiers": options.names(identifiers),
        "class": class_column,
        "person": person,
        "models": tuple(model or ()),
        "hierarchies": hierarchies,
        "priorities": options.priorities(priority, problems),
        "missing": tuple(missing or ()),
        "seed": options.whole_number(seed, "--seed", problems),
    }
    job = options.make_job(None, settings, problems)
    if everything:
        left_out = not_by_classes(job, chosen)
        chosen = tuple(name for name in chosen if name not in left_out)
        if left_out and not quiet and not problems:
            print_note(f"models and persons need classes, which {', '.join(left_out)} does not make: left out")
    plain = without_priorities(job, chosen)
    if plain and not quiet and not problems:
        print_note(f"priorities cannot act on {', '.join(plain)}: run without them")
    with ProgressBar(quiet or as_json) as progress:
        records = compare_algorithms(
            job,
            chosen,
            ks,
            usefulness=usefulness,
            results=resume,
            processes=at_once or 1,
            progress=progress,
            earlier=problems,
        )
    if as_csv is not None:
        with atomic_output(as_csv) as path:
            path.write_text(_csv_text(records), encoding="utf-8")
    if chart is not None:
        with atomic_output(chart) as path:
            path.write_text(comparison_report(records), encoding="utf-8")
    if charts is not None:
        save_pictures(chart_files(records), charts)
    if as_json:
        print_json({"ok": True, "runs": records})
        return
    shown = [(name, title, form) for name, title, form in COLUMNS if any(name in record for record in records)]
    for number in sorted(set(ks)):
        rows = [_row(record, shown) for record in records if record["k"] == number]
        heads = ("algorithm", *(title for _, title, _ in shown))
        print_table(f"k = {number}", heads, rows, right=tuple(range(1, len(heads))))


def _row(record: dict[str, Any], shown: list[tuple[str, str, str]]) -> tuple[str, ...]:
    if "error" in record:
        reasons = ", ".join(problem["reason"] for problem in record["error"])
        return (record["algorithm"], f"failed: {reasons}", *[""] * (len(shown) - 1))
    name = record["algorithm"] if record.get("class_based", True) else f"{record['algorithm']} (not by classes)"
    cells = [form.format(record[key]) if record.get(key) is not None else "-" for key, _, form in shown]
    return (name, *cells)


def _csv_text(records: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for record in records for name in record if name != "error"))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()
