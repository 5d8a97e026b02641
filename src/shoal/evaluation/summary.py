"""The few numbers about its loss that every result carries, with the bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.metrics.score import Scores

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
