"""verify and evaluate: what was released is judged by the plan of the run, from the released values."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InternalError, Problem
from shoal.evaluation.options import PARTS, Compared, EvaluationOptions
from shoal.evaluation.risk.release_risk import Persons, crowds_after, crowds_before
from shoal.metrics.score import Scores, score_table
from shoal.models.k_anonymity import asked_k
from shoal.pipeline.prepare import Prepared
from shoal.progress import ProgressCallback, silent
from shoal.released.domain import Domain
from shoal.released.reading import read_release
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


@dataclass(frozen=True, eq=False)
class Measured:
    """What a release loses, and how easily people are recognised before and after it."""

    scores: Scores
    risk: dict[str, dict[str, float]]


def evaluate(
    prepared: Prepared,
    domains: Future[dict[str, Domain]],
    published: pl.DataFrame,
    kept: NDArray[np.bool_] | None = None,
) -> Measured:
    """Loss and risk of the release, as every later evaluation finds them. `kept` as in `verify`."""
    job, options = prepared.job, _options(prepared, published)
    table = read_release(prepared.frame, published, job.quasi, domains.result())
    label = job.class_column if job.class_column in published.columns else None
    scores = score_table(table, published, k=options.k, class_column=label, weights=options.weights)
    compared, persons = Compared(table, prepared.frame, published, options), Persons(prepared.plan.missing, kept)
    before, after = crowds_before(compared, persons), crowds_after(compared, persons, [])
    return Measured(scores, {"before": before.in_short(), "after": after.in_short()})


def evaluate_fully(
    prepared: Prepared,
    released: pl.DataFrame,
    domains: Mapping[str, Domain],
    kept: NDArray[np.bool_] | None = None,
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Everything that can be told about a release without training models. `kept` as in `verify`."""
    from shoal.evaluation.evaluate import evaluate_release
    from shoal.evaluation.options import AttackerTables

    return evaluate_release(
        prepared.frame,
        released.with_columns(as_text(released[name]) for name in prepared.job.quasi),
        prepared.job.quasi,
        _options(prepared, released),
        domains=domains,
        tables=AttackerTables(prepared.population),
        persons=Persons(prepared.plan.missing, kept),
        progress=progress,
    )


def _options(prepared: Prepared, released: pl.DataFrame) -> EvaluationOptions:
    job = prepared.job
    return EvaluationOptions(
        k=asked_k(prepared.requirement.models),
        sensitive=tuple(name for name in job.sensitive if name in released.columns),
        person=job.person,
        weights=prepared.plan.weights,
        suppression_limit=job.suppression_limit,
        class_based=prepared.algorithm.class_based,
        seed=job.seed,
        parts=tuple(part for part in PARTS if part in REPORT_PARTS),
    )
