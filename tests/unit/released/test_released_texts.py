"""What this package releases can be read back: every text, whatever stands in the data."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.hierarchies.spec import make_hierarchy
from shoal.metrics import make_domains, score
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role

WORDS = ["A", "b c", " lead", "trail ", "x, y", 'say "hi"', "{C}", "{D, E}", "[1, 2]", "a;b", "é\u2028", "<i>", "=1+1"]
TREE = {"top": {"left": WORDS[:4], "middle": {"inner": WORDS[4:8]}, "right": WORDS[8:]}}


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    size = draw(st.integers(4, 40))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=size, max_size=size))

    words = st.sampled_from(WORDS)
    numbers = st.integers(-50, 50).map(lambda number: number / 4)
    return pl.DataFrame(
        {
            "flat": pl.Series(column(st.none() | words), dtype=pl.String),
            "tree": pl.Series(column(st.none() | words), dtype=pl.String),
            "whole": pl.Series(column(st.none() | st.integers(-9, 9)), dtype=pl.Int64),
            "decimal": pl.Series(column(numbers), dtype=pl.Float64),
            "day": pl.Series(column(st.dates(date(2020, 1, 1), date(2020, 12, 31)))),
        }
    )


@pytest.mark.parametrize("recoding", ["range", "mean", "midpoint"])
@given(frame=frames(), k=st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_every_cell_is_read_and_covers(recoding: str, frame: pl.DataFrame, k: int) -> None:
    result = shoal.anonymize(
        frame, quasi=frame.columns, k=k, algorithm="mondrian", hierarchies={"tree": TREE}, recoding=recoding
    )
    attributes = [Attribute(name, Role.QUASI_IDENTIFYING, find_scale(frame[name])) for name in frame.columns]
    hierarchies = {"tree": make_hierarchy(TREE, WORDS, "tree")}
    domains = make_domains(frame, attributes, hierarchies)
    scores = score(frame, result.release, frame.columns, domains, k=k)
    assert scores.unreadable == {}
    assert scores.not_covering == {}
    assert scores.smallest_class >= k
    assert 0 <= scores.totals["gcp"] <= 1
    assert result.metrics["gcp"] == pytest.approx(scores.totals["gcp"])
