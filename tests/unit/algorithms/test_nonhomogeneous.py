from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.bisection.kernels.nonhomogeneous import random_assignment
from shoal.algorithms.bisection.nonhomogeneous import NonHomogeneous
from shoal.algorithms.registry import make_algorithm
from shoal.errors import InputError
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.testing.tables import encode_simple


def assignment(size: int, k: int, state: np.ndarray) -> np.ndarray:
    step_of, taker, choice = (np.empty(size, dtype=np.int64) for _ in range(3))
    random_assignment(size, k, state, np.zeros((size, k), dtype=np.uint8), step_of, taker, choice)
    return step_of


@pytest.mark.parametrize(("size", "k"), [(2, 2), (5, 5), (7, 3), (12, 5), (31, 2)])
def test_an_assignment_gives_every_box_once(size: int, k: int) -> None:
    state = np.array([size * 100 + k], dtype=np.uint64)
    for _ in range(50):
        steps = assignment(size, k, state)
        assert steps.min() >= 0
        assert steps.max() < k
        assert sorted((np.arange(size) - steps) % size) == list(range(size))


def test_every_box_of_a_record_is_equally_likely() -> None:
    size, k, draws = 7, 3, 6000
    state = np.array([2024], dtype=np.uint64)
    counts = np.zeros((size, k))
    patterns = set()
    for _ in range(draws):
        steps = assignment(size, k, state)
        counts[np.arange(size), steps] += 1
        patterns.add(tuple(steps))
    deviation = 5 * np.sqrt(draws * (1 / k) * (1 - 1 / k))
    assert np.abs(counts - draws / k).max() < deviation
    assert len(patterns) > k  # not only the k rotations: knowing one person's box does not give the others away


def test_other_models_are_refused() -> None:
    table = encode_simple({"age": [1, 2, 3, 4]}, sensitive={"disease": ["a", "b", "a", "b"]})
    with pytest.raises(InputError) as caught:
        NonHomogeneous().cluster(table, Requirement.of([KAnonymity(2), LDiversity(2, "disease")]), Context())
    assert caught.value.reasons == ("unsupported-model",)


def test_parameters_are_checked() -> None:
    with pytest.raises(InputError):
        make_algorithm("nonhomogeneous", partition=1)


def test_it_says_that_it_has_no_classes() -> None:
    assert NonHomogeneous.class_based is False


def test_boxes_are_tighter_than_the_partition_of_a_line() -> None:
    numbers = np.random.default_rng(3).permutation(300).tolist()
    table = encode_simple({"number": numbers})
    found = NonHomogeneous(partition=4).cluster(table, Requirement.of([KAnonymity(10)]), Context())
    assert found.boxes is not None
    widths = found.boxes.high[0] - found.boxes.low[0]
    codes = pl.DataFrame({"code": table.record_codes[0], "group": found.groups})
    whole = codes.group_by("group").agg((pl.col("code").max() - pl.col("code").min()).alias("width"), pl.len())
    assert widths.mean() < float((whole["width"] * whole["len"]).sum()) / 300
