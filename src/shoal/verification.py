"""Checking released tables, ours or another tool's, given as files or frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.files import find_hierarchy_files, read_hierarchy_file
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.base import Model, Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.registry import parse_model
from shoal.models.t_closeness import TCloseness
from shoal.tables.files import read_table
from shoal.tables.frames import to_polars
from shoal.verify.check import Verification, verify_release


def verify(
    release: Any, *, quasi: Sequence[str], k: int | None = None, models: Sequence[Model | str] = (), **options: Any
) -> Verification:
    """Check a released frame: k-anonymity if k is given, and the given models (objects or their text form)."""
    problems: list[Problem] = []
    wanted = _models(k, models, problems)
    frame, _ = to_polars(release)
    problems += _unknown_columns(frame.columns, quasi)
    if problems:
        raise InputError(problems)
    return verify_release(frame, list(quasi), wanted, **options)


def verify_file(
    release: Path,
    *,
    quasi: Sequence[str],
    k: int | None,
    person: str | None = None,
    sensitive: Sequence[str] = (),
    models: Sequence[str] = (),
    hierarchies: Path | None = None,
    suppression_limit: float = 0.0,
    population: Path | None = None,
    earlier: Sequence[Problem] = (),
) -> dict[str, Any]:
    """The same for a file; every problem of the call is raised together.

    With `person`, a column of the file, k counts persons instead of records.
    """
    problems = list(earlier)
    wanted = _models(k, models, problems)
    wanted = list(Requirement.of(wanted).count_persons(person).models)
    if not quasi:
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier is named", hint="--quasi age,sex"))
    frame = None
    try:
        frame = read_table(release).frame
        problems += _unknown_columns(frame.columns, [*quasi, *sensitive, *([person] if person is not None else [])])
    except InputError as error:
        problems += error.problems
    trees: dict[str, Hierarchy] = {}
    people = None
    try:
        trees = _read_trees(hierarchies, [*quasi, *sensitive, *Requirement.of(wanted).columns()])
        people = read_table(population).frame if population is not None else None
    except InputError as error:
        problems += error.problems
    if problems or frame is None:
        raise InputError(problems)
    found = verify_release(
        frame, list(quasi), wanted, suppression_limit=suppression_limit, hierarchies=trees, population=people
    )
    return found.as_dict()


def verify_certified(
    release: Path, certificate: dict[str, Any], hierarchies: Path | None = None, population: Path | None = None
) -> dict[str, Any]:
    """Check that a file is the certified one, and check its values again."""
    file = read_table(release)
    notes = []
    same = file.sha256 == certificate["hashes"].get("release")
    if not same:
        notes.append("The file is not the one that was certified: its hash differs.")
    specs = list(certificate["models"])
    trees = _read_trees(hierarchies, file.frame.columns)
    people = read_table(population).frame if population is not None else None
    checkable = [spec for spec in specs if _checkable(spec, file.frame.columns, trees, people is not None)]
    notes += [f"Not checked again, the release alone does not tell: {spec}" for spec in specs if spec not in checkable]
    limit = float(certificate.get("job", {}).get("suppression_limit", 0.0))
    problems = _unknown_columns(file.frame.columns, certificate["quasi"])
    if problems:
        raise InputError(problems)
    found = verify_release(
        file.frame,
        certificate["quasi"],
        [parse_model(spec) for spec in checkable],
        suppression_limit=limit,
        hierarchies=trees,
        population=people,
    )
    return {**found.as_dict(), "passed": found.passed and same, "same_file": same, "notes": notes}


def _read_trees(folder: Path | None, columns: Sequence[str]) -> dict[str, Hierarchy]:
    if folder is None:
        return {}
    return {name: read_hierarchy_file(path, name) for name, path in find_hierarchy_files(folder, columns).items()}


def _checkable(spec: str, columns: Sequence[str], trees: dict[str, Hierarchy], population: bool) -> bool:
    """Some models need more than the release: a dropped column, a hierarchy, a population."""
    try:
        model = parse_model(spec)
    except InputError:
        return False
    if isinstance(model, KMap) and not population:
        return False
    if isinstance(model, TCloseness) and model.distance == "hierarchical" and model.column not in trees:
        return False
    return all(column in columns for column in model.columns())


def _models(k: int | None, models: Sequence[Model | str], problems: list[Problem]) -> list[Model]:
    wanted: list[Model] = []
    before = len(problems)
    if k is not None:
        try:
            wanted.append(KAnonymity(k))
        except ValueError as error:
            problems.append(Problem("bad-k", str(error)))
    for model in models:
        try:
            wanted.append(parse_model(model) if isinstance(model, str) else model)
        except InputError as error:
            problems.extend(error.problems)
    if not wanted and len(problems) == before and not any(problem.reason == "bad-k" for problem in problems):
        problems.append(Problem("no-model", "nothing to check: no k and no model is given", hint="e.g. -k 10"))
    return wanted


def _unknown_columns(known: Sequence[str], named: Sequence[str]) -> list[Problem]:
    return [
        Problem("unknown-column", "the release has no such column", name, did_you_mean(name, list(known)))
        for name in dict.fromkeys(named)
        if name not in known
    ]
