"""How well clusters survive in other settings: the same masking again for each of them, nothing released.

Thresholds, numbers of clusters, clusterers and modes of masking can be swept, together: every combination is one case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

from shoal.errors import RequirementError
from shoal.evaluation.usefulness.clustering.agreement import compare_clusterings
from shoal.evaluation.usefulness.clustering.clusterers import Labels
from shoal.progress import Progress, ProgressCallback

MODES = ("information", "distort")


@dataclass(frozen=True)
class Case:
    """One combination of settings; None is what the release itself has."""

    h: int
    clusters: int | None = None
    clusterer: str | None = None
    mode: str | None = None

    def settings(self) -> dict[str, Any]:
        """What is swept, for the row of the case."""
        named = {"clusters": self.clusters, "clusterer": self.clusterer, "mode": self.mode}
        return {"h": self.h, **{name: value for name, value in named.items() if value is not None}}


@dataclass(frozen=True)
class Sweep:
    """The values of each setting; an empty one is not swept."""

    thresholds: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()
    clusterers: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()

    def cases(self, own_threshold: int) -> list[Case]:
        """Every combination, from low to high; none if nothing is swept."""
        if not (self.thresholds or self.clusters or self.clusterers or self.modes):
            return []
        nothing: tuple[None, ...] = (None,)
        return [
            Case(h, clusters, clusterer, mode)
            for h, clusters, clusterer, mode in product(
                sorted(set(self.thresholds)) or [own_threshold],
                tuple(sorted(set(self.clusters))) or nothing,
                tuple(dict.fromkeys(self.clusterers)) or nothing,
                tuple(dict.fromkeys(self.modes)) or nothing,
            )
        ]


def quality_of(
    cases: Sequence[Case],
    labels_of: Callable[[Case], Labels],
    masked: Callable[[Case], pl.DataFrame],
    cluster: Callable[[Case, pl.DataFrame], Labels],
    progress: ProgressCallback,
) -> list[dict[str, Any]]:
    """One record for each case; one that cannot be met says why under `error`."""
    found: list[dict[str, Any]] = []
    for number, case in enumerate(cases):
        progress(Progress("cluster", number / len(cases), note=f"case {number + 1} of {len(cases)}"))
        try:
            comparison = compare_clusterings(labels_of(case), cluster(case, masked(case)))
        except RequirementError as error:
            found.append({**case.settings(), "error": list(error.reasons)})
            continue
        found.append(
            {
                **case.settings(),
                "f_measure": comparison.f_measure,
                "match_point": comparison.match_point,
                "adjusted_rand": comparison.adjusted_rand,
            }
        )
    return found
