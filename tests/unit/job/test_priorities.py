"""Priorities: as an order or as weights, in every algorithm whose loss is a sum over attributes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms.registry import algorithm_class, algorithm_names
from shoal.errors import InputError
from shoal.hierarchies.weights import order_weights, priority_weights

NAMES = ["age", "zip", "job", "sex"]
WITHOUT = {"infogain-mondrian", "topdown", "tdr"}  # they choose by records or by information, not by a sum of losses
TREES = {"zip": {"builder": "prefix"}, "job": {"*": {"x": ["a", "b", "c"], "y": ["d", "e", "f"]}}}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    random = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": random.integers(20, 80, 600),
            "zip": [f"{number:03d}" for number in random.integers(0, 200, 600)],
            "job": [("a", "b", "c", "d", "e", "f")[number] for number in random.integers(0, 6, 600)],
            "sex": [("m", "f")[number] for number in random.integers(0, 2, 600)],
        }
    )


@pytest.mark.parametrize("name", sorted(set(algorithm_names()) - WITHOUT))
def test_what_comes_first_is_kept_best(name: str, people: pl.DataFrame) -> None:
    """Over all attributes: the loss of one is lower when it is put first than when it is put last."""
    assert algorithm_class(name).takes_priorities
    first, last = 0.0, 0.0
    for column in NAMES[:3]:
        others = [other for other in NAMES if other != column]
        for order in ([column, *others], [*others, column]):
            result = shoal.anonymize(
                people, keep_rest=True, quasi=NAMES, k=5, hierarchies=TREES, algorithm=name, priorities=order
            )
            if order[0] == column:
                first += result.per_attribute[column]["gcp"]
            else:
                last += result.per_attribute[column]["gcp"]
    assert first < 0.9 * last


@pytest.mark.parametrize("name", sorted(WITHOUT))
def test_priorities_that_cannot_act_are_refused(name: str, people: pl.DataFrame) -> None:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(people, keep_rest=True, quasi=NAMES, k=5, algorithm=name, priorities=["age"])
    assert set(caught.value.reasons) == {"no-priorities"}


@pytest.mark.parametrize("name", ["mondrian", "dbca", "cb"])
def test_an_order_is_its_weights(name: str, people: pl.DataFrame) -> None:
    order = ["job", "zip", "age"]
    weights = {"job": 1.0, "zip": 0.5, "age": 0.0}
    one, other = (
        shoal.anonymize(
            people, keep_rest=True, quasi=NAMES[:3], k=4, hierarchies=TREES, algorithm=name, priorities=given
        ).release
        for given in (order, weights)
    )
    assert one.equals(other)


def test_places_after_the_order_are_shared() -> None:
    names = list("abcdefgh")
    scale = priority_weights(8)
    assert list(order_weights(names, names).values()) == list(scale)
    assert order_weights(names[:7], names) == order_weights(names, names)  # the one left out is the last
    few = order_weights(["c", "a"], names)
    assert few["c"] == 1.0
    assert few["a"] == pytest.approx(6 / 7)
    assert [few[name] for name in "bdefgh"] == pytest.approx([scale[2:].mean()] * 6)
    assert sum(few.values()) == pytest.approx(scale.sum())
    assert order_weights(["a"], ["a"]) == {"a": 1.0}


def test_both_forms_survive_a_job_file(tmp_path: Path) -> None:
    for given in (["a", "b"], {"a": 2.0, "b": 0.5}):
        job = shoal.Job.make(quasi=["a", "b"], k=3, priorities=given)
        for name in ("job.yaml", "job.json"):
            job.save(tmp_path / name)
            assert shoal.Job.load(tmp_path / name) == job
    assert shoal.Job.make(quasi=["a", "b"], k=3, priorities="b").weights() == {"b": 1.0, "a": 0.0}


@pytest.mark.parametrize("given", [["a", {"b": 0.5}], {"a": "much"}, 5, {"a": True}])
def test_a_form_that_is_neither_is_refused(given: object) -> None:
    with pytest.raises(InputError) as caught:
        shoal.Job.make(quasi=["a", "b"], k=3, priorities=given, seed=-1)
    assert len(caught.value.problems) == 2  # the seed too: all at once


@pytest.mark.parametrize("weights", [{"age": 20.0}, {"age": 0.1, "zip": 0.0}, ["zip", "age"], {"age": 0.0}])
def test_the_bound_is_below_the_loss_whatever_the_weights(people: pl.DataFrame, weights: object) -> None:
    """The bound of the plain loss and that of the loss with priorities both hold, for any other release too."""
    settings = {"quasi": NAMES, "k": 5, "hierarchies": TREES, "priorities": weights}
    found = shoal.anonymize(people, keep_rest=True, **settings).metrics
    assert 0 <= found["weighted_lower_bound"] <= found["weighted_gcp"]
    assert found["at_most_above_best"] == pytest.approx(found["weighted_gcp"] / found["weighted_lower_bound"] - 1)
    for other in ("mondrian", "cb", "k-member"):
        loss = shoal.anonymize(people, keep_rest=True, **settings, algorithm=other).metrics
        assert loss["gcp"] >= found["lower_bound"]
        assert loss["weighted_gcp"] >= found["weighted_lower_bound"]
