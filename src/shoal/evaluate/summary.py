"""The few numbers that every result carries: loss with its bound, and the risk before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.score import Scores
from shoal.verify.result import Verification


def loss_summary(scores: Scores, lower_bound: float | None) -> dict[str, Any]:
    """The loss of the release and, where a bound is known, how far from the best possible it can be at most."""
    gcp = float(scores.totals["gcp"])
    summary: dict[str, Any] = {"gcp": gcp}
    if lower_bound is not None:
        summary["lower_bound"] = float(lower_bound)
        if lower_bound > 0:
            summary["at_most_above_best"] = max(0.0, gcp / lower_bound - 1.0)
    return summary


def risk_summary(class_sizes: NDArray[np.int64], verification: Verification) -> dict[str, dict[str, float]]:
    """Chance of recognising a person who is known to be in the table, before and after.

    `highest` is that of the most exposed record, `average` the mean over all records (the marketer's risk), `unique`
    the number of records that nobody shares.
    """
    records = int(class_sizes.sum())
    smallest = verification.hidden_among
    return {
        "before": {
            "highest": 1.0 / float(class_sizes.min()),
            "average": class_sizes.shape[0] / records,
            "unique": float(np.count_nonzero(class_sizes == 1)),
        },
        "after": {
            "highest": 1.0 / smallest if smallest else 0.0,
            "average": min(verification.classes / records, 1.0 / smallest) if smallest else 0.0,
            "unique": 0.0,
        },
    }
