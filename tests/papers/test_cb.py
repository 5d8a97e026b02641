"""The worked numbers of He et al., Clustering-based k-anonymity (PAKDD 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.bisection.cb import Cb
from shoal.algorithms.bisection.nonhomogeneous import NonHomogeneous
from shoal.encode.encode import encode_table
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.recode.release import RecodeOptions, recode
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role
from shoal.testing.tables import encode_simple
from shoal.verification.nonhomogeneous import check_candidates

QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
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


@pytest.mark.data
def test_on_adult_groups_are_small_and_cb_loses_less_than_nonhomogeneous_generalization(data_folder: Path) -> None:
    """The paper's main claim, on 8 quasi-identifiers; and every box of the comparator has its k candidates."""
    frame = pl.read_csv(data_folder / "adult" / "adult_complete.csv").select(QUASI)
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, find_scale(frame[name])) for name in QUASI]
    table, book = encode_table(frame, attributes, {})
    requirement = Requirement.of([KAnonymity(10)])
    groups = Cb().cluster(table, requirement, Context(threads=2)).groups
    assert np.bincount(groups).min() >= 10
    assert np.bincount(groups).max() <= 19
    homogeneous = recode(frame, table, book, Clustering(groups), [], RecodeOptions())
    boxes = NonHomogeneous().cluster(table, requirement, Context(threads=2))
    release = recode(frame, table, book, boxes, [], RecodeOptions())
    assert check_candidates(frame, release, QUASI, 10).passed
    assert check_candidates(frame, homogeneous, QUASI, 10).passed
    assert boxes.boxes is not None
    loss = box_loss = 0.0
    for attribute, codes, low, high in zip(
        table.attributes, table.record_codes, boxes.boxes.low, boxes.boxes.high, strict=True
    ):
        box_loss += (attribute.positions[high] - attribute.positions[low]).mean()  # as many boxes as records
        cells = pl.DataFrame({"group": groups, "code": codes, "position": attribute.positions[codes]})
        if attribute.kind is Kind.FLAT:  # released as a set
            lost = (pl.col("code").n_unique() - 1) / (attribute.size - 1)
        else:
            lost = pl.col("position").max() - pl.col("position").min()
        loss += float(cells.select(lost.over("group").mean()).item())
    assert loss / 8 < 0.05
    assert loss < box_loss
