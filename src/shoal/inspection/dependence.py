"""Columns that say the same, and columns that settle another: whoever has one of them has the other too.

`a` settles `b` if no value of `a` goes with two values of `b`. Most pairs are refuted by some of the records; the
others are tried on all. A column with a value of its own for nearly every record settles everything and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from shoal.inspection.facts import ColumnFacts, run_lengths

SOME_RECORDS = 20_000
MOST_DISTINCT_SHARE = 0.5  # above this share of distinct values a column settles others by chance
MOST_COLUMNS = 60  # with the fewest values; the pairs of all would take too long


@dataclass(frozen=True, slots=True)
class Dependence:
    """Pairs of columns that say the same, and (by, column) where one settles the other but not the other way."""

    same: tuple[tuple[str, str], ...]
    settled: tuple[tuple[str, str], ...]
    columns_left_out: int

    def same_groups(self) -> list[list[str]]:
        """Columns that all say the same, together: whatever is the same as one of them is the same as all."""
        groups: list[list[str]] = []
        for one, two in self.same:
            group = next((known for known in groups if one in known or two in known), None)
            if group is None:
                groups.append([one, two])
            else:
                group.extend(name for name in (one, two) if name not in group)
        return groups

    def partners(self, name: str) -> list[str]:
        return [two if one == name else one for one, two in self.same if name in (one, two)]


def find_dependence(facts: Mapping[str, ColumnFacts]) -> Dependence:
    """Dependence between the columns of a table."""
    useful = [fact for fact in facts.values() if fact.distinct > 1 and fact.records]
    useful.sort(key=lambda fact: fact.distinct)
    looked_at = useful[:MOST_COLUMNS]
    settles = {(one.name, two.name) for one, two in permutations(looked_at, 2) if _settles(one, two)}
    in_order = [pair for pair in permutations(facts, 2) if pair in settles]
    same = tuple(pair for pair in combinations(facts, 2) if {pair, pair[::-1]} <= settles)
    one_way = tuple(pair for pair in in_order if pair[::-1] not in settles)
    return Dependence(same, one_way, len(useful) - len(looked_at))


def _settles(one: ColumnFacts, two: ColumnFacts) -> bool:
    """Whether every value of one goes with a single value of two."""
    if one.distinct < two.distinct:
        return False
    same_size = one.distinct == two.distinct
    if one.distinct_share > MOST_DISTINCT_SHARE and not (same_size and one.distinct < one.records):
        return False  # numbers of persons that repeat may still say the same as other numbers of persons
    step = -(-one.hashes.size // SOME_RECORDS)
    return _one_to_one(one.hashes[::step], two.hashes[::step]) and (step == 1 or _one_to_one(one.hashes, two.hashes))


def _one_to_one(one: NDArray[np.uint64], two: NDArray[np.uint64]) -> bool:
    """As many pairs of values as values of the first column."""
    pairs = run_lengths(np.sort(one + two)).size
    return bool(pairs == run_lengths(np.sort(one)).size)
