"""The objective `squares`: against brute force, against MDAV written plainly, and against published values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.shoal.kernels.microaggregation import (
    Squares,
    anneal_squares,
    fill_squares,
    find_nearest,
    rebuild_squares,
    squares_of,
)
from shoal.algorithms.shoal.microaggregation import square_groups
from shoal.algorithms.shoal.shoal import Shoal
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, RequirementError
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.partitions import partitions
from shoal.testing.tables import encode_simple

PUBLISHED = {3: 5.6922, 5: 9.0884, 10: 14.1559}  # MDAV on census1080, SSE / SST in percent


def cluster(table: EncodedTable, k: int, context: Context | None = None, effort: float = 1.0) -> Clustering:
    return Shoal(objective="squares", effort=effort).cluster(
        table, Requirement.of([KAnonymity(k)]), context or Context()
    )


def sse(points: np.ndarray, groups: np.ndarray) -> float:
    parts = [points[groups == group] for group in np.unique(groups)]
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))


def drawn(records: int, width: int, seed: int) -> tuple[EncodedTable, np.ndarray]:
    """Numbers with some structure, and the same in standard deviations."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(records, width)).round(2) + 3 * random.integers(0, 4, size=(records, 1))
    table = encode_simple({f"n{column}": numbers[:, column].tolist() for column in range(width)})
    return table, numbers / numbers.std(axis=0)


def plain_mdav(points: np.ndarray, k: int) -> np.ndarray:
    groups, number = np.full(len(points), -1), 0

    def take(around: np.ndarray) -> None:
        nonlocal number
        free = np.flatnonzero(groups < 0)
        groups[free[np.argsort(((points[free] - around) ** 2).sum(axis=1), kind="stable")[:k]]] = number
        number += 1

    while (groups < 0).sum() >= 2 * k:
        free = np.flatnonzero(groups < 0)
        first = free[((points[free] - points[free].mean(axis=0)) ** 2).sum(axis=1).argmax()]
        second = free[((points[free] - points[first]) ** 2).sum(axis=1).argmax()]
        take(points[first])
        if len(free) >= 3 * k:
            take(points[second])
    groups[groups < 0] = number
    return groups


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3])
def test_small_tables_reach_the_best_of_all_partitions(seed: int, k: int) -> None:
    table, points = drawn(9, 2, seed)
    best = min(sse(points, np.array(groups)) for groups in partitions(9, k))
    found = cluster(table, k)
    assert sse(points, found.groups) == pytest.approx(best, rel=1e-9)
    assert found.details["mean_square"] == pytest.approx(best / points.size, rel=1e-6)


@pytest.mark.parametrize("k", [3, 10])
def test_it_is_better_than_mdav(k: int) -> None:
    table, points = drawn(400, 4, 1)
    groups = cluster(table, k).groups
    assert np.bincount(groups).min() >= k
    assert sse(points, groups) < 0.95 * sse(points, plain_mdav(points, k))


def test_several_blocks_and_threads_give_the_same_groups() -> None:
    table, points = drawn(5_000, 3, 2)
    one, two = (cluster(table, 5, Context(threads=threads), 0.1).groups for threads in (1, 2))
    assert np.array_equal(one, two)
    assert np.bincount(one).min() >= 5
    first, _ = square_groups(table, 5, 1e-9, Context())
    assert sse(points, one) < sse(points, first)


@pytest.mark.parametrize("records", [4, 5, 7, 8, 9])
def test_tables_that_hold_one_or_two_groups(records: int) -> None:
    table, points = drawn(records, 2, 3)
    groups = cluster(table, 4).groups
    best = min(sse(points, np.array(one)) for one in partitions(records, 4))
    assert sse(points, groups) == pytest.approx(best, rel=1e-9)


def test_equal_records_and_missing_values() -> None:
    table = encode_simple({"a": [1, 1, 1, 1, None, None], "b": [2, 2, 2, 2, 2, 2]})
    groups = cluster(table, 2).groups
    assert groups[4] == groups[5]
    assert groups[4] not in groups[:4]


def test_sums_and_members_after_many_steps_are_those_of_a_fresh_state() -> None:
    random = np.random.default_rng(5)
    points = random.normal(size=(60, 3))
    near = np.empty((60, 6), dtype=np.int64)
    find_nearest(points, near)
    distances = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert np.array_equal(near, np.argsort(distances, axis=1)[:, :6])
    state = Squares(
        points=points,
        group=np.arange(60) // 4,
        slot=np.zeros(60, dtype=np.int64),
        members=np.zeros((15, 12), dtype=np.int64),
        held=np.zeros(15, dtype=np.int64),
        sums=np.zeros((15, 3)),
        near=near,
    )
    fill_squares(state)
    seed = np.array([77], dtype=np.uint64)
    for _ in range(5):
        anneal_squares(state, 4, 2_000, 0.5, 0.1, seed)
        rebuild_squares(state, 4, 200, 4, 0.3, seed)
        for group in range(15):
            members = np.flatnonzero(state.group == group)
            assert sorted(state.members[group, : state.held[group]]) == members.tolist()
            assert np.allclose(state.sums[group], points[members].sum(axis=0))
            if members.size:
                assert members.size >= 4
                assert squares_of(state, group) == pytest.approx(sse(points[members], np.zeros(members.size)))
        assert state.held.sum() == 60


def test_categories_have_no_mean() -> None:
    table = encode_simple({"age": [1, 2, 3, 4], "sex": ["m", "f", "m", "f"], "town": ["a", "b", "c", "d"]})
    with pytest.raises(InputError) as caught:
        cluster(table, 2)
    assert [problem.column for problem in caught.value.problems] == ["sex", "town"]


def test_other_models_hold_after_the_repair() -> None:
    random = np.random.default_rng(6)
    frame = pl.DataFrame({"a": random.normal(size=200).round(2), "b": random.normal(size=200).round(2)})
    frame = frame.with_columns(disease=pl.Series(random.choice(["x", "y", "z"], 200)))
    result = shoal.anonymize(
        *(frame,), quasi=["a", "b"], sensitive=["disease"], k=4, models=[shoal.LDiversity(2, "disease")],
        recoding="mean", objective="squares",
    )  # fmt: skip
    assert all(check["passed"] for check in result.certificate["checks"])


@pytest.mark.data
@pytest.mark.parametrize("k", sorted(PUBLISHED))
def test_census_is_below_the_published_values_of_mdav(data_folder: Path, k: int) -> None:
    frame = pl.read_csv(data_folder / "census1080" / "census1080.csv")
    result = shoal.anonymize(frame, quasi=frame.columns, k=k, recoding="mean", objective="squares")
    before, after = frame.to_numpy().astype(float), result.release.to_numpy().astype(float)
    points = before / before.std(axis=0)
    total = ((points - points.mean(axis=0)) ** 2).sum()
    assert 100 * sse(points, plain_mdav(points, k)) / total == pytest.approx(PUBLISHED[k], abs=5e-5)
    assert 100 * (((before - after) / before.std(axis=0)) ** 2).sum() / total < 0.9 * PUBLISHED[k]


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize(("records", "k"), [(4, 2), (30, 3), (2_500, 5)])
def test_numbers_that_span_more_than_a_float_can_hold(records: int, k: int) -> None:
    values = np.random.default_rng(0).uniform(-1.0, 1.0, records) * 1.7e308
    values[:2] = -1.7e308, 1.7e308
    frame = pl.DataFrame({"x": values, "y": values[::-1]})
    result = shoal.anonymize(frame, quasi=["x", "y"], k=k, objective="squares", recoding="mean", effort="low")
    assert result.release.group_by("x", "y").len()["len"].min() >= k
    assert np.isfinite(result.release.to_numpy()).all()


@pytest.mark.parametrize("records", [1, 2, 3, 4, 5, 9, 10, 11, 19, 2_001])
def test_small_tables_and_every_k_that_they_allow(records: int) -> None:
    numbers = np.random.default_rng(records).normal(size=(records, 2))
    frame = pl.DataFrame({"x": numbers[:, 0], "y": numbers[:, 1]})
    for k in (2, 3, 5, records // 2, records, records + 1):
        if k < 2:
            continue
        settings = {"quasi": ["x", "y"], "k": k, "objective": "squares", "recoding": "mean", "effort": "low"}
        if k > records:
            with pytest.raises(RequirementError):
                shoal.anonymize(frame, **settings)
        else:
            assert shoal.anonymize(frame, **settings).release.group_by("x", "y").len()["len"].min() >= k
