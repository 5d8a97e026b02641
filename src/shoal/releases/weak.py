"""Where a new release fails together with earlier ones: what a search has to mend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.released.domain import CodeArray
from shoal.releases.attacks import without
from shoal.releases.classes import read_classes
from shoal.releases.judging import Needed, judge_newcomers, judge_pairs, newcomers_by_values
from shoal.releases.reading_together import ReadTogether
from shoal.releases.worlds import Worlds, make_worlds

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class WeakPairs:
    """Classes of an earlier release and of the last one between which somebody may have too few candidates."""

    earlier: CodeArray  # (pairs,)
    later: CodeArray  # (pairs,)
    roomy: BoolArray  # (pairs,) the two classes alone would leave k; others stand in the way


@dataclass(frozen=True, eq=False)
class Weak:
    """What fails of the last release; one entry of `pairs` for each earlier release."""

    class_of_row: CodeArray  # (records of the last release,)
    later: BoolArray  # (its classes,) of a pair, or of newcomers
    newcomers: BoolArray  # (its classes,)
    pairs: list[WeakPairs]

    @property
    def rows(self) -> BoolArray:
        """(records of the last release,)"""
        return self.later[self.class_of_row]


def weak_classes(
    releases: Sequence[pl.DataFrame], how: ReadTogether, newcomers: NDArray[np.int64] | None = None
) -> Weak:  # fmt: skip
    """The classes of the last release that fail with any of the earlier ones, by the rules of the check.

    `newcomers` are the rows of the last release that are known to be new.
    """
    *earlier, last = read_classes(releases, how.quasi, how.domains, how.linking, how.changing)
    later, new, there = (np.zeros(last.sizes.shape[0], dtype=np.bool_) for _ in range(3))
    if newcomers is not None:
        there[last.class_of_row[newcomers]] = True
    found = []
    for table in earlier:
        worlds = make_worlds(table, last, may_leave=how.may_leave)
        pairs, of_newcomers = _bad(worlds, how.needed, there)
        roomy = worlds.of_pairs(worlds.closed)[pairs] >= how.needed.k
        found.append(WeakPairs(worlds.pairs.earlier[pairs], worlds.pairs.later[pairs], roomy))
        later[worlds.pairs.later[pairs]] = True
        new |= of_newcomers
    return Weak(last.class_of_row, later | new, new, found)


def _bad(worlds: Worlds, needed: Needed, there: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Pairs, and classes of newcomers, that fail; newcomers only if somebody is surely, or known to be, there."""
    needed = needed.told_by(worlds.one.cell_columns)
    pairs = judge_pairs(worlds, needed)
    newcomers = newcomers_by_values(worlds, needed, judge_newcomers(worlds, needed))
    hidden = worlds.one.suppressed[worlds.pairs.earlier] & worlds.other.suppressed[worlds.pairs.later]
    bad, bad_new = without(pairs, hidden).bad, without(newcomers, worlds.other.suppressed).bad
    sure = bool(bad_new.any()) and worlds.surely_new(bad_new) > 0
    return bad, bad_new if sure else bad_new & there
