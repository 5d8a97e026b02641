"""More than two releases at once, where it can be told: a series in which classes stay together.

Worlds of three and more releases are matchings in as many dimensions, which are hard to search in general. Easy, and
what a careful holder publishes, is a *chain*: a world in which every class of a release goes as a whole into one class
around it in the next. Then whoever came together in one class stays together, and the candidates of a person in all
releases at once are those who came at the same time in the same class. If these are always k or more, all releases
hold together, not only every two of them. Newcomers of one release in one class must be k or more, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.released.domain import CountArray
from shoal.releases.classes import ReleaseClasses
from shoal.releases.diversity import diverse, histograms
from shoal.releases.judging import Needed
from shoal.releases.worlds import Worlds, inside


@dataclass(frozen=True, eq=False)
class Step:
    """From one release to the next in the chain."""

    kept: bool  # every class goes as a whole into one class around it
    newcomers: CountArray  # (later cells,)


def first_step(worlds: Worlds) -> Step:
    """The step that the first plan of two releases makes; ask before the plan is changed."""
    pairs = worlds.pairs
    whole = worlds.of_pairs(worlds.flow) == worlds.one.sizes[pairs.earlier]
    candidates = np.flatnonzero(whole)
    one, other = worlds.one.covers, worlds.other.covers
    around = inside(one, other, pairs.earlier[candidates], pairs.later[candidates])
    moved = np.zeros(worlds.one.sizes.shape[0], dtype=np.bool_)
    moved[pairs.earlier[candidates[around]]] = True
    return Step(bool(moved.all()), worlds.other.cell_sizes - worlds.taken)


def chain_holds(first: Worlds, rest: Sequence[Worlds], steps: Sequence[Step], needed: Needed) -> bool:
    """Whether the releases are a chain in which everybody has enough companions. `rest` are the further worlds."""
    if not all(step.kept for step in steps) or not _tells_of_all((first, *rest), needed):
        return False
    if not _enough(first, needed, first.one.cell_class, first.one.cell_sizes, later=False):
        return False
    return all(
        _enough(worlds, needed, worlds.other.cell_class, step.newcomers, later=True)
        for worlds, step in zip((first, *rest), steps, strict=True)
    )


def chain_goes_on(worlds: Worlds, step: Step, needed: Needed) -> bool:
    """Whether a chain that held until the earlier release holds with the later one too."""
    if not step.kept or not _tells_of_all((worlds,), needed):
        return False
    return _enough(worlds, needed, worlds.other.cell_class, step.newcomers, later=True)


def never_interrupted(tables: Sequence[ReleaseClasses]) -> bool:
    """Whether no sensitive column is lacking between two releases that have it: else steps do not make one world."""
    for name in {name for table in tables for name in table.cell_columns}:
        having = [number for number, table in enumerate(tables) if name in table.cell_columns]
        if having[-1] - having[0] >= len(having):
            return False
    return True


def _tells_of_all(steps: Sequence[Worlds], needed: Needed) -> bool:
    """Whether all releases have the columns whose diversity is asked for."""
    return all(model.column in worlds.one.cell_columns for worlds in steps for model in needed.diversities)


def _enough(worlds: Worlds, needed: Needed, classes: NDArray[np.int32], counts: CountArray, *, later: bool) -> bool:
    release = worlds.other if later else worlds.one
    total = np.bincount(classes, weights=counts, minlength=release.sizes.shape[0])
    here = (total > 0) & ~release.suppressed
    if (total[here] < needed.k).any():
        return False
    for model in needed.diversities:
        left = histograms(classes, release.cell_columns[model.column], counts, total.shape[0])
        if not diverse(model, left)[here].all():
            return False
    return True
