"""The few numbers that every result carries: loss with its bound, and the risk before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.metrics.score import Scores
from shoal.verification.classes import Classes, count_values, find_classes, fully_suppressed, value_numbers
from shoal.verification.result import Verification

BESIDE_GCP = ("exact_cells", "listed_values", "lonely_ends")  # what a mean loss does not show
LOOSE = 0.5  # where a release can be so much above the bound, it is the bound that says little


def bound_sentence(found: Mapping[str, Any]) -> str:
    """One sentence about how much of the loss could be avoided at all; empty where no bound is known."""
    bound = found.get("weighted_lower_bound", found.get("lower_bound"))
    if not bound:
        return ""
    kind = "loss with priorities" if "weighted_lower_bound" in found else "loss (GCP)"
    text = f"No release of this table that meets the requirement can have a {kind} below {bound:.4f}"
    above = found.get("at_most_above_best")
    if above is None:
        return text + "."
    if above > LOOSE:
        return text + "; the bound is loose here, and does not tell how close to the best possible this one is."
    return text + f"; the loss of this one is at most {above:.1%} above the best that is possible."


def loss_summary(
    scores: Scores, lower_bound: float | None, weights: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """The loss of the release and, where a bound is known, how far from the best possible it can be at most.

    `weights` are the priorities of the quasi-identifiers. The bound that an algorithm proves is about the loss with
    them, `weighted_gcp`, and so is the distance from the best.
    """
    gcp = float(scores.totals["gcp"])
    summary: dict[str, Any] = {"gcp": gcp}
    summary.update({name: float(scores.totals[name]) for name in BESIDE_GCP if name in scores.totals})
    weights = weights if weights is not None else {}
    weighted = any(weight != 1.0 for weight in weights.values())
    if weighted:
        losses = scores.per_attribute["gcp"]
        summary["weighted_gcp"] = sum(weight * losses[name] for name, weight in weights.items()) / len(weights)
    if lower_bound is not None:
        summary |= _lower_bounds(float(lower_bound), weights if weighted else {})
        if lower_bound > 0:
            summary["at_most_above_best"] = max(0.0, summary.get("weighted_gcp", gcp) / lower_bound - 1.0)
            summary["bound_says"] = bound_sentence(summary)
    return summary


def _lower_bounds(bound: float, weights: Mapping[str, float]) -> dict[str, float]:
    """With weights, the plain loss is at least the bound over the largest of them."""
    if not weights:
        return {"lower_bound": bound}
    largest = max(weights.values())
    return {"lower_bound": bound / largest if largest > 0 else 0.0, "weighted_lower_bound": bound}


def person_risk(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    persons: pl.Series,
    exempt: bool,
    missing: Sequence[str] = (),
    counts: NDArray[np.int64] | None = None,
) -> dict[str, float]:
    """The same three numbers where a person may have several records: a class hides as many as it has persons.

    With `exempt`, records whose quasi-identifiers are all suppressed are no class. With `counts` each row stands for so
    many records of one person.
    """
    kept = ~fully_suppressed(frame, quasi) if exempt else np.ones(frame.height, dtype=np.bool_)
    classes = find_classes(frame.filter(pl.Series(kept)), quasi, None if counts is None else counts[kept])
    if classes.count == 0:
        return {"highest": 0.0, "average": 0.0, "unique": 0.0}
    shown = persons.filter(pl.Series(kept))
    counted = persons_per_class(classes, shown, missing)
    return {
        "highest": 1.0 / float(counted.min()),
        "average": float((classes.sizes / counted).sum() / (frame.height if counts is None else counts.sum())),
        "unique": float(persons_alone(classes, shown, missing)),
    }


def persons_alone(classes: Classes, persons: pl.Series, missing: Sequence[str] = ()) -> int:
    """How many persons have a class to themselves; who has several is one person all the same."""
    numbers, distinct = value_numbers(persons, missing)
    found = count_values(classes, numbers, len(distinct))
    alone = np.bincount(found.classes, minlength=classes.count) == 1
    return int(np.unique(found.values[alone[found.classes]]).shape[0])


def persons_per_class(classes: Classes, persons: pl.Series, missing: Sequence[str] = ()) -> NDArray[np.int64]:
    """(classes,) how many different persons each class has; records without one count together as one person."""
    numbers, distinct = value_numbers(persons, missing)
    return np.bincount(count_values(classes, numbers, len(distinct)).classes, minlength=classes.count)


def risk_summary(class_sizes: NDArray[np.int64], verification: Verification) -> dict[str, dict[str, float]]:
    """Chance of recognising a person who is known to be in the table, before and after.

    `highest` is that of the most exposed record, `average` the mean over all records (the marketer's risk), `unique`
    the number of records that nobody shares. Every record is taken for a person of its own; see `person_risk`.
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
