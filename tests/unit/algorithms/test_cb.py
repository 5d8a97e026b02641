from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.bisection.cb import Cb
from shoal.algorithms.bisection.kernels.split import top_up
from shoal.algorithms.bisection.kernels.split_work import make_work
from shoal.algorithms.registry import make_algorithm
from shoal.errors import InputError, RequirementError
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.testing.tables import encode_simple


@pytest.fixture(scope="module")
def patients():
    random = np.random.default_rng(4)
    disease = random.choice(["flu", "cold", "gout", "ulcer"], 400, p=[0.3, 0.3, 0.2, 0.2])
    quasi = {"age": random.integers(18, 90, 400).tolist(), "city": random.choice(list("abcdefghij"), 400).tolist()}
    return encode_simple(quasi, sensitive={"disease": disease.tolist(), "ward": random.choice(list("uvwxyz"), 400)})


def largest_share(table, groups: np.ndarray, column: str) -> float:
    codes = table.columns[column].codes
    return max(np.bincount(codes[groups == g]).max() / (groups == g).sum() for g in range(groups.max() + 1))


def test_parameters_are_checked() -> None:
    for parameters in ({"rounds": 0}, {"join": "both"}):
        with pytest.raises(InputError):
            make_algorithm("cb", **parameters)


@pytest.mark.parametrize("join", ["groups", "centres"])
@pytest.mark.parametrize(("k", "l"), [(2, 3), (5, 3), (10, 2)])
def test_every_group_is_diverse_and_large_enough(patients, join: str, k: int, l: float) -> None:  # noqa: E741
    requirement = Requirement.of([KAnonymity(k), LDiversity(l, "disease")])
    groups = Cb(join=join).cluster(patients, requirement, Context()).groups
    assert np.bincount(groups).min() >= k
    assert largest_share(patients, groups, "disease") <= 1 / l + 1e-9


def test_two_sensitive_columns_at_once(patients) -> None:
    requirement = Requirement.of([KAnonymity(4), LDiversity(2, "disease"), LDiversity(3, "ward")])
    groups = Cb().cluster(patients, requirement, Context()).groups
    assert largest_share(patients, groups, "disease") <= 1 / 2 + 1e-9
    assert largest_share(patients, groups, "ward") <= 1 / 3 + 1e-9


def test_a_table_that_cannot_be_diverse_is_refused_without_its_values() -> None:
    table = encode_simple({"age": [1, 2, 3, 4, 5]}, sensitive={"disease": ["flu", "flu", "flu", "cold", "gout"]})
    with pytest.raises(RequirementError) as caught:
        Cb().cluster(table, Requirement.of([KAnonymity(2), LDiversity(2, "disease")]), Context())
    assert caught.value.reasons == ("not-diverse",)
    assert "flu" not in str(caught.value)


def test_just_diverse_tables_are_accepted() -> None:
    table = encode_simple({"age": [1, 2, 3, 4]}, sensitive={"disease": ["flu", "flu", "cold", "cold"]})
    groups = Cb().cluster(table, Requirement.of([KAnonymity(2), LDiversity(2, "disease")]), Context()).groups
    assert largest_share(table, groups, "disease") <= 0.5


def test_more_rounds_do_not_lose_more_on_average() -> None:
    random = np.random.default_rng(1)
    points = random.normal(0, 1, (2, 500)).round(3)
    table = encode_simple({"x": points[0].tolist(), "y": points[1].tolist()})

    def loss(rounds: int) -> float:
        total = 0.0
        for seed in range(5):
            groups = Cb(rounds=rounds).cluster(table, Requirement.of([KAnonymity(5)]), Context(seed)).groups
            total += sum(np.ptp(line[groups == g]) * (groups == g).sum() for line in points for g in np.unique(groups))
        return total

    assert loss(15) < loss(1)


@pytest.mark.parametrize("side", [0, 1])
def test_topping_up_takes_the_records_that_lose_least(patients, side: int) -> None:
    from shoal.encode.geometry import table_geometry

    random = np.random.default_rng(side)
    work = make_work(table_geometry(patients), 60, 20, 100)
    work.delta[:] = random.permutation(60)
    work.side[:] = 1 - side
    work.side[:5] = side
    others = np.arange(5, 60)
    price = work.delta[others] if side == 0 else -work.delta[others]
    expected = set(others[np.argsort(price)[:12]].tolist()) | set(range(5))
    top_up(work, 60, side, 12)
    assert set(np.flatnonzero(work.side == side).tolist()) == expected
