"""Which pairs of classes leave too little to hide in: asked lazily, so that large releases are judged in seconds.

With `by_values` the attacker knows a victim's quasi-identifiers, not the classes: a pair that lies inside a pair that
holds is passed over, because whoever is there may as well be in the other one and has its candidates too. This never
overstates the anonymity. Where the classes of each release do not overlap there are no such pairs. What the candidates
of both have in common is looked at again where diversity is asked for (`mixed_diversity.py`).

In large releases a search for a world goes along REACH edges at most. A pair for which none is found that holds is
*open* and counts as below k: again nothing is overstated. Only if no pair is known to be below are the open ones
searched to the end, up to LAST of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.models.l_diversity import DistinctLDiversity
from shoal.released.domain import CountArray
from shoal.releases.classes import pairs_that_fit
from shoal.releases.diversity import Diversity, diverse, histograms
from shoal.releases.mixed_diversity import one_sided
from shoal.releases.worlds import WHOLE, Worlds, inside

BoolArray = NDArray[np.bool_]
LARGE, REACH, LAST = 100_000, 1_000, 5_000  # edges of large releases, edges per search, pairs searched to the end


@dataclass(frozen=True)
class Needed:
    """What must hold of the records that are left after cracking."""

    k: int
    diversities: tuple[Diversity, ...] = ()

    def told_by(self, columns: Collection[str]) -> Needed:
        """The same for releases that have these sensitive columns. Of others they tell together no more than alone."""
        return Needed(self.k, tuple(model for model in self.diversities if model.column in columns))


@dataclass(frozen=True, eq=False)
class Judged:
    """Pairs or classes with victims; `left` is exact where it is below k and for the smallest."""

    counts: BoolArray  # where a victim can be, and is not passed over
    below: BoolArray  # fewer than k records are left
    alike: BoolArray  # k records are left, but not diverse ones
    left: CountArray
    undecided: BoolArray | None = None  # below as far as it is known; None: all is decided

    @property
    def smallest(self) -> int | None:
        found = self.left[self.counts]
        return int(found.min()) if found.shape[0] else None

    @property
    def bad(self) -> BoolArray:
        return self.below | self.alike


def judge_pairs(worlds: Worlds, needed: Needed, *, by_values: bool = True) -> Judged:
    """F and C: all pairs of classes in which a victim can be."""
    everything = np.arange(worlds.pairs.count, dtype=np.int64)
    reach = _reach(worlds)
    if needed.diversities and not by_values:
        worlds.ask(everything, reach=reach)
    good = _good(worlds, needed)
    pairs = everything[~good]
    for turn in range(3):  # pairs that turn out to hold may cover others
        if by_values and good.any():
            pairs = pairs[~worlds.inside_good_pairs(pairs, good)]
        if turn == 2:
            if reach < WHOLE and not _known_below(worlds, needed, pairs).any():
                _settle(worlds, needed, pairs[:LAST], WHOLE)
        else:
            _settle(worlds, needed, pairs, reach)
        good = _good(worlds, needed)
        pairs = pairs[~good[pairs]]
    if by_values and needed.diversities:
        pairs = np.union1d(pairs, one_sided(worlds, needed.diversities, good, np.setdiff1d(everything, pairs), reach))
    counts = good.copy()
    counts[pairs] = True
    _ask_what_matters(worlds, needed, counts, reach)
    left = worlds.of_pairs(worlds.found)
    unknown = (left == 0) | (
        worlds.of_pairs(worlds.closed) >= needed.k
    )  # whether anybody is there, or whether it holds
    undecided = counts & (worlds.exact == 0) & (left < needed.k) & unknown
    counts &= (left > 0) | undecided
    below = counts & (left < needed.k)
    fewest = left[counts & (left > 0)].min(initial=max(needed.k, 1))
    return Judged(
        counts, below, counts & ~below & ~_good(worlds, needed), np.where(left > 0, left, fewest), undecided
    )  # fmt: skip


def judge_newcomers(worlds: Worlds, needed: Needed) -> Judged:
    """B: all later classes in which a newcomer can be."""
    reach = _reach(worlds)
    asked = worlds.of_classes(worlds.free) < (WHOLE if needed.diversities else needed.k)
    worlds.ask_newcomers(np.flatnonzero(asked), reach)
    left = _smallest_exactly(worlds, asked, reach)
    holds = np.ones(left.shape[0], dtype=np.bool_)
    for model in needed.diversities:
        value = worlds.other.cell_columns[model.column]
        holds &= diverse(model, histograms(worlds.other.cell_class, value, worlds.free, left.shape[0]))
    undecided = (worlds.of_classes(worlds.given_up.astype(np.int64)) > 0) & (left < needed.k)
    counts = (left > 0) | undecided
    below = counts & (left < needed.k)
    return Judged(counts, below, counts & ~below & ~holds, left)


def _smallest_exactly(worlds: Worlds, asked: BoolArray, reach: int) -> CountArray:
    """(later classes,) newcomers each can hold: a lower bound, but for those that were asked and for the smallest."""
    while True:
        left = worlds.of_classes(worlds.free)
        smallest = left[left > 0].min(initial=WHOLE)
        might_hold_more = ~asked & (left == smallest)
        if (asked & (left == smallest)).any() or not might_hold_more.any():
            return left
        worlds.ask_newcomers(np.flatnonzero(might_hold_more), reach)
        asked = asked | might_hold_more


def newcomers_by_values(worlds: Worlds, needed: Needed, judged: Judged) -> Judged:
    """Classes of newcomers that lie inside a class that holds are passed over, as pairs are."""
    bad = np.flatnonzero(judged.bad)
    good = judged.counts & ~judged.bad
    if not all(isinstance(model, DistinctLDiversity) for model in needed.diversities):
        return judged  # candidates of several classes together may be less diverse than those of one
    if not bad.shape[0] or not good.any():
        return judged
    covers = worlds.other.covers
    inner, outer = pairs_that_fit(covers.of(bad), covers)
    useful = good[outer]
    inner, outer = bad[inner[useful]].astype(np.int32), outer[useful]
    over = np.zeros(judged.counts.shape[0], dtype=np.bool_)
    over[inner[inside(covers, covers, inner, outer)]] = True
    return Judged(judged.counts & ~over, judged.below & ~over, judged.alike & ~over, judged.left)


def _good(worlds: Worlds, needed: Needed) -> BoolArray:
    """Pairs of which it is known that they hold."""
    found = worlds.of_pairs(worlds.found)
    good = found >= needed.k
    if needed.diversities:
        good &= worlds.exact == 1
        for model in needed.diversities:
            value = worlds.one.cell_columns[model.column][worlds.edges.tail]
            good &= diverse(model, histograms(worlds.edges.pair, value, worlds.found, worlds.pairs.count))
    return good


def _reach(worlds: Worlds) -> int:
    return REACH if worlds.edges.head.shape[0] > LARGE else WHOLE


def _known_below(worlds: Worlds, needed: Needed, pairs: NDArray[np.int64]) -> BoolArray:
    """Pairs with victims of which it is known that k records are not left."""
    left, closed = worlds.of_pairs(worlds.found)[pairs], worlds.of_pairs(worlds.closed)[pairs]
    return np.asarray((left > 0) & ((closed < needed.k) | ((worlds.exact[pairs] == 1) & (left < needed.k))))


def _settle(worlds: Worlds, needed: Needed, pairs: NDArray[np.int64], reach: int) -> None:
    """Ask for the pairs that might hold: the closed form allows k records."""
    possible = worlds.of_pairs(worlds.closed) >= needed.k
    asked = pairs[possible[pairs] & (worlds.exact[pairs] == 0)]
    worlds.ask(asked, WHOLE if needed.diversities else needed.k, reach)


def _ask_what_matters(worlds: Worlds, needed: Needed, counts: BoolArray, reach: int) -> None:
    """Find the smallest number exactly, and whether anybody can be in pairs that would add a class to those below."""
    left = worlds.of_pairs(worlds.found)
    low = counts & (left < needed.k)
    below = low & (left > 0)
    earlier = np.zeros(worlds.one.sizes.shape[0], dtype=np.bool_)
    later = np.zeros(worlds.other.sizes.shape[0], dtype=np.bool_)
    earlier[worlds.pairs.earlier[below]] = True
    later[worlds.pairs.later[below]] = True
    adds = ~(earlier[worlds.pairs.earlier] & later[worlds.pairs.later])
    worlds.ask(np.flatnonzero(low & (left == 0) & adds), 1, reach)
    left = worlds.of_pairs(worlds.found)
    settled = counts & (worlds.exact == 1) & (left > 0)
    best = int(left[settled].min()) if settled.any() else needed.k
    worlds.ask(np.flatnonzero(counts & (worlds.exact == 0) & (left < best)), max(best, 1), reach)


def persons_in(below: BoolArray, classes: Sequence[int] | NDArray[np.integer], sizes: CountArray) -> tuple[int, int]:
    """How many classes have a bad pair, and how many records these have."""
    hit = np.unique(np.asarray(classes)[below])
    return int(hit.shape[0]), int(sizes[hit].sum())
