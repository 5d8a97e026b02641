from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.greedy.kmeans import KMeans
from shoal.algorithms.registry import make_algorithm
from shoal.errors import InputError
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple


def groups_of(table, k, seed=0, threads=1, **parameters):
    return KMeans(**parameters).cluster(table, Requirement.of([KAnonymity(k)]), Context(seed, threads)).groups


def test_parameters_are_checked() -> None:
    with pytest.raises(InputError):
        make_algorithm("kmeans", rounds=0)
    with pytest.raises(InputError):
        make_algorithm("kmeans", weights="none")


def test_far_apart_crowds_are_never_mixed() -> None:
    numbers = [*range(10), *range(1000, 1010), *range(2000, 2010)]
    for seed in range(5):
        groups = groups_of(encode_simple({"number": numbers}), 2, seed)
        crowds = [set(groups[start : start + 10]) for start in (0, 10, 20)]
        assert not crowds[0] & crowds[1]
        assert not crowds[1] & crowds[2]


def test_small_clusters_are_dissolved_until_all_have_k() -> None:
    random = np.random.default_rng(2)
    table = encode_simple({"x": random.lognormal(0, 2, 300).round(2).tolist(), "y": random.choice(list("abcdef"), 300)})
    for k in (2, 7, 40, 160):
        assert np.bincount(groups_of(table, k)).min() >= k


def test_equal_records_stay_together() -> None:
    table = encode_simple({"number": [1] * 20 + [2] * 3 + [9] * 4})
    groups = groups_of(table, 4)
    assert len(set(groups[:20])) == 1


def test_the_assignment_is_the_nearest_centre() -> None:
    """Against plain numpy on numbers alone, where one round leaves every record at its nearest of the first centres."""
    random = np.random.default_rng(8)
    numbers = np.unique(random.integers(0, 10_000, 120))
    table = encode_simple({"number": numbers.tolist()})
    chosen = table.row_of_record[Context(3).random().permutation(table.records)][: table.records // 4]
    position = table.attributes[0].positions
    nearest = np.abs(position[:, np.newaxis] - position[chosen]).argmin(axis=1)
    found = KMeans(rounds=1).cluster(table, Requirement.of([KAnonymity(4)]), Context(3)).groups
    large = np.bincount(nearest, minlength=chosen.size) >= 4
    for number in np.flatnonzero(large):  # clusters that were large enough are still together
        assert len(set(found[nearest == number])) == 1
