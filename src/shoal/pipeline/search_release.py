"""The next release with new classes for everybody, searched until it holds together with the earlier ones.

The other strategy (`next_release.py`) keeps every old class. This one begins with what the algorithm finds for the
whole table, and asks the exact check (`releases/weak.py`) which classes fail with an earlier release. Their records
and those of groups nearby are searched again under one more condition, which the moves of the search know like any
other model: of every value that links records a class has as many as the classes of then ask for
(`releases/company.py`). What still fails asks for more, until nothing fails, or the kept classes lose less.

What is promised is what `shoal verify --with` checks: nobody who knows a person's quasi-identifiers, when the person
came, and what is published unchanged, is left with fewer than k candidates. Who can tell records apart by other means
(the order of rows, say) needs the kept classes. Cost: one plain run, one of the newcomers, and for every round one
check and a search of the records of weak classes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering
from shoal.errors import InputError, Problem, RequirementError
from shoal.metrics.score import score
from shoal.pipeline.mending import regrouped, with_neighbours
from shoal.pipeline.next_release import Keeping, too_few_newcomers
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import recoded, safe_clustering
from shoal.progress import Watch

ROUNDS = 8
EVERYTHING = 0.5  # with more records than this share in weak classes, all are searched again


class Searching(Keeping):
    """Classes anew where they hold, with company where they do not; the old ones if that loses less."""

    def cluster(self, prepared: Prepared, watch: Watch) -> Clustering:
        self._check(prepared)
        job = prepared.job
        if job.suppression_limit > 0:
            message = "records that are suppressed in the next release only would stand out"
            raise InputError(Problem("not-with-earlier", message, hint="leave out the limit, or keep the classes"))
        newcomers = prepared.frame.height - self.earlier[-1].frame.height
        if job.setting != "moving":
            if newcomers < 0:
                message = "the table has fewer records than the last release"
                raise InputError(Problem("people-left", message, hint="--setting moving if people left"))
            too_few_newcomers(newcomers, prepared.requirement.k)
        kept, its_loss, refused = None, np.inf, None
        try:
            kept = super().cluster(prepared, watch)
            released = super().finish(prepared, recoded(prepared, kept))
            if len(self.earlier) == 1 or not self.weak(prepared, released).later.any():
                its_loss = _loss(prepared, released)
        except RequirementError as error:
            refused = error
        found = self._search(prepared, its_loss, watch)
        if found is not None:
            self.kept = False
            return replace(found, details={"newcomers": newcomers, "notes": [], "strategy": "search"})
        if kept is None:
            raise refused or RequirementError(Problem("not-together", "no classes were found that hold together"))
        return replace(kept, details={**kept.details, "strategy": "keep"})

    def finish(self, prepared: Prepared, released: pl.DataFrame) -> pl.DataFrame:
        if self.kept:
            return super().finish(prepared, released)
        self.remember_newcomers(prepared, released)
        return released

    def _search(self, prepared: Prepared, most: float, watch: Watch) -> Clustering | None:
        """Groups that hold with every earlier release and lose less than `most`; None if no round gets there."""
        groups = safe_clustering(prepared, prepared.requirement, watch).groups
        needs = None
        for turn in range(ROUNDS):
            released = recoded(prepared, Clustering(groups))
            if _loss(prepared, released) >= most:
                return None
            weak = self.weak(prepared, released)
            if not weak.later.any():
                return Clustering(groups)
            if needs is None:
                needs = self.needs(prepared)
                if needs.too_many_values or self.found is None:
                    return None
                needs.add_classes(len(self.earlier) - 1, self.found.class_of_row)
            needs.raise_for(weak, turn)
            records = self._around(prepared, groups, weak.rows)
            everybody = np.arange(groups.shape[0])
            anew = regrouped(prepared, groups, records, needs, watch)
            if anew is None and records.shape[0] < groups.shape[0]:
                anew = regrouped(prepared, groups, everybody, needs, watch)
            if anew is None:
                return None
            groups = anew
        return None

    def _around(self, prepared: Prepared, groups: NDArray[np.int32], rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The records of weak classes and of groups nearby."""
        if rows.mean() > EVERYTHING:
            return np.arange(groups.shape[0])
        chosen = np.zeros(int(groups.max()) + 1, dtype=np.bool_)
        chosen[groups[rows]] = True
        return np.flatnonzero(with_neighbours(prepared, groups, chosen, 4 * prepared.requirement.k)[groups])


def _loss(prepared: Prepared, released: pl.DataFrame) -> float:
    quasi, domains = prepared.job.quasi, prepared.plan.domains(prepared.frame)
    return float(score(prepared.frame, released, quasi, domains, weights=prepared.plan.weights).totals["gcp"])
