"""Evaluating a released file against its original, ours or another tool's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from shoal.algorithms.registry import algorithm_class
from shoal.errors import InputError, Problem
from shoal.evaluation.attacks.second_opinion import python_problems
from shoal.evaluation.evaluate import Evaluation, evaluate_release, find_attributes
from shoal.evaluation.options import NO_TABLES, AttackerTables, EvaluationOptions
from shoal.evaluation.risk.release_risk import EVERY_RECORD, Persons
from shoal.evaluation.usefulness.clustering.comparison import compare_release
from shoal.job.certified import certified_job, other_hierarchies
from shoal.job.job import Job
from shoal.job.plan import Plan, make_plan
from shoal.models.k_anonymity import KAnonymity, asked_k
from shoal.models.registry import parse_models
from shoal.pipeline.certificate import load_certificate
from shoal.pipeline.evaluate_together import EarlierFiles, EarlierFrames
from shoal.pipeline.row_match import NEEDS_KEY, rows_belong_together, with_original_rows
from shoal.pipeline.sources import as_stated
from shoal.progress import ProgressCallback, silent
from shoal.released.domain import Domain, make_domains
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import read_table, sha256_of_file
from shoal.tables.row_order import is_published_order


@dataclass(frozen=True, kw_only=True)
class EvaluatedFiles:
    """A release and its original, and what there is besides them.

    `certificate` and `key`, the private file that tells its rows in the order of the original, are of the release.
    For the other tables see `AttackerTables`. `before` are releases published earlier.
    """

    original: Path
    release: Path
    certificate: Mapping[str, Any] = field(default_factory=dict)
    key: Path | None = None
    population: Path | None = None
    external: Path | None = None
    control: Path | None = None
    anonymeter: Path | None = None
    before: EarlierFiles = field(default_factory=EarlierFiles)


def evaluate_files(
    files: EvaluatedFiles,
    *,
    job: Job,
    options: EvaluationOptions,
    clusters: int | None = None,
    earlier: Sequence[Problem] = (),
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Evaluate a released file as the job says: quasi-identifiers, scales, orders, hierarchies, priorities, missing.

    What the job does not say, the certificate of the release tells; without both, every common column that differs is
    a quasi-identifier, and scales are found out. Without the key, and unless the options say, it is found out whether
    the rows belong together.

    With `clusters`, both tables are clustered on their common columns and the two clusterings compared, record by
    record; that is left out if the rows do not belong together. With earlier releases it is measured what all of them
    give away together.
    """
    problems = [*earlier, *_setting_problems(job.quasi, options, clusters)]
    read = _ReadFiles.of(files, job, problems)
    case = _as_planned(read.original, read.release, job, files.certificate, options.same_order, problems)
    problems += read.before.problems(case.quasi if case is not None else job.quasi)
    if problems or case is None:
        raise InputError(problems)
    options = case.with_order(_as_told(options, job, files.certificate), files.certificate if files.key is None else {})
    evaluation = case.evaluated(options, read.tables, progress)
    together = read.before.measure(case.original, case.release, case.quasi, case.domains, options)
    compared = _clusters(case, clusters, options) if clusters is not None else None
    return replace(evaluation, together=together, clusters=compared)


@dataclass(frozen=True, eq=False)
class _ReadFiles:
    """The tables, those of the attacker and the original in the form of the job; None for what cannot be read."""

    original: pl.DataFrame | None
    release: pl.DataFrame | None
    tables: AttackerTables
    before: EarlierFrames

    @classmethod
    def of(cls, files: EvaluatedFiles, job: Job, problems: list[Problem]) -> _ReadFiles:
        csv = job.csv_options()
        if files.anonymeter is not None:
            problems += python_problems(files.anonymeter)

        def read(path: Path | None) -> pl.DataFrame | None:
            return None if path is None else _tried(lambda: as_stated(read_table(path, csv).frame, job), problems)

        original, population, external, control = map(
            read, (files.original, files.population, files.external, files.control)
        )
        form = _release_form(csv, files.certificate)
        release = _tried(lambda: read_table(files.release, form).frame, problems)
        before = EarlierFrames.read(files.before, csv, problems)
        if release is not None:
            release = _with_key(release, files.key, problems)
        return cls(original, release, AttackerTables(population, external, control, files.anonymeter), before)


def _tried(read: Callable[[], pl.DataFrame], problems: list[Problem]) -> pl.DataFrame | None:
    try:
        return read()
    except InputError as error:
        problems += error.problems
        return None


@dataclass(frozen=True, eq=False)
class _Case:
    """Both tables with what was decided about their columns."""

    original: pl.DataFrame
    release: pl.DataFrame
    quasi: tuple[str, ...]
    plan: Plan | None  # None: the original lacks a column, which is told by the evaluation

    @cached_property
    def domains(self) -> dict[str, Domain]:
        return self.plan.domains(self.original) if self.plan is not None else {}

    def with_order(self, options: EvaluationOptions, certificate: Mapping[str, Any]) -> EvaluationOptions:
        """The options with the answer to whether the rows belong together."""
        same = options.same_order
        if same is None:
            same = rows_belong_together(self.original, self.release, self.quasi, self.domains, certificate)
        return replace(options, same_order=same and self.original.height == self.release.height)

    def evaluated(
        self, options: EvaluationOptions, tables: AttackerTables = NO_TABLES, progress: ProgressCallback = silent
    ) -> Evaluation:
        """The evaluation, with a word about what could not be compared."""
        weighted, persons = options, EVERY_RECORD
        if self.plan is not None:
            weighted, persons = replace(options, weights=self.plan.weights), Persons(self.plan.missing)
        found = evaluate_release(
            self.original,
            self.release,
            self.quasi,
            weighted,
            domains=self.domains,
            tables=tables,
            persons=persons,
            progress=progress,
        )
        return found if options.same_order else replace(found, notes=(*found.notes, NEEDS_KEY))


def _as_planned(
    original: pl.DataFrame | None,
    release: pl.DataFrame | None,
    job: Job,
    certificate: Mapping[str, Any],
    same_order: bool | None,
    problems: list[Problem],
) -> _Case | None:
    """What is compared with what; None if a table could not be read."""
    if original is not None and release is not None:
        job = _with_quasi(job, certificate, original, release, same_order, problems)
    plan = _plan(job, certificate, original, problems) if original is not None else None
    return _Case(original, release, job.quasi, plan) if original is not None and release is not None else None


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
    original = as_stated(original, job)
    with_before = before or EarlierFrames()
    problems = _setting_problems(job.quasi, options, None)
    release = _with_key(release, key, problems)
    case = _as_planned(original, release, job, certificate or {}, options.same_order, problems)
    problems += with_before.problems(case.quasi if case is not None else job.quasi)
    if problems or case is None:
        raise InputError(problems)
    options = case.with_order(_as_told(options, job, certificate or {}), {})
    together = with_before.measure(original, release, case.quasi, case.domains, options)
    return replace(case.evaluated(options, progress=progress), together=together)


def _as_told(options: EvaluationOptions, job: Job, certificate: Mapping[str, Any]) -> EvaluationOptions:
    """The options with what the job asked for or, where it is silent, what the certificate tells."""
    asked = [*([KAnonymity(job.k).spec()] if job.k is not None else []), *job.models] or certificate.get("models", ())
    limit = certificate.get("job", {}).get("suppression_limit", options.suppression_limit)
    told = certificate.get("class_based", algorithm_class(job.algorithm).class_based)
    return replace(
        options,
        k=asked_k(parse_models([spec for spec in asked if spec.startswith(f"{KAnonymity.name}:")])),
        suppression_limit=limit,
        class_based=options.class_based and told is not False,
    )


def _with_key(release: pl.DataFrame, key: Path | None, problems: list[Problem]) -> pl.DataFrame:
    try:
        return with_original_rows(release, key)
    except InputError as error:
        problems += error.problems
        return release


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
    try:
        plan = make_plan(_of_quasi(job, certified_job(job, certificate, original, problems)), original)
    except InputError as error:
        problems += error.problems
        return None
    problems += other_hierarchies(plan, certificate)
    return plan


def _of_quasi(job: Job, settings: Job) -> Job:
    """The settings of the quasi-identifiers alone."""

    def chosen(given: Mapping[str, Any]) -> dict[str, Any]:
        return {column: value for column, value in given.items() if column in job.quasi}

    trees = settings.hierarchies
    return Job(
        quasi=job.quasi,
        drop_rest=True,
        hierarchies=chosen(trees) if isinstance(trees, dict) else trees,
        scales=chosen(settings.scales),
        orders=chosen(settings.orders),
        recodings=chosen(settings.recodings),
        missing=job.missing,
        priorities=settings.priorities,
    )


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


def _clusters(case: _Case, clusters: int, options: EvaluationOptions) -> dict[str, Any]:
    """How well a release keeps the clusters of the common columns."""
    if not options.same_order:
        return {"skipped": "the rows of release and original do not belong together"}
    original, release, plan = case.original, case.release, case.plan
    assert plan is not None  # else a column is unknown, which is an error
    others = [name for name in original.columns if name in release.columns and name not in case.domains]
    found_out = make_domains(original, find_attributes(original, others, plan.missing), {}, plan.missing)
    known = {**case.domains, **found_out}
    domains = {name: known[name] for name in original.columns if name in release.columns}
    found = compare_release(original, release, domains, clusters=clusters, seed=options.seed).comparison.as_dict()
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
