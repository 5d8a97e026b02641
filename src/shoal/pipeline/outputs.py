"""verify, evaluate and what goes with a release: its result, certificate and report."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.algorithms.base import Clustering
from shoal.errors import InternalError, Problem, VerificationError
from shoal.evaluation.summary import loss_summary, person_risk, risk_summary
from shoal.job.job import Job
from shoal.metrics.score import Scores, score
from shoal.pipeline.certificate import certificate_text, make_certificate
from shoal.pipeline.reading import Run, Work
from shoal.pipeline.result import Holder, Result
from shoal.progress import ProgressCallback, silent
from shoal.released.domain import Domain
from shoal.tables.distinct import as_text
from shoal.tables.formats.atomic import atomic_output
from shoal.tables.formats.files import Format, format_of, written_options
from shoal.tables.frames.frames import as_shown
from shoal.verification.check import Verification, verify_release
from shoal.verification.classes import find_classes

if TYPE_CHECKING:
    from shoal.evaluation.evaluate import Evaluation

REPORT_PARTS = ("risk", "combinations", "attack", "utility", "queries")


def verify(job: Job, work: Work, published: pl.DataFrame) -> Verification:
    if work.algorithm.class_based:
        verification = _verify_classes(job, work, published)
    else:
        from shoal.verification.candidates import verify_candidates

        verification = verify_candidates(
            work.source.frame,
            published,
            job.quasi,
            work.requirement.k,
            work.plan.hierarchies,
            orders=work.plan.orders,
            missing=work.plan.missing,
            scales=work.plan.scales,
        )
    if not verification.passed:
        failed = [Problem("check-failed", str(check)) for check in verification.failures()]
        raise InternalError([*failed, Problem("nothing-written", "the release was thrown away; nothing was written")])
    if published.height != work.source.frame.height:
        raise InternalError(Problem("records-lost", "the release has another number of records than the input"))
    return verification


def _verify_classes(job: Job, work: Work, published: pl.DataFrame) -> Verification:
    looked_at = [*work.requirement.columns(), *([job.person] if job.person is not None else [])]
    hidden = [name for name in dict.fromkeys(looked_at) if name not in published.columns]
    return verify_release(
        published,
        job.quasi,
        work.requirement.models,
        hidden=work.source.frame.select(hidden) if hidden else None,
        suppression_limit=job.suppression_limit,
        orders=work.plan.orders,
        hierarchies=work.plan.hierarchies,
        population=work.population,
        missing=work.plan.missing,
        scales=work.plan.scales,
    )


def evaluate(job: Job, work: Work, domains: Future[dict[str, Domain]], published: pl.DataFrame) -> Scores:
    return score(
        work.source.frame,
        published,
        job.quasi,
        domains.result(),
        k=work.requirement.k,
        class_column=job.class_column if job.class_column in published.columns else None,
        weights=work.plan.weights,
    )


def make_result(
    this: Run,
    work: Work,
    clustering: Clustering,
    released: pl.DataFrame,
    verification: Verification,
    scores: Scores,
    domains: Mapping[str, Domain],
    sha256: str,
) -> Result:
    job = this.job
    loss = loss_summary(scores, clustering.lower_bound, {column.name: column.weight for column in work.plan.quasi})
    hierarchies = {
        name: {"levels": tree.levels, "leaves": len(tree.leaves), "sha256": tree.digest()}
        for name, tree in work.plan.hierarchies.items()
    }
    certificate = make_certificate(
        job=job,
        columns=work.plan.public(domains),
        models=[model.public_spec() for model in work.requirement.models],
        hierarchies=hierarchies,
        hashes={"input": work.source.sha256, "release": sha256},
        records={
            "input": work.source.frame.height,
            "released": released.height,
            "suppressed": verification.suppressed_records,
        },
        verification=verification.as_dict(),
        missing_cells=dict(work.codebook.missing_cells),
        loss=loss,
        class_based=work.algorithm.class_based,
        notes=list(clustering.details.get("notes", ())),
        csv=_csv_form(job, work),
    )
    metrics = dict(scores.totals)
    metrics.update({name: value for name, value in loss.items() if isinstance(value, float)})
    per_attribute: dict[str, dict[str, float]] = {name: {} for name in job.quasi}
    for metric, parts in scores.per_attribute.items():
        for name, value in parts.items():
            per_attribute[name][metric] = value
    return Result(
        release=_restored(job, work, released),
        groups=clustering.groups,
        certificate=certificate,
        metrics=metrics,
        per_attribute=per_attribute,
        risk=_risk(job, work, released, verification),
        seconds=this.seconds,
        details=clustering.details,
        holder=Holder(lambda: evaluate_fully(job, work, released, domains)),
    )


def _restored(job: Job, work: Work, released: pl.DataFrame) -> Any:
    """The release as the caller gets it. In each quasi-identifier the same records must look alike as in the check."""
    if work.source.restore is None:
        return released
    returned = work.source.restore.restore(released)
    shown = as_shown(returned)
    changed = [name for name in job.quasi if not _same_classes(released[name], shown[name])]
    if changed:
        message = "the frame to give back tells other records apart than those that were checked"
        raise VerificationError([Problem("check-failed", message, name) for name in changed])
    return returned


def _same_classes(checked: pl.Series, shown: pl.Series) -> bool:
    if checked.dtype == shown.dtype and not checked.dtype.is_float() and checked.equals(shown, null_equal=True):
        return True
    before, after = (find_classes(column.to_frame("q"), ["q"]).of_record for column in (checked, shown))
    return np.array_equal(before, after)


def _csv_form(job: Job, work: Work) -> dict[str, Any]:
    if job.output is None or format_of(job.output) is not Format.CSV:
        return {}
    options = written_options(job.output, work.source.file)
    return {"delimiter": options.delimiter, "quote": options.quote, "header": options.header}


def _risk(job: Job, work: Work, released: pl.DataFrame, verification: Verification) -> dict[str, dict[str, float]]:
    """The risk before and after; with a person column a class hides persons, not records."""
    if job.person is None:
        return risk_summary(work.table.weights, verification)
    persons = work.source.frame[job.person]
    return {
        "before": person_risk(work.source.frame, job.quasi, persons, exempt=False, missing=job.missing),
        "after": person_risk(released, job.quasi, persons, exempt=verification.suppressed_exempt, missing=job.missing),
    }


def stage_files(job: Job, outputs: ExitStack) -> dict[str, Path]:
    """Temporary places for the files of a job. When `outputs` ends well, they are moved: the release first.

    What speaks about the release follows it (the last to enter leaves first), so that no certificate or report is
    ever there before the file that it is about.
    """
    wanted = (("report", job.report), ("certificate", job.certificate), ("output", job.output))
    return {name: outputs.enter_context(atomic_output(path)) for name, path in wanted if path is not None}


def write_texts(
    this: Run,
    work: Work,
    published: pl.DataFrame,
    domains: Mapping[str, Domain],
    result: Result,
    staged: Mapping[str, Path],
) -> None:
    """Certificate and report, where they wait to be moved into place."""
    if "certificate" in staged:
        staged["certificate"].write_text(certificate_text(result.certificate), encoding="utf-8")
    if "report" in staged:
        with this.stage("report"):
            evaluation = evaluate_fully(this.job, work, published, domains, this.progress)
            staged["report"].write_text(_report(result, evaluation), encoding="utf-8")


def _report(result: Result, evaluation: Evaluation) -> str:
    from shoal.reports.report import build_report

    return build_report(result.summary(), evaluation.as_dict())


def evaluate_fully(
    job: Job,
    work: Work,
    published: pl.DataFrame,
    domains: Mapping[str, Domain],
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Everything that can be told about a release without training models."""
    from shoal.evaluation.evaluate import PARTS, EvaluationOptions, evaluate_release

    options = EvaluationOptions(
        k=job.k,
        sensitive=tuple(name for name in job.sensitive if name in published.columns),
        weights=work.plan.weights,
        class_based=work.algorithm.class_based,
        seed=job.seed,
        parts=tuple(part for part in PARTS if part in REPORT_PARTS),
    )
    return evaluate_release(
        work.source.frame,
        published.with_columns(as_text(published[name]) for name in job.quasi),
        job.quasi,
        options,
        domains=domains,
        progress=progress,
    )
