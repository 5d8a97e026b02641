"""Groups that no step with their neighbours makes safe: dissolved and cut anew, in bounded time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.registry import parse_models
from shoal.models.safety import bind_safety
from shoal.safe_groups.repair import _mend
from shoal.safe_groups.repair_blocks import Workbench, find_sorts, renumber
from shoal.safe_groups.repair_pool import _pool_sizes, dissolve_stuck
from shoal.safe_groups.stratified import stratified_groups
from shoal.testing.tables import encode_simple

RECORDS = 6_000


def make_table() -> EncodedTable:
    """Only people above 72 have a high income, so the groups of the young find none near by.

    A ninth of all records have one, hardly more than safe groups need: few groups have some to spare.
    """
    random = np.random.default_rng(3)
    ages = random.integers(20, 81, RECORDS)
    rich = (ages > 72) & (random.random(RECORDS) < 0.85)
    return encode_simple(
        {
            "age": ages.tolist(),
            "hours": random.integers(0, 60, RECORDS).tolist(),
            "town": random.choice(list("abcdef"), RECORDS).tolist(),
        },
        sensitive={
            "income": np.where(rich, "high", "low").tolist(),
            "job": (ages // 12 + random.integers(0, 3, RECORDS)).astype(str).tolist(),
            "person": random.integers(0, RECORDS // 2, RECORDS).tolist(),
        },
    )


TABLE = make_table()
BY_AGE = (np.argsort(np.lexsort(TABLE.record_codes[::-1]), kind="stable") // 10).astype(np.int32)
TWO_COLUMNS = ("k-anonymity:10", "l-diversity:income:1.1", "l-diversity:job:2")


def requirement(*specs: str) -> Requirement:
    return Requirement.of(parse_models(specs))


def bench_for(wanted: Requirement) -> Workbench:
    return Workbench.of(TABLE, bind_safety(wanted, TABLE), Context())


def cut_whole(bench: Workbench) -> NDArray[np.int32]:
    sorts = find_sorts(bench.safety.codes)
    return renumber(stratified_groups(TABLE.record_codes, bench.geometry, bench.safety, sorts, 10))[0]


@pytest.mark.parametrize(
    "specs",
    [
        TWO_COLUMNS,
        ("k-anonymity:10", "t-closeness:income:0.1"),
        ("k-anonymity:10", "entropy-l:income:1.3"),
        ("k-anonymity:10:person", "l-diversity:income:1.1"),
    ],
)
def test_the_pool_makes_every_group_safe_and_loses_less_than_cutting_the_whole_table(specs: tuple[str, ...]) -> None:
    wanted = requirement(*specs)
    bench = bench_for(wanted)
    found, count = renumber(dissolve_stuck(bench, BY_AGE, wanted.k))
    assert (wanted.deficits(TABLE, found, count) == 0).all()
    assert bench.loss(found) <= bench.loss(cut_whole(bench))


def test_a_broken_group_costs_no_more_than_putting_it_together_again() -> None:
    wanted = requirement("k-anonymity:10")
    bench = bench_for(wanted)
    good = cut_whole(bench)
    broken = good.copy()
    broken[np.flatnonzero(good == 5)[:3]] = good.max() + 1
    found = dissolve_stuck(bench, broken, wanted.k)
    assert np.bincount(found).min() >= 10
    assert bench.loss(found) <= bench.loss(good)


def test_groups_that_are_safe_already_come_back() -> None:
    wanted = requirement("k-anonymity:10")
    assert (dissolve_stuck(bench_for(wanted), BY_AGE, wanted.k) == BY_AGE).all()


def test_mending_loses_no_more_than_cutting_the_whole_table() -> None:
    wanted = requirement(*TWO_COLUMNS)
    bench = bench_for(wanted)
    unsafe = wanted.deficits(TABLE, BY_AGE, int(BY_AGE.max()) + 1) > 0
    found, count = renumber(_mend(bench, BY_AGE, unsafe, wanted, None))
    assert (wanted.deficits(TABLE, found, count) == 0).all()
    assert bench.loss(found) <= bench.loss(cut_whole(bench))


def test_pools_grow_by_a_factor_up_to_the_whole_table() -> None:
    assert _pool_sizes(8, 100) == [8, 10, 12, 16, 24, 40, 72, 100]
    assert _pool_sizes(1, 3) == [1, 2, 3]
    assert _pool_sizes(5, 5) == [5]
    assert len(_pool_sizes(1, 1_000_000)) < 25
