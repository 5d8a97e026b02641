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
    if not all(step.kept for step in steps):
        return False
    if not _enough(first, needed, first.one.cell_class, first.one.cell_sizes, later=False):
        return False
    return all(
        _enough(worlds, needed, worlds.other.cell_class, step.newcomers, later=True)
        for worlds, step in zip((first, *rest), steps, strict=True)
    )


def chain_goes_on(worlds: Worlds, step: Step, needed: Needed) -> bool:
    """Whether a chain that held until the earlier release holds with the later one too."""
    return step.kept and _enough(worlds, needed, worlds.other.cell_class, step.newcomers, later=True)


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
