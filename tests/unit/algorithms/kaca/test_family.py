"""What all algorithms of the family, and DBCA, promise."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Algorithm, Context
from shoal.algorithms.registry import algorithm_class, make_algorithm
from shoal.engines.local import cluster_table
from shoal.errors import InputError, RequirementError
from shoal.models.alpha_k import AlphaK
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table

NAMES = ("kaca", "topdown", "topdown-kaca", "two-level", "dbca", "dbca-cm")


@pytest.fixture(params=NAMES)
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    extra = {"dbca-cm": {"class_column": "label"}, "topdown-kaca": {"block": 40}}
    return make_algorithm(request.param, **extra.get(request.param, {}))


@pytest.mark.parametrize("seed", range(3))
def test_every_group_is_safe_and_every_record_has_one(algorithm: Algorithm, seed: int) -> None:
    table = random_table(seed, 500, attributes=4, values=12, weights=True)
    requirement = Requirement.of([KAnonymity(5)])
    groups = algorithm.cluster(table, requirement, Context(seed=seed)).groups
    assert groups.dtype == np.int32
    assert groups.shape == (500,)
    sizes = np.bincount(groups)
    assert sizes.min() >= 5
    assert sizes.size > 1


def test_other_models_hold_after_the_shared_repair(algorithm: Algorithm) -> None:
    table = random_table(4, 300, attributes=3, values=9, labels=5)
    requirement = Requirement.of([KAnonymity(3), AlphaK(0.5, "label")])
    groups = cluster_table(table, requirement, algorithm, Context()).groups
    assert (requirement.deficits(table, groups, int(groups.max()) + 1) == 0).all()


def test_threads_change_nothing_and_seeds_repeat(algorithm: Algorithm) -> None:
    table = random_table(5, 3000, attributes=5, values=20)
    requirement = Requirement.of([KAnonymity(4)])
    runs = [algorithm.cluster(table, requirement, Context(seed=3, threads=threads)).groups for threads in (1, 2, 1)]
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[0], runs[2])


def test_the_table_is_left_as_it_was(algorithm: Algorithm) -> None:
    table = random_table(6, 200)
    before = [table.codes.copy(), table.weights.copy(), table.row_of_record.copy(), table.columns["label"].codes.copy()]
    algorithm.cluster(table, Requirement.of([KAnonymity(3)]), Context())
    after = [table.codes, table.weights, table.row_of_record, table.columns["label"].codes]
    assert all(np.array_equal(first, second) for first, second in zip(before, after, strict=True))


@pytest.mark.parametrize(("records", "values"), [(4, 1), (4, 5), (7, 1), (50, 1)])
def test_small_and_constant_tables_work(algorithm: Algorithm, records: int, values: int) -> None:
    table = random_table(7, records, values=values)
    groups = algorithm.cluster(table, Requirement.of([KAnonymity(4)]), Context()).groups
    assert np.bincount(groups).min() >= 4


def test_too_few_records_are_refused(algorithm: Algorithm) -> None:
    with pytest.raises(RequirementError):
        algorithm.cluster(random_table(0, 3), Requirement.of([KAnonymity(4)]), Context())


@pytest.mark.parametrize("name", NAMES)
def test_bad_parameters_are_input_errors(name: str) -> None:
    for parameters in ({"weights": "heavy"}, {"beta": 0.0}, {"no_such": 1}):
        with pytest.raises(InputError):
            make_algorithm(name, **parameters)
    assert algorithm_class(name).name == name


def test_progress_never_goes_back(algorithm: Algorithm) -> None:
    seen: list[float] = []
    context = Context(progress=lambda event: seen.append(event.fraction))
    algorithm.cluster(random_table(8, 400, values=12), Requirement.of([KAnonymity(3)]), context)
    assert seen == sorted(seen)
    assert seen
