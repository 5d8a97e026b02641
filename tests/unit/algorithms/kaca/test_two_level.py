"""Two-level clustering against a second implementation in plain Python."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.kaca.distance import make_ladders
from shoal.algorithms.kaca.two_level import TwoLevel, merge_inside, merge_small_across, outer_clusters
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table


def node(table: EncodedTable, attribute: int, row: int, level: int) -> int:
    ancestors = table.attributes[attribute].ancestors
    return int(ancestors[min(level, ancestors.shape[0] - 1), table.codes[attribute, row]])


def first_steps(table: EncodedTable) -> list[float]:
    return [attribute.weight / max(1, attribute.levels - 1) for attribute in table.attributes]


def plain_inside(table: EncodedTable, k: int) -> list[frozenset[int]]:
    """Merge rows inside outer clusters: keys are tuples of nodes, no numbers."""
    steps = first_steps(table)
    order = sorted(range(table.width), key=lambda attribute: (steps[attribute], attribute))
    finished: list[frozenset[int]] = []
    for outer in group_by(range(table.rows), lambda row: tuple(node(table, a, row, 1) for a in range(table.width))):
        levels = [0] * table.width
        rows = list(outer)
        for attribute in [None, *order]:
            if attribute is not None:
                levels[attribute] = 1
            classes = group_by(
                rows, lambda row, levels=levels: tuple(node(table, a, row, levels[a]) for a in range(table.width))
            )
            large = [members for members in classes if table.weights[list(members)].sum() >= k]
            finished += large
            rows = [row for row in rows if not any(row in members for members in large)]
        if rows:
            finished.append(frozenset(rows))
    return finished


def group_by(rows, key) -> list[frozenset[int]]:  # type: ignore[no-untyped-def]
    found = defaultdict(set)
    for row in rows:
        found[key(row)].add(row)
    return [frozenset(members) for members in found.values()]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [2, 4])
def test_merging_inside_outer_clusters_matches_plain_python(seed: int, k: int) -> None:
    table = random_table(seed, 120, attributes=4, values=8)
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)
    classes = merge_inside(ladders, codes, table.weights, outer_clusters(ladders, codes).of_row, k)
    found = {frozenset(np.flatnonzero(classes == number).tolist()) for number in range(classes.max() + 1)}
    assert found == set(plain_inside(table, k))


def plain_candidates(table: EncodedTable, own: int, outers: list[tuple[int, ...]], usable: set[int]) -> set[int]:
    """Classes in outer clusters that differ in one attribute, at the lowest level of it that reaches any."""
    found: set[int] = set()
    for attribute in range(table.width):
        ancestors = table.attributes[attribute].ancestors
        for level in range(2, ancestors.shape[0]):
            above = {int(low): int(high) for low, high in zip(ancestors[1], ancestors[level], strict=True)}
            reached = {
                other
                for other in usable - {own}
                if outers[other] != outers[own]
                and outers[other][:attribute] + outers[other][attribute + 1 :]
                == outers[own][:attribute] + outers[own][attribute + 1 :]
                and above[outers[other][attribute]] == above[outers[own][attribute]]
            }
            if reached:
                found |= reached
                break
    return found


@pytest.mark.parametrize("seed", [0, 1, 4, 5, 6, 7, 8, 10, 13, 15, 17, 19])  # tables with small classes left over
def test_the_first_merge_across_takes_the_nearest_class_of_a_progression(seed: int) -> None:
    """Candidates by comparing tuples of nodes, not numbers: the nearest of them ends in the group of the class."""
    k = 4
    table = random_table(seed, 150, attributes=5, values=12)
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)
    outer = outer_clusters(ladders, codes)
    classes = merge_inside(ladders, codes, table.weights, outer.of_row, k)
    sizes = np.bincount(classes, weights=table.weights)
    small = np.flatnonzero(sizes < k)
    own = int(small[0])
    members = [np.flatnonzero(classes == number).tolist() for number in range(sizes.size)]
    outers = [tuple(node(table, a, rows[0], 1) for a in range(table.width)) for rows in members]
    candidates = plain_candidates(table, own, outers, set(small.tolist()))
    if not candidates:
        same = {other for other in range(sizes.size) if other != own and outers[other] == outers[own]}
        candidates = plain_candidates(table, own, outers, set(range(sizes.size))) | same
    assert candidates

    def cost(rows: list[int]) -> float:
        return float(ladders.cover_costs(codes[rows].min(axis=0)[None], codes[rows].max(axis=0)[None]).sum())

    def distance(other: int) -> float:
        both = cost(members[own] + members[other])
        return float(sizes[own] * (both - cost(members[own])) + sizes[other] * (both - cost(members[other])))

    merged, _ = merge_small_across(ladders, codes, table.weights, outer, classes, k)
    together = {int(number) for number in np.unique(classes[merged == merged[members[own][0]]])}
    nearest = min(distance(other) for other in candidates)
    assert any(distance(other) == pytest.approx(nearest) for other in candidates & together)


def test_numbers_of_several_words_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.algorithms.kaca import numbering

    table = random_table(3, 400, attributes=6, values=12)
    requirement = Requirement.of([KAnonymity(4)])
    expected = TwoLevel().cluster(table, requirement, Context()).groups
    original = numbering.MixedRadix.of
    monkeypatch.setattr(numbering.MixedRadix, "of", classmethod(lambda cls, radices: original(radices, largest=20)))
    found = TwoLevel().cluster(table, requirement, Context()).groups
    assert np.array_equal(expected, found)


def test_details_say_how_partners_were_found() -> None:
    details = TwoLevel().cluster(random_table(3, 400, values=12), Requirement.of([KAnonymity(4)]), Context()).details
    assert set(details) >= {
        "outer_clusters",
        "classes_inside",
        "merged_small",
        "merged_finished",
        "merged_by_beginning",
    }
