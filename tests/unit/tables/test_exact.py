"""Numbers that a float cannot tell apart are still in order, and one number only where they are equal."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.tables.exact import exact_order
from shoal.tables.scales import parse_values
from shoal.tables.schema import Scale

LARGE = 2**53


def ordered(values: pl.Series, scale: Scale) -> tuple[list, list[int]]:
    positions, problems = parse_values(values, scale, values.name)
    assert not problems
    order, ranks = exact_order(values, positions, scale)
    return values.gather(order).to_list(), ranks.tolist()


@pytest.mark.parametrize(
    "values",
    [
        [LARGE + 3, LARGE, LARGE + 1, LARGE + 2],
        [-LARGE, -LARGE - 1, -LARGE - 2, 5],
        [10**16, 10**16 - 1, 10**16 + 1],  # of different lengths, and one float
    ],
)
def test_large_integers(values: list[int]) -> None:
    assert ordered(pl.Series(values), Scale.INTEGER) == (sorted(values), list(range(len(values))))
    texts = [str(value) for value in sorted(values)]
    assert ordered(pl.Series(list(map(str, values))), Scale.INTEGER) == (texts, list(range(len(values))))


def test_one_number_in_several_spellings_with_another_that_shares_its_float() -> None:
    texts = [f"{LARGE}e0", f"{LARGE}.5", f"{LARGE}", "1.50", "1.5", "+1.5", "2", "1e-99999999999999999999", "0"]
    found, ranks = ordered(pl.Series(texts), Scale.DECIMAL)
    assert found[2:] == ["+1.5", "1.5", "1.50", "2", f"{LARGE}", f"{LARGE}e0", f"{LARGE}.5"]
    assert ranks == [0, 0, 1, 1, 1, 2, 3, 3, 4]


def test_typed_decimals_and_nanoseconds() -> None:
    values = [Decimal("12345678901234567890.12"), Decimal("12345678901234567890.11"), Decimal("1")]
    assert ordered(pl.Series(values), Scale.DECIMAL) == (sorted(values), [0, 1, 2])
    moments = pl.Series([5, 3, 1_000_000_000_000_000_001, 1_000_000_000_000_000_000]).cast(pl.Datetime("ns"))
    order, ranks = exact_order(moments, parse_values(moments, Scale.DATE, "t")[0], Scale.DATE)
    assert order.tolist() == [1, 0, 3, 2]
    assert ranks.tolist() == [0, 1, 2, 3]


def test_times_as_texts() -> None:
    texts = [
        "2020-01-01 00:00:00.123456789",
        "2020-01-01T00:00:00.1234567",
        "2020-01-01 00:00:00.123456700",
        "2020-01-01 00:00",
        "2020-01-01 00:00:00",
        "9999-01-01 00:00:00.0000002",
        "9999-01-01 00:00:00.0000001",
    ]
    found, ranks = ordered(pl.Series(texts), Scale.DATE)
    assert ranks == [0, 0, 1, 1, 2, 3, 4]
    assert found[4:] == [texts[0], texts[6], texts[5]]
    zones = ["2020-01-01 00:00:00.5+01:00", "2019-12-31 23:00:00.50Z", "2019-12-31 23:00:00.500000001Z"]
    assert ordered(pl.Series(zones), Scale.DATE)[1] == [0, 0, 1]
    days = ["1.2.2020", "01.02.2020", "02.02.2020"]
    assert ordered(pl.Series(days), Scale.DATE)[1] == [0, 0, 1]


@settings(max_examples=100, deadline=None)
@given(st.sets(st.tuples(st.integers(-6, 6), st.integers(50, 55), st.sampled_from(["", ".0", ".25", "e0", " "]))))
def test_against_fractions(parts: set[tuple[int, int, str]]) -> None:
    texts = sorted({f"{sign * 2**power + power}{end}" for sign, power, end in parts})
    if not texts:
        return
    found, ranks = ordered(pl.Series(texts, dtype=pl.String), Scale.DECIMAL)
    exact = [Fraction(Decimal(text.strip())) for text in found]
    assert exact == sorted(exact)
    assert (np.diff(ranks) > 0).tolist() == [one < other for one, other in pairwise(exact)]


def test_dates_have_no_fraction() -> None:
    days = pl.Series([dt.date(2020, 1, 2), dt.date(2020, 1, 1)])
    assert ordered(days, Scale.DATE) == ([dt.date(2020, 1, 1), dt.date(2020, 1, 2)], [0, 1])
