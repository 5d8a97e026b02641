"""Where a new release fails together with earlier ones: what a search has to mend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.models.base import Model
from shoal.released.domain import CodeArray, Domain
from shoal.releases.attacks import without
from shoal.releases.classes import read_classes
from shoal.releases.diversity import diversities_among
from shoal.releases.judging import Needed, judge_newcomers, judge_pairs, newcomers_by_values
from shoal.releases.verdict import Setting
from shoal.releases.worlds import Worlds, make_worlds

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Weak:
    """Classes of the last release, and of the one before it, in which somebody may have too few candidates."""

    class_of_row: CodeArray  # (records of the last release,)
    later: BoolArray  # (its classes,)
    earlier: BoolArray  # (classes of the release before it,)

    @property
    def rows(self) -> BoolArray:
        """(records of the last release,)"""
        return self.later[self.class_of_row]


def weak_classes(
    releases: Sequence[pl.DataFrame],
    quasi: Sequence[str],
    k: int,
    linking: Sequence[str],
    *,
    models: Sequence[Model] = (),
    domains: Mapping[str, Domain],
    setting: Setting = Setting.GROWING,
) -> Weak:
    """The classes of the last release that fail with any of the earlier ones, by the rules of the check."""
    diversities = tuple(model for model in diversities_among(models) if model.column in linking)
    tables = read_classes(releases, quasi, domains, linking)
    later = np.zeros(tables[-1].sizes.shape[0], dtype=np.bool_)
    earlier = np.zeros(tables[-2].sizes.shape[0], dtype=np.bool_)
    for table in tables[:-1]:
        worlds = make_worlds(table, tables[-1], may_leave=setting is Setting.MOVING)
        pairs, newcomers = _bad(worlds, Needed(k, diversities))
        later[worlds.pairs.later[pairs]] = True
        later |= newcomers
        if table is tables[-2]:
            earlier[worlds.pairs.earlier[pairs]] = True
    return Weak(tables[-1].class_of_row, later, earlier)


def _bad(worlds: Worlds, needed: Needed) -> tuple[BoolArray, BoolArray]:
    """Pairs, and classes of newcomers, that fail; newcomers only if somebody is surely there."""
    pairs = judge_pairs(worlds, needed)
    newcomers = newcomers_by_values(worlds, judge_newcomers(worlds, needed))
    hidden = worlds.one.suppressed[worlds.pairs.earlier] & worlds.other.suppressed[worlds.pairs.later]
    bad, bad_new = without(pairs, hidden).bad, without(newcomers, worlds.other.suppressed).bad
    sure = bool(bad_new.any()) and worlds.surely_new(bad_new) > 0
    return bad, bad_new if sure else np.zeros_like(bad_new)
