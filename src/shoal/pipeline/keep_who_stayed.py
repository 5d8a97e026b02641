"""Keeping the classes of then where people left or values changed: the weaker case, declared by the user.

A class is kept as long as those of its people who are still there, with values that its cells cover, are k or more
and meet the models. Who is left over (those of smaller classes, those whose values moved out of the cells, and
newcomers) is grouped anew, so that everybody finds the company that the class of then asks for (`releases/company.py`).
What the exact check, read in the weaker way, still finds to fail goes into larger and larger groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering
from shoal.encode.subset import table_of
from shoal.errors import InputError, Problem, RequirementError
from shoal.pipeline.mending import regrouped, with_neighbours
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import recoded
from shoal.progress import Watch
from shoal.releases.needs import MOST_VALUES, Needs
from shoal.releases.who import NEWCOMER, Whereabouts

if TYPE_CHECKING:
    from shoal.pipeline.next_release import Keeping

ROUNDS = 10


def keep_who_stayed(keeping: Keeping, prepared: Prepared, found: Whereabouts, watch: Watch) -> Clustering:
    """Groups that hold with the earlier releases, and in `keeping` whose cells are those of then."""
    if prepared.job.suppression_limit > 0:
        message = "records that are suppressed in the next release only would stand out"
        raise InputError(Problem("not-with-earlier", message, hint="leave out the suppression limit"))
    needs = keeping.needs(prepared)
    if needs is None:
        message = f"columns that are published unchanged have more than {MOST_VALUES} values together"
        raise InputError(Problem("not-with-earlier", message, hint="m-invariance knows people who leave, too"))
    needs.add_classes(len(keeping.earlier) - 1, found.class_of_row)
    kept = _unbroken(prepared, np.where(found.moved, NEWCOMER, found.class_of_row))
    for turn in range(ROUNDS):
        groups = _grouped(prepared, kept, needs, watch)
        if groups is None:
            kept = _with_classes_nearby(prepared, kept)
            continue
        keeping.kept_class = kept
        weak = keeping.weak(prepared, keeping.finish(prepared, recoded(prepared, Clustering(groups))))
        if not weak.later.any():
            details = {"newcomers": int(found.newcomers.shape[0]), "notes": [], "strategy": "keep"}
            return Clustering(groups, details=details)
        needs.raise_for(weak, turn)
        kept = np.where(weak.rows, NEWCOMER, kept)
    message = "those who are left of the classes of then cannot be hidden among the others"
    raise RequirementError(Problem("not-together", message, hint="m-invariance knows people who leave, too"))


def _unbroken(prepared: Prepared, kept: NDArray[np.int32]) -> NDArray[np.int32]:
    """Without the classes whose people who are left do not meet the requirement."""
    rows = np.flatnonzero(kept != NEWCOMER)
    classes, number = np.unique(kept[rows], return_inverse=True)
    part = table_of(prepared.table, rows)
    deficits = prepared.requirement.deficits(part, number.astype(np.int32), classes.shape[0])
    found = kept.copy()
    found[rows[deficits[number] > 0]] = NEWCOMER
    return found


def _grouped(
    prepared: Prepared, kept: NDArray[np.int32], needs: Needs, watch: Watch
) -> NDArray[np.int32] | None:  # fmt: skip
    """The kept classes, and groups of all others; None if these are too few, or too much alike."""
    others = np.flatnonzero(kept == NEWCOMER)
    if not others.shape[0]:
        return np.unique(kept, return_inverse=True)[1].astype(np.int32)
    if others.shape[0] < prepared.requirement.k:
        return None
    return regrouped(prepared, kept, others, needs, watch)


def _with_classes_nearby(prepared: Prepared, kept: NDArray[np.int32]) -> NDArray[np.int32]:
    """As many records of kept classes near them join those who are grouped anew."""
    groups = kept + 1  # 0: grouped anew
    others = np.arange(int(groups.max()) + 1) == 0
    least = 2 * max(prepared.requirement.k, int((groups == 0).sum()))
    chosen = with_neighbours(prepared, groups, others, least)
    return np.where(chosen[groups], NEWCOMER, kept).astype(np.int32)
