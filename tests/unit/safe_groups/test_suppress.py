"""Suppressed records and groups that are generalized to `*` throughout look alike: a legal job must not fail for it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms.base import Clustering
from shoal.models.base import Requirement
from shoal.models.registry import parse_models
from shoal.safe_groups.suppress import suppress_outliers
from shoal.testing.tables import encode_simple

QUASI = ["a", "b"]
RECODINGS = ("range", "cell-suppression", "value-suppression")


def small_table(seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    records = int(random.integers(20, 60))
    return pl.DataFrame(
        {
            "a": random.choice(["x", "y"], records, p=[0.75, 0.25]),
            "b": random.choice(["p", "q"], records, p=[0.8, 0.2]),
            "s": random.choice(["1", "2", "3"], records, p=[0.5, 0.3, 0.2]),
        }
    )


def assert_diverse(release: pl.DataFrame, k: int, most: float, limit: float) -> int:
    """k and the largest share of a value in every class, in plain Python. The number of `*` records is returned."""
    classes: dict[tuple, list[str]] = defaultdict(list)
    for *key, value in release.select(*QUASI, "s").rows():
        classes[tuple(str(part) for part in key)].append(value)
    hidden = classes.get(("*", "*"), [])
    if len(hidden) / release.height <= limit:
        classes.pop(("*", "*"), None)
    for values in classes.values():
        assert len(values) >= k
        assert max(values.count(value) for value in values) <= most * len(values) + 1e-9
    return len(hidden)


@pytest.mark.parametrize("recoding", RECODINGS)
def test_any_small_table_with_a_suppression_limit(recoding: str) -> None:
    hidden = 0
    for seed in (*range(25), 94, 98):  # the last two had a class of stars that was neither exempt nor safe
        frame = small_table(seed)
        largest = max(frame["s"].value_counts()["count"]) / frame.height
        if largest > 1 / 1.8:
            continue
        result = shoal.anonymize(
            frame,
            quasi=QUASI,
            k=3,
            models=["l-diversity:s:1.8"],
            suppression_limit=0.08,
            algorithm="mondrian",
            recoding=recoding,
        )
        assert result.certificate["passed"]
        hidden += assert_diverse(result.release, 3, 1 / 1.8, 0.08)
    assert hidden > 0


def test_sets_with_a_suppression_limit() -> None:
    """Nothing is suppressed with sets, but stars of one set's class may be among the stars of another's."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        frame = pl.DataFrame({"a": random.choice(list("xyz"), 30), "b": random.choice(list("pqrst"), 30)})
        result = shoal.anonymize(
            frame,
            quasi=QUASI,
            models=["qid:a:12", "qid:b:7"],
            suppression_limit=0.3,
            algorithm="mondrian",
            recoding="cell-suppression",
        )
        assert result.certificate["passed"]
        for name, k in (("a", 12), ("b", 7)):
            assert min(result.release[name].value_counts()["count"]) >= k


AGES = [20, 20, 20, 20, 90] + [30] * 4 + [40, 50, 60, 70]
TABLE = encode_simple({"age": AGES, "sex": ["m"] * 13}, sensitive={"ill": list("aabbabbaabbbb")})
GROUPS = Clustering(np.array([0] * 5 + [1] * 4 + [2] * 4, dtype=np.int32))


@pytest.mark.parametrize(
    ("models", "stars", "expected"),
    [
        ("k-anonymity:4", 0, [4]),
        ("k-anonymity:4", 4, [4]),  # above the limit, but a class of five is large enough
        ("k-anonymity:4,distinct-l:ill:2", 4, [4]),  # the star class gets a second value
        ("k-anonymity:4,alpha-k:ill:0.8", 4, [4]),
    ],
)
def test_stars_above_the_limit_are_one_class(models: str, stars: int, expected: list[int]) -> None:
    """The last group is taken to be released as stars; whether it is safe with the suppressed ones is what counts."""

    def hidden(found: Clustering) -> np.ndarray:
        assert found.suppressed is not None
        return found.suppressed | (np.arange(13) >= 13 - stars)

    requirement = Requirement.of(parse_models(models.split(",")))
    found = suppress_outliers(TABLE, GROUPS, requirement, 0.1, hidden)
    assert found.suppressed is not None
    assert np.flatnonzero(found.suppressed).tolist() == expected


def test_nothing_is_suppressed_where_the_class_of_stars_would_be_unsafe() -> None:
    requirement = Requirement.of(parse_models(["k-anonymity:4", "alpha-k:ill:0.7"]))

    def hidden(found: Clustering) -> np.ndarray:  # two records with ill = a, and the suppressed one
        assert found.suppressed is not None
        return found.suppressed | np.isin(np.arange(13), [0, 1])

    assert suppress_outliers(TABLE, GROUPS, requirement, 0.1, hidden) is GROUPS


def test_fewer_are_suppressed_if_stars_take_a_part_of_the_limit() -> None:
    ages = [20] * 5 + [60, 80] + [30] * 5 + [50, 90] + [40] * 6
    table = encode_simple({"age": ages, "sex": ["m"] * 20}, sensitive={"ill": list("aabbaaaaabbbaabbaabb")})
    groups = Clustering(np.array([0] * 7 + [1] * 7 + [2] * 6, dtype=np.int32))
    requirement = Requirement.of(parse_models(["k-anonymity:5", "alpha-k:ill:0.7"]))
    stars = np.isin(np.arange(20), [0, 1])  # both have ill = a, as all outliers do

    def hidden(found: Clustering) -> np.ndarray:
        assert found.suppressed is not None
        return found.suppressed | stars

    def count(found: Clustering) -> int:
        return 0 if found.suppressed is None else int(found.suppressed.sum())

    assert count(suppress_outliers(table, groups, requirement, 0.2)) == 3
    assert count(suppress_outliers(table, groups, requirement, 0.2, hidden)) == 2
    assert count(suppress_outliers(table, groups, requirement, 0.1, hidden)) == 0


def test_the_limit_is_never_rounded_up() -> None:
    requirement = Requirement.of(parse_models(["k-anonymity:4"]))
    assert suppress_outliers(TABLE, GROUPS, requirement, 1 / 13).suppressed is not None
    assert suppress_outliers(TABLE, GROUPS, requirement, 1 / 13 - 1e-12).suppressed is None
