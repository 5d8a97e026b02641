"""What a run gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        from shoal.evaluate.notebook import summary_html

        return summary_html(self.summary())
