"""Numbers that the papers give for single values and small tables."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.hierarchies.tree import from_paths
from shoal.metrics import make_domains, score
from shoal.metrics.score import Scores
from shoal.tables.schema import Attribute, Role, Scale

POSTCODES = from_paths(
    "zip", [(code, code[:3] + "*", code[:2] + "**", code[0] + "***", "*") for code in ("4351", "4352", "4361", "3421")]
)
GENDER = from_paths("gender", [("male", "*"), ("female", "*")])
DAYS = from_paths("day", [(f"{day}/1/2001", "1/2001", "2001", "2000s", "child", "*") for day in (1, 2)])


def scores_of(columns: dict[str, tuple[list[str], list[str]]], weights: dict[str, float] | None = None) -> Scores:
    original = pl.DataFrame({name: before for name, (before, _) in columns.items()})
    release = pl.DataFrame({name: after for name, (_, after) in columns.items()})
    numbers = {"age", "x", "y"}
    attributes = [
        Attribute(name, Role.QUASI_IDENTIFYING, Scale.INTEGER if name in numbers else Scale.CATEGORY)
        for name in columns
    ]
    trees = {"zip": POSTCODES, "gender": GENDER, "day": DAYS}
    domains = make_domains(original, attributes, {name: trees[name] for name in columns if name in trees})
    return score(original, release, list(columns), domains, weights=weights)


def test_uniform_distance_of_a_postcode() -> None:
    assert scores_of({"zip": (["3421"], ["3***"])}).totals["distortion"] == pytest.approx(0.75)


def test_distances_of_a_date() -> None:
    assert scores_of({"day": (["1/1/2001"], ["2001"])}).totals["distortion"] == pytest.approx(0.4)
    month = scores_of({"day": (["1/1/2001"], ["1/2001"])})
    assert month.totals["distortion_height"] == pytest.approx(0.0876, abs=5e-5)
    assert scores_of({"gender": (["male"], ["*"])}).totals["distortion"] == 1


def test_distortion_with_priorities() -> None:
    weights = {"gender": 0.0, "zip": 0.5, "age_group": 1.0}
    one = scores_of(
        {"gender": (["male"], ["*"]), "zip": (["4351"], ["435*"]), "age_group": (["young"], ["young"])}, weights
    )
    assert one.totals["distortion"] == pytest.approx(0.125)
    two = scores_of(
        {
            "gender": (["male", "female"], ["*", "*"]),
            "zip": (["4351", "4352"], ["435*", "435*"]),
            "age_group": (["young", "young"], ["young", "young"]),
        },
        weights,
    )
    assert two.totals["distortion"] == pytest.approx(0.25)


def test_penalty_of_the_seven_records() -> None:
    ages = ["20", "20", "30", "40", "50", "60", "60"]
    codes = ["25", "30", "25", "30", "10", "5", "10"]
    found = scores_of(
        {
            "x": (ages, ["20", "20", "[30, 40]", "[30, 40]", "[50, 60]", "[50, 60]", "[50, 60]"]),
            "y": (codes, ["[25, 30]"] * 4 + ["[5, 10]"] * 3),
        }
    )
    assert found.totals["ncp"] == pytest.approx(2.65)
    assert found.totals["gcp"] == pytest.approx(2.65 / 14)
