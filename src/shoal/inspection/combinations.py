"""Which combinations of columns single people out.

A record stands alone if no other record (with persons: no other person) has the same values. To count that in a large
table, only the records are looked at whose combined hash falls below a limit: with a record all others with the same
values are in, so each of them is judged rightly, and the count is extrapolated. That costs one addition and one
comparison per record and combination.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.inspection.facts import run_lengths

MOST_COMBINATIONS = 400  # that one look may cost
SHOWN_COMBINATIONS = 15
LOOKED_AT = 50_000  # records from which a count is extrapolated
ADDS_NOTHING = 0.95  # a part that singles out so many of those that the combination singles out
_HIGHEST = 2**64 - 1


def risky_combinations(
    hashes: Mapping[str, NDArray[np.uint64]], largest: int, persons: NDArray[np.int64] | None = None
) -> dict[str, Any]:
    """Records that stand alone per combination of up to `largest` columns; small combinations first.

    `telling` leaves out combinations that add nothing: nobody stands alone, or a part of them singles out as many.
    `complete` says whether all combinations were tried, `estimated` whether counts are extrapolated.
    """
    records = next(iter(hashes.values())).size if hashes else 0
    fraction = min(1.0, LOOKED_AT / records) if records else 1.0
    found: list[dict[str, Any]] = []
    wanted = [chosen for size in range(1, max(1, largest) + 1) for chosen in combinations(hashes, size)]
    sums = _Sums(hashes)
    for chosen in wanted[:MOST_COMBINATIONS]:
        unique = _alone(sums.of(chosen), persons, fraction if len(chosen) > 1 else 1.0)
        found.append({"columns": list(chosen), "unique": unique, "unique_share": unique / records})
    found.sort(key=lambda entry: (-entry["unique"], len(entry["columns"])))
    return {
        "combinations": found[:SHOWN_COMBINATIONS],
        "telling": _telling(found)[:SHOWN_COMBINATIONS],
        "estimated": fraction < 1.0,
        "complete": len(wanted) <= MOST_COMBINATIONS,
    }


def _telling(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Combinations in which people stand alone, and clearly more of them than in any part of the combination."""
    alone = {frozenset(entry["columns"]): entry["unique"] for entry in found}

    def adds(entry: dict[str, Any]) -> bool:
        parts = (part for size in range(1, len(entry["columns"])) for part in combinations(entry["columns"], size))
        most = max((alone.get(frozenset(part), 0) for part in parts), default=0)
        return bool(most < ADDS_NOTHING * entry["unique"])

    return [entry for entry in found if entry["unique"] > 0 and adds(entry)]


class _Sums:
    """Sums of hashes; those of neighbouring combinations, which differ in the last column, share all other terms."""

    def __init__(self, hashes: Mapping[str, NDArray[np.uint64]]) -> None:
        self._hashes = hashes
        self._known: list[tuple[tuple[str, ...], NDArray[np.uint64]]] = []  # one per size, without the single ones

    def of(self, chosen: tuple[str, ...]) -> NDArray[np.uint64]:
        """(records,) the sum for a combination; it holds until the next one is asked for."""
        if len(chosen) == 1:
            return self._hashes[chosen[0]]
        place = len(chosen) - 2
        if place == len(self._known):
            self._known.append(((), np.empty_like(self._hashes[chosen[0]])))
        known, total = self._known[place]
        if known != chosen:
            np.add(self.of(chosen[:-1]), self._hashes[chosen[-1]], out=total)
            self._known[place] = (chosen, total)
        return total


def _alone(key: NDArray[np.uint64], persons: NDArray[np.int64] | None, fraction: float) -> int:
    """Records that stand alone, extrapolated from the part of them with the lowest hashes."""
    if fraction < 1.0:
        chosen = np.flatnonzero(key < np.uint64(int(_HIGHEST * fraction)))
        key = key[chosen]
        persons = persons[chosen] if persons is not None else None
    if persons is not None:
        return round(_of_one_person(key, persons) / fraction)
    return round(int(np.count_nonzero(run_lengths(np.sort(key)) == 1)) / fraction)


def _of_one_person(key: NDArray[np.uint64], persons: NDArray[np.int64]) -> int:
    """Records whose values nobody else has, whatever number of them the person has."""
    if not key.size:
        return 0
    order = np.lexsort((persons, key))
    key, persons = key[order], persons[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    ends = np.append(starts[1:], key.size)
    of_one = persons[starts] == persons[ends - 1]  # sorted, so the first and last person differ if any two do
    return int((ends - starts)[of_one].sum())
