"""`shoal hierarchies`: suggest, check, edit and export what values become when they are coarser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import InputError, Problem

if TYPE_CHECKING:
    from shoal.hierarchies.hierarchy import Hierarchy
    from shoal.job.job import Job

FOLDER_HELP = "folder of hierarchy files"
COLUMN_FILE_HELP = "hierarchy of one column: COLUMN=FILE (repeatable)"
COLUMNS_HELP = "look at these columns only"
Table = Any


def register(app: typer.Typer) -> None:
    verbs = type(app)(no_args_is_help=True, help="Suggest, check, edit and export hierarchies.")
    verbs.command("suggest", help="Which hierarchy fits which column, as a job file writes it.")(suggest)
    verbs.command("check", help="Do hierarchies cover the values of a table? Where would the others go?")(check)
    verbs.command("edit", help="Add, move and remove values of a hierarchy file, rename groups.")(edit)
    verbs.command("export", help="Write hierarchies as files in ARX's format.")(export)
    app.add_typer(verbs, name="hierarchies", rich_help_panel="Begin")


def suggest(
    data: Annotated[Path, typer.Argument(help=options.DATA_HELP)],
    columns: Annotated[str | None, typer.Option(help=COLUMNS_HELP, metavar="A,B,C")] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
) -> None:
    load_compiler()
    found = _suggestions(_read(data, missing), options.names(columns), tuple(missing or ()))
    if as_json:
        print_json({name: {"builder": dict(entry.builder), "why": entry.why} for name, entry in found.items()})
        return
    from shoal.job.first_job import flow

    print_table(
        "Hierarchies that fit",
        ("column", "in a job file, below 'hierarchies:'", "why"),
        [(name, f"{name}: {flow(dict(entry.builder))}", entry.why) for name, entry in found.items()],
    )
    print_text("Numbers and dates need none: they become tight ranges. 'shoal hierarchies export' writes files.")


def check(
    data: Annotated[Path, typer.Argument(help=options.DATA_HELP)],
    hierarchies: Annotated[Path | None, typer.Option(help=FOLDER_HELP)] = None,
    hierarchy: Annotated[list[str] | None, typer.Option(help=COLUMN_FILE_HELP)] = None,
    job: Annotated[Path | None, typer.Option(help="take the hierarchies of a job file")] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    show_values: Annotated[bool, typer.Option("--show-values", help="list values that are not covered")] = False,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
) -> None:
    load_compiler()
    settings = _job(hierarchies, hierarchy, job, missing)
    frame = _read(data, settings.missing, settings)
    found = {name: _cover(frame, name, spec, settings) for name, spec in _specs(settings, frame.columns).items()}
    if not found and job is None:
        raise InputError(Problem("no-hierarchy", "no hierarchy is given", hint="--hierarchies FOLDER or --job FILE"))
    if as_json:
        shown = {name: _shown(entry, show_values) for name, entry in found.items()}
        print_json({"ok": all(not entry["uncovered"] for entry in found.values()), "columns": shown})
    elif not found:
        print_text(
            "The job names no hierarchy, so there is nothing to check: numbers and dates become ranges without one."
        )
    else:
        _print_cover(found, show_values)
    if any(entry["uncovered"] for entry in found.values()):
        raise typer.Exit(3)


def edit(
    file: Annotated[Path, typer.Argument(help="a hierarchy file")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="where the changed hierarchy goes; may be the same file")
    ],
    add: Annotated[list[str] | None, typer.Option(help="a new value below a group: VALUE=GROUP (repeatable)")] = None,
    move: Annotated[list[str] | None, typer.Option(help="a value to another group: VALUE=GROUP (repeatable)")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="a value (repeatable)")] = None,
    rename: Annotated[list[str] | None, typer.Option(help="a label on every level: OLD=NEW (repeatable)")] = None,
) -> None:
    from shoal.hierarchies.edit import Changes, edit_hierarchy
    from shoal.hierarchies.files import read_hierarchy_file, write_hierarchy_file

    problems: list[Problem] = []
    changes = Changes(
        rename=options.pairs(rename, "--rename", problems),
        remove=tuple(remove or ()),
        move=options.pairs(move, "--move", problems),
        add=options.pairs(add, "--add", problems),
    )
    if problems:
        raise InputError(problems)
    column = file.stem.rpartition("_hierarchy_")[2]
    changed = edit_hierarchy(read_hierarchy_file(file, column), changes, column)
    write_hierarchy_file(changed, output)
    print_text(f"written: {output} ({len(changed.leaves):,} values, {changed.levels} levels)")


def export(
    data: Annotated[Path, typer.Argument(help=options.DATA_HELP)],
    output: Annotated[Path, typer.Option("-o", "--output", help="the folder that the files go to")],
    columns: Annotated[str | None, typer.Option(help=COLUMNS_HELP, metavar="A,B,C")] = None,
    job: Annotated[Path | None, typer.Option(help="take the hierarchies of a job file, not the suggested ones")] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite files that are there")] = False,
) -> None:
    load_compiler()
    from shoal.hierarchies.files import hierarchy_place, write_hierarchy_file
    from shoal.hierarchies.spec import make_hierarchy
    from shoal.tables.formats.atomic import make_folder

    settings = _job(None, None, job, missing)
    frame = _read(data, settings.missing, settings)
    wanted = options.names(columns)
    if job is not None:
        specs = {name: spec for name, spec in _specs(settings, frame.columns).items() if not wanted or name in wanted}
    else:
        found = _suggestions(frame, wanted, settings.missing)
        specs = {name: dict(entry.builder) for name, entry in found.items()}
        settings = settings.model_copy(update={"missing": (*settings.missing, *_marks(frame, settings.missing))})
    files = {name: hierarchy_place(output, name) for name in specs}
    there = [path for path in files.values() if path.exists() and not force]
    if there:
        problems = [Problem("output-exists", f"there is already a file '{path}'", hint="--force") for path in there]
        raise InputError(problems)
    made = {name: make_hierarchy(spec, _values(frame, name, settings.missing), name) for name, spec in specs.items()}
    make_folder(output)
    for name, hierarchy in made.items():
        write_hierarchy_file(hierarchy, files[name])
        print_text(f"written: {files[name]} ({len(hierarchy.leaves):,} values, {hierarchy.levels} levels)")


def _read(data: Path, missing: Any, job: Job | None = None) -> Table:
    from shoal.tables.formats.csv.options import CsvOptions
    from shoal.tables.formats.files import read_table

    return read_table(data, job.csv_options() if job is not None else CsvOptions(missing=tuple(missing or ()))).frame


def _suggestions(frame: Table, columns: tuple[str, ...], missing: tuple[str, ...]) -> dict[str, Any]:
    from shoal.inspection.dependence import find_dependence
    from shoal.inspection.facts import find_facts
    from shoal.inspection.hierarchies import suggest_hierarchy
    from shoal.inspection.judge import judge_columns
    from shoal.tables.schema import Role

    unknown = [name for name in columns if name not in frame.columns]
    if unknown:
        raise InputError([Problem("unknown-column", "the table has no such column", name) for name in unknown])
    facts = find_facts(frame.select(list(columns) or frame.columns), missing)
    if not columns:  # what is dropped needs no hierarchy, unless it is asked for
        judged = judge_columns(facts, find_dependence(facts))
        facts = {name: fact for name, fact in facts.items() if judged[name].role != Role.IDENTIFYING}
    found = {name: suggest_hierarchy(fact, frame[name], missing) for name, fact in facts.items()}
    return {name: entry for name, entry in found.items() if entry is not None}


def _marks(frame: Table, missing: tuple[str, ...]) -> list[str]:
    from shoal.inspection.facts import find_facts

    return sorted({text for fact in find_facts(frame, missing).values() for text in fact.missing_texts})


def _job(folder: Path | None, pairs: list[str] | None, file: Path | None, missing: list[str] | None) -> Job:
    problems: list[Problem] = []
    files = options.pairs(pairs, "--hierarchy", problems)
    if folder is not None and files:
        problems.append(Problem("bad-option", "give --hierarchies or --hierarchy, not both"))
    job = options.make_job(file, {"hierarchies": folder or files or None, "missing": tuple(missing or ())}, problems)
    if problems:
        raise InputError(problems)
    return job


def _specs(job: Job, columns: list[str]) -> dict[str, Any]:
    from shoal.hierarchies.files import find_hierarchy_files

    if isinstance(job.hierarchies, dict):
        return {name: spec for name, spec in job.hierarchies.items() if name in columns}
    return dict(find_hierarchy_files(job.hierarchies, columns))


def _values(frame: Table, name: str, missing: tuple[str, ...]) -> list[str]:
    import polars as pl

    from shoal.tables.scales import is_missing

    distinct = frame[name].unique(maintain_order=True)
    found: list[str] = distinct.filter(~is_missing(distinct, missing)).cast(pl.String).to_list()
    return found


def _cover(frame: Table, name: str, spec: Any, job: Job) -> dict[str, Any]:
    """The hierarchy of a column with the values that it lacks."""
    from shoal.hierarchies.edit import nearest_group
    from shoal.hierarchies.files import read_hierarchy_file
    from shoal.hierarchies.spec import BUILDERS, make_hierarchy
    from shoal.hierarchies.tree import align_numbers

    values = _values(frame, name, job.missing)
    is_file = isinstance(spec, str | Path) and str(spec) not in BUILDERS
    made: Hierarchy = (
        align_numbers(read_hierarchy_file(spec, name), values) if is_file else make_hierarchy(spec, values, name)
    )
    uncovered = [value for value in values if value not in made.leaf_index]
    return {
        "leaves": len(made.leaves),
        "levels": made.levels,
        "values": len(values),
        "uncovered": {value: nearest_group(made, value) for value in uncovered},
    }


def _shown(entry: dict[str, Any], show_values: bool) -> dict[str, Any]:
    uncovered: dict[str, str | None] = entry["uncovered"]
    shown: dict[str, Any] = {**entry, "uncovered": len(uncovered)}
    return {**shown, "uncovered_values": uncovered} if show_values else shown


def _print_cover(found: dict[str, dict[str, Any]], show_values: bool) -> None:
    print_table(
        "Hierarchies and the values of the table",
        ("column", "levels", "leaves", "values", "not covered"),
        [
            (name, f"{e['levels']}", f"{e['leaves']:,}", f"{e['values']:,}", f"{len(e['uncovered']):,}")
            for name, e in found.items()
        ],
        right=(1, 2, 3, 4),
    )
    lacking = {name: entry["uncovered"] for name, entry in found.items() if entry["uncovered"]}
    if show_values:
        rows = [
            (name, v, group or "(no value like it: decide)") for name, vs in lacking.items() for v, group in vs.items()
        ]
        if rows:
            print_table("Values that are not covered", ("column", "value", "would go to"), rows)
    elif lacking:
        print_text("--show-values lists what is not covered, and where it would go")
    if lacking:
        print_text("add them with: shoal hierarchies edit FILE --add VALUE=GROUP -o FILE")
