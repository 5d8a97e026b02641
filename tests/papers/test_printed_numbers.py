"""Numbers that the papers print and that need no run: Table 7 of the TDR paper, entropy in the thesis."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.evaluation.usefulness.clustering.agreement import compare_clusterings

TABLE_7 = np.array(
    [
        [12655, 0, 0, 0, 13, 1],
        [0, 6198, 0, 0, 19, 22],
        [0, 0, 6513, 0, 0, 59],
        [0, 0, 0, 4239, 386, 0],
        [0, 0, 0, 3846, 3171, 0],
        [0, 0, 0, 0, 0, 8100],
    ]
)


def test_table_7_of_the_tdr_paper():
    """The paper rounds to 0.90 and 0.97."""
    raw, masked = np.nonzero(TABLE_7)
    counts = TABLE_7[raw, masked]
    found = compare_clusterings(np.repeat(raw, counts).astype(np.int32), np.repeat(masked, counts).astype(np.int32))
    assert found.f_measure == pytest.approx(0.9014, abs=5e-5)
    assert found.match_point == pytest.approx(0.9678, abs=5e-5)
    assert TABLE_7.sum() == 45_222


def test_entropy_of_three_in_four_is_below_what_the_thesis_says():
    """Three of four records with HIV: by the formula l is 1.755, the thesis says 1.8."""
    by_formula = math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert by_formula == pytest.approx(1.7548, abs=5e-5)
    release = pl.DataFrame({"job": ["Artist"] * 4, "illness": ["HIV", "HIV", "HIV", "flu"]})
    for level, holds in ((1.754, True), (1.756, False), (1.8, False)):
        model = shoal.EntropyLDiversity(level, "illness")
        assert shoal.verify(release, quasi=["job"], sensitive=["illness"], models=[model]).passed is holds


def test_table_1_2_of_the_thesis_is_2_anonymous_and_so_are_its_parts():
    """The subset property: what is k-anonymous over a set is so over every part of it."""
    table = pl.DataFrame(
        {
            "job": ["Cat1"] * 4 + ["Cat2"] * 2,
            "birth": ["*", "*", "1955", "1955", "1975", "1975"],
            "postcode": ["4350", "4350", "543*", "543*", "4350", "4350"],
        }
    )
    assert not shoal.verify(table, quasi=["job", "birth", "postcode"], k=3).passed
    for quasi in (["job", "birth", "postcode"], ["job", "birth"], ["job", "postcode"], ["birth", "postcode"], ["job"]):
        assert shoal.verify(table, quasi=quasi, k=2).passed
