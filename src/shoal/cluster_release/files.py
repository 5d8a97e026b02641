"""Publishing a file for cluster analysis: release, what belongs to it, and a page, all written or none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from shoal.charts.draw import check_pictures
from shoal.cluster_release.framework import ClusterRelease, publish_for_clustering
from shoal.cluster_release.prepare import required_models
from shoal.errors import InputError, InternalError, Problem
from shoal.hierarchies.files import find_hierarchy_files, hierarchy_files
from shoal.models.base import Model
from shoal.models.linkage import Qid
from shoal.models.registry import parse_model
from shoal.tables.atomic import atomic_output, check_output, same_outputs
from shoal.tables.files import format_of, read_table, write_table, written_options
from shoal.tables.options import CsvOptions
from shoal.verify.check import verify_release


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
    """From a table to a verified release for cluster analysis; every problem of the call is raised together."""
    problems = list(earlier)
    wanted = _models(models, problems)
    if output is None:
        problems.append(Problem("no-output", "no output is named", hint="-o release.csv"))
    for path in (output, details, report):
        if path is not None:
            problems += check_output(path, [data, *hierarchy_files(hierarchies, quasi)])
    problems += same_outputs([path for path in (output, details, report) if path is not None])
    if charts is not None:
        problems += check_pictures(charts)
    qids = [(model.quasi, model.k) for model in wanted if isinstance(model, Qid)]
    others = [model for model in wanted if not isinstance(model, Qid)]
    if qids and h is not None:
        message = "a k for all quasi-identifiers and sets with a k of their own cannot be given together"
        problems.append(Problem("given-twice", message, hint="write the k as one more set, qid:A+B+C:K"))
    source = trees = None
    try:
        source = read_table(data, CsvOptions(missing=missing))
        trees = find_hierarchy_files(hierarchies, quasi) if hierarchies is not None else {}
    except InputError as error:
        problems += error.problems
    try:
        if output is not None:
            format_of(output)
    except InputError as error:
        problems += error.problems
    if problems or source is None or trees is None or output is None:
        raise InputError(problems)
    made = publish_for_clustering(
        source.frame,
        quasi=quasi,
        h=h or 50,
        qids=qids or None,
        models=others,
        hierarchies=trees,
        missing=missing,
        **settings,
    )
    with ExitStack() as outputs:
        temporary = outputs.enter_context(atomic_output(output))
        write_table(made.release, temporary, source)
        options = written_options(temporary, source) if format_of(temporary) == "csv" else None
        _check_bytes(read_table(temporary, options).frame, quasi, required_models(h or 50, qids or None, others))
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


def _check_bytes(published: pl.DataFrame, quasi: Sequence[str], models: Sequence[Model]) -> None:
    """The bytes to be published hold what the frame held."""
    found = verify_release(published, list(quasi), models)
    if not found.passed:
        raise InternalError([Problem("check-failed", str(check)) for check in found.failures()])
