"""`shoal cluster-release`: publish a table for cluster analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import ProgressBar, print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import Problem
from shoal.progress import Watch

SWEEP_HELP = "also the quality for these thresholds; clusters=2,6, clusterer=kmeans,bisecting, mode=... (repeatable)"
SWEPT = ("f_measure", "match_point", "adjusted_rand")


def register(app: typer.Typer) -> None:
    help_text = "Mask a table so that its clusters survive (TDR), and say how well they did."
    app.command("cluster-release", help=help_text)(cluster_release)


def cluster_release(
    data: Annotated[str | None, typer.Argument(help=options.TABLE_HELP)] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help=options.OUTPUT_HELP)] = None,
    query: Annotated[Path | None, typer.Option(help=options.QUERY_HELP)] = None,
    replace: Annotated[bool | None, typer.Option("--replace", help=options.REPLACE_HELP)] = None,
    quasi: Annotated[str | None, typer.Option(help=options.QUASI_HELP, metavar="A,B,C")] = None,
    h: Annotated[str | None, typer.Option("-k", "--threshold", help=options.THRESHOLD_HELP)] = None,
    model: Annotated[list[str] | None, typer.Option(help="e.g. qid:age+sex:10, with -k or alone (repeatable)")] = None,
    clusters: Annotated[str, typer.Option(help="how many clusters")] = "6",
    clusterer: Annotated[str, typer.Option(help=options.CLUSTERER_HELP)] = "kmeans",
    recipient: Annotated[str | None, typer.Option(help=options.RECIPIENT_HELP)] = None,
    algorithm: Annotated[str | None, typer.Option(help="what masks the table (default: tdr)")] = None,
    parameter: Annotated[list[str] | None, typer.Option(help=options.PARAMETER_HELP)] = None,
    mode: Annotated[str, typer.Option(help=options.MODE_HELP)] = "information",
    sensitive: Annotated[str | None, typer.Option(help=options.SENSITIVE_HELP, metavar="A,B")] = None,
    identifiers: Annotated[str | None, typer.Option(help=options.IDENTIFIERS_HELP, metavar="A,B")] = None,
    keep: Annotated[str | None, typer.Option(help=options.KEEP_HELP, metavar="A,B")] = None,
    keep_rest: Annotated[bool | None, typer.Option("--keep-rest", help=options.KEEP_REST_HELP)] = None,
    drop_rest: Annotated[bool | None, typer.Option("--drop-rest", help=options.DROP_REST_HELP)] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", "--allow-unique", help=options.ALLOW_HELP, metavar="A,B")
    ] = None,
    person: Annotated[str | None, typer.Option(help=options.PERSON_HELP)] = None,
    cluster_on: Annotated[str | None, typer.Option(help=options.CLUSTER_ON_HELP)] = None,
    scale: Annotated[list[str] | None, typer.Option(help=options.SCALE_HELP)] = None,
    hierarchies: Annotated[Path | None, typer.Option(help=options.HIERARCHIES_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    suppression_limit: Annotated[str | None, typer.Option(help=options.SUPPRESSION_HELP)] = None,
    interval_text: Annotated[str, typer.Option(help="closed: [1, 36]; half-open: [1-37), as the paper")] = "closed",
    split_rule: Annotated[str, typer.Option(help="of tdr for numbers: possible (ours) or paper")] = "possible",
    sweep: Annotated[list[str] | None, typer.Option(help=SWEEP_HELP, metavar="5,10,50")] = None,
    labels: Annotated[bool, typer.Option(help="release the raw cluster labels too")] = False,
    delimiter: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    encoding: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    quote: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    header: Annotated[bool | None, typer.Option(help=options.HEADER_HELP)] = None,
    seed: Annotated[str | None, typer.Option(help=options.SEED_HELP)] = None,
    threads: Annotated[str | None, typer.Option(help=options.THREADS_HELP)] = None,
    job: Annotated[Path | None, typer.Option(help=options.JOB_HELP)] = None,
    certificate: Annotated[Path | None, typer.Option(help=options.CERTIFICATE_HELP)] = None,
    order: Annotated[str | None, typer.Option(help=options.ORDER_HELP)] = None,
    key: Annotated[Path | None, typer.Option(help=options.KEY_HELP)] = None,
    details: Annotated[Path | None, typer.Option(help="taxonomies, cut, steps and scores (JSON)")] = None,
    report: Annotated[Path | None, typer.Option(help="a page with charts (HTML)")] = None,
    charts: Annotated[Path | None, typer.Option(help=options.CHARTS_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    load_compiler()
    from shoal.cluster_release.publish import publish_file
    from shoal.cluster_release.settings import ClusterSettings

    problems: list[Problem] = []
    csv = {"delimiter": delimiter, "encoding": encoding, "quote": quote, "header": header}
    settings: dict[str, Any] = {
        "input": data,
        "output": output,
        "query": query,
        "replace": replace,
        "quasi": options.names(quasi),
        "sensitive": options.names(sensitive),
        "identifiers": options.names(identifiers),
        "keep": options.names(keep),
        "keep_rest": keep_rest,
        "drop_rest": drop_rest,
        "allow": options.all_names(allow),
        "person": person,
        "k": options.whole_number(h, "-k", problems, least=2),
        "models": tuple(model or ()),
        "hierarchies": hierarchies,
        "algorithm": algorithm,
        "parameters": options.typed(options.pairs(parameter, "--parameter", problems)),
        "scales": options.pairs(scale, "--scale", problems),
        "missing": tuple(missing or ()),
        "suppression_limit": options.decimal_number(suppression_limit, "--suppression-limit", problems),
        "csv": {name: value for name, value in csv.items() if value is not None},
        "seed": options.whole_number(seed, "--seed", problems, least=0),
        "threads": options.whole_number(threads, "--threads", problems),
        "certificate": certificate,
        "report": report,
        "order": order,
        "key": key,
    }
    made_job = options.make_job(job, settings, problems, {"algorithm": "tdr"})
    wanted = ClusterSettings(
        clusters=options.whole_number(clusters, "--clusters", problems, least=1) or 1,
        clusterer=clusterer,
        recipient=recipient,
        cluster_on=options.names(cluster_on) or None,
        interval_text=interval_text,
        release_labels=labels,
        sweep=_sweep(sweep, problems),
    )
    with ProgressBar(quiet or as_json) as progress:
        made = publish_file(
            made_job,
            wanted,
            mode=mode,
            split_rule=split_rule,
            details=details,
            charts=charts,
            earlier=problems,
            watch=Watch(progress),
        )
    content = made.as_dict()
    if as_json:
        print_json({"ok": True, "output": str(made_job.output), **content})
    elif not quiet:
        _print(content, made_job.output)


def _sweep(texts: list[str] | None, problems: list[Problem]) -> Any:
    """`5,10,50` are thresholds, `clusters=2,6` and the like other settings."""
    from shoal.cluster_release.sweep import Sweep

    swept: dict[str, str] = {}
    for text in texts or []:
        name, sign, values = text.partition("=")
        setting, values = (name.strip(), values) if sign else ("h", text)
        if setting not in ("h", "clusters", "clusterer", "mode"):
            hint = "h, clusters, clusterer or mode"
            problems.append(Problem("bad-option", f"--sweep: there is no '{setting}' to sweep", hint=hint))
        swept[setting] = f"{swept[setting]},{values}" if setting in swept else values
    return Sweep(
        thresholds=tuple(options.whole_numbers(swept.get("h"), "--sweep", problems)),
        clusters=tuple(options.whole_numbers(swept.get("clusters"), "--sweep clusters", problems)),
        clusterers=options.names(swept.get("clusterer")),
        modes=options.names(swept.get("mode")),
    )


def _print(content: dict[str, Any], output: object) -> None:
    numbers = {name: value for name, value in content["comparison"].items() if isinstance(value, float)}
    rows = [(name.replace("_", " "), f"{value:.4f}") for name, value in numbers.items()]
    print_table("Clusters of the release against those of the original", ("measure", "value"), rows, right=(1,))
    if content["sweep"]:
        others = [name for name in ("clusters", "clusterer", "mode") if name in content["sweep"][0]]
        swept = [
            (f"{row['h']:,}", *(str(row[name]) for name in others), *(_measure(row, name) for name in SWEPT))
            for row in content["sweep"]
        ]
        heads = ("h", *others, *(name.replace("_", " ") for name in SWEPT))
        print_table("In other settings", heads, swept, right=(0, *range(len(others) + 1, len(heads))))
    checks = [(check["model"], "holds" if check["passed"] else "FAILS") for check in content["verification"]["checks"]]
    print_table("Checked on the released values", ("requirement", "result"), checks)
    print_text(f"{len(content['steps'])} refinements, {content['classes']:,} classes\nwritten: {output}")


def _measure(row: dict[str, Any], name: str) -> str:
    return "not possible" if "error" in row else f"{row[name]:.4f}"
