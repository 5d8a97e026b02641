"""Every problem of a job with its table, found at once, before any work.

`check_settings` needs the job only; `check_columns` also looks at the columns of the table. What they find is raised
together with what `make_plan` finds (`job/plan.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import polars as pl

from shoal.algorithms.base import Algorithm
from shoal.algorithms.registry import algorithm_class, make_algorithm
from shoal.encode.columns import repeated_in_order
from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.files import find_hierarchy_files
from shoal.job.job import Job
from shoal.models.base import Model, Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.registry import parse_model
from shoal.tables.formats.atomic import check_outputs
from shoal.tables.formats.files import Format, format_of
from shoal.tables.schema import Scale
from shoal.tables.types import has_text


@dataclass(frozen=True)
class Settings:
    """What the job says, as objects; None where it says something wrong."""

    algorithm: Algorithm | None
    requirement: Requirement | None


def check_settings(job: Job, problems: list[Problem], models: tuple[Model, ...] = ()) -> Settings:
    """What can be told without the table. `models` are given as objects, besides those of the job."""
    if not job.quasi:
        hint = "name the columns by which a person could be recognised, e.g. --quasi age,sex,postcode"
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier is named", hint=hint))
    for name, weight in job.weights().items():
        if not (math.isfinite(weight) and weight >= 0):
            problems.append(Problem("bad-priority", "a priority must be a number of at least 0", name))
    for name, times in Counter(list(job.priorities)).items():
        if times > 1:
            problems.append(Problem("bad-priority", "the priority order names it twice", name))
    settings = Settings(_algorithm(job, problems), _requirement(job, models, problems))
    problems += _output_problems(job, settings.requirement)
    if settings.requirement is not None:
        problems += _population_problems(job, settings.requirement)
    if settings.algorithm is not None and settings.requirement is not None and not settings.algorithm.class_based:
        problems += _without_classes(job, settings.requirement)
    if settings.algorithm is not None and settings.algorithm.own_values:
        problems += _without_means(job)
    return settings


def _output_problems(job: Job, requirement: Requirement | None) -> list[Problem]:
    """What speaks against the places and the format of the outputs."""
    problems = check_outputs((job.output, job.certificate, job.report), _input_files(job, requirement))
    if job.output is not None:
        try:
            format_of(job.output)
        except InputError as error:
            problems += error.problems
    return problems


def _input_files(job: Job, requirement: Requirement | None) -> list[Path]:
    """Every file that the job reads: the table, the population, and the hierarchies that are files."""
    trees = [Path(spec) for spec in hierarchy_specs(job, requirement, []).values() if isinstance(spec, str | Path)]
    return [path for path in (job.input, job.population, *trees) if path is not None]


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
    message = f"'{job.algorithm}' says itself which ranges are released, so none can be a mean or a midpoint"
    return [Problem("bad-recoding", message, hint="leave out the recoding, or choose another algorithm")]


def needs_classes(job: Job, models: Sequence[Model]) -> bool:
    """Whether a job asks for more than a plain k, which algorithms that make no classes cannot give."""
    plain = all(model.size_only and not model.class_columns() for model in models)
    return not plain or job.person is not None or job.suppression_limit > 0


def _without_classes(job: Job, requirement: Requirement) -> list[Problem]:
    if not needs_classes(job, requirement.models):
        return []
    message = f"'{job.algorithm}' makes no classes, so it takes a plain k only: no models, persons or suppression"
    return [Problem("needs-classes", message, hint="choose another algorithm")]


def _algorithm(job: Job, problems: list[Problem]) -> Algorithm | None:
    parameters = dict(job.parameters)
    try:
        known = {item.name for item in fields(algorithm_class(job.algorithm))}
        for name, value in (("effort", job.effort), ("objective", job.objective)):
            if value is not None and name in known:
                if parameters.get(name) not in (None, value):
                    message = f"two different values of '{name}' are given, one of them among the parameters"
                    problems.append(Problem("given-twice", message, hint="leave out one of them"))
                parameters[name] = value
            elif value is not None:
                message = f"algorithm '{job.algorithm}' has no {name} to set"
                problems.append(Problem("unknown-parameter", message, hint="'shoal' has"))
        if job.priorities and not algorithm_class(job.algorithm).takes_priorities:
            message = f"algorithm '{job.algorithm}' adds up no losses of columns, so priorities cannot act on it"
            problems.append(Problem("no-priorities", message, hint="leave them out, or choose another algorithm"))
        if parameters.get("class_column") not in (None, job.class_column):
            message = "the class label is no parameter of the algorithm, but a setting of the job"
            problems.append(Problem("bad-parameter", message, hint="name it with --class (class_column in Python)"))
        if job.class_column is not None and "class_column" in known:
            parameters["class_column"] = job.class_column
        return make_algorithm(job.algorithm, **parameters)
    except InputError as error:
        problems.extend(error.problems)
        return None


def _requirement(job: Job, given: tuple[Model, ...], problems: list[Problem]) -> Requirement | None:
    models: list[Model] = []
    before = len(problems)
    if job.k is not None:
        try:
            models.append(KAnonymity(job.k))
        except ValueError as error:
            problems.append(Problem("bad-k", str(error)))
    for spec in job.models:
        try:
            models.append(parse_model(spec))
        except InputError as error:
            problems.extend(error.problems)
    models.extend(given)
    if len(problems) > before:
        return None
    if not models:
        if any(problem.reason == "bad-k" for problem in problems):  # said already, in other words
            return None
        problems.append(Problem("no-model", "no k and no model is given", hint="e.g. -k 10"))
        return None
    return Requirement.of(models)


def check_columns(job: Job, frame: pl.DataFrame, requirement: Requirement | None, problems: list[Problem]) -> None:
    """Names that the table lacks, columns with two roles, and settings that do not fit the role of their column."""
    known = frame.columns
    class_columns = [name for model in requirement.models for name in model.class_columns()] if requirement else []
    roles = [("quasi", job.quasi), ("sensitive", job.sensitive), ("identifiers", job.identifiers)]
    named = [(name, setting) for setting, names in roles for name in names]
    for setting, column in (("class", job.class_column), ("person", job.person)):
        if column is not None:
            named.append((column, setting))
    for setting, columns in (
        ("scales", job.scales),
        ("orders", job.orders),
        ("priorities", dict.fromkeys(job.priorities)),
        ("recodings", job.recodings),
        ("hierarchies", job.hierarchies if isinstance(job.hierarchies, dict) else {}),
        ("models", dict.fromkeys([*requirement.columns(), *class_columns]) if requirement is not None else {}),
    ):
        named += [(name, setting) for name in columns]
    for name, setting in dict.fromkeys(named):
        if name not in known:
            message = f"the table has no such column (named in '{setting}')"
            problems.append(Problem("unknown-column", message, name, did_you_mean(name, known)))
    for reason, setting, names in (
        ("bad-priority", "priority", list(job.priorities)),
        ("bad-recoding", "recoding", list(job.recodings)),
    ):
        for name in dict.fromkeys(names):
            if name in known and name not in job.quasi:
                hint = did_you_mean(name, list(job.quasi))
                message = f"a {setting} names it, but it is no quasi-identifier"
                problems.append(Problem(reason, message, name, hint))
    for name, count in Counter(name for name, setting in named if setting in dict(roles)).items():
        if count > 1:
            problems.append(Problem("two-roles", "the column has two roles, or one of them twice", name))
    for name, order in job.orders.items():
        problems += repeated_in_order(name, order)
        if job.scales.get(name, Scale.ORDERED) is not Scale.ORDERED:
            message = f"its scale is '{job.scales[name]}', but an order of its values is given"
            problems.append(Problem("two-scales", message, name, "leave out one of them"))
    problems += _misplaced(job, requirement, known)
    problems += _without_text(job, frame, requirement)


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


def _without_text(job: Job, frame: pl.DataFrame, requirement: Requirement | None) -> list[Problem]:
    """Columns whose values have no text, where they need one: because somebody looks at them, or for a CSV file."""
    looked_at = {*job.quasi, *job.sensitive, job.class_column, job.person}
    looked_at |= set(requirement.columns()) if requirement is not None else set()
    dropped = {*job.identifiers, job.person}
    as_csv = job.output is not None and _is_csv(job.output)
    problems = []
    for name, dtype in frame.schema.items():
        if has_text(dtype):
            continue
        kind = type(dtype).__name__  # not all of it: inside there may be categories, which are values
        if name in looked_at:
            hint = "convert the column to text or to numbers"
            problems.append(Problem("unknown-type", f"values of type {kind} can only be kept or dropped", name, hint))
        elif as_csv and name not in dropped:
            message = f"values of type {kind} cannot be written to CSV"
            problems.append(Problem("not-for-csv", message, name, "write Parquet, or drop the column as an identifier"))
    return problems


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
