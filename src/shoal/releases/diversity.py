"""l-diversity of the records that are left after cracking, written from the definitions.

The values of a pair of classes that are left are a histogram: for every value the most records that any world leaves.
Worlds of different values do not touch each other, so one world leaves all of it at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Model
from shoal.models.l_diversity import DistinctLDiversity, EntropyLDiversity, LDiversity, RecursiveCLDiversity
from shoal.released.domain import CountArray

TOLERANCE = 1e-9
KINDS = (LDiversity, DistinctLDiversity, EntropyLDiversity, RecursiveCLDiversity)
Diversity = LDiversity | DistinctLDiversity | EntropyLDiversity | RecursiveCLDiversity


@dataclass(frozen=True, eq=False)
class Histograms:
    """How many records of each value are left, for many pairs of classes at once; entries with 0 are left out."""

    group: NDArray[np.int64]  # (entries,) sorted
    count: CountArray  # (entries,)
    groups: int

    def sums(self, entries: NDArray[np.float64] | CountArray) -> NDArray[np.float64]:
        return np.bincount(self.group, weights=entries, minlength=self.groups).astype(np.float64)

    def largest(self) -> CountArray:
        most = np.zeros(self.groups, dtype=np.int64)
        np.maximum.at(most, self.group, self.count)
        return most


def diversities_among(models: Sequence[Model]) -> list[Diversity]:
    """The models that can be judged after cracking."""
    return [model for model in models if isinstance(model, KINDS)]


def histograms(
    group: NDArray[np.integer], value: NDArray[np.integer], count: CountArray, groups: int
) -> Histograms:  # fmt: skip
    """Add up the counts of equal (group, value)."""
    span = int(value.max(initial=0)) + 1
    keys, place = np.unique(group.astype(np.int64) * span + value, return_inverse=True)
    summed = np.bincount(place, weights=count, minlength=keys.shape[0]).astype(np.int64)
    shown = summed > 0
    return Histograms((keys // span)[shown], summed[shown], groups)


def diverse(model: Diversity, left: Histograms) -> NDArray[np.bool_]:
    """(groups,) whether what is left is diverse; a group without records is not."""
    total = left.sums(left.count)
    if isinstance(model, DistinctLDiversity):
        return np.asarray(np.bincount(left.group, minlength=left.groups) >= model.l)
    if isinstance(model, LDiversity):
        return np.asarray((total > 0) & (total >= (model.l - TOLERANCE) * left.largest()))
    if isinstance(model, EntropyLDiversity):
        share = left.count / total[left.group]
        return np.asarray((total > 0) & (left.sums(-share * np.log(share)) >= np.log(model.l) - TOLERANCE))
    order = np.lexsort((-left.count, left.group))
    group, count = left.group[order], left.count[order]
    rank = np.arange(group.shape[0]) - np.searchsorted(group, group)
    tail = np.bincount(group, weights=np.where(rank >= model.l - 1, count, 0), minlength=left.groups)
    return np.asarray(left.largest() < model.c * tail - TOLERANCE)
