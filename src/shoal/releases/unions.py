"""Classes of an earlier release put together until those of their people who are left can hide in them again.

A class of then is *answered* by a union that holds it if the records that are left in the union could be k of its own:
of every value that links records as many as both have, added up (and where diversity is asked for, all that it had).
A union that does not answer all its classes is put together with its nearest one. Its cells cover those of all its
classes, so whoever could have been in one of them can be in the union, and no other class needs to answer for it.
Cost: a few passes over the unions; nearest ones are looked for in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.released.domain import FloatArray
from shoal.releases.classes import Covers
from shoal.releases.judging import Needed

BLOCK = 64


@dataclass(eq=False)
class Unions:
    """Which classes are together; `union_of` has a number for each class, which is one of its classes."""

    before: NDArray[np.int64]  # (classes, values) what each class had
    left: NDArray[np.int64]  # (classes, values) what is left of it
    centres: FloatArray  # (classes, attributes)
    union_of: NDArray[np.int64]  # (classes,)

    @classmethod
    def of(cls, before: NDArray[np.int64], left: NDArray[np.int64], covers: Covers) -> Unions:
        return cls(before, left, _centres(covers), np.arange(before.shape[0], dtype=np.int64))

    def unanswered(self, needed: Needed) -> NDArray[np.bool_]:
        """(classes,) whether the union of a class does not answer all its classes."""
        together = np.zeros_like(self.left)
        np.add.at(together, self.union_of, self.left)
        common = np.minimum(self.before, together[self.union_of])
        bad = common.sum(axis=1) < needed.k
        if needed.diversities:
            bad |= (common < self.before).any(axis=1)
        return self.with_their_unions(bad)

    def with_their_unions(self, classes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(classes,) those of the unions that hold one of the given classes."""
        marked = np.zeros(self.union_of.shape[0], dtype=np.bool_)
        marked[self.union_of[classes]] = True
        return marked[self.union_of]

    def join(self, chosen: NDArray[np.bool_]) -> bool:
        """Put the unions of these classes together with their nearest ones; False if there is only one."""
        unions, number = np.unique(self.union_of, return_inverse=True)
        if unions.shape[0] < 2:
            return False
        sizes = np.bincount(number)
        centres = np.stack([np.bincount(number, weights=axis) / sizes for axis in self.centres.T], axis=1)
        wanted = np.zeros(unions.shape[0], dtype=np.bool_)
        wanted[number[chosen]] = True
        parent = np.arange(unions.shape[0])
        for block in _blocks(centres):
            distance = np.abs(centres[block][:, None, :] - centres[block][None, :, :]).sum(axis=2)
            np.fill_diagonal(distance, np.inf)
            nearest = block[distance.argmin(axis=1)]
            for one, other in zip(block[wanted[block]].tolist(), nearest[wanted[block]].tolist(), strict=True):
                parent[_root(parent, one)] = _root(parent, other)
        roots = np.array([_root(parent, one) for one in range(unions.shape[0])])
        self.union_of = unions[roots][number]
        return True

    def single(self) -> NDArray[np.bool_]:
        """(classes,) whether a class is alone."""
        return np.asarray(np.bincount(self.union_of, minlength=self.union_of.shape[0])[self.union_of] == 1)


def _root(parent: NDArray[np.int64], one: int) -> int:
    while parent[one] != one:
        parent[one] = parent[parent[one]]
        one = int(parent[one])
    return one


def _centres(covers: Covers) -> FloatArray:
    """The middle of every class, each attribute from 0 to 1; cells without ends are in the middle."""
    low, high = np.where(np.isfinite(covers.low), covers.low, np.nan), covers.high
    middle = (low + np.where(np.isfinite(high), high, np.nan)) / 2
    lowest = np.nan_to_num(np.nanmin(np.where(np.isnan(middle), np.inf, middle), axis=0), posinf=0.0)
    span = np.nan_to_num(np.nanmax(np.where(np.isnan(middle), -np.inf, middle), axis=0) - lowest, neginf=0.0)
    return np.asarray(np.nan_to_num((middle - lowest) / np.maximum(span, 1e-300), nan=0.5))


def _blocks(centres: FloatArray) -> list[NDArray[np.int64]]:
    """Neighbours together: halves of halves, with at least two in each."""
    waiting, ready = [np.arange(centres.shape[0])], []
    while waiting:
        part = waiting.pop()
        if part.shape[0] <= BLOCK:
            ready.append(part)
            continue
        widest = int(np.argmax(np.std(centres[part], axis=0)))
        ordered = part[np.argsort(centres[part, widest], kind="stable")]
        waiting += [ordered[part.shape[0] // 2 :], ordered[: part.shape[0] // 2]]
    return ready
