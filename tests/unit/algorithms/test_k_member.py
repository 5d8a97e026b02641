"""k-member against a plain reading of its definition, and the placing of left-over records."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.greedy.k_member import KMember
from shoal.algorithms.greedy.leftovers import place_leftovers
from shoal.algorithms.greedy.takes import Takes, groups_of_records
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

JOBS = {"*": {"Technical": ["Craft", "Support"], "Other": ["Sales", "Army", "Service"]}}


def box_cost(table: EncodedTable, members: list[int]) -> float:
    """The loss of one record of a group, straight from the definition."""
    total = 0.0
    for number, attribute in enumerate(table.attributes):
        codes = table.record_codes[number, members]
        if attribute.kind is Kind.INTERVAL:
            total += min(1.0, float(attribute.positions[codes].max() - attribute.positions[codes].min()))
        elif attribute.kind is Kind.FLAT:
            total += (len(set(codes.tolist())) - 1) / max(1, attribute.size - 1)
        else:
            level = next(i for i, row in enumerate(attribute.ancestors) if len(set(row[codes].tolist())) == 1)
            total += float(attribute.level_cost[level, codes[0]])
    return total


def raised(table: EncodedTable, group: list[int], record: int) -> float:
    return (len(group) + 1) * box_cost(table, [*group, record]) - len(group) * box_cost(table, group)


def plain_k_member(table: EncodedTable, k: int, first_record: int) -> list[list[int]]:
    left = set(range(table.records))
    groups: list[list[int]] = []
    while len(left) >= k:
        if groups:
            before = box_cost(table, groups[-1])
            seed = max(left, key=lambda record: box_cost(table, [*groups[-1], record]) - before)
        else:
            seed = first_record
        group = [seed]
        left.discard(seed)
        while len(group) < k:
            nearest = min(left, key=lambda record: box_cost(table, [*group, record]))
            group.append(nearest)
            left.discard(nearest)
        groups.append(group)
    for record in sorted(left):
        rise = [raised(table, group, record) for group in groups]
        groups[int(np.argmin(rise))].append(record)
    return groups


@pytest.mark.parametrize("k", [2, 3])  # larger groups have records inside their box: ties
@pytest.mark.parametrize("seed", range(4))
def test_plain_reading_without_ties(k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    table = encode_simple(
        {"x": random.random(45), "y": random.random(45), "job": random.choice(["Craft", "Support", "Army"], 45)},
        hierarchies={"job": JOBS},
    )
    found = KMember().cluster(table, Requirement.of([KAnonymity(k)]), Context(seed))
    row = int(Context(seed).random().integers(table.rows))
    first = int(np.flatnonzero(table.row_of_record == row)[0])
    expected = {frozenset(group) for group in plain_k_member(table, k, first)}
    groups = found.groups
    assert {frozenset(np.flatnonzero(groups == g).tolist()) for g in range(int(groups.max()) + 1)} == expected


def test_leftovers_go_where_they_cost_least() -> None:
    table = encode_simple(
        {"x": [1, 2, 50, 51, 49, 3], "c": ["a", "a", "b", "b", "a", "c"], "job": ["Craft"] * 3 + ["Army"] * 3},
        hierarchies={"job": JOBS},
    )
    groups = np.array([0, 0, 1, 1, -1, -1], dtype=np.int32)
    placed = place_leftovers(table, groups, 2)
    assert (groups == [0, 0, 1, 1, -1, -1]).all()
    members = [[0, 1], [2, 3]]
    for record in (4, 5):
        rises = [raised(table, group, record) for group in members]
        assert placed[record] == int(np.argmin(rises))
        members[placed[record]].append(record)


def test_takes_are_spread_over_the_records_of_a_row() -> None:
    table = encode_simple({"x": [5, 7, 5, 5, 7, 5]})
    rows = np.array([0, 1, 0], dtype=np.int32)
    groups = groups_of_records(
        table.row_of_record, table.weights, Takes(rows, np.array([0, 1, 1], dtype=np.int32), np.array([3, 2, 1]))
    )
    assert groups.tolist() == [0, 1, 0, 0, 1, 1]
