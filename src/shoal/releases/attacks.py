"""The attacks F, C and B on two releases, as checks with numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, CountArray
from shoal.releases.diversity import diverse, histograms
from shoal.releases.judging import (
    Judged,
    Needed,
    judge_newcomers,
    judge_pairs,
    newcomers_by_values,
    persons_in,
)
from shoal.releases.verdict import Attack, AttackCheck
from shoal.releases.worlds import Worlds

Numbers = tuple[int, int]
BoolArray = NDArray[np.bool_]


def all_victims(
    worlds: Worlds,
    numbers: Numbers,
    needed: Needed,
    *,
    strict: bool = False,
    exempt: bool = True,
    there: BoolArray | None = None,
) -> list[AttackCheck]:
    """Every victim that is possible. `there` marks later classes in which newcomers are known to be."""
    needed = needed.told_by(worlds.one.cell_columns)
    judged = judge_pairs(worlds, needed, by_values=not strict)
    new = judge_newcomers(worlds, needed)
    if not strict:
        new = newcomers_by_values(worlds, needed, new)
    if exempt:
        hidden = worlds.one.suppressed[worlds.pairs.earlier] & worlds.other.suppressed[worlds.pairs.later]
        judged, new = without(judged, hidden), without(new, worlds.other.suppressed)
    surely = worlds.surely_elsewhere(~judged.bad[worlds.edges.pair]) if judged.bad.any() else 0
    closed = worlds.of_pairs(worlds.closed)[judged.counts]
    by_form = int(closed.min()) if closed.shape[0] else None
    return [
        _of_pairs(Attack.FORWARD, numbers, judged, worlds.pairs.earlier, worlds.one.sizes, surely, by_form),
        _of_pairs(Attack.CROSS, numbers, judged, worlds.pairs.later, worlds.other.sizes, surely, by_form),
        _backward(worlds, numbers, new, np.full_like(new.bad, strict) if there is None else there | strict),
    ]


def without(judged: Judged, hidden: BoolArray) -> Judged:
    """The same without pairs or classes that hide everything."""
    undecided = judged.undecided & ~hidden if judged.undecided is not None else None
    return Judged(judged.counts & ~hidden, judged.below & ~hidden, judged.alike & ~hidden, judged.left, undecided)


def _of_pairs(
    attack: Attack,
    numbers: Numbers,
    judged: Judged,
    class_of_pair: CodeArray,
    sizes: CountArray,
    surely: int,
    by_form: int | None,
) -> AttackCheck:
    classes, persons = persons_in(judged.below, class_of_pair, sizes)
    known = judged.below if judged.undecided is None else judged.below & ~judged.undecided
    return AttackCheck(
        attack=attack,
        releases=numbers,
        passed=not judged.bad.any(),
        smallest_anonymity=judged.smallest,
        classes_below=classes,
        persons_below=persons,
        surely_below=surely,
        classes_alike=persons_in(judged.alike, class_of_pair, sizes)[0],
        classes_open=classes - persons_in(known, class_of_pair, sizes)[0],
        by_closed_form=by_form,
    )


def _backward(worlds: Worlds, numbers: Numbers, judged: Judged, there: BoolArray) -> AttackCheck:
    """B. Classes that are below only if a newcomer is there, whom no world needs, count where they are marked."""
    surely = worlds.surely_new(judged.bad) if judged.bad.any() else 0
    passed = surely == 0 and not (judged.bad & there).any()
    counts = judged.counts & ~judged.bad if passed else judged.counts
    shown = Judged(counts if counts.any() else judged.counts, judged.below, judged.alike, judged.left)
    closed = worlds.closed_newcomers()[shown.counts]
    return AttackCheck(
        attack=Attack.BACKWARD,
        releases=numbers,
        passed=passed,
        smallest_anonymity=shown.smallest,
        classes_below=int(judged.below.sum()),
        persons_below=int(worlds.other.sizes[judged.below].sum()),
        surely_below=surely,
        classes_alike=int(judged.alike.sum()),
        by_closed_form=int(closed.min()) if closed.shape[0] else None,
    )


def real_victims(worlds: Worlds, numbers: Numbers, needed: Needed, *, exempt: bool = True) -> list[AttackCheck]:
    """The same attacks on the people that there are: every person in its own pair of classes."""
    earlier, later = worlds.one, worlds.other
    needed = needed.told_by(earlier.cell_columns)
    pair = _own_pairs(worlds)
    new = later.class_of_row[earlier.records :]
    worlds.ask_newcomers(np.unique(new).astype(np.int64))
    if exempt:
        hidden = earlier.suppressed[earlier.class_of_row] & later.suppressed[later.class_of_row[: earlier.records]]
        pair, new = pair[~hidden], new[~later.suppressed[new]]
    old_people, newcomers = _people_left(worlds, needed)
    one, other = worlds.pairs.earlier[pair], worlds.pairs.later[pair]
    return [
        _of_persons(Attack.FORWARD, numbers, needed.k, old_people.of(pair), one),
        _of_persons(Attack.CROSS, numbers, needed.k, old_people.of(pair), other),
        _of_persons(Attack.BACKWARD, numbers, needed.k, newcomers.of(new), new),
    ]


def _own_pairs(worlds: Worlds) -> NDArray[np.int64]:
    """(earlier records,) the pair of classes of everybody, asked for. Row i is the same person in both releases."""
    earlier, later = worlds.one, worlds.other
    pair = worlds.pair_of(earlier.class_of_row, later.class_of_row[: earlier.records])
    asked = np.unique(pair)
    if asked.shape[0] and asked[0] >= 0:
        worlds.ask(asked)
    left = worlds.of_pairs(worlds.found)
    if (pair < 0).any() or (left[pair] == 0).any():
        message = "rows with the same number do not fit; they cannot be the same person"
        hint = "put them in the same order, with newcomers at the end"
        raise InputError(Problem("rows-do-not-fit", message, None, hint))
    return pair


@dataclass(frozen=True, eq=False)
class _Left:
    """What is left of pairs, of classes, or of the people in them."""

    anonymity: CountArray
    alike: BoolArray  # not diverse
    closed: CountArray  # the anonymity by the closed forms

    def of(self, places: NDArray[Any]) -> _Left:
        return _Left(self.anonymity[places], self.alike[places], self.closed[places])


def _people_left(worlds: Worlds, needed: Needed) -> tuple[_Left, _Left]:
    """Of pairs of classes for old people, and of later classes for newcomers."""
    alike, new_alike = _not_diverse(worlds, needed)
    return (
        _Left(worlds.of_pairs(worlds.found), alike, worlds.of_pairs(worlds.closed)),
        _Left(worlds.of_classes(worlds.free), new_alike, worlds.closed_newcomers()),
    )


def _not_diverse(worlds: Worlds, needed: Needed) -> tuple[BoolArray, BoolArray]:
    """Pairs and later classes in which what is left is not diverse."""
    pairs, classes = worlds.pairs.count, worlds.other.sizes.shape[0]
    alike, new_alike = np.zeros(pairs, dtype=np.bool_), np.zeros(classes, dtype=np.bool_)
    for model in needed.diversities:
        value = worlds.one.cell_columns[model.column][worlds.edges.tail]
        alike |= ~diverse(model, histograms(worlds.edges.pair, value, worlds.found, pairs))
        value = worlds.other.cell_columns[model.column]
        new_alike |= ~diverse(model, histograms(worlds.other.cell_class, value, worlds.free, classes))
    return alike, new_alike


def _of_persons(
    attack: Attack, numbers: Numbers, k: int, left: _Left, class_of: NDArray[np.integer[Any]]
) -> AttackCheck:  # fmt: skip
    """A check from what is left of every person, and the class in which the attack looks for that person."""
    below = left.anonymity < k
    victims = left.anonymity.shape[0] > 0
    return AttackCheck(
        attack=attack,
        releases=numbers,
        passed=not (below | left.alike).any(),
        smallest_anonymity=int(left.anonymity.min()) if victims else None,
        classes_below=int(np.unique(class_of[below]).shape[0]),
        persons_below=int(below.sum()),
        surely_below=int(below.sum()),
        classes_alike=int(np.unique(class_of[left.alike & ~below]).shape[0]),
        by_closed_form=int(left.closed.min()) if victims else None,
    )
