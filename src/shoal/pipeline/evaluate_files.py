"""Evaluating a released file against its original, ours or another tool's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.evaluation.attacks.second_opinion import python_problems
from shoal.evaluation.evaluate import Evaluation, evaluate_release, find_attributes
from shoal.evaluation.options import EvaluationOptions
from shoal.evaluation.usefulness.clustering.comparison import compare_release
from shoal.job.certified import certified_job, other_hierarchies
from shoal.job.job import Job
from shoal.job.plan import Plan, make_plan
from shoal.pipeline.certificate import load_certificate
from shoal.pipeline.evaluate_together import EarlierFiles, EarlierFrames
from shoal.pipeline.row_match import NEEDS_KEY, rows_belong_together, with_original_rows
from shoal.pipeline.sources import as_stated
from shoal.progress import ProgressCallback, silent
from shoal.released.domain import Domain, make_domains
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import read_table, sha256_of_file
from shoal.tables.row_order import is_published_order


def evaluate_files(
    original: Path,
    release: Path,
    *,
    job: Job,
    options: EvaluationOptions,
    certificate: Mapping[str, Any] | None = None,
    population: Path | None = None,
    external: Path | None = None,
    control: Path | None = None,
    anonymeter: Path | None = None,
    clusters: int | None = None,
    key: Path | None = None,
    before: EarlierFiles | None = None,
    earlier: Sequence[Problem] = (),
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Evaluate a released file as the job says: quasi-identifiers, scales, orders, hierarchies, priorities, missing.

    What the job does not say, the certificate of the release tells; without both, every common column that differs is
    a quasi-identifier, and scales are found out.

    `key` is the private key of the release, which tells its rows in the order of the original. Without it, and unless
    the options say, it is found out whether the rows belong together.

    With `clusters`, both tables are clustered on their common columns and the two clusterings compared, record by
    record; that is left out if the rows do not belong together. With releases published `before` it is measured what
    all of them give away together.
    """
    problems = [*earlier, *(python_problems(anonymeter) if anonymeter is not None else [])]
    problems += _setting_problems(job.quasi, options, clusters)
    certificate = certificate or {}
    places = {"original": original, "population": population, "external": external, "control": control}
    frames = _read_all(places, release, job, certificate, problems)
    with_before = EarlierFrames.read(before or EarlierFiles(), job.csv_options(), problems)
    first, second = frames["original"], frames["release"]
    if second is not None:
        second = _with_key(second, key, problems)
    if first is not None and second is not None:
        job = _with_quasi(job, certificate, first, second, options.same_order, problems)
    plan = _plan(job, certificate, first, problems) if first is not None else None
    problems += with_before.problems(job.quasi)
    if problems or first is None or second is None:
        raise InputError(problems)
    domains = plan.domains(first) if plan is not None else {}
    options = _with_order(options, first, second, job.quasi, domains, certificate if key is None else {})
    evaluation = evaluate_release(
        first,
        second,
        job.quasi,
        options if plan is None else replace(options, weights=plan.weights),
        domains=domains,
        population=frames["population"],
        external=frames["external"],
        control=frames["control"],
        anonymeter=anonymeter,
        progress=progress,
    )
    together = with_before.measure(first, second, job.quasi, domains, options)
    evaluation = replace(_told(evaluation, options), together=together)
    if clusters is None:
        return evaluation
    if options.same_order:
        return replace(evaluation, clusters=_clusters(first, second, plan, clusters, options.seed))
    return replace(evaluation, clusters={"skipped": "the rows of release and original do not belong together"})


def _read_all(
    places: Mapping[str, Path | None],
    release: Path,
    job: Job,
    certificate: Mapping[str, Any],
    problems: list[Problem],
) -> dict[str, pl.DataFrame | None]:
    """The release and the tables in the form of the original; None for what is not given or cannot be read."""
    csv = job.csv_options()
    frames: dict[str, pl.DataFrame | None] = dict.fromkeys((*places, "release"))
    for name, path in {**places, "release": release}.items():
        if path is None:
            continue
        try:
            if name == "release":
                frames[name] = read_table(path, _release_form(csv, certificate)).frame
            else:
                frames[name] = as_stated(read_table(path, csv).frame, job)
        except InputError as error:
            problems += error.problems
    return frames


def evaluate_frames(
    original: pl.DataFrame,
    release: pl.DataFrame,
    *,
    job: Job,
    options: EvaluationOptions,
    certificate: Mapping[str, Any] | None = None,
    key: Path | None = None,
    before: EarlierFrames | None = None,
    progress: ProgressCallback = silent,
) -> Evaluation:
    """The same for frames."""
    with_before = before or EarlierFrames()
    problems = _setting_problems(job.quasi, options, None)
    release = _with_key(release, key, problems)
    told = certificate or {}
    job = _with_quasi(job, told, original, release, options.same_order, problems)
    plan = _plan(job, told, original, problems)
    problems += with_before.problems(job.quasi)
    if problems:
        raise InputError(problems)
    domains = plan.domains(original) if plan is not None else {}
    options = _with_order(options, original, release, job.quasi, domains, {})
    weighted = options if plan is None else replace(options, weights=plan.weights)
    found = evaluate_release(original, release, job.quasi, weighted, domains=domains, progress=progress)
    together = with_before.measure(original, release, job.quasi, domains, options)
    return replace(_told(found, options), together=together)


def _with_key(release: pl.DataFrame, key: Path | None, problems: list[Problem]) -> pl.DataFrame:
    try:
        return with_original_rows(release, key)
    except InputError as error:
        problems += error.problems
        return release


def _with_order(
    options: EvaluationOptions,
    original: pl.DataFrame,
    release: pl.DataFrame,
    quasi: Sequence[str],
    domains: Mapping[str, Domain],
    certificate: Mapping[str, Any],
) -> EvaluationOptions:
    """The options with the answer to whether the rows belong together."""
    same = options.same_order
    if same is None:
        same = rows_belong_together(original, release, quasi, domains, certificate)
    return replace(options, same_order=same and original.height == release.height)


def _told(evaluation: Evaluation, options: EvaluationOptions) -> Evaluation:
    """The evaluation with a word about what could not be compared."""
    return evaluation if options.same_order else replace(evaluation, notes=(*evaluation.notes, NEEDS_KEY))


def _release_form(csv: CsvOptions, certificate: Mapping[str, Any]) -> CsvOptions:
    """How the released file is written: as its certificate says, if it does."""
    told = certificate.get("csv", {})
    return replace(csv, **{name: told[name] for name in ("delimiter", "quote", "header") if name in told})


def _with_quasi(
    job: Job,
    certificate: Mapping[str, Any],
    original: pl.DataFrame,
    release: pl.DataFrame,
    same_order: bool | None,
    problems: list[Problem],
) -> Job:
    """The job with its quasi-identifiers: as named, as certified, or what a tool has changed."""
    if same_order is None and not job.quasi and "quasi" not in certificate:
        same_order = not is_published_order(release)
    quasi = (
        job.quasi or tuple(certificate.get("quasi", ())) or changed_columns(original, release, same_order is not False)
    )
    if not quasi:
        hint = "name the quasi-identifiers with --quasi"
        problems.append(Problem("no-quasi-identifier", "no column differs between original and release", hint=hint))
    return job.model_copy(update={"quasi": tuple(quasi)})


def _plan(job: Job, certificate: Mapping[str, Any], original: pl.DataFrame, problems: list[Problem]) -> Plan | None:
    """The plan of the quasi-identifiers; None if the original lacks one, which is told by the evaluation."""
    if not job.quasi or any(name not in original.columns for name in job.quasi):
        return None
    settings = certified_job(job, certificate, original, problems)
    known = set(job.quasi)
    of_quasi = {
        name: {column: value for column, value in getattr(settings, name).items() if column in known}
        for name in ("scales", "orders", "recodings")
    }
    trees = settings.hierarchies
    if isinstance(trees, dict):
        trees = {column: spec for column, spec in trees.items() if column in known}
    wanted = Job(
        quasi=job.quasi,
        drop_rest=True,
        hierarchies=trees,
        missing=job.missing,
        priorities=settings.priorities,
        **of_quasi,
    )
    try:
        plan = make_plan(wanted, original)
    except InputError as error:
        problems += error.problems
        return None
    problems += other_hierarchies(plan, certificate)
    return plan


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
    plan: Plan | None,
    clusters: int,
    seed: int,
) -> dict[str, Any]:
    assert plan is not None  # else a column is unknown, which is an error
    planned = plan.domains(original)
    others = [name for name in original.columns if name in release.columns and name not in planned]
    found_out = make_domains(original, find_attributes(original, others, plan.missing), {}, plan.missing)
    domains = {name: {**planned, **found_out}[name] for name in original.columns if name in release.columns}
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
