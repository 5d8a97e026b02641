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

**Classes and points.** Classes of local recoding overlap, so a victim's quasi-identifiers can lie in several. Whoever
knows the quasi-identifiers alone has the candidates of every pair of classes around them. So a pair that lies inside a
pair that holds is passed over (`judging.py`); the anonymity is never overstated by it. A pair counts if some world has
a person in it, whether the real one does or not; the data holder, who knows the pairs that occur, judges these only
(`rows_known` in `check.py`). Where classes do not overlap a victim has one class in each release.

**Newcomers who need not exist.** A class that old records fill in the real world may hold a newcomer in another one,
and the releases alone do not tell. So B fails if somebody is below k whichever world is the real one; how many could be
below in some world is told beside it, and counts with `strict`.

**Closed forms** (B. C. M. Fung, K. Wang, A. W.-C. Fu, J. Pei, EDBT 2008, as remembered and not compared with the
text) stand beside the exact numbers. They look at the neighbours of a cell only and may crack too little: their
anonymity is never below the exact one, and nothing is promised by them.

This module asks for everything exactly; large releases are judged lazily (`judging.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.released.domain import CodeArray, CountArray
from shoal.releases.classes import ReleaseClasses
from shoal.releases.worlds import make_worlds


@dataclass(frozen=True, eq=False)
class Together:
    """Two releases together. Pairs are the classes with cells that fit; anonymity 0: nobody can be there."""

    earlier_class: CodeArray  # (pairs,)
    later_class: CodeArray  # (pairs,)
    anonymity: CountArray  # (pairs,) for F and C
    newcomers: CountArray  # (later classes,) for B
    closed_anonymity: CountArray  # (pairs,) by the closed forms
    closed_newcomers: CountArray  # (later classes,)


def look_together(earlier: ReleaseClasses, later: ReleaseClasses, *, may_leave: bool = False) -> Together:
    """The exact anonymity of every pair of classes and of every later class. Raises InputError if no world fits."""
    worlds = make_worlds(earlier, later, may_leave=may_leave)
    worlds.ask(np.arange(worlds.pairs.count, dtype=np.int64))
    worlds.ask_newcomers(np.arange(later.sizes.shape[0], dtype=np.int64))
    return Together(
        earlier_class=worlds.pairs.earlier,
        later_class=worlds.pairs.later,
        anonymity=worlds.of_pairs(worlds.found),
        newcomers=worlds.of_classes(worlds.free),
        closed_anonymity=worlds.of_pairs(worlds.closed),
        closed_newcomers=later.sizes if may_leave else worlds.closed_newcomers(),
    )
