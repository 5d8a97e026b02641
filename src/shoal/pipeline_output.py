"""verify, evaluate and what goes with a release: its result, certificate and report."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any

import polars as pl

from shoal.algorithms.base import Clustering
from shoal.certificate import certificate_text, make_certificate
from shoal.errors import InternalError, Problem
from shoal.evaluate.summary import loss_summary, person_risk, risk_summary
from shoal.job import Job
from shoal.metrics.domain import Domain, make_domains
from shoal.metrics.score import Scores, score
from shoal.pipeline_input import Run, Work
from shoal.result import Result
from shoal.tables.atomic import atomic_output
from shoal.tables.coded import as_text
from shoal.tables.files import Format, format_of, read_table, written_options
from shoal.verify.check import Verification, verify_release

REPORT_PARTS = ("risk", "combinations", "attack", "utility", "queries")


def verify(job: Job, work: Work, published: pl.DataFrame) -> Verification:
    if work.algorithm.class_based:
        verification = _verify_classes(job, work, published)
    else:
        from shoal.verify.candidates import verify_candidates

        verification = verify_candidates(
            work.source.frame,
            published,
            job.quasi,
            work.requirement.k,
            work.schema.hierarchies,
            orders=job.orders,
            missing=job.missing,
            scales=work.schema.scales,
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
        orders=job.orders,
        hierarchies=work.schema.hierarchies,
        population=read_table(job.population, job.csv_options()).frame if job.population is not None else None,
        missing=job.missing,
        scales=work.schema.scales,
    )


def domains_of(job: Job, work: Work) -> dict[str, Domain]:
    schema = work.schema
    return make_domains(work.source.frame, schema.quasi, schema.hierarchies, job.missing, schema.coded)


def evaluate(job: Job, work: Work, domains: Future[dict[str, Domain]], published: pl.DataFrame) -> Scores:
    return score(
        work.source.frame,
        published,
        job.quasi,
        domains.result(),
        k=work.requirement.k,
        class_column=job.class_column if job.class_column in published.columns else None,
        weights=job.weights(),
    )


def make_result(
    this: Run,
    work: Work,
    clustering: Clustering,
    released: pl.DataFrame,
    verification: Verification,
    scores: Scores,
    sha256: str,
) -> Result:
    job = this.job
    weights = job.weights()
    loss = loss_summary(scores, clustering.lower_bound, {name: weights.get(name, 1.0) for name in job.quasi})
    hierarchies = {
        name: {"levels": tree.levels, "leaves": len(tree.leaves), "sha256": tree.digest()}
        for name, tree in work.schema.hierarchies.items()
    }
    certificate = make_certificate(
        job=job,
        quasi=list(job.quasi),
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
        release=work.source.restore.restore(released) if work.source.restore is not None else released,
        groups=clustering.groups,
        certificate=certificate,
        metrics=metrics,
        per_attribute=per_attribute,
        risk=_risk(job, work, released, verification),
        seconds=this.seconds,
        details=clustering.details,
    )


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


def write_texts(this: Run, work: Work, published: pl.DataFrame, result: Result, outputs: ExitStack) -> None:
    """Certificate and report, beside their final places; all files are moved into place together, at the very end."""
    job = this.job
    if job.certificate is not None:
        path = outputs.enter_context(atomic_output(job.certificate))
        path.write_text(certificate_text(result.certificate), encoding="utf-8")
    if job.report is not None:
        path = outputs.enter_context(atomic_output(job.report))
        with this.stage("report"):
            path.write_text(_report(this, work, published, result), encoding="utf-8")


def _report(this: Run, work: Work, published: pl.DataFrame, result: Result) -> str:
    """The page with everything that can be told without training models."""
    from shoal.evaluate.evaluate import PARTS, EvaluationOptions, evaluate_release
    from shoal.evaluate.report import build_report

    job = this.job
    options = EvaluationOptions(
        k=job.k,
        sensitive=tuple(name for name in job.sensitive if name in published.columns),
        weights=job.weights(),
        class_based=work.algorithm.class_based,
        seed=job.seed,
        parts=tuple(part for part in PARTS if part in REPORT_PARTS),
    )
    evaluation = evaluate_release(
        work.source.frame,
        published.with_columns(as_text(published[name]) for name in job.quasi),
        job.quasi,
        options,
        hierarchies=work.schema.hierarchies,
        missing=job.missing,
        progress=this.progress,
    )
    return build_report(result.summary(), evaluation.as_dict())
