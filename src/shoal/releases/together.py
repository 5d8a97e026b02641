"""What an attacker learns from two releases of a growing table together: exactly, over all possible worlds.

**Setting.** R1 was released from T1, R2 from T2. T2 holds everybody of T1 and maybe newcomers; nobody's values change.
A *class* is the set of the records of a release with equal released quasi-identifiers; with sensitive columns, the
records of a class with the same sensitive values are a *cell*. A record of R1 and a record of R2 *fit* if their cells
share a value on every quasi-identifier and their sensitive values are equal. A *possible world* is a choice, for every
record of R1, of another record of R2 that fits it; what is left over in R2 are the newcomers. Records of a cell are
alike, so worlds are counted as transport plans between cells: every earlier cell sends out all of its records, no
later cell takes more than it has.

**Attacks.** The victim's quasi-identifiers are known, so is when the victim came, the sensitive value is not.

- *F* (forward): the victim is in T1, in class g of R1 and class h of R2; which records of g are the victim's? One that
  sits elsewhere than in h is not. Cracked(g by h) = the least number, over all worlds, of records of g outside h.
- *C* (cross): the same victim, looked for in h. Cracked(h by g) = the least number, over all worlds, of records of h
  that do not come from g.
- *B* (backward): the victim is a newcomer in class h of R2. Cracked(h) = the least number, over all worlds, of
  records of h that are not newcomers.

So that many records are excluded whichever world is the real one. *Anonymity* is the size of the class less what is
cracked. For F and C it is the same number for the pair (g, h): the most records that any world sends from g to h.
For B it is the most newcomers that any world leaves in h. A pair or class where this is 0 has no such victim and does
not count. A class of R1 is judged by its worst later class (F), a class of R2 by its worst earlier one (C).

Worlds of different sensitive values do not touch each other, so the extremes of the cells of a class add up exactly.

**Classes, not points.** Classes of local recoding overlap, so a victim's quasi-identifiers can lie in several. The
attacker is given the pair of classes: whoever knows the quasi-identifiers alone has these candidates and maybe more.
A pair counts if some world has a person in it, whether the real one does or not. So the anonymity is never overstated,
but where classes overlap even a release published twice can fail for pairs in which nobody is. The data holder, who
knows the pairs that occur, judges these only (`rows_known` in `check.py`). Where classes do not overlap a victim has
one class in each release.

**Closed forms** (B. C. M. Fung, K. Wang, A. W.-C. Fu, J. Pei, EDBT 2008, as remembered and not compared with the
text) stand beside the exact numbers. They look at the neighbours of a cell only and may crack too little: their
anonymity is never below the exact one, and nothing is promised by them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, CountArray
from shoal.releases.classes import ReleaseClasses, pairs_that_fit
from shoal.releases.kernels.flows import largest_flows, room_nearby


@dataclass(frozen=True, eq=False)
class Together:
    """Two releases together. Pairs are the classes with cells that fit; anonymity 0: nobody can be there."""

    earlier_class: CodeArray  # (pairs,)
    later_class: CodeArray  # (pairs,)
    anonymity: CountArray  # (pairs,) for F and C
    newcomers: CountArray  # (later classes,) for B
    closed_anonymity: CountArray  # (pairs,) by the closed forms
    closed_newcomers: CountArray  # (later classes,)

    def worst_of_earlier(self, classes: int, *, closed: bool = False) -> CountArray:
        """F: the anonymity of every earlier class by its worst later one; 0 where nobody can be."""
        return self._worst(self.earlier_class, classes, closed=closed)

    def worst_of_later(self, classes: int, *, closed: bool = False) -> CountArray:
        """C: the anonymity of every later class by its worst earlier one; 0 where no old person can be."""
        return self._worst(self.later_class, classes, closed=closed)

    def pair_of(self, earlier_class: CodeArray, later_class: CodeArray) -> NDArray[np.int64]:
        """The number of the pair of two classes next to each other; -1 where they do not fit."""
        span = int(max(self.later_class.max(initial=0), later_class.max(initial=0))) + 1
        keys = self.earlier_class.astype(np.int64) * span + self.later_class  # sorted, as the pairs are
        wanted = earlier_class.astype(np.int64) * span + later_class
        place = np.minimum(np.searchsorted(keys, wanted), keys.shape[0] - 1)
        return np.where(keys[place] == wanted, place, -1)

    def _worst(self, group: CodeArray, classes: int, *, closed: bool) -> CountArray:
        possible = self.anonymity > 0
        values = (self.closed_anonymity if closed else self.anonymity)[possible]
        nothing = np.iinfo(np.int64).max
        worst = np.full(classes, nothing, dtype=np.int64)
        np.minimum.at(worst, group[possible], values)
        return np.where(worst == nothing, 0, worst)


@dataclass(frozen=True, eq=False)
class _Edges:
    """Earlier and later cells that fit and carry the same sensitive value, sorted by the earlier cell."""

    tail: CodeArray  # (edges,) earlier cell
    head: CodeArray  # (edges,) later cell
    earlier_class: CodeArray  # (edges,)
    later_class: CodeArray  # (edges,)


def look_together(earlier: ReleaseClasses, later: ReleaseClasses) -> Together:
    """The exact anonymity of every pair of classes and of every later class. Raises InputError if no world fits."""
    edges = _edges(earlier, later)
    largest = np.zeros(edges.head.shape[0], dtype=np.int64)
    fewest = np.zeros(later.cell_sizes.shape[0], dtype=np.int64)
    start = _starts(edges.tail, earlier.cell_sizes.shape[0])
    back = np.argsort(edges.head, kind="stable").astype(np.int64)
    back_start = _starts(edges.head, later.cell_sizes.shape[0])
    unplaced = largest_flows(
        earlier.cell_sizes, later.cell_sizes, start, edges.head, edges.tail, back_start, back,
        largest, fewest,
    )  # fmt: skip
    if unplaced:
        message = f"{unplaced} records of the earlier release cannot be in the later one"
        hint = "give them in the order of time, with the same people, values and columns"
        raise InputError(Problem("releases-do-not-fit", message, None, hint))
    closed = np.minimum(earlier.cell_sizes[edges.tail], later.cell_sizes[edges.head])
    pairs = (
        pl.DataFrame(
            {
                "earlier": edges.earlier_class,
                "later": edges.later_class,
                "exact": largest,
                "closed": closed,
            }
        )
        .group_by("earlier", "later")
        .agg(pl.col("exact").sum(), pl.col("closed").sum())
        .sort("earlier", "later")
    )
    return Together(
        earlier_class=pairs["earlier"].to_numpy(),
        later_class=pairs["later"].to_numpy(),
        anonymity=pairs["exact"].to_numpy(),
        newcomers=_per_class(later, later.cell_sizes - fewest),
        closed_anonymity=pairs["closed"].to_numpy(),
        closed_newcomers=_per_class(later, _closed_newcomers(edges, earlier, later)),
    )


def _edges(earlier: ReleaseClasses, later: ReleaseClasses) -> _Edges:
    first, second = pairs_that_fit(earlier.covers, later.covers)
    joined = (
        pl.DataFrame({"earlier": first, "later": second})
        .join(_cells(earlier, "earlier", "tail"), on="earlier")
        .join(_cells(later, "later", "head"), on=["later", "value"])
        .sort("tail", "head")
    )
    tail, head, one, other = (joined[name].to_numpy() for name in ("tail", "head", "earlier", "later"))
    return _Edges(tail, head, one, other)


def _cells(release: ReleaseClasses, class_name: str, cell_name: str) -> pl.DataFrame:
    numbers = np.arange(release.cell_sizes.shape[0], dtype=np.int32)
    return pl.DataFrame({class_name: release.cell_class, "value": release.cell_value, cell_name: numbers})


def _starts(sorted_or_not: CodeArray, count: int) -> NDArray[np.int64]:
    """Where the entries of every number begin once they are sorted, and where the last ones end."""
    return np.append(0, np.cumsum(np.bincount(sorted_or_not, minlength=count))).astype(np.int64)


def _per_class(release: ReleaseClasses, of_cells: CountArray) -> CountArray:
    total = np.zeros(release.sizes.shape[0], dtype=np.int64)
    np.add.at(total, release.cell_class, of_cells)
    return total


def _closed_newcomers(edges: _Edges, earlier: ReleaseClasses, later: ReleaseClasses) -> CountArray:
    """Per later cell: its size less how many of the earlier records that fit it find no room in other cells.

    The other cells are those that fit any of these earlier records.
    """
    cells = later.cell_sizes.shape[0]
    fitting = np.zeros(cells, dtype=np.int64)
    np.add.at(fitting, edges.head, earlier.cell_sizes[edges.tail])
    room = np.zeros(cells, dtype=np.int64)
    back = np.argsort(edges.head, kind="stable").astype(np.int64)
    start, back_start = _starts(edges.tail, earlier.cell_sizes.shape[0]), _starts(edges.head, cells)
    room_nearby(later.cell_sizes, start, edges.head, edges.tail, back_start, back, room)
    needed = np.maximum(0, fitting - (room - later.cell_sizes))
    return later.cell_sizes - np.where(fitting > 0, needed, 0)
