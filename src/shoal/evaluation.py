"""Evaluating a released file against its original, ours or another tool's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.certificate import load_certificate
from shoal.cluster_release.comparison import compare_release
from shoal.errors import InputError, Problem
from shoal.evaluate.evaluate import Evaluation, EvaluationOptions, evaluate_release, find_attributes
from shoal.evaluate.second_opinion import python_problems
from shoal.hierarchies.files import find_hierarchy_files, read_hierarchy_file
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.metrics.domain import make_domains
from shoal.progress import ProgressCallback, silent
from shoal.tables.files import read_table, sha256_of_file
from shoal.tables.options import CsvOptions


def evaluate_files(
    original: Path,
    release: Path,
    *,
    quasi: Sequence[str] = (),
    options: EvaluationOptions,
    hierarchies: Path | None = None,
    missing: tuple[str, ...] = (),
    population: Path | None = None,
    external: Path | None = None,
    control: Path | None = None,
    anonymeter: Path | None = None,
    clusters: int | None = None,
    earlier: Sequence[Problem] = (),
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Evaluate a released file. Without `quasi` every common column that differs is taken.

    With `clusters`, both tables are clustered on their common columns and the two clusterings compared, record by
    record; that is left out if the rows do not belong together.
    """
    problems = [*earlier, *(python_problems(anonymeter) if anonymeter is not None else [])]
    problems += _setting_problems(quasi, options, clusters)
    csv = CsvOptions(missing=missing)
    frames: dict[str, pl.DataFrame | None] = {}
    for name, path in (
        ("original", original),
        ("release", release),
        ("population", population),
        ("external", external),
        ("control", control),
    ):
        frames[name] = None
        if path is not None:
            try:
                frames[name] = read_table(path, csv).frame
            except InputError as error:
                problems += error.problems
    first, second = frames["original"], frames["release"]
    if first is not None and second is not None and not quasi:
        quasi = changed_columns(first, second, options.same_order)
        if not quasi:
            hint = "name the quasi-identifiers with --quasi"
            problems.append(Problem("no-quasi-identifier", "no column differs between original and release", hint=hint))
    trees: dict[str, Hierarchy] = {}
    if hierarchies is not None:
        try:
            found = find_hierarchy_files(hierarchies, quasi)
            trees = {name: read_hierarchy_file(path, name) for name, path in found.items()}
        except InputError as error:
            problems += error.problems
    if problems or first is None or second is None:
        raise InputError(problems)
    evaluation = evaluate_release(
        first,
        second,
        quasi,
        options,
        hierarchies=trees,
        missing=missing,
        population=frames["population"],
        external=frames["external"],
        control=frames["control"],
        anonymeter=anonymeter,
        progress=progress,
    )
    if clusters is None:
        return evaluation
    if not options.same_order or first.height != second.height:
        reason = "the rows of release and original do not belong together"
        return replace(evaluation, clusters={"skipped": reason})
    return replace(evaluation, clusters=_clusters(first, second, trees, missing, clusters, options.seed))


def _setting_problems(quasi: Sequence[str], options: EvaluationOptions, clusters: int | None) -> list[Problem]:
    problems = [
        Problem("two-roles", "the quasi-identifiers name the column twice", name)
        for name, times in Counter(quasi).items()
        if times > 1
    ]
    if options.k is not None and options.k < 2:
        problems.append(Problem("bad-k", f"k must be at least 2, not {options.k}"))
    if options.seed < 0:
        problems.append(Problem("bad-seed", "the seed must be at least 0"))
    if clusters is not None and clusters < 1:
        problems.append(Problem("bad-clusters", f"the number of clusters must be at least 1, not {clusters}"))
    return problems


def _clusters(
    original: pl.DataFrame,
    release: pl.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    missing: tuple[str, ...],
    clusters: int,
    seed: int,
) -> dict[str, Any]:
    common = [name for name in original.columns if name in release.columns]
    domains = make_domains(original, find_attributes(original, common, missing), hierarchies, missing)
    found = compare_release(original, release, domains, clusters=clusters, seed=seed).comparison.as_dict()
    return {**found, "clusters": clusters, "records": original.height}


def changed_columns(original: pl.DataFrame, release: pl.DataFrame, same_order: bool = True) -> list[str]:
    """The common columns whose values are not the same: what a tool generalized.

    Rows in another order are no change: then it counts which values there are, and how often.
    """

    def values(column: pl.Series) -> pl.Series:
        texts = column.cast(pl.String)
        return texts if same_order else texts.sort()

    common = [name for name in original.columns if name in release.columns]
    if original.height != release.height:
        return common
    return [name for name in common if not values(original[name]).equals(values(release[name]), null_equal=True)]


def certificate_summary(path: Path, release: Path) -> dict[str, Any]:
    """What a certificate adds to a report: the checks, the settings and how good a release could be at best."""
    certificate = load_certificate(path)
    if release.is_file() and certificate["hashes"].get("release") != sha256_of_file(release):
        message = f"the certificate '{path}' is about another release"
        raise InputError(Problem("other-release", message, hint="give the certificate that was made with it"))
    return {"certificate": certificate, "metrics": certificate.get("loss", {})}
