"""How well clusters survive at other thresholds: the same masking again for each of them, nothing released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from shoal.errors import RequirementError
from shoal.evaluation.usefulness.clustering.agreement import compare_clusterings
from shoal.evaluation.usefulness.clustering.clusterers import Labels
from shoal.progress import Progress, ProgressCallback


def quality_at(
    thresholds: Sequence[int],
    masked_at: Callable[[int], pl.DataFrame],
    cluster: Callable[[pl.DataFrame], Labels],
    labels: Labels,
    progress: ProgressCallback,
) -> list[dict[str, Any]]:
    """One record for each threshold, from low to high; one that cannot be met says why under `error`."""
    wanted = sorted(set(thresholds))
    found: list[dict[str, Any]] = []
    for number, h in enumerate(wanted):
        progress(Progress("cluster", number / len(wanted), note=f"h = {h}"))
        try:
            comparison = compare_clusterings(labels, cluster(masked_at(h)))
        except RequirementError as error:
            found.append({"h": h, "error": list(error.reasons)})
            continue
        found.append(
            {
                "h": h,
                "f_measure": comparison.f_measure,
                "match_point": comparison.match_point,
                "adjusted_rand": comparison.adjusted_rand,
            }
        )
    return found
