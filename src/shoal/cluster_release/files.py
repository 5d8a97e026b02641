"""Publishing a file for cluster analysis: release, what belongs to it, and a page, all written or none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeGuard

import polars as pl

from shoal.cluster_release.framework import ClusterRelease, publish_for_clustering
from shoal.cluster_release.prepare import Qids, required_models
from shoal.cluster_release.sweep import check_sweep
from shoal.errors import InputError, InternalError, Problem
from shoal.hierarchies.files import find_hierarchy_files
from shoal.models.base import Model
from shoal.models.linkage import Qid
from shoal.models.registry import parse_model
from shoal.models.t_closeness import TCloseness
from shoal.reports.charts.draw import check_pictures
from shoal.tables.formats.atomic import atomic_output, check_different, check_outputs
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import format_of, read_table, write_table, written_options
from shoal.verification.check import verify_release

DEFAULT_THRESHOLD = 50


def publish_file(
    data: Path,
    output: Path | None,
    *,
    quasi: Sequence[str],
    h: int | None,
    models: Sequence[str] = (),
    hierarchies: Path | None = None,
    missing: tuple[str, ...] = (),
    details: Path | None = None,
    report: Path | None = None,
    charts: Path | None = None,
    earlier: Sequence[Problem] = (),
    **settings: Any,
) -> ClusterRelease:
    """From a table to a verified release for cluster analysis; every problem of the call is raised together.

    `h` holds for all quasi-identifiers together, besides the QIDs among the models. It is 50 if neither it nor a model
    that counts records or persons is given.
    """
    problems = list(earlier)
    wanted = _models(models, problems)
    h, qids, others = _thresholds(h, quasi, wanted)
    problems += _setting_problems(h, qids, others, settings)
    if output is None:
        problems.append(Problem("no-output", "no output is named", hint="-o release.csv"))
    problems += check_outputs((output, details, report), (data, hierarchies))
    if charts is not None:
        problems += [*check_pictures(charts), *check_different((output, details, report, charts))]
    source = trees = None
    try:
        source = read_table(data, CsvOptions(missing=missing))
        described = [*quasi, *(model.column for model in others if _needs_hierarchy(model))]
        trees = find_hierarchy_files(hierarchies, described) if hierarchies is not None else {}
    except InputError as error:
        problems += error.problems
    try:
        if output is not None:
            format_of(output)
    except InputError as error:
        problems += error.problems
    if problems or source is None or trees is None or output is None:
        raise InputError(dict.fromkeys(problems))
    made = publish_for_clustering(
        source.frame,
        quasi=quasi,
        h=h,
        qids=qids,
        models=others,
        hierarchies=trees,
        missing=missing,
        **settings,
    )
    with ExitStack() as outputs:
        temporary = outputs.enter_context(atomic_output(output))
        write_table(made.release, temporary, source)
        options = written_options(temporary, source) if format_of(temporary) == "csv" else None
        published = read_table(temporary, options).frame
        _check_bytes(published, quasi, required_models(h, qids, others), made.evidence)
        if details is not None:
            path = outputs.enter_context(atomic_output(details))
            path.write_text(json.dumps(made.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        if report is not None:
            path = outputs.enter_context(atomic_output(report))
            path.write_text(made.report(), encoding="utf-8")
        if charts is not None:
            made.save_charts(charts)
    return made


def _models(specs: Sequence[str], problems: list[Problem]) -> list[Model]:
    wanted = []
    for spec in specs:
        try:
            wanted.append(parse_model(spec))
        except InputError as error:
            problems += error.problems
    return wanted


def _thresholds(
    h: int | None, quasi: Sequence[str], models: Sequence[Model]
) -> tuple[int | None, Qids | None, list[Model]]:
    """The threshold of all quasi-identifiers, or the sets with theirs, and all other models.

    Beside sets, a threshold of all quasi-identifiers is one more set. A set that counts persons is a model like others.
    """
    sets = [(model.quasi, model.k) for model in models if isinstance(model, Qid) and model.person is None]
    others = [model for model in models if not isinstance(model, Qid) or model.person is not None]
    if sets:
        return None, [*sets, *([(tuple(quasi), h)] if h is not None and quasi else [])], others
    if h is None and not any(model.counts_only for model in models):
        h = DEFAULT_THRESHOLD
    return h, None, others


def _setting_problems(
    h: int | None, qids: Qids | None, models: Sequence[Model], settings: Mapping[str, Any]
) -> list[Problem]:
    problems: list[Problem] = []
    try:
        required_models(h, qids, models)
    except InputError as error:
        problems += error.problems
    try:
        check_sweep(settings.get("sweep", ()))
    except InputError as error:
        problems += error.problems
    return problems


def _needs_hierarchy(model: Model) -> TypeGuard[TCloseness]:
    return isinstance(model, TCloseness) and model.distance == "hierarchical"


def _check_bytes(
    published: pl.DataFrame, quasi: Sequence[str], models: Sequence[Model], evidence: Mapping[str, Any]
) -> None:
    """The bytes to be published hold what the frame held."""
    found = verify_release(published, list(quasi), models, **evidence)
    if not found.passed:
        raise InternalError([Problem("check-failed", str(check)) for check in found.failures()])
