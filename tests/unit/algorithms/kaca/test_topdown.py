from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.kaca.topdown import TopDown
from shoal.algorithms.registry import make_algorithm
from shoal.errors import InputError, RequirementError
from shoal.models.alpha_k import AlphaK
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("alpha", [0.4, 0.6])
def test_alpha_holds_without_any_merging(seed: int, alpha: float) -> None:
    """With alpha as a parameter the model is not in the requirement, so nothing is mended afterwards."""
    table = random_table(seed, 300, attributes=4, values=9, labels=5)
    groups = TopDown(alpha=alpha, column="label").cluster(table, Requirement.of([KAnonymity(4)]), Context()).groups
    for number in range(groups.max() + 1):
        labels = table.columns["label"].codes[groups == number]
        assert labels.size >= 4
        assert np.bincount(labels).max() <= alpha * labels.size + 1e-9


def test_the_model_and_the_parameter_give_the_same_groups() -> None:
    table = random_table(1, 300, attributes=4, values=9, labels=5)
    by_model = TopDown().cluster(table, Requirement.of([KAnonymity(4), AlphaK(0.5, "label")]), Context()).groups
    by_parameter = TopDown(alpha=0.5, column="label").cluster(table, Requirement.of([KAnonymity(4)]), Context()).groups
    assert np.array_equal(by_model, by_parameter)


def test_alpha_costs_groups() -> None:
    table = random_table(2, 2000, attributes=4, values=9, labels=5)
    counts = [
        TopDown(alpha=alpha, column="label").cluster(table, Requirement.of([KAnonymity(4)]), Context()).groups.max()
        for alpha in (0.3, 0.5, 1.0)
    ]
    assert counts[0] < counts[1] < counts[2]


def test_an_unreachable_alpha_and_an_unknown_column_are_refused() -> None:
    table = random_table(3, 100, labels=2)
    requirement = Requirement.of([KAnonymity(2)])
    with pytest.raises(RequirementError) as caught:
        TopDown(alpha=0.3, column="label").cluster(table, requirement, Context())
    assert caught.value.problems[0].column == "label"
    with pytest.raises(InputError) as unknown:
        TopDown(alpha=0.3, column="labels").cluster(table, requirement, Context())
    assert unknown.value.problems[0].hint == "did you mean 'label'?"


@pytest.mark.parametrize("parameters", [{"alpha": 0.5}, {"column": "label"}, {"alpha": 1.5, "column": "label"}])
def test_alpha_and_column_belong_together(parameters: dict[str, object]) -> None:
    with pytest.raises(InputError):
        make_algorithm("topdown", **parameters)


@pytest.mark.parametrize("seed", range(6))
def test_no_leaf_value_with_enough_records_of_its_own_stays_whole(seed: int) -> None:
    """One attribute: after specialization at most one group per node mixes values; full leaves stand alone."""
    table = random_table(seed, 60, attributes=1, values=6)
    groups = TopDown().cluster(table, Requirement.of([KAnonymity(5)]), Context()).groups
    codes = table.record_codes[0]
    counts = np.bincount(codes, minlength=table.attributes[0].size)
    if (counts[counts > 0] >= 5).all():
        assert all(np.unique(codes[groups == number]).size == 1 for number in range(groups.max() + 1))
