"""What a run gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Problem

if TYPE_CHECKING:
    from shoal.evaluation.evaluate import Evaluation


class Holder:
    """What only the holder of the data can do with a result: it knows the original, so it is never stored or sent."""

    def __init__(self, evaluate: Callable[[], Evaluation] | None = None) -> None:
        self._evaluate = evaluate

    def evaluate(self) -> Evaluation:
        if self._evaluate is None:
            message = "the original is not kept with a result that was stored or sent"
            raise InputError(Problem("no-original", message, hint="evaluate it in the program that made it"))
        return self._evaluate()

    def __reduce__(self) -> tuple[type[Holder], tuple[()]]:
        return Holder, ()


@dataclass(frozen=True, eq=False)
class Result:
    """A verified release with everything that is known about it."""

    release: Any  # the kind of frame that came in; a polars frame when a file came in
    groups: NDArray[np.int32]  # one group number per input row
    certificate: dict[str, Any]  # what was checked on the released values, with hashes
    metrics: dict[str, float]  # gcp, ncp, discernibility, c_avg, lower_bound, ...
    per_attribute: dict[str, dict[str, float]]  # the metrics that exist per attribute
    risk: dict[str, dict[str, float]]  # before and after
    seconds: dict[str, float]  # per stage
    details: Mapping[str, Any] = field(default_factory=dict)  # what the algorithm tells about its run

    holder: Holder = field(default_factory=Holder, repr=False)

    def evaluate(self) -> Evaluation:
        """Loss, risk, attacks, statistics and queries, with the plan of the run; it shows itself in notebooks."""
        return self.holder.evaluate()

    def report(self) -> str:
        """The page about this release, as HTML that needs no network."""
        from shoal.reports.report import build_report

        return build_report(self.summary(), self.evaluate().as_dict())

    def summary(self) -> dict[str, Any]:
        """Everything but the table and the groups, as plain numbers and words."""
        return {
            "records": self.certificate["records"]["released"],
            "suppressed": self.certificate["records"]["suppressed"],
            "classes": self.certificate["classes"],
            "smallest_class": self.certificate["smallest_class"],
            "metrics": self.metrics,
            "per_attribute": self.per_attribute,
            "risk": self.risk,
            "seconds": self.seconds,
            "details": dict(self.details),
            "certificate": self.certificate,
        }

    def _repr_html_(self) -> str:
        """A short table and charts for notebooks."""
        from shoal.reports.notebook import summary_html

        return summary_html(self.summary())
