"""The next release with new classes for everybody, searched until it holds together with the earlier ones.

The other strategy (`next_release.py`) keeps every old class. This one begins with what the algorithm finds for the
whole table, asks the exact check (`releases/weak.py`) which classes fail with an earlier release, and finds groups
for the records of these classes anew, each time of twice the size, until none fails. Then the strategy that loses
less is taken: where nothing that is published links the records, the first groups usually hold as they are.

What is promised is what `shoal verify --with` checks: nobody who knows a person's quasi-identifiers, when the person
came, and what is published unchanged, is left with fewer than k candidates. Who can tell records apart by other means
(the order of rows, say) needs the kept classes. Cost: one plain run, and one check for every round.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, Context
from shoal.encode.subset import table_of
from shoal.engines.local import cluster_table
from shoal.errors import InputError, Problem, RequirementError
from shoal.metrics.score import score
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.pipeline.next_release import Keeping, as_texts, too_few_newcomers
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import recoded, safe_clustering, threads_of
from shoal.progress import Watch
from shoal.releases.weak import Weak, weak_classes

ROUNDS = 8  # groups of up to k times two to this power


class Searching(Keeping):
    """Classes anew where they hold, larger where they do not; the old ones if that loses less."""

    def cluster(self, prepared: Prepared, watch: Watch) -> Clustering:
        self._check(prepared)
        if prepared.job.suppression_limit > 0:
            message = "records that are suppressed in the next release only would stand out"
            raise InputError(Problem("not-with-earlier", message, hint="leave out the limit, or keep the classes"))
        newcomers = prepared.frame.height - self.earlier[-1].frame.height
        if newcomers < 0:
            message = "the table has fewer records than the last release"
            raise InputError(Problem("people-left", message, hint="for people who leave see docs/several_releases.md"))
        too_few_newcomers(newcomers, prepared.requirement.k)
        found = self._search(prepared, watch)
        kept = None
        try:
            kept = super().cluster(prepared, watch)
        except RequirementError:
            if found is None:
                raise
        if found is None or (kept is not None and self._prefer_kept(prepared, kept, found)):
            assert kept is not None
            return replace(kept, details={**kept.details, "strategy": "keep"})
        self.kept = False
        return replace(found, details={"newcomers": newcomers, "notes": [], "strategy": "search"})

    def _prefer_kept(self, prepared: Prepared, kept: Clustering, found: Clustering) -> bool:
        """The kept classes lose no more, and hold with all releases before the last one, too."""
        released = super().finish(prepared, recoded(prepared, kept))
        if _loss(prepared, released) > _loss(prepared, recoded(prepared, found)):
            return False
        return len(self.earlier) == 1 or not self._weak(prepared, released).later.any()

    def finish(self, prepared: Prepared, released: pl.DataFrame) -> pl.DataFrame:
        return super().finish(prepared, released) if self.kept else released

    def _search(self, prepared: Prepared, watch: Watch) -> Clustering | None:
        """Groups that hold with every earlier release; None if no round gets there."""
        found = safe_clustering(prepared, prepared.requirement, watch)
        for number in range(1, ROUNDS + 1):
            weak = self._weak(prepared, recoded(prepared, found))
            if not weak.later.any():
                return found
            records = np.flatnonzero(weak.rows)
            size = prepared.requirement.k * 2**number
            if records.shape[0] < size:
                records = self._with_neighbours(prepared, found, records, size)
            if records.shape[0] < size:
                return None
            found = self._anew(prepared, found, records, size, watch)
        return None

    def _anew(
        self, prepared: Prepared, found: Clustering, records: NDArray[np.int64], size: int, watch: Watch
    ) -> Clustering:
        """Groups of at least this size for some records; the others keep theirs."""
        larger = Requirement((*prepared.requirement.models, KAnonymity(size)))
        context = Context(prepared.job.seed, threads_of(prepared.job), watch.progress, watch.stop)
        part = cluster_table(table_of(prepared.table, records), larger, prepared.algorithm, context)
        groups = found.groups.copy()
        groups[records] = part.groups + int(groups.max()) + 1
        numbers = np.unique(groups, return_inverse=True)[1]
        return Clustering(numbers.astype(np.int32))

    def _with_neighbours(
        self, prepared: Prepared, found: Clustering, records: NDArray[np.int64], size: int
    ) -> NDArray[np.int64]:
        """So few records take those of the nearest groups along, by the middle of their codes."""
        table = prepared.table
        scale = np.array([max(attribute.size - 1, 1) for attribute in table.attributes])
        points = table.codes[:, table.row_of_record].T / scale
        distance = np.abs(points - points[records].mean(axis=0)).sum(axis=1)
        sums = np.bincount(found.groups, weights=distance)
        sizes = np.bincount(found.groups)
        mine = np.zeros(sizes.shape[0], dtype=np.bool_)
        mine[found.groups[records]] = True
        order = np.lexsort((np.arange(sizes.shape[0]), sums / np.maximum(sizes, 1), ~mine))
        enough = int(np.searchsorted(np.cumsum(sizes[order]), size)) + 1
        mine[order[:enough]] = True
        return np.flatnonzero(mine[found.groups])

    def _weak(self, prepared: Prepared, released: pl.DataFrame) -> Weak:
        frames = [*(one.frame for one in self.earlier), released]
        return weak_classes(
            [as_texts(frame) for frame in frames],
            prepared.job.quasi,
            prepared.requirement.k,
            self._linking(prepared, released),
            models=prepared.requirement.models,
            domains=prepared.plan.domains(prepared.frame),
        )


def _loss(prepared: Prepared, released: pl.DataFrame) -> float:
    quasi, domains = prepared.job.quasi, prepared.plan.domains(prepared.frame)
    return float(score(prepared.frame, released, quasi, domains, weights=prepared.plan.weights).totals["gcp"])
