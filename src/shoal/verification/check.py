"""Does a released table hold what was asked of it? Judged from the released values alone.

Nothing here uses the algorithms, their kernels or the models' own arithmetic: the classes come from one group-by over
the released values, and every model has its verdict in this folder, written from its definition. Cost: one group-by
of the quasi-identifiers, and one sort of integers per model.

Suppressed records. A record whose quasi-identifiers are all `*` belongs to an ordinary class of such records, which
must be safe like any other. With a suppression limit above 0, and no more than that share of the records fully
suppressed, they are exempt: no model looks at their class. Above the limit they are an ordinary class again. The
exemption only ever helps: a release that holds with all of its records holds. (A class over some quasi-identifiers may
need the suppressed records that are in it.)
Distributions of the whole table always include them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.base import Model
from shoal.tables.schema import Scale
from shoal.verification import categories, closeness, diversity, population, sizes
from shoal.verification.classes import find_classes, fully_suppressed
from shoal.verification.evidence import Evidence, check_columns
from shoal.verification.result import ModelCheck, Verification

__all__ = ["ModelCheck", "Verification", "register_verdict", "verify_release"]

Verdict = Callable[[Any, Evidence], ModelCheck]

_VERDICTS: dict[str, Verdict] = {
    "k-anonymity": sizes.check_k_anonymity,
    "qid": sizes.check_qid,
    "xy-anonymity": sizes.check_xy,
    "k-map": population.check_k_map,
    "l-diversity": diversity.check_frequency_l,
    "distinct-l": diversity.check_distinct_l,
    "entropy-l": diversity.check_entropy_l,
    "recursive-cl": diversity.check_recursive_cl,
    "alpha-k": diversity.check_alpha_k,
    "confidence": diversity.check_confidence,
    "p-alpha": categories.check_p_alpha,
    "t-closeness": closeness.check_t_closeness,
    "beta-likeness": closeness.check_beta_likeness,
    "delta-disclosure": closeness.check_delta_disclosure,
}


def register_verdict(name: str, verdict: Verdict) -> None:
    """Teach the verification a model of your own: `verdict(model, evidence) -> ModelCheck`."""
    _VERDICTS[name] = verdict


def verify_release(
    release: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    *,
    hidden: pl.DataFrame | None = None,
    suppression_limit: float = 0.0,
    orders: Mapping[str, Sequence[str]] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    population: pl.DataFrame | None = None,
    missing: Sequence[str] = (),
    scales: Mapping[str, Scale] | None = None,
    counts: NDArray[np.int64] | None = None,
) -> Verification:
    """Check every model on the classes of a released table.

    `hidden` has columns that are not released but that a model counts, such as persons, row by row as in the
    release. `orders` (values from low to high) and `hierarchies` are for the distances of t-closeness and for
    cells that k-map has to read; `population` is the table of k-map. `missing` are texts that mean a missing value,
    besides the empty one and `NaN`; `scales` are those of columns whose values do not tell. With `counts` the release
    is given as distinct rows, each of which stands for so many records: every verdict is the same.
    """
    problems = _problems(release, quasi, models, hidden, suppression_limit)
    if problems:
        raise InputError(problems)
    suppressed = fully_suppressed(release, quasi)
    records = release.height if counts is None else int(counts.sum())
    hidden_records = int(suppressed.sum() if counts is None else counts[suppressed].sum())
    exempt = bool(hidden_records and hidden_records / records <= suppression_limit)

    def judge(exempt: bool) -> Verification:
        checked = ~suppressed if exempt else np.ones(release.height, dtype=np.bool_)
        weights = counts[checked] if counts is not None else None
        classes = find_classes(release.filter(pl.Series(checked)) if exempt else release, quasi, weights)
        evidence = Evidence(
            release,
            tuple(quasi),
            classes,
            checked,
            hidden,
            orders or {},
            hierarchies or {},
            population,
            tuple(missing),
            scales or {},
            counts,
        )
        checks = _checks(models, evidence)
        return Verification(
            passed=all(check.passed for check in checks),
            records=records,
            classes=classes.count,
            smallest_class=int(classes.sizes.min()) if classes.count else None,
            suppressed_records=hidden_records,
            suppressed_exempt=exempt,
            checks=checks,
        )

    found = judge(exempt)
    if exempt and not found.passed:
        whole = judge(False)
        return whole if whole.passed else found
    return found


def _checks(models: Sequence[Model], evidence: Evidence) -> tuple[ModelCheck, ...]:
    """The verdict on every model; what is wrong with any of them is raised together."""
    checks: list[ModelCheck] = []
    problems: list[Problem] = []
    for model in models:
        try:
            checks.append(_VERDICTS[model.name](model, evidence))
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
    if problems:
        raise InputError(problems)
    return tuple(checks)


def _problems(
    release: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    hidden: pl.DataFrame | None,
    suppression_limit: float,
) -> list[Problem]:
    needed = [*quasi, *(column for model in models for column in model.columns())]
    problems = check_columns(release, hidden, needed)
    for model in models:
        if model.name not in _VERDICTS:
            hint = did_you_mean(model.name, list(_VERDICTS))
            problems.append(Problem("unknown-model", f"there is no verdict for the model '{model.name}'", hint=hint))
        for name in model.class_columns():
            if name not in quasi:
                message = f"model '{model.public_spec()}' names a column that is not a quasi-identifier"
                problems.append(Problem("not-quasi-identifying", message, name, did_you_mean(name, list(quasi))))
    if not quasi:
        problems.append(Problem("no-quasi-identifiers", "name at least one quasi-identifier"))
    if not 0 <= suppression_limit <= 1:
        problems.append(Problem("bad-parameter", f"the suppression limit is in 0..1, not {suppression_limit}"))
    if hidden is not None and hidden.height != release.height:
        message = f"the hidden columns have {hidden.height} records, the release {release.height}"
        problems.append(Problem("different-length", message))
    return problems
