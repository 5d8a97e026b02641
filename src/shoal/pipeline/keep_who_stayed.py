"""Keeping the classes of then where people left or values changed: the weaker case, declared by the user.

A class is kept as long as those of its people who are still there, with values that its cells cover, answer for it
(`releases/unions.py`). Classes that do not are put together with their nearest ones, and the cells of such a union
cover all that the cells of its classes covered: they are made from the values of then and of now. Newcomers, and those
whose values moved out of their cells, form classes of their own. What the exact check, read in the weaker way, still
finds to fail is put together further.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering
from shoal.encode.subset import table_of
from shoal.errors import InputError, Problem, RequirementError
from shoal.job.draft import resolve
from shoal.job.job import PLACES
from shoal.models.base import Requirement
from shoal.pipeline.prepare import Prepared, prepare
from shoal.pipeline.purpose import recoded
from shoal.pipeline.sources import frame_source
from shoal.progress import Watch
from shoal.released.domain import as_text
from shoal.releases.needs import Needs
from shoal.releases.unions import Unions
from shoal.releases.weak import Weak
from shoal.releases.who import NEWCOMER, Whereabouts

if TYPE_CHECKING:
    from shoal.pipeline.next_release import Keeping

ROUNDS = 12
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Widened:
    """Records whose cells cover those of several classes of then."""

    rows: BoolArray  # (records,)
    cells: pl.DataFrame  # (records,) the quasi-identifiers as texts


def keep_who_stayed(keeping: Keeping, prepared: Prepared, found: Whereabouts, watch: Watch) -> Clustering:
    """Groups that hold with the earlier releases; `keeping` is told whose cells are those of then, and whose wider."""
    original = keeping.original
    if prepared.job.suppression_limit > 0 or original is None:
        message = "where people left, records that are suppressed now only, or an unknown table of then, are in the way"
        raise InputError(Problem("not-with-earlier", message, hint="--with-original, and no suppression limit"))
    needs = keeping.needs(prepared)
    stayed = (found.class_of_row != NEWCOMER) & ~found.moved
    unions = _unions(needs, found, stayed)
    others = _group_others(keeping, prepared, stayed, watch)
    for _ in range(ROUNDS):
        _join_until_answered(unions, prepared, found, stayed, needs)
        groups = np.where(stayed, unions.union_of[np.maximum(found.class_of_row, 0)], others)
        single = unions.single()[np.maximum(found.class_of_row, 0)]
        keeping.kept_class = np.where(stayed & single, found.class_of_row, NEWCOMER).astype(np.int32)
        keeping.widened = _widened(prepared, keeping, unions, groups, stayed & ~single)
        groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
        released = keeping.finish(prepared, recoded(prepared, Clustering(groups)))
        weak = keeping.weak(prepared, released)
        if not weak.later.any():
            details = {"newcomers": int(found.newcomers.shape[0]), "notes": [], "strategy": "keep"}
            return Clustering(groups, details=details)
        if not unions.join(_to_join(unions, weak, found, stayed)):
            break
    message = "those who are left of the classes of then cannot be hidden among the others"
    raise RequirementError(Problem("not-together", message, hint="m-invariance knows people who leave, too"))


def _unions(needs: Needs, found: Whereabouts, stayed: BoolArray) -> Unions:
    """Every class by itself, with what is left of it."""
    before = needs.counts[-1]
    left = np.zeros_like(before)
    np.add.at(left, (found.class_of_row[stayed], needs.link[stayed]), 1)
    return Unions.of(before, left, found.release.covers)


def _join_until_answered(
    unions: Unions, prepared: Prepared, found: Whereabouts, stayed: BoolArray, needs: Needs
) -> None:
    """Until every union answers its classes and its people meet the requirement."""
    rows = np.flatnonzero(stayed)
    part = table_of(prepared.table, rows)
    while True:
        bad = unions.unanswered(needs.needed)
        numbers, number = np.unique(unions.union_of[found.class_of_row[rows]], return_inverse=True)
        deficits = prepared.requirement.deficits(part, number.astype(np.int32), numbers.shape[0])
        unsafe = np.zeros(bad.shape[0], dtype=np.bool_)
        unsafe[numbers[deficits > 0]] = True
        bad |= unions.with_their_unions(unsafe)
        if not bad.any():
            return
        if not unions.join(bad):
            message = "those who are left of all classes of then together do not meet the requirement"
            raise RequirementError(Problem("not-together", message, hint="publish a smaller k, or a new series"))


def _group_others(keeping: Keeping, prepared: Prepared, stayed: BoolArray, watch: Watch) -> NDArray[np.int64]:
    """(records,) groups of those who are not in their class of then, numbered behind all classes."""
    groups = np.full(stayed.shape[0], NEWCOMER, dtype=np.int64)
    others = np.flatnonzero(~stayed)
    if not others.shape[0]:
        return groups
    if others.shape[0] < prepared.requirement.k:
        message = f"{others.shape[0]} newcomers and people with other values cannot form a class of their own"
        raise RequirementError(Problem("too-few-newcomers", message, hint="hold them back until there are more"))
    assert keeping.found is not None
    made = keeping.group_newcomers(prepared, others, watch)
    groups[others] = made.groups + keeping.found.release.sizes.shape[0]
    return groups


def _to_join(unions: Unions, weak: Weak, found: Whereabouts, stayed: BoolArray) -> BoolArray:
    """The unions in weak classes, and those of the classes of then that fail with them."""
    classes = np.zeros(unions.union_of.shape[0], dtype=np.bool_)
    classes[found.class_of_row[stayed & weak.rows]] = True
    classes[weak.pairs[-1].earlier] = True
    return classes


def _widened(
    prepared: Prepared, keeping: Keeping, unions: Unions, groups: NDArray[np.int64], rows: BoolArray
) -> Widened | None:
    """The cells of unions, made from the values of everybody who was and is in their classes."""
    found, original = keeping.found, keeping.original
    if not rows.any() or found is None or original is None or found.class_then is None:
        return None
    names = [name for name in prepared.frame.columns if name in original.columns]
    job = prepared.job.model_copy(update={**dict.fromkeys(PLACES), "earlier": ()})
    both = [frame.select(as_text(frame[name]).alias(name) for name in names) for frame in (prepared.frame, original)]
    draft = replace(resolve(job), requirement=Requirement(()))
    again = prepare(draft, lambda: frame_source(pl.concat(both), job), Watch())
    then = unions.union_of[found.class_then]
    number = np.unique(np.concatenate([groups, then]), return_inverse=True)[1].astype(np.int32)
    cells = recoded(again, Clustering(number))[: groups.shape[0]]
    return Widened(rows, cells.select(as_text(cells[name]).alias(name) for name in prepared.job.quasi))
