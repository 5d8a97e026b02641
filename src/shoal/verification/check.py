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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.base import Model
from shoal.verification import categories, closeness, diversity, population, sizes
from shoal.verification.classes import find_classes, fully_suppressed
from shoal.verification.evidence import Evidence, check_columns
from shoal.verification.reading import NOTHING_KNOWN, Knowledge
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


@dataclass(frozen=True, eq=False)
class _Asked:
    """A release with what it is to hold, and which of its records are fully suppressed."""

    release: pl.DataFrame
    quasi: tuple[str, ...]
    models: Sequence[Model]
    known: Knowledge
    counts: NDArray[np.int64] | None
    suppressed: NDArray[np.bool_]

    @property
    def records(self) -> int:
        return self.release.height if self.counts is None else int(self.counts.sum())

    @property
    def suppressed_records(self) -> int:
        return int(self.suppressed.sum() if self.counts is None else self.counts[self.suppressed].sum())

    def judged(self, exempt: bool) -> Verification:
        """The verdict on all records or, if suppressed ones are exempt, on the others."""
        checked = ~self.suppressed if exempt else np.ones(self.release.height, dtype=np.bool_)
        weights = self.counts[checked] if self.counts is not None else None
        classes = find_classes(self.release.filter(pl.Series(checked)) if exempt else self.release, self.quasi, weights)
        checks = _checks(self.models, Evidence(self.release, self.quasi, classes, checked, self.known, self.counts))
        return Verification(
            passed=all(check.passed for check in checks),
            records=self.records,
            classes=classes.count,
            smallest_class=int(classes.sizes.min()) if classes.count else None,
            suppressed_records=self.suppressed_records,
            suppressed_exempt=exempt,
            checks=checks,
        )


def verify_release(
    release: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    known: Knowledge = NOTHING_KNOWN,
    *,
    suppression_limit: float = 0.0,
    counts: NDArray[np.int64] | None = None,
) -> Verification:
    """Check every model on the classes of a released table.

    With `counts` the release is given as distinct rows, each of which stands for so many records: every verdict is the
    same.
    """
    problems = [
        *_model_problems(release, quasi, models, known.hidden),
        *_table_problems(release, quasi, known.hidden, suppression_limit),
    ]
    if problems:
        raise InputError(problems)
    asked = _Asked(release, tuple(quasi), models, known, counts, fully_suppressed(release, quasi))
    hidden_records = asked.suppressed_records
    exempt = bool(hidden_records and hidden_records / asked.records <= suppression_limit)
    found = asked.judged(exempt)
    if exempt and not found.passed:
        whole = asked.judged(False)
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


def _model_problems(
    release: pl.DataFrame, quasi: Sequence[str], models: Sequence[Model], hidden: pl.DataFrame | None
) -> list[Problem]:
    """Columns and models that there are not."""
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
    return problems


def _table_problems(
    release: pl.DataFrame, quasi: Sequence[str], hidden: pl.DataFrame | None, suppression_limit: float
) -> list[Problem]:
    problems = []
    if not quasi:
        problems.append(Problem("no-quasi-identifiers", "name at least one quasi-identifier"))
    if not 0 <= suppression_limit <= 1:
        problems.append(Problem("bad-parameter", f"the suppression limit is in 0..1, not {suppression_limit}"))
    if hidden is not None and hidden.height != release.height:
        message = f"the hidden columns have {hidden.height} records, the release {release.height}"
        problems.append(Problem("different-length", message))
    return problems
