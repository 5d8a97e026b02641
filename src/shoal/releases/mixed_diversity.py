"""Diversity where a victim may be in several pairs of classes: their candidates together must not tell more than one.

A pair that lies inside a pair that holds is passed over: whoever is there has the candidates of both. That is enough
for their number, and for how many different values they have. Where shares count, it is not: ten diverse candidates and
five with flu are no longer diverse. So the candidates of passed-over pairs are added to those of the pair around them.
Both have a class in common, and nothing is added beyond its records: if all of them are candidates already, a further
pair tells nothing new. Of every value the worst is taken: all that can be added of it, and nothing of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.models.l_diversity import DistinctLDiversity, LDiversity
from shoal.releases.diversity import TOLERANCE, Diversity
from shoal.releases.worlds import Worlds

BoolArray = NDArray[np.bool_]
PairNumbers = NDArray[np.int64]


def one_sided(
    worlds: Worlds, diversities: Sequence[Diversity], good: BoolArray, settled: PairNumbers, reach: int
) -> PairNumbers:
    """Of the settled pairs that do not hold by themselves, those that cannot be passed over."""
    shares = [model for model in diversities if not isinstance(model, DistinctLDiversity)]
    left = settled[~good[settled]]
    if not shares or not left.shape[0]:
        return np.zeros(0, dtype=np.int64)
    found = worlds.of_pairs(worlds.found)
    whole_earlier = good & (found == worlds.one.sizes[worlds.pairs.earlier])
    whole_later = good & (found == worlds.other.sizes[worlds.pairs.later])
    left = left[worlds.around_it(left, whole_earlier, same_earlier=True) < 0]
    left = left[worlds.around_it(left, whole_later, same_earlier=False) < 0]
    worlds.ask(left, reach=reach)
    left = left[(worlds.of_pairs(worlds.found)[left] > 0) | (worlds.exact[left] == 0)]
    if not all(isinstance(model, LDiversity) for model in shares):
        return np.asarray(left)
    by_earlier = worlds.around_it(left, good, same_earlier=True)
    by_later = np.where(by_earlier >= 0, -1, worlds.around_it(left, good, same_earlier=False))
    told = (by_earlier < 0) & (by_later < 0)
    for model in shares:
        assert isinstance(model, LDiversity)
        told |= _tips(worlds, model, left, by_earlier, same_earlier=True)
        told |= _tips(worlds, model, left, by_later, same_earlier=False)
    return np.asarray(left[told])


def _tips(worlds: Worlds, model: LDiversity, pairs: PairNumbers, by: PairNumbers, *, same_earlier: bool) -> BoolArray:
    """(pairs,) whether what they add to the pair around them gives one value a larger share than allowed."""
    chosen = np.flatnonzero(by >= 0)
    if not chosen.shape[0]:
        return np.zeros(pairs.shape[0], dtype=np.bool_)
    around = pl.DataFrame({"pair": pairs[chosen], "by": by[chosen]})
    release, classes = (worlds.one, worlds.pairs.earlier) if same_earlier else (worlds.other, worlds.pairs.later)
    most = np.where(worlds.exact[worlds.edges.pair] == 1, worlds.found, worlds.closed)
    added = around.join(_by_value(worlds, model, most), on="pair").group_by("by", "value").agg(pl.col("count").sum())
    held = _by_value(worlds, model, worlds.found).rename({"pair": "by", "count": "held"})
    total = held.group_by("by").agg(pl.col("held").sum().alias("total"))
    size = (
        pl.DataFrame({"class": release.cell_class, "value": release.cell_columns[model.column]})
        .with_columns(pl.Series("size", release.cell_sizes))
        .group_by("class", "value")
        .agg(pl.col("size").sum())
    )
    more = pl.min_horizontal("count", pl.col("size").fill_null(0) - pl.col("held"))
    tipped = (
        added.with_columns(pl.Series("class", classes[added["by"].to_numpy()]))
        .join(held, on=["by", "value"], how="left")
        .with_columns(pl.col("held").fill_null(0))
        .join(total, on="by")
        .join(size, on=["class", "value"], how="left")
        .with_columns(more.alias("more"))
        .filter((pl.col("held") + pl.col("more")) * model.l > pl.col("total") + pl.col("more") + TOLERANCE)
    )
    return np.asarray(np.isin(by, tipped["by"].unique().to_numpy()) & (by >= 0))


def _by_value(worlds: Worlds, model: LDiversity, counts: NDArray[np.int64]) -> pl.DataFrame:
    """Of every pair how many records of each value."""
    return (
        pl.DataFrame(
            {
                "pair": worlds.edges.pair,
                "value": worlds.one.cell_columns[model.column][worlds.edges.tail],
                "count": counts,
            }
        )
        .group_by("pair", "value")
        .agg(pl.col("count").sum())
    )
