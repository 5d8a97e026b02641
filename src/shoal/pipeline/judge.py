"""verify and evaluate: what was released is judged by the plan of the run, from the released values."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InternalError, Problem
from shoal.metrics.score import Scores, score
from shoal.pipeline.prepare import Prepared
from shoal.progress import ProgressCallback, silent
from shoal.released.domain import Domain
from shoal.tables.distinct import as_text
from shoal.verification.check import Verification, verify_release

if TYPE_CHECKING:
    from shoal.evaluation.evaluate import Evaluation

REPORT_PARTS = ("risk", "combinations", "attack", "utility", "queries")


def verify(prepared: Prepared, published: pl.DataFrame, kept: NDArray[np.bool_] | None = None) -> Verification:
    """The independent check of the released values; a release that fails it is thrown away.

    `kept` are the records that are released, if not all of them are.
    """
    original = prepared.frame if kept is None else prepared.frame.filter(pl.Series(kept))
    if published.height != original.height:
        raise InternalError(Problem("records-lost", "the release has another number of records than the input"))
    return accept(_check_classes(prepared, published, original))


def accept(verification: Verification) -> Verification:
    """A release that failed its check is thrown away."""
    if not verification.passed:
        failed = [Problem("check-failed", str(check)) for check in verification.failures()]
        raise InternalError([*failed, Problem("nothing-written", "the release was thrown away; nothing was written")])
    return verification


def _check_classes(prepared: Prepared, published: pl.DataFrame, original: pl.DataFrame) -> Verification:
    job, plan, requirement = prepared.job, prepared.plan, prepared.requirement
    if not prepared.algorithm.class_based:
        from shoal.verification.candidates import verify_candidates

        return verify_candidates(original, published, job.quasi, requirement.k, plan.knowledge())
    looked_at = [*requirement.columns(), *([job.person] if job.person is not None else [])]
    hidden = [name for name in dict.fromkeys(looked_at) if name not in published.columns]
    return verify_release(
        published,
        job.quasi,
        requirement.models,
        plan.knowledge(prepared.population, original.select(hidden) if hidden else None),
        suppression_limit=job.suppression_limit,
    )


def evaluate(prepared: Prepared, domains: Future[dict[str, Domain]], published: pl.DataFrame) -> Scores:
    """The loss of the release."""
    label = prepared.job.class_column
    return score(
        prepared.frame,
        published,
        prepared.job.quasi,
        domains.result(),
        k=prepared.requirement.k,
        class_column=label if label in published.columns else None,
        weights=prepared.plan.weights,
    )


def evaluate_fully(
    prepared: Prepared,
    released: pl.DataFrame,
    domains: Mapping[str, Domain],
    kept: NDArray[np.bool_] | None = None,
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Everything that can be told about a release without training models. `kept` as in `verify`."""
    from shoal.evaluation.evaluate import evaluate_release
    from shoal.evaluation.options import PARTS, AttackerTables, EvaluationOptions
    from shoal.evaluation.risk.release_risk import Persons

    job = prepared.job
    options = EvaluationOptions(
        k=job.k,
        sensitive=tuple(name for name in job.sensitive if name in released.columns),
        person=job.person,
        weights=prepared.plan.weights,
        class_based=prepared.algorithm.class_based,
        seed=job.seed,
        parts=tuple(part for part in PARTS if part in REPORT_PARTS),
    )
    return evaluate_release(
        prepared.frame,
        released.with_columns(as_text(released[name]) for name in job.quasi),
        job.quasi,
        options,
        domains=domains,
        tables=AttackerTables(prepared.population),
        persons=Persons(prepared.plan.missing, kept),
        progress=progress,
    )
