"""Mondrian against a plain reading of its definition."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.mondrian.mondrian import Mondrian
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing import contract_tables
from shoal.testing.tables import encode_simple


def plain_strict(table: EncodedTable, k: int) -> set[frozenset[int]]:
    """Records as sets, split recursively at medians; widest attribute first."""
    codes = table.record_codes

    def width(attribute: int, members: list[int]) -> float:
        described = table.attributes[attribute]
        low, high = codes[attribute, members].min(), codes[attribute, members].max()
        if described.kind is Kind.TREE:
            level = next(i for i, row in enumerate(described.ancestors) if row[low] == row[high])
            return float(described.level_cost[level, low])
        return min(1.0, float(described.positions[high] - described.positions[low]))

    def split(members: list[int]) -> list[frozenset[int]]:
        by_width = sorted(range(table.width), key=lambda a: -width(a, members))
        for attribute in by_width:
            values = sorted(set(codes[attribute, members].tolist()))
            candidates = []
            for value in values[:-1]:
                left = [m for m in members if codes[attribute, m] <= value]
                candidates.append((value, left))
            if not candidates or len(members) < 2 * k:
                continue
            # the smallest value with at least half of the records at or below it, else the one before it
            place = next((i for i, (_, left) in enumerate(candidates) if 2 * len(left) >= len(members)), None)
            order = [len(candidates) - 1] if place is None else [place, place - 1]
            for choice in order:
                if choice < 0:
                    continue
                left = candidates[choice][1]
                if len(left) >= k and len(members) - len(left) >= k:
                    right = [m for m in members if m not in set(left)]
                    return split(left) + split(right)
        return [frozenset(members)]

    return set(split(list(range(table.records))))


def as_sets(groups: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(groups == group).tolist()) for group in range(int(groups.max()) + 1)}


@pytest.mark.parametrize("case", list(contract_tables()), ids=lambda case: case.name)
def test_strict_is_the_plain_reading(case) -> None:
    found = Mondrian().cluster(case.table, Requirement.of([KAnonymity(case.k)]), Context())
    assert as_sets(found.groups) == plain_strict(case.table, case.k)


def test_relaxed_halves_everything_that_can_be() -> None:
    table = encode_simple({"x": [1] * 10 + [2] * 30 + list(range(3, 27))})
    sizes = np.bincount(Mondrian(strict=False).cluster(table, Requirement.of([KAnonymity(4)]), Context()).groups)
    assert sizes.min() >= 4
    different = [size for size in sizes if size >= 8]
    assert all(size <= 32 for size in different)  # only equal records stay together beyond 2 k - 1


def test_relaxed_deals_equal_values_to_both_sides() -> None:
    table = encode_simple({"x": [1, 2, 2, 2, 2, 3]})
    groups = Mondrian(strict=False).cluster(table, Requirement.of([KAnonymity(3)]), Context()).groups
    assert sorted(np.bincount(groups).tolist()) == [3, 3]
    strict = Mondrian().cluster(table, Requirement.of([KAnonymity(3)]), Context()).groups
    assert np.bincount(strict).tolist() == [6]
