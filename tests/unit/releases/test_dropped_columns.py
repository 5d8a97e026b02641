"""Releases that do not all publish the same columns: every two of them are joined by what both have."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.models.l_diversity import DistinctLDiversity
from shoal.releases.check import check_together
from shoal.releases.verdict import Scope
from shoal.testing.small_releases import draw_pair

FIRST = pl.DataFrame(
    {
        "age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3,
        "disease": ["flu", "flu", "cold", "cold", "flu", "asthma"],
    }
)
THIRD = pl.DataFrame(
    {
        "age": ["[20, 24]"] * 3 + ["[25, 34]"] * 4 + ["[35, 39]"] * 3,
        "disease": ["flu", "cold", "asthma", "flu", "flu", "cold", "asthma", "flu", "asthma", "asthma"],
    }
)


def test_a_column_that_one_release_lacks_still_joins_the_others() -> None:
    second = FIRST.drop("disease")
    alone = shoal.verify(THIRD, quasi=["age"], k=3, earlier=[FIRST])
    found = shoal.verify(THIRD, quasi=["age"], k=3, earlier=[FIRST, second])
    assert not alone.passed
    assert not found.passed
    assert alone.together is not None
    assert found.together is not None
    of_first_and_third = [check for check in found.together["checks"] if check["releases"] == [1, 3]]
    expected = [{**check, "releases": [1, 3]} for check in alone.together["checks"]]
    assert of_first_and_third == expected


def test_what_is_lacking_in_between_proves_nothing_about_all_at_once() -> None:
    kept = [FIRST, FIRST.drop("disease"), FIRST]
    assert check_together(kept, "age", 3, "disease", setting="same").scope is Scope.PAIRS
    assert check_together([FIRST, FIRST, FIRST.drop("disease")], "age", 3, "disease", setting="same").exact
    model = DistinctLDiversity(2, "disease")
    last = check_together([FIRST, FIRST.drop("disease")], "age", 3, "disease", setting="same", models=[model])
    assert last.passed  # the second release tells no disease, so nothing is cracked of it


@pytest.mark.parametrize("seed", range(3))
def test_what_only_one_release_publishes_changes_nothing(seed: int) -> None:
    random = np.random.default_rng([seed, 5])
    for _ in range(25):
        earlier, later = (one.frame for one in draw_pair(random))
        expected = check_together([earlier, later], ["x", "y"], 2, "s", strict=True)
        more = [
            frame.with_columns(pl.Series("t", random.choice(["1", "2", "3"], frame.height)))
            for frame in (earlier, later)
        ]
        assert check_together([more[0], later], ["x", "y"], 2, ["s", "t"], strict=True) == expected
        assert check_together([earlier, more[1]], ["x", "y"], 2, ["s", "t"], strict=True) == expected


def test_a_key_joins_releases_of_which_some_lack_the_sensitive_column() -> None:
    first = pl.DataFrame({"x": ["[0, 9]"] * 4, "s": ["p", "p", "q", "q"], "id": [1, 2, 3, 4]})
    second = pl.DataFrame({"x": ["[0, 4]"] * 2 + ["[5, 9]"] * 4, "id": [1, 2, 3, 4, 5, 6]})
    model = DistinctLDiversity(2, "s")
    verdict = check_together([first, second], "x", 2, "s", join_key="id", models=[model])
    assert verdict.checks[0].classes_alike == 2  # flu and flu, cold and cold; of the newcomers nothing is told
    assert verdict.checks[0].classes_below == 0
