"""The same table once more with other k: what more protection costs. Nothing is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shoal.errors import InputError, Problem, RequirementError, ShoalError
from shoal.models.base import Requirement
from shoal.models.feasible import impossible
from shoal.models.k_anonymity import KAnonymity
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.publish import publish
from shoal.pipeline.purpose import Purpose, recoded
from shoal.pipeline.result import Result
from shoal.progress import Progress, ProgressCallback, Watch
from shoal.reports.frontier import Comparison, Record


def try_other_k(prepared: Prepared, ks: Sequence[int], progress: ProgressCallback) -> Comparison:
    """A checked release for every k, and its numbers; a k that cannot be met gives a record with the reasons."""
    wanted = [with_k(prepared, k) for k in sorted(set(ks))]
    records = Comparison()
    for number, other in enumerate(wanted):
        progress(Progress("frontier", number / len(wanted), note=f"k = {other.job.k}"))
        records.append(_record(other))
    progress(Progress("frontier", 1.0))
    return records


def with_k(prepared: Prepared, k: int) -> Prepared:
    """The same plan and table; every other model stays."""
    try:
        wanted = KAnonymity(k)
    except (ValueError, TypeError) as error:
        raise InputError(Problem("bad-k", str(error))) from None
    others = [model for model in prepared.requirement.models if not isinstance(model, KAnonymity)]
    requirement = Requirement.of([wanted, *others]).count_persons(prepared.job.person)
    nowhere = {"output": None, "certificate": None, "report": None, "prices": None, "key": None}
    return replace(prepared, requirement=requirement, job=prepared.job.model_copy(update={"k": k, **nowhere}))


def _record(prepared: Prepared) -> Record:
    record: Record = {"algorithm": prepared.job.algorithm, "k": prepared.job.k, "seed": prepared.job.seed}
    start = time.perf_counter()
    try:
        result = _release(prepared)
    except ShoalError as error:
        return {**record, "error": [problem.as_dict() for problem in error.problems]}
    return {**record, **_numbers(result), "seconds": time.perf_counter() - start}


def _release(prepared: Prepared) -> Result:
    unmet = impossible(prepared.requirement, prepared.table)
    if unmet:
        raise RequirementError(unmet)
    purpose, watch = Purpose(), Watch()
    clustering = purpose.cluster(prepared, watch)
    return publish(prepared, clustering, recoded(prepared, clustering), purpose, {}, watch)


def _numbers(result: Result) -> dict[str, Any]:
    return {
        "gcp": result.metrics["gcp"],
        "lower_bound": result.metrics.get("lower_bound"),
        "discernibility": result.metrics["discernibility"],
        "smallest_class": result.certificate["smallest_class"],
        "highest_risk": result.risk["after"]["highest"],
        "average_risk": result.risk["after"]["average"],
    }
