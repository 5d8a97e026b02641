"""`shoal anonymize`: from a table to a verified release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.interrupt import OnInterrupt, stop_on_interrupt
from shoal.cli.losses import loss_rows_beside, print_losses
from shoal.cli.output import ProgressBar, print_json, print_note, print_table, print_text
from shoal.cli.quick import load_compiler, read_early
from shoal.cli.together import print_together
from shoal.errors import Problem
from shoal.progress import Watch

if TYPE_CHECKING:
    from shoal.job.draft import Draft
    from shoal.pipeline.result import Result
    from shoal.pipeline.sources import ReadSource


def register(app: typer.Typer) -> None:

    app.command("anonymize", help="Read a table, make it safe, check the released values, write the release.")(
        anonymize
    )


def anonymize(
    data: Annotated[str | None, typer.Argument(help=options.TABLE_HELP)] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help=options.OUTPUT_HELP)] = None,
    query: Annotated[Path | None, typer.Option(help=options.QUERY_HELP)] = None,
    replace: Annotated[bool | None, typer.Option("--replace", help=options.REPLACE_HELP)] = None,
    quasi: Annotated[str | None, typer.Option(help=options.QUASI_HELP, metavar="A,B,C")] = None,
    k: Annotated[str | None, typer.Option("-k", help=options.K_HELP)] = None,
    sensitive: Annotated[str | None, typer.Option(help=options.SENSITIVE_HELP, metavar="A,B")] = None,
    identifiers: Annotated[str | None, typer.Option(help=options.IDENTIFIERS_HELP, metavar="A,B")] = None,
    keep: Annotated[str | None, typer.Option(help=options.KEEP_HELP, metavar="A,B")] = None,
    keep_rest: Annotated[bool | None, typer.Option("--keep-rest", help=options.KEEP_REST_HELP)] = None,
    drop_rest: Annotated[bool | None, typer.Option("--drop-rest", help=options.DROP_REST_HELP)] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", "--allow-unique", help=options.ALLOW_HELP, metavar="A,B")
    ] = None,
    class_column: Annotated[str | None, typer.Option("--class", help=options.CLASS_HELP)] = None,
    person: Annotated[str | None, typer.Option(help=options.PERSON_HELP)] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help=options.MODEL_HELP, autocompletion=options.complete_model),
    ] = None,
    population: Annotated[Path | None, typer.Option(help=options.POPULATION_HELP)] = None,
    hierarchies: Annotated[Path | None, typer.Option(help=options.HIERARCHIES_HELP)] = None,
    hierarchy: Annotated[list[str] | None, typer.Option(help=options.HIERARCHY_HELP)] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="see 'shoal algorithms'", autocompletion=options.complete_algorithm)
    ] = None,
    parameter: Annotated[list[str] | None, typer.Option(help=options.PARAMETER_HELP)] = None,
    effort: Annotated[str | None, typer.Option(help="low, default, high, or a number")] = None,
    objective: Annotated[str | None, typer.Option(help="gcp, distortion, discernibility, class or squares")] = None,
    priority: Annotated[list[str] | None, typer.Option(help=options.PRIORITY_HELP)] = None,
    scale: Annotated[list[str] | None, typer.Option(help=options.SCALE_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    date_format: Annotated[list[str] | None, typer.Option(help=options.DATE_FORMAT_HELP)] = None,
    recoding: Annotated[str | None, typer.Option(help=options.RECODING_HELP)] = None,
    recode: Annotated[list[str] | None, typer.Option(help="recoding of single columns: age=nodes")] = None,
    at_most: Annotated[list[str] | None, typer.Option(help=options.AT_MOST_HELP)] = None,
    round_ends: Annotated[list[str] | None, typer.Option("--round", help=options.ROUND_HELP)] = None,
    list_all: Annotated[bool, typer.Option("--all", help="full-domain: list every minimal combination")] = False,
    suppression_limit: Annotated[str | None, typer.Option(help=options.SUPPRESSION_HELP)] = None,
    suppressed: Annotated[str | None, typer.Option(help="what becomes of these records: star (all *) or drop")] = None,
    delimiter: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    encoding: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    quote: Annotated[str | None, typer.Option(help=options.CSV_HELP)] = None,
    header: Annotated[bool | None, typer.Option(help=options.HEADER_HELP)] = None,
    rename_duplicates: Annotated[bool, typer.Option("--rename-duplicates", help=options.DUPLICATES_HELP)] = False,
    decimal_comma: Annotated[bool, typer.Option("--decimal-comma", help=options.DECIMAL_COMMA_HELP)] = False,
    engine: Annotated[str | None, typer.Option(help=options.ENGINE_HELP)] = None,
    spark_master: Annotated[str | None, typer.Option(metavar="URL", help=options.SPARK_HELP)] = None,
    memory: Annotated[str | None, typer.Option(help=options.MEMORY_HELP)] = None,
    seed: Annotated[str | None, typer.Option(help=options.SEED_HELP)] = None,
    threads: Annotated[str | None, typer.Option(help=options.THREADS_HELP)] = None,
    job: Annotated[Path | None, typer.Option(help=options.JOB_HELP)] = None,
    before: Annotated[
        list[Path] | None,
        typer.Option("--with", help=options.WITH_HELP),
    ] = None,
    before_original: Annotated[Path | None, typer.Option("--with-original", help=options.WITH_ORIGINAL_HELP)] = None,
    person_key: Annotated[str | None, typer.Option(help=options.PERSON_KEY_HELP)] = None,
    strategy: Annotated[
        str | None, typer.Option(help="with --with: keep the classes of then (default), or search new ones")
    ] = None,
    setting: Annotated[
        str | None, typer.Option(help="with --with: growing (people came; default), or moving (some left as well)")
    ] = None,
    changing: Annotated[str | None, typer.Option(help=options.CHANGING_HELP, metavar="A,B")] = None,
    join_key: Annotated[
        str | None, typer.Option(help="kept columns by which releases can be joined record by record", metavar="A")
    ] = None,
    series: Annotated[Path | None, typer.Option(help="keeps track of all releases (JSON), instead of --with")] = None,
    new_values: Annotated[
        str | None, typer.Option(help="values that a hierarchy lacks: refuse (default), or root: right below it")
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help=options.CERTIFICATE_HELP)] = None,
    public_certificate: Annotated[Path | None, typer.Option(help=options.PUBLIC_CERTIFICATE_HELP)] = None,
    sign: Annotated[Path | None, typer.Option(help=options.SIGN_HELP, metavar="KEY")] = None,
    report: Annotated[Path | None, typer.Option(help="where the report goes (HTML)")] = None,
    prices: Annotated[Path | None, typer.Option(help="where the proof of the lower bound goes (npz)")] = None,
    order: Annotated[str | None, typer.Option(help=options.ORDER_HELP)] = None,
    key: Annotated[Path | None, typer.Option(help=options.KEY_HELP)] = None,
    on_interrupt: Annotated[
        OnInterrupt,
        typer.Option(help="Ctrl-C while the search refines: release the best found so far, nothing, or ask"),
    ] = OnInterrupt.ASK,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="check everything, tell the costs, no release")] = False,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help=options.QUIET_HELP)] = False,
    debug: Annotated[bool, typer.Option(help="tell what every stage passed on (sizes, no values)")] = False,
) -> None:
    csv = {"delimiter": delimiter, "encoding": encoding, "quote": quote, "header": header}
    csv |= {"rename_duplicates": rename_duplicates or None, "decimal_comma": decimal_comma or None}
    early = data if job is None and spark_master is None and engine in (None, "auto", "local") else None
    reading = read_early(early, {**csv, "missing": tuple(missing or ())}, options.names(quasi))
    from shoal.job.draft import resolve
    from shoal.job.engine import settle_engine
    from shoal.pipeline.run import make_release, run_elsewhere
    from shoal.pipeline.sources import begin_reading
    from shoal.tables.formats.atomic import overwritten

    problems: list[Problem] = []
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
        "class": class_column,
        "person": person,
        "population": population,
        "k": options.whole_number(k, "-k", problems),
        "models": tuple(model or ()),
        "hierarchies": options.hierarchies(
            hierarchies, hierarchy, (*options.names(quasi), *options.names(sensitive)), problems
        ),
        "algorithm": algorithm,
        "parameters": {
            **options.typed(options.pairs(parameter, "--parameter", problems)),
            **({"all_minimal": True} if list_all else {}),
        },
        "effort": options.effort_value(effort),
        "objective": objective,
        "priorities": options.priorities(priority, problems),
        "scales": options.pairs(scale, "--scale", problems),
        "missing": tuple(missing or ()),
        "date_formats": options.pairs(date_format, "--date-format", problems),
        "recoding": recoding,
        "recodings": options.pairs(recode, "--recode", problems),
        "at_most": options.levels(at_most, problems),
        "round": options.pairs(round_ends, "--round", problems),
        "suppressed": suppressed,
        "suppression_limit": options.decimal_number(suppression_limit, "--suppression-limit", problems),
        "csv": {name: value for name, value in csv.items() if value is not None},
        "engine": engine if engine is not None or spark_master is None else "spark",
        "spark": {"master": spark_master} if spark_master is not None else None,
        "memory": memory,
        "seed": options.whole_number(seed, "--seed", problems),
        "threads": options.whole_number(threads, "--threads", problems),
        "certificate": certificate,
        "public_certificate": public_certificate,
        "sign": sign,
        "report": report,
        "prices": prices,
        "order": order,
        "key": key,
        "earlier": tuple(before or ()),
        "earlier_original": before_original,
        "person_key": options.names(person_key),
        "strategy": strategy,
        "setting": setting,
        "changing": options.names(changing),
        "join_key": options.names(join_key),
        "series": series,
        "new_values": new_values,
    }
    made = options.make_job(job, settings, problems)
    for path in made.outputs():
        if job is not None:
            problems += overwritten(path, [job])
    if made.output is None:
        problems.append(Problem("no-output", "no output is named", hint="-o release.csv"))
    bar = ProgressBar(quiet or as_json)
    with bar as progress, stop_on_interrupt(on_interrupt, bar) as stop:
        watch = Watch(progress, _trace if debug else None, stop)
        made = settle_engine(made)
        read = begin_reading(made, reading) if made.engine == "local" else None
        if read is not None:
            load_compiler()  # while the table is read
        draft = resolve(made, earlier=problems)
        if dry_run:
            expected = _rehearse(draft, read, watch)
        elif read is None:
            result = run_elsewhere(draft, watch)
        else:
            result = make_release(draft, read, watch)
    if dry_run:
        _print_estimate(expected, as_json)
        return
    if as_json:
        print_json({"ok": True, "output": str(made.output), **result.summary()})
    elif not quiet:
        print_result(result, made.output, made.outputs())


def _rehearse(draft: Draft, read: ReadSource | None, watch: Watch) -> dict[str, Any]:
    """What a run would cost, after everything was checked that it checks before it clusters."""
    from shoal.pipeline.estimate import estimate
    from shoal.pipeline.rehearse import rehearse, rehearse_elsewhere

    return estimate(rehearse_elsewhere(draft, watch) if read is None else rehearse(draft, read, watch))


def _print_estimate(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"ok": True, "dry_run": True, **found})
        return
    seconds = "not known" if found["seconds"] is None else f"about {max(1, round(found['seconds'])):,} s"
    print_table(
        "Everything that can be checked beforehand holds; nothing was released",
        ("", ""),
        [
            ("Records", f"{found['records']:,}"),
            ("Distinct rows of quasi-identifiers", f"{found['distinct_rows']:,}"),
            ("Requirement", ", ".join(found["requirement"])),
            ("Engine", found["engine"]),
            ("Time (compiling not counted)", seconds),
            ("Memory", f"about {round(found['megabytes'], -1):,.0f} MB"),
        ],
    )


def _trace(stage: str, value: Any) -> None:
    shape = getattr(value, "shape", None)
    size = f" {shape[0]:,} x {shape[1]}" if isinstance(shape, tuple) and len(shape) == 2 else ""
    if isinstance(value, tuple) and hasattr(value[0], "rows"):
        size = f" {value[0].records:,} records, {value[0].rows:,} distinct rows, {value[0].width} quasi-identifiers"
    if hasattr(value, "groups"):
        size = f" {int(value.groups.max()) + 1:,} groups"
    if hasattr(value, "smallest_class"):
        size = f" {value.classes:,} classes, the smallest of {value.smallest_class}"
    print_note(f"{stage}:{size} ({type(value).__name__})")


def print_result(result: Result, output: object, written: Sequence[object] = ()) -> None:
    """A summary that a person understands; `written` are all files that were."""
    certificate, risk = result.certificate, result.risk
    smallest = certificate["smallest_class"]  # None: there is no group, every record is suppressed
    print_table(
        "Release",
        ("", ""),
        [
            ("Records", f"{certificate['records']['released']:,}"),
            ("Suppressed records", f"{certificate['records']['suppressed']:,}"),
            ("Groups of records that look the same", f"{certificate['classes']:,}"),
            ("Smallest group (k reached)", "-" if smallest is None else f"{smallest:,}"),
            ("Information lost (GCP, 0 to 1)", f"{result.metrics['gcp']:.4f}"),
            *loss_rows_beside(result.metrics),
            *_bound_rows(result),
        ],
        right=(1,),
    )
    print_losses("Information lost per attribute (0: exact, 1: nothing left)", result.per_attribute)
    print_table(
        "Chance that somebody who knows a person's attributes finds the record",
        ("", "before", "after"),
        [
            ("for the most exposed person", f"{risk['before']['highest']:.1%}", f"{risk['after']['highest']:.1%}"),
            ("on average", f"{risk['before']['average']:.1%}", f"{risk['after']['average']:.1%}"),
            ("persons who stand alone", f"{risk['before']['unique']:,.0f}", f"{risk['after']['unique']:,.0f}"),
        ],
        right=(1, 2),
    )
    print_table("Checked on the released values", ("requirement", "result"), _check_rows(certificate))
    print_levels(result.details)
    _print_kept(certificate)
    for note in certificate["notes"]:
        print_text(f"Note: {note}.")
    if "together" in certificate:
        print_together(certificate["together"])
    took = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in result.seconds.items())
    print_text(f"{took}")
    if output is not None:
        print_text(f"written: {', '.join(map(str, dict.fromkeys((output, *written))))}")


def print_levels(details: Mapping[str, Any]) -> None:
    """The levels of a full-domain generalization, and the other minimal ones if they are listed."""
    if "levels" not in details:
        return
    nodes = [("released", details["loss"], details["levels"])]
    nodes += [("minimal", node["loss"], node["levels"]) for node in details.get("minimal", ())]
    rows = [
        (kind, "-" if loss is None else f"{loss:.6g}", *(str(level) for level in levels.values()))
        for kind, loss, levels in nodes
    ]
    title = "Levels of the hierarchies (0: exact)" + ("" if details["optimal"] else "; not proven to be the best")
    print_table(title, ("", details["objective"], *details["levels"]), rows, right=range(1, len(details["levels"]) + 2))


def _print_kept(certificate: dict[str, Any]) -> None:
    """The columns that are published as they are, and what was allowed knowingly."""
    if certificate["kept"]:
        rows = [(name, "; ".join(against) or "-") for name, against in certificate["kept"].items()]
        print_table("Published as they are", ("column", "what speaks against it"), rows)
        alone, records = certificate["alone_with_kept"], certificate["records"]["released"]
        print_text(f"Whoever knows these columns too tells {alone:,} of {records:,} records from all others.")


def _check_rows(certificate: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (
            check["model"],
            f"{'holds' if check['passed'] else 'FAILS'} ({check['measure']}: {_number(check['measured'])})",
        )
        for check in certificate["checks"]
    ]


def _number(value: float | None) -> str:
    return "unbounded" if value is None else f"{value:.6g}"


def _bound_rows(result: Result) -> list[tuple[str, str]]:
    from shoal.evaluation.summary import LOOSE

    weighted = "weighted_gcp" in result.metrics
    rows = [("The same with the priorities", f"{result.metrics['weighted_gcp']:.4f}")] if weighted else []
    if "lower_bound" not in result.metrics:
        return rows
    bound = result.metrics["weighted_lower_bound" if weighted else "lower_bound"]
    rows.append(("No safe release can lose less than", f"{bound:.4f}"))
    above = result.metrics.get("at_most_above_best")
    if above is not None:
        shown = f"{above:.0%}" if above <= LOOSE else "not known: the bound is loose here"
        rows.append(("At most above the best possible", shown))
    return rows
