"""The worked numbers of He et al., Clustering-based k-anonymity (PAKDD 2012)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.cb import Cb
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

AGE = [20, 20, 30, 40, 50, 60, 60]
ZIP = [25, 30, 25, 30, 10, 5, 10]
EXPECTED = [[0, 1], [2, 3], [4, 5, 6]]


@pytest.fixture(scope="module")
def seven_records() -> EncodedTable:
    return encode_simple({"age": AGE, "zip": ZIP})


def ncp(groups: list[list[int]]) -> float:
    """From the definition, with nothing of the library."""
    total = 0.0
    for group in groups:
        for values in (AGE, ZIP):
            inside = [values[record] for record in group]
            total += len(group) * (max(inside) - min(inside)) / (max(values) - min(values))
    return total


def partitions(records: list[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions of the records into groups of at least k."""

    def place(number: int, groups: list[list[int]]) -> Iterator[list[list[int]]]:
        if number == len(records):
            if all(len(group) >= k for group in groups):
                yield [list(group) for group in groups]
            return
        for group in groups:
            group.append(records[number])
            yield from place(number + 1, groups)
            group.pop()
        groups.append([records[number]])
        yield from place(number + 1, groups)
        groups.pop()

    return place(0, [])


def members(groups: np.ndarray) -> list[list[int]]:
    return sorted(np.flatnonzero(groups == number).tolist() for number in np.unique(groups))


def test_loss_of_the_published_groups() -> None:
    assert ncp(EXPECTED) == pytest.approx(2.65)
    assert ncp(EXPECTED) / 14 == pytest.approx(0.18929, abs=5e-6)
    boxes = [[(min(v[r] for r in g), max(v[r] for r in g)) for v in (AGE, ZIP)] for g in EXPECTED]
    assert boxes == [[(20, 20), (25, 30)], [(30, 40), (25, 30)], [(50, 60), (5, 10)]]


def test_the_published_groups_are_the_best_there_are() -> None:
    best = min(partitions(list(range(7)), 2), key=ncp)
    assert ncp(best) == pytest.approx(2.65)


@pytest.mark.parametrize("seed", range(10))
def test_cb_finds_the_published_groups(seven_records: EncodedTable, seed: int) -> None:
    groups = Cb().cluster(seven_records, Requirement.of([KAnonymity(2)]), Context(seed=seed)).groups
    assert members(groups) == EXPECTED


@pytest.mark.parametrize("seed", range(10))
def test_the_pseudo_code_finds_them_or_the_mirrored_ones(seven_records: EncodedTable, seed: int) -> None:
    groups = Cb(join="centres").cluster(seven_records, Requirement.of([KAnonymity(2)]), Context(seed=seed)).groups
    assert members(groups) in (EXPECTED, [[0, 2], [1, 3], [4, 5, 6]])
