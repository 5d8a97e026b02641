"""The groups of a counted table whose distinct rows are in memory: found, dealt out and scored all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, Context
from shoal.encode.counted import CountedRows, CountedTable
from shoal.engines.cluster_counted import cluster_counted
from shoal.metrics.score import Scores, score
from shoal.models.k_anonymity import asked_k
from shoal.pipeline.counted_release import CountedInput
from shoal.progress import Watch
from shoal.recode.deals import Deals
from shoal.recode.plan import ReleasePlan, make_release_plan
from shoal.released.domain import Domain


@dataclass(frozen=True, eq=False)
class WholeGroups:
    """The deals of all keys; see `Grouped`."""

    prepared: CountedInput
    encoded: CountedTable
    deals: Deals
    plan: ReleasePlan

    @property
    def clustering(self) -> Clustering:
        return self.deals.clustering

    @property
    def missing_cells(self) -> Mapping[str, int]:
        return self.encoded.codebook.missing_cells

    def rows(self) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        shown = pl.DataFrame({name: self.plan.cells[name].column() for name in self.prepared.job.quasi})
        return shown, self.deals.weight

    def sizes(self) -> NDArray[np.int64]:
        return self.encoded.table.weights

    def scores(self, shown: pl.DataFrame, written: CountedRows, domains: Mapping[str, Domain]) -> Scores:
        """The same metrics as of whole tables, from the distinct pairs of an original and a released row."""
        encoded, deals, prepared, label = self.encoded, self.deals, self.prepared, self.prepared.job.class_column
        rows = encoded.key_row[deals.key]
        original = pl.DataFrame(
            {
                book.name: book.values.gather(encoded.table.codes[number][rows])
                for number, book in enumerate(encoded.codebook.columns)
            }
        )
        place = next((number for number, part in enumerate(encoded.parts) if part.name == label), None)
        if place is not None:
            shown = shown.with_columns(pl.Series(str(label), encoded.key_codes[place][deals.key]))
        return score(
            original,
            shown,
            prepared.job.quasi,
            domains,
            k=asked_k(prepared.requirement.models),
            class_column=label if place is not None and label not in prepared.plan.dropped else None,
            weights=prepared.plan.weights,
            counts=deals.weight,
        )


def group_whole(prepared: CountedInput, encoded: CountedTable, context: Context, watch: Watch) -> WholeGroups:
    """Cluster the rows, and say how their records are dealt out."""
    assert isinstance(prepared.counted, CountedRows)
    options = prepared.recode_options
    with watch.stage("cluster"):
        limit = prepared.job.suppression_limit
        deals = cluster_counted(encoded, prepared.requirement, prepared.algorithm, context, limit, options)
        watch.show("cluster", deals.clustering)
    watch.end_unless_kept()
    with watch.stage("recode"):
        plan = make_release_plan(prepared.counted, encoded, deals, options, prepared.kept)
        watch.show("recode", plan)
    return WholeGroups(prepared, encoded, deals, plan)
