"""What stands beside GCP: cells kept exact, values that a cell lists, ends that one record has."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.metrics.score import score
from shoal.released.domain import make_domains
from shoal.tables.schema import Attribute, Role, Scale


def test_a_small_table_by_hand() -> None:
    original = pl.DataFrame({"age": [1, 2, 3, 3, 9, 9], "town": ["a", "b", "c", "c", "d", "e"]})
    release = pl.DataFrame(
        {
            "age": ["[1, 3]", "[1, 3]", "[1, 3]", "3", "9", "9"],
            "town": ["{a, b, c}", "{a, b, c}", "{a, b, c}", "c", "*", "*"],
        }
    )
    attributes = [Attribute("age", Role.QUASI_IDENTIFYING, Scale.INTEGER)]
    attributes.append(Attribute("town", Role.QUASI_IDENTIFYING, Scale.CATEGORY))
    found = score(original, release, ["age", "town"], make_domains(original, attributes))
    assert found.per_attribute["exact_cells"] == pytest.approx({"age": 3 / 6, "town": 1 / 6})
    assert found.totals["exact_cells"] == pytest.approx(4 / 12)
    assert found.totals["listed_values"] == pytest.approx((3 * 3 + 1 + 0 + 0) / 6)
    assert found.totals["lonely_ends"] == 1  # the 1: two records have the 3


def test_the_complaint_that_it_answers() -> None:
    """Everybody's exact birth date in a set, and a loss of nearly nothing."""
    texts = [f"{month}/{day}/1950" for month in range(1, 13) for day in range(1, 26)]
    original = pl.DataFrame({"born": texts})
    shown = [f"{{{texts[first]}, {texts[first + 1]}}}" for first in range(0, 300, 2) for _ in range(2)]
    attributes = [Attribute("born", Role.QUASI_IDENTIFYING, Scale.CATEGORY)]
    found = score(original, pl.DataFrame({"born": shown}), ["born"], make_domains(original, attributes))
    assert found.totals["gcp"] < 0.004
    assert found.totals["listed_values"] == 2.0
    assert found.totals["exact_cells"] == 0.0
    assert "lonely_ends" not in found.totals
