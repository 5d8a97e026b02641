"""Numbers that the papers give for single values and small tables."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.hierarchies.tree import from_paths
from shoal.metrics import make_domains
from shoal.metrics.score import Scores, score_table
from shoal.released.reading import read_release
from shoal.tables.schema import Attribute, Role, Scale

POSTCODES = from_paths(
    "zip", [(code, code[:3] + "*", code[:2] + "**", code[0] + "***", "*") for code in ("4351", "4352", "4361", "3421")]
)
GENDER = from_paths("gender", [("male", "*"), ("female", "*")])
RACE = from_paths("race", [("a", "*"), ("b", "*")])
BIRTH = from_paths("birth", [(f"{day}/1/2001", "1/2001", "2001", "*") for day in (1, 2)])
DAYS = from_paths("day", [(f"{day}/1/2001", "1/2001", "2001", "2000s", "child", "*") for day in (1, 2)])


def scores_of(
    columns: dict[str, tuple[list[str], list[str]]], weights: dict[str, float] | None = None, beta: float = 1.0
) -> Scores:
    original = pl.DataFrame({name: before for name, (before, _) in columns.items()})
    release = pl.DataFrame({name: after for name, (_, after) in columns.items()})
    numbers = {"age", "x", "y"}
    attributes = [
        Attribute(name, Role.QUASI_IDENTIFYING, Scale.INTEGER if name in numbers else Scale.CATEGORY)
        for name in columns
    ]
    trees = {"zip": POSTCODES, "gender": GENDER, "day": DAYS, "race": RACE, "birth": BIRTH}
    domains = make_domains(original, attributes, {name: trees[name] for name in columns if name in trees})
    table = read_release(original, release, list(columns), domains)
    return score_table(table, release, weights=weights, beta=beta)


def test_uniform_distance_of_a_postcode() -> None:
    assert scores_of({"zip": (["3421"], ["3***"])}).totals["distortion"] == pytest.approx(0.75)


def test_distances_of_a_date() -> None:
    assert scores_of({"day": (["1/1/2001"], ["2001"])}).totals["distortion"] == pytest.approx(0.4)
    month = scores_of({"day": (["1/1/2001"], ["1/2001"])})
    assert month.totals["distortion_height"] == pytest.approx(0.0876, abs=5e-5)
    assert scores_of({"gender": (["male"], ["*"])}).totals["distortion"] == 1


def test_height_weights_as_koc_computes_them_and_with_any_exponent() -> None:
    lifted = scores_of({"zip": (["3421"], ["3***"])})
    assert lifted.totals["distortion_koc"] == pytest.approx((1 / 5 + 1 / 4 + 1 / 3) / 4)
    squared = scores_of({"day": (["1/1/2001"], ["1/2001"])}, beta=2.0)
    assert squared.totals["distortion_height"] == pytest.approx((1 / 25) / sum(1 / step**2 for step in range(1, 6)))
    assert squared.totals["distortion"] == pytest.approx(0.2)


@pytest.mark.parametrize(("lifted", "weight"), [("race", 0.9891), ("zip", 0.3043), ("birth", 0.7065)])
def test_attributes_weighed_by_their_steps(lifted: str, weight: float) -> None:
    before = {"race": "a", "zip": "3421", "birth": "1/1/2001"}
    cells = {name: ([value], ["*" if name == lifted else value]) for name, value in before.items()}
    assert scores_of(cells).totals["distortion_wid"] == pytest.approx(weight, abs=5e-5)


def test_a_number_without_a_hierarchy_has_one_step() -> None:
    found = scores_of({"age": (["20", "30"], ["[20, 30]"] * 2), "zip": (["3421", "4351"], ["3421", "4351"])})
    assert found.totals["distortion_wid"] == pytest.approx(2 * (1 - 1 / (1 + 4**2)))


def test_iloss_added_up_over_cells_with_weights() -> None:
    cells = {"zip": (["4351", "4352", "3421"], ["435*", "435*", "3421"]), "gender": (["male"] * 3, ["*"] * 3)}
    found = scores_of(cells, {"zip": 2.0})
    assert found.totals["iloss_sum"] == pytest.approx(2.0 * 2 * (2 - 1) / 4 + 3 * (2 - 1) / 2)


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
