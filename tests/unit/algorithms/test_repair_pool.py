"""Groups that no step with their neighbours makes safe: dissolved and cut anew, in bounded time."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.repair import repair
from shoal.algorithms.repair_blocks import Workbench, find_sorts, renumber
from shoal.algorithms.repair_pool import _pool_sizes, dissolve_stuck
from shoal.algorithms.stratified import stratified_groups
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.registry import parse_models
from shoal.models.safety import bind_safety
from shoal.testing.tables import encode_simple

RECORDS = 6_000


def make_table() -> EncodedTable:
    """Only people above 50 have a high income, so the groups of the young find none near by."""
    random = np.random.default_rng(3)
    ages = random.integers(20, 81, RECORDS)
    rich = (ages > 50) & (random.random(RECORDS) < 0.5)
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
TWO_COLUMNS = ("k-anonymity:10", "l-diversity:income:1.2", "l-diversity:job:2")


def requirement(*specs: str) -> Requirement:
    return Requirement.of(parse_models(specs))


def bench_for(wanted: Requirement) -> Workbench:
    return Workbench.of(TABLE, bind_safety(wanted, TABLE), Context())


@pytest.mark.parametrize(
    "specs",
    [
        TWO_COLUMNS,
        ("k-anonymity:10", "t-closeness:income:0.1"),
        ("k-anonymity:10", "entropy-l:income:1.4"),
        ("k-anonymity:10:person", "l-diversity:income:1.2"),
    ],
)
def test_the_pool_makes_every_group_safe_and_loses_less_than_cutting_the_whole_table(specs: tuple[str, ...]) -> None:
    wanted = requirement(*specs)
    bench = bench_for(wanted)
    found, count = renumber(dissolve_stuck(bench, BY_AGE, wanted.k))
    assert (wanted.deficits(TABLE, found, count) == 0).all()
    whole = stratified_groups(TABLE.record_codes, bench.geometry, bench.safety, find_sorts(bench.safety.codes), 10)
    assert bench.loss(found) <= bench.loss(renumber(whole)[0])


def test_safe_groups_that_do_not_join_the_pool_stay_together() -> None:
    wanted = requirement("k-anonymity:10", "l-diversity:income:1.02")
    found = dissolve_stuck(bench_for(wanted), BY_AGE, wanted.k)
    unsafe = wanted.deficits(TABLE, BY_AGE, int(BY_AGE.max()) + 1) > 0
    kept = [np.unique(found[group == BY_AGE]).shape[0] == 1 for group in np.flatnonzero(~unsafe)]
    assert unsafe.any()
    assert sum(kept) > 0


def test_groups_that_are_safe_already_come_back() -> None:
    wanted = requirement("k-anonymity:10")
    assert (dissolve_stuck(bench_for(wanted), BY_AGE, wanted.k) == BY_AGE).all()


def test_what_is_stuck_does_not_end_in_one_huge_group() -> None:
    wanted = requirement(*TWO_COLUMNS)
    found = repair(TABLE, Clustering(BY_AGE), wanted, Context())
    sizes = np.bincount(found.groups)
    assert (wanted.deficits(TABLE, found.groups, sizes.shape[0]) == 0).all()
    assert sizes.max() < RECORDS / 20
    assert sizes.mean() < 40


def test_pools_grow_by_a_factor_up_to_the_whole_table() -> None:
    assert _pool_sizes(8, 100) == [8, 10, 12, 16, 24, 40, 72, 100]
    assert _pool_sizes(1, 3) == [1, 2, 3]
    assert _pool_sizes(5, 5) == [5]
    assert len(_pool_sizes(1, 1_000_000)) < 25
