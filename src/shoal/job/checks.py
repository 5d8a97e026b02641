"""Every problem of a job with its table, found at once, before any work.

Checks return what they find and build nothing. `check_settings` needs the job only; `check_columns` also looks at the
columns of the table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from shoal.algorithms.base import Algorithm
from shoal.encode.columns import repeated_in_order
from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.files import find_hierarchy_files
from shoal.job.engine import engine_problems
from shoal.job.job import SCHEMES, Job
from shoal.job.kept import role_problems, unnamed_columns
from shoal.models.base import Model, Requirement
from shoal.models.k_map import KMap
from shoal.tables.formats.atomic import check_outputs
from shoal.tables.formats.files import Format, format_of, format_to_write
from shoal.tables.formats.sql.address import SqlAddress
from shoal.tables.schema import Scale, as_names
from shoal.tables.stated_forms import format_problem
from shoal.tables.types import has_text


def check_settings(job: Job, algorithm: Algorithm | None, requirement: Requirement | None) -> list[Problem]:
    """What can be told without the table; None is what could not be made of the job's words, which is told already."""
    problems = [*_column_settings(job), *_output_problems(job, requirement), *engine_problems(job, algorithm)]
    if requirement is not None:
        problems += _population_problems(job, requirement)
    if algorithm is not None and requirement is not None and not algorithm.class_based:
        problems += _without_classes(job, requirement)
    if algorithm is not None and (algorithm.own_values or job.recoding in SCHEMES):
        problems += _without_means(job)
    if job.suppressed == "drop" and requirement is not None:
        problems += _not_for_drop(requirement)
    return problems


def _column_settings(job: Job) -> list[Problem]:
    """Priorities and forms of dates that say nothing, and no quasi-identifier at all."""
    problems = []
    if not job.quasi:
        hint = "name the columns by which a person could be recognised, e.g. --quasi age,sex,postcode"
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier is named", hint=hint))
    for name, weight in job.weights().items():
        if not (math.isfinite(weight) and weight >= 0):
            problems.append(Problem("bad-priority", "a priority must be a number of at least 0", name))
    for name, times in Counter(list(job.priorities)).items():
        if times > 1:
            problems.append(Problem("bad-priority", "the priority order names it twice", name))
    for name, form in job.date_formats.items():
        if format_problem(form):
            problems.append(Problem("bad-form", format_problem(form), name))
    return problems


def _output_problems(job: Job, requirement: Requirement | None) -> list[Problem]:
    """What speaks against the places and the format of the outputs."""
    into_folder = job.engine == "spark"  # what speaks against that folder is told by whoever knows the engine
    outputs = [path for path in job.outputs() if not (into_folder and path == job.output)]
    problems = check_outputs(outputs, input_files(job, requirement))
    if job.public_certificate is not None and job.certificate is None:
        message = "a public certificate is part of a certificate of the holder, which keeps its salt, but none is named"
        problems.append(Problem("no-certificate", message, hint="--certificate certificate.json"))
    for path in (None if into_folder else job.output, job.key):
        try:
            if isinstance(path, Path):
                format_to_write(path)
        except InputError as error:
            problems += error.problems
    return [*problems, *_key_problems(job), *_database_problems(job)]


def _key_problems(job: Job) -> list[Problem]:
    problems = []
    if job.key is not None and job.suppressed == "drop":
        message = "a key has a row of the file for every record, but suppressed records are left out"
        problems.append(Problem("key-without-rows", message, hint="leave out --key, or release them as *"))
    if job.key is not None and job.output is None:
        message = "a key tells the rows of a file, but no output is named"
        problems.append(Problem("key-without-output", message, hint="-o release.csv, or leave out --key"))
    return problems


def _database_problems(job: Job) -> list[Problem]:
    """Settings that are about databases, where there is none."""
    problems = []
    if job.query is not None and not isinstance(job.input, SqlAddress):
        hint = "name the database, e.g. postgresql://host/database"
        problems.append(Problem("query-without-database", "a query is given, but the input is no database", hint=hint))
    if job.replace and not isinstance(job.output, SqlAddress) and job.engine != "spark":
        message = "'replace' is about tables of databases and folders; the output is none"
        problems.append(Problem("replace-without-database", message, hint="leave it out: files are replaced anyway"))
    return problems


def input_files(job: Job, requirement: Requirement | None) -> list[Path]:
    """Every file that the job reads: the table, the population, and the hierarchies that are files."""
    trees = [Path(spec) for spec in hierarchy_specs(job, requirement, []).values() if isinstance(spec, str | Path)]
    others = (job.input, job.query, job.sign, job.population, job.earlier_original, job.series, *job.earlier)
    return [path for path in (*others, *trees) if isinstance(path, Path)]


def _population_problems(job: Job, requirement: Requirement) -> list[Problem]:
    wanted = any(isinstance(model, KMap) for model in requirement.models)
    if wanted and job.population is None:
        hint = "name it, e.g. --population everybody.csv"
        return [Problem("missing-population", "k-map needs a population table", hint=hint)]
    if job.population is not None and not wanted:
        hint = "add one, e.g. --model k-map:10, or leave the population out"
        return [Problem("unused-population", "a population is named, but no model that looks at it", hint=hint)]
    return []


def _without_means(job: Job) -> list[Problem]:
    if not {"mean", "midpoint"} & {job.recoding, *job.recodings.values()}:
        return []
    who = f"the recoding '{job.recoding}'" if job.recoding in SCHEMES else f"'{job.algorithm}'"
    message = f"{who} says itself which ranges are released, so none can be a mean or a midpoint"
    return [Problem("bad-recoding", message, hint="leave out the recoding, or choose another algorithm")]


def needs_classes(job: Job, models: Sequence[Model]) -> bool:
    """Whether a job asks for more than a plain k, which algorithms that make no classes cannot give."""
    plain = all(model.size_only and not model.class_columns() for model in models)
    return not plain or job.person is not None or job.suppression_limit > 0


def _without_classes(job: Job, requirement: Requirement) -> list[Problem]:
    if job.recoding in SCHEMES:
        message = f"'{job.algorithm}' makes no classes, so it cannot keep the recoding '{job.recoding}'"
        return [Problem("needs-classes", message, hint="choose another algorithm")]
    if not needs_classes(job, requirement.models):
        return []
    message = f"'{job.algorithm}' makes no classes, so it takes a plain k only: no models, persons or suppression"
    return [Problem("needs-classes", message, hint="choose another algorithm")]


def _not_for_drop(requirement: Requirement) -> list[Problem]:
    """Who leaves records out changes the table that classes are compared with."""
    return [
        Problem("not-for-drop", message, hint="let suppressed records stay as '*', or leave out the model")
        for model in requirement.models
        for message in [f"'{model.public_spec()}' compares classes with the whole table, so no record can be left out"]
        if model.compares_with_table
    ]


def check_columns(
    job: Job, frame: pl.DataFrame, requirement: Requirement | None, described: Sequence[str] = ()
) -> list[Problem]:
    """Names that the table lacks, columns with two roles, and settings that do not fit the role of their column.

    `described` are further columns that somebody needs to know.
    """
    return [
        *_unknown(job, frame.columns, requirement, described),
        *_not_for_this_role(job, frame.columns),
        *_two_roles(job),
        *_order_problems(job),
        *_misplaced(job, requirement, frame.columns),
        *role_problems(job, frame.columns, _looked_at(requirement, described)),
        *_without_text(job, frame, requirement, described),
    ]


def _looked_at(requirement: Requirement | None, described: Sequence[str]) -> list[str]:
    """Columns that models or a purpose look at: they are named, too."""
    return [*(requirement.columns() if requirement is not None else ()), *described]


def _unknown(job: Job, known: list[str], requirement: Requirement | None, described: Sequence[str]) -> list[Problem]:
    """Columns that are named and not there, with the setting that names them."""
    named: list[tuple[str, Iterable[str]]] = [*_named_columns(job), ("columns to cluster on", described)]
    if requirement is not None:
        class_columns = [name for model in requirement.models for name in model.class_columns()]
        named.insert(-1, ("models", [*requirement.columns(), *class_columns]))
    pairs = dict.fromkeys((name, setting) for setting, names in named for name in names)
    return [
        Problem("unknown-column", message, name, did_you_mean(name, known))
        for name, setting in pairs
        for message in [f"the table has no such column (named in '{setting}')"]
        if name not in known
    ]


def _named_columns(job: Job) -> list[tuple[str, Iterable[str]]]:
    """Every setting of a job that names columns."""
    settings = ("quasi", "sensitive", "identifiers", "keep", "allow")
    named: list[tuple[str, Iterable[str]]] = [(setting, getattr(job, setting)) for setting in settings]
    named += [("class", as_names(job.class_column or ())), ("person", as_names(job.person or ()))]
    by_column = ("scales", "orders", "priorities", "recodings", "date_formats", "at_most", "round")
    named += [(setting, getattr(job, setting)) for setting in by_column]
    return [*named, ("hierarchies", job.hierarchies if isinstance(job.hierarchies, dict) else ())]


def _not_for_this_role(job: Job, known: list[str]) -> list[Problem]:
    """Priorities, recodings, highest levels and roundings are for quasi-identifiers."""
    return [
        Problem(reason, f"a {setting} names it, but it is no quasi-identifier", name, did_you_mean(name, job.quasi))
        for reason, setting, names in (
            ("bad-priority", "priority", job.priorities),
            ("bad-recoding", "recoding", job.recodings),
            ("bad-cap", "highest level", job.at_most),
            ("bad-rounding", "rounding", job.round),
        )
        for name in dict.fromkeys(names)
        if name in known and name not in job.quasi
    ]


def _two_roles(job: Job) -> list[Problem]:
    kept = [name for name in job.keep if name not in job.quasi]  # a quasi-identifier is then not generalized
    times = Counter([*job.quasi, *job.sensitive, *job.identifiers, *kept])
    message = "the column has two roles, or one of them twice"
    return [Problem("two-roles", message, name) for name, count in times.items() if count > 1]


def _order_problems(job: Job) -> list[Problem]:
    problems = []
    for name, order in job.orders.items():
        problems += repeated_in_order(name, order)
        if job.scales.get(name, Scale.ORDERED) is not Scale.ORDERED:
            message = f"its scale is '{job.scales[name]}', but an order of its values is given"
            problems.append(Problem("two-scales", message, name, "leave out one of them"))
    return problems


def _misplaced(job: Job, requirement: Requirement | None, known: list[str]) -> list[Problem]:
    """Models and persons whose columns must be quasi-identifiers and are not, or must not be and are."""
    problems = []
    for model in requirement.models if requirement is not None else ():
        for name in model.class_columns():
            if name in known and name not in job.quasi:
                message = f"'{model.public_spec()}' takes it for a quasi-identifier, but it is none"
                hint = "name it among the quasi-identifiers, or leave it out of the model"
                problems.append(Problem("not-quasi-identifying", message, name, hint))
        for name in model.columns():
            if name in job.quasi and name != job.person:
                message = f"'{model.public_spec()}' looks at its values, but a quasi-identifier is generalized"
                hint = "leave it out of the quasi-identifiers, or leave out the model"
                problems.append(Problem("two-roles", message, name, hint))
    if job.person is not None and job.person in (*job.quasi, *job.sensitive):
        message = "it tells persons apart, so it is not released, but it is also named as a column to be released"
        problems.append(Problem("two-roles", message, job.person, "name it as 'person' only"))
    return list(dict.fromkeys(problems))


def _without_text(
    job: Job, frame: pl.DataFrame, requirement: Requirement | None, described: Sequence[str]
) -> list[Problem]:
    """Columns whose values have no text, where they need one: because somebody looks at them, or for a CSV file."""
    looked_at = {*job.quasi, *job.sensitive, job.class_column, job.person}
    looked_at |= set(requirement.columns()) if requirement is not None else set()
    as_csv = isinstance(job.output, Path) and _is_csv(job.output)
    written = _written(job, frame, requirement, described) if as_csv else set()
    problems = []
    for name, dtype in frame.schema.items():
        if has_text(dtype):
            continue
        kind = type(dtype).__name__  # not all of it: inside there may be categories, which are values
        if name in looked_at:
            hint = "convert the column to text or to numbers"
            problems.append(Problem("unknown-type", f"values of type {kind} can only be kept or dropped", name, hint))
        elif name in written:
            message = f"values of type {kind} cannot be written to CSV"
            problems.append(Problem("not-for-csv", message, name, "write Parquet, or drop the column as an identifier"))
    return problems


def _written(job: Job, frame: pl.DataFrame, requirement: Requirement | None, described: Sequence[str]) -> set[str]:
    """Columns that are not dropped."""
    dropped = {*job.identifiers, job.person}
    if job.drop_rest:
        dropped |= set(unnamed_columns(job, frame.columns, _looked_at(requirement, described)))
    return set(frame.columns) - dropped


def _is_csv(path: Path) -> bool:
    try:
        return format_of(path) is Format.CSV
    except InputError:
        return False  # told already


def hierarchy_specs(job: Job, requirement: Requirement | None, problems: list[Problem]) -> dict[str, object]:
    """What describes the hierarchy of each column that has one: a file, a tree, nested names or a builder."""
    if isinstance(job.hierarchies, dict):
        return dict(job.hierarchies)
    of_models = requirement.columns() if requirement is not None else ()
    try:
        names = (name for name in (*job.quasi, *job.sensitive, *of_models) if name != job.person)
        return dict(find_hierarchy_files(job.hierarchies, names))
    except InputError as error:
        problems.extend(error.problems)
        return {}
