"""The attack on joined releases, carried out: draw a record among the candidates that are left, and guess a secret.

The attacker knows of a victim the class (or the pair of classes), and which of the records there are possible: for
every combination of values that are published unchanged, how many of them some world leaves. One record is drawn; it
is the victim's if it has the victim's values and is the right one of those that look alike. A secret is guessed to be
the commonest value among the candidates. Whether draws and guesses are right is told by the data holder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.released.domain import CodeArray, CountArray
from shoal.released.reading import group_rows
from shoal.releases.classes import ReleaseClasses
from shoal.releases.worlds import Worlds

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Draws:
    """Where chance comes from, and what is to be guessed."""

    random: np.random.Generator
    secrets: Sequence[str]


@dataclass(frozen=True, eq=False)
class Tried:
    """How the attack on every person went."""

    found: BoolArray  # (persons,) the drawn record was the right one
    guess: Mapping[str, CodeArray]  # (persons,) of each secret
    certain: Mapping[str, BoolArray]  # (persons,) all candidates have the same value

    def where(self, chosen: BoolArray, other: Tried) -> Tried:
        """The other attack for some persons."""
        return Tried(
            np.where(chosen, other.found, self.found),
            {name: np.where(chosen, other.guess[name], codes) for name, codes in self.guess.items()},
            {name: np.where(chosen, other.certain[name], marks) for name, marks in self.certain.items()},
        )

    def put(self, mine: BoolArray, other: Tried) -> Tried:
        """One attack for all, from those on some persons and on the others."""

        def joined(one: NDArray[Any], two: NDArray[Any]) -> NDArray[Any]:
            both = np.empty(mine.shape[0], dtype=one.dtype)
            both[mine], both[~mine] = one, two
            return both

        return Tried(
            joined(self.found, other.found),
            {name: joined(codes, other.guess[name]) for name, codes in self.guess.items()},
            {name: joined(marks, other.certain[name]) for name, marks in self.certain.items()},
        )

    def as_dict(self, values: Mapping[str, CodeArray]) -> dict[str, Any]:
        """The shares of right draws and guesses; `values` are the true ones."""
        persons = self.found.shape[0]
        right = {name: float((codes == values[name]).mean()) if persons else 0.0 for name, codes in self.guess.items()}
        certain = {
            name: int((marks & (self.guess[name] == values[name])).sum()) for name, marks in self.certain.items()
        }
        return {
            "targets": persons,
            "drawn_right": int(self.found.sum()),
            "success": float(self.found.mean()) if persons else 0.0,
            "secrets": [
                {"column": name, "guessed_right": right[name], "known_for_certain": certain[name]} for name in right
            ],
        }


def attack_alone(release: ReleaseClasses, class_of: CodeArray, values: Mapping[str, CodeArray], draws: Draws) -> Tried:
    """With one release: everybody in the class is a candidate."""
    cells = np.argsort(release.cell_class, kind="stable")
    return _attack(release.cell_class[cells], release.cell_sizes[cells], _of(release, cells), class_of, values, draws)


def attack_pairs(
    worlds: Worlds, pair_of: NDArray[np.int64], values: Mapping[str, CodeArray], draws: Draws
) -> Tried:  # fmt: skip
    """Old persons: what some world sends from the one class to the other."""
    edges = worlds.pairs.edges
    tail = worlds.edges.tail[edges]
    return _attack(worlds.edges.pair[edges], worlds.found[edges], _of(worlds.one, tail), pair_of, values, draws)


def attack_newcomers(worlds: Worlds, class_of: CodeArray, values: Mapping[str, CodeArray], draws: Draws) -> Tried:
    """Newcomers: what some world leaves over in the class."""
    release = worlds.other
    cells = np.argsort(release.cell_class, kind="stable")
    return _attack(release.cell_class[cells], worlds.free[cells], _of(release, cells), class_of, values, draws)


def attack_joint(joint_class: CodeArray, values: Mapping[str, CodeArray], draws: Draws) -> Tried:
    """With all releases, joined record by record: everybody in the joint class is a candidate."""
    _, sizes, first = group_rows([joint_class, *values.values()], joint_class.shape[0])
    order = np.argsort(joint_class[first], kind="stable")
    cell_values = {name: codes[first][order] for name, codes in values.items()}
    return _attack(joint_class[first][order], sizes[order], cell_values, joint_class, values, draws)


def _of(release: ReleaseClasses, cells: NDArray[np.integer[Any]]) -> dict[str, CodeArray]:
    return {name: codes[cells] for name, codes in release.cell_columns.items()}


def _attack(
    place: NDArray[np.integer[Any]],
    candidates: CountArray,
    cell_values: Mapping[str, CodeArray],
    place_of_person: NDArray[np.integer[Any]],
    values: Mapping[str, CodeArray],
    draws: Draws,
) -> Tried:
    """`place` (of each kind of candidates, sorted) is the class or pair; every person is looked for in one."""
    places = int(max(place.max(initial=0), place_of_person.max(initial=0))) + 1
    ends = np.cumsum(candidates)
    total = np.bincount(place, weights=candidates, minlength=places).astype(np.int64)
    start = np.cumsum(total) - total
    drawn = start[place_of_person] + (draws.random.random(place_of_person.shape[0]) * total[place_of_person]).astype(
        np.int64
    )
    kind = np.minimum(np.searchsorted(ends, drawn, side="right"), max(place.shape[0] - 1, 0))
    found = draws.random.random(place_of_person.shape[0]) * candidates[kind] < 1
    for name, codes in values.items():
        found &= cell_values[name][kind] == codes
    guess, certain = {}, {}
    for name in draws.secrets:
        commonest, kinds = _commonest(place, candidates, cell_values[name], places)
        guess[name], certain[name] = commonest[place_of_person], (kinds == 1)[place_of_person]
    return Tried(found, guess, certain)


def _commonest(
    place: NDArray[np.integer[Any]], count: CountArray, value: CodeArray, places: int
) -> tuple[CodeArray, CountArray]:
    """Of every place the value with the most candidates (the lowest of equal ones), and how many values it has."""
    span = int(value.max(initial=0)) + 1
    keys, back = np.unique(place.astype(np.int64) * span + value, return_inverse=True)
    sums = np.bincount(back, weights=count, minlength=keys.shape[0])
    keys, sums = keys[sums > 0], sums[sums > 0]
    order = np.lexsort((keys, -sums, keys // span))
    first, at = np.unique((keys // span)[order], return_index=True)
    commonest = np.full(places, -1, dtype=np.int32)
    commonest[first] = (keys % span)[order][at]
    return commonest, np.bincount(keys // span, minlength=places).astype(np.int64)
