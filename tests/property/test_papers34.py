"""Properties of the distance and of the algorithms of papers 3 and 4, over random tables and hierarchies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms.base import Context
from shoal.algorithms.kaca.distance import Ladders, make_ladders, table_distortion
from shoal.algorithms.kaca.kernels.kaca import Classes, distance_within
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.kernels.climbing import fill_costs
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.partitions import partitions
from shoal.testing.random_tables import random_table

NAMES = ("kaca", "topdown", "topdown-kaca", "two-level", "dbca", "dbca-cm")
seeds = st.integers(0, 2**32 - 1)
schemes = st.sampled_from(["uniform", "height"])


def made(name: str, **parameters: object) -> object:
    return make_algorithm(name, **({"class_column": "label"} if name == "dbca-cm" else {}), **parameters)


def best_distortion(table: EncodedTable, k: int) -> float:
    return min(table_distortion(table, np.array(groups, dtype=np.int32)) for groups in partitions(table.records, k))


def test_the_partitions_of_small_sets_are_all_there() -> None:
    assert [sum(1 for _ in partitions(count, 1)) for count in (1, 2, 3, 4, 5)] == [1, 2, 5, 15, 52]
    assert [sum(1 for _ in partitions(count, 2)) for count in (2, 3, 4, 5, 6)] == [1, 1, 4, 11, 41]


@settings(max_examples=25, deadline=None)
@given(seed=seeds, records=st.integers(4, 7), k=st.integers(2, 3))
def test_no_algorithm_is_below_the_best_of_all_partitions(seed: int, records: int, k: int) -> None:
    table = random_table(seed, records, attributes=3, values=4)
    best = best_distortion(table, k)
    for name in NAMES:
        groups = made(name).cluster(table, Requirement.of([KAnonymity(k)]), Context(seed=seed)).groups
        assert np.bincount(groups).min() >= k
        assert table_distortion(table, groups) >= best - 1e-9


def test_kaca_and_dbca_stay_near_the_best_of_all_partitions() -> None:
    """How far heuristics are from the optimum, on average over fixed small tables: a bound that a bug would break."""
    best, found = 0.0, dict.fromkeys(NAMES, 0.0)
    for seed in range(20):
        table = random_table(seed, 7, attributes=3, values=4)
        best += best_distortion(table, 2)
        for name in NAMES:
            groups = made(name).cluster(table, Requirement.of([KAnonymity(2)]), Context(seed=seed)).groups
            found[name] += table_distortion(table, groups)
    for name, limit in zip(NAMES, (1.25, 1.25, 1.25, 1.3, 1.4, 1.5), strict=True):
        assert best <= found[name] <= limit * best, name


def record_distances(ladders: Ladders, table: EncodedTable) -> np.ndarray:
    codes = ladders.flat_codes(table.codes)
    return np.array([[ladders.record_distance(first, second) for second in codes] for first in codes])


@settings(max_examples=40, deadline=None)
@given(seed=seeds, scheme=schemes)
def test_the_distance_of_records_is_a_metric(seed: int, scheme: str) -> None:
    """Zero to itself, symmetric, triangle inequality: as claimed, for both weight schemes and any priorities."""
    table = random_table(seed, 12, attributes=3, values=6, weights=True)
    distances = record_distances(make_ladders(table.attributes, scheme), table)
    assert (np.diag(distances) == 0).all()
    assert np.allclose(distances, distances.T)
    through = distances[:, :, np.newaxis] + distances[np.newaxis, :, :]
    assert (distances[:, np.newaxis, :] <= through + 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(seed=seeds, scheme=schemes)
def test_per_attribute_the_distance_of_records_is_an_ultrametric(seed: int, scheme: str) -> None:
    """The stronger form behind the triangle inequality: two records meet no higher than both meet a third."""
    table = random_table(seed, 12, attributes=1, values=9)
    distances = record_distances(make_ladders(table.attributes, scheme), table)
    through = np.maximum(distances[:, :, np.newaxis], distances[np.newaxis, :, :])
    assert (distances[:, np.newaxis, :] <= through + 1e-12).all()


def class_distance(ladders: Ladders, first: np.ndarray, second: np.ndarray, sizes: tuple[int, int]) -> float:
    """Distance of two classes, given by the flat codes of their rows and their sizes, by KACA's own kernel."""
    bounds = [(rows.min(axis=0), rows.max(axis=0)) for rows in (first, second)]
    low, high = (np.array([bound[side] for bound in bounds]) for side in (0, 1))
    classes = Classes(low, ladders.cover_costs(low, high), np.array(sizes))
    costs = np.empty(ladders.joins.shape[0])
    fill_costs(ladders.arrays, low[0], classes.lifts[0], costs)
    return float(distance_within(classes, 0, 1, costs, np.inf))


@settings(max_examples=40, deadline=None)
@given(seed=seeds, scheme=schemes)
def test_the_distance_of_classes_of_equal_size_keeps_the_triangle_inequality(seed: int, scheme: str) -> None:
    table = random_table(seed, 12, attributes=3, values=6, weights=True)
    ladders = make_ladders(table.attributes, scheme)
    codes = ladders.flat_codes(table.codes)
    random = np.random.default_rng(seed)
    classes = [codes[random.integers(0, table.rows, random.integers(1, 4))] for _ in range(5)]
    distances = np.array([[class_distance(ladders, one, two, (3, 3)) for two in classes] for one in classes])
    through = distances[:, :, np.newaxis] + distances[np.newaxis, :, :]
    assert np.allclose(distances, distances.T)
    assert (distances[:, np.newaxis, :] <= through + 1e-9).all()


def test_weighted_by_class_sizes_the_triangle_inequality_fails() -> None:
    """A single record between two classes of ten that share nothing: 11 + 11 through it, 40 without it."""
    flat = np.array([[0, 1], [2, 2]], dtype=np.int32)
    attribute = EncodedAttribute("a", Kind.FLAT, 2, np.array([0.0, 1.0]), flat, np.array([[0.0, 0.0], [1.0, 1.0]]))
    ladders = make_ladders([attribute, attribute])
    left, middle, right = (ladders.flat_codes(np.array([[one], [two]])) for one, two in ((0, 0), (0, 1), (1, 1)))
    direct = class_distance(ladders, left, right, (10, 10))
    through = class_distance(ladders, left, middle, (10, 1)) + class_distance(ladders, middle, right, (1, 10))
    assert (direct, through) == (40.0, 22.0)


@settings(max_examples=30, deadline=None)
@given(seed=seeds, k=st.integers(2, 9), name=st.sampled_from(NAMES))
def test_groups_are_safe_and_do_not_depend_on_threads(seed: int, k: int, name: str) -> None:
    table = random_table(seed, 150, attributes=4, values=9, weights=True)
    requirement = Requirement.of([KAnonymity(k)])
    first = made(name).cluster(table, requirement, Context(seed=seed, threads=1)).groups
    second = made(name).cluster(table, requirement, Context(seed=seed, threads=2)).groups
    assert np.array_equal(first, second)
    assert np.bincount(first).min() >= k


@settings(max_examples=25, deadline=None)
@given(seed=seeds, k=st.integers(2, 9))
def test_dbca_groups_have_k_to_2k_minus_1_records(seed: int, k: int) -> None:
    table = random_table(seed, 100, attributes=3, values=8)
    sizes = np.bincount(made("dbca").cluster(table, Requirement.of([KAnonymity(k)]), Context()).groups)
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("name", ["kaca", "two-level"])
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_equal_records_stay_together(name: str, seed: int) -> None:
    table = random_table(seed, 120, attributes=3, values=6)
    groups = made(name).cluster(table, Requirement.of([KAnonymity(4)]), Context(seed=seed)).groups
    for row in range(table.rows):
        assert np.unique(groups[table.row_of_record == row]).size == 1
