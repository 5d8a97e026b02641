"""Units at which ranges end: every value lies within its own, and ends are whole units."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.tables.rounding import EXACT, UNITS, cheapest_unit, outer_ends, outer_places, unit_problem
from shoal.tables.schema import Scale

DAYS = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=20), st.integers(1, 10**6))
def test_whole_numbers_lie_in_their_unit(numbers: list[int], width: int) -> None:
    ends = outer_ends(pl.Series([str(one) for one in numbers]), Scale.INTEGER, str(width))
    for one, low, high in zip(numbers, ends.low, ends.high, strict=True):
        assert int(low) <= one <= int(high)
        assert int(low) % width == 0
        assert int(high) == int(low) + width - 1


@given(
    st.lists(st.decimals(-(10**6), 10**6, places=4), min_size=1, max_size=20),
    st.sampled_from(["0.1", "0.25", "0.3", "2", "1e-3", "7.5"]),
)
def test_decimals_lie_in_their_unit(numbers: list[Decimal], width: str) -> None:
    ends = outer_ends(pl.Series([str(one) for one in numbers]), Scale.DECIMAL, width)
    for one, low, high in zip(numbers, ends.low, ends.high, strict=True):
        assert Decimal(low) <= one < Decimal(high)
        assert Decimal(low) % Decimal(width) == 0
        assert Decimal(high) - Decimal(low) == Decimal(width)


@given(st.lists(DAYS, min_size=1, max_size=20), st.sampled_from(UNITS))
def test_days_lie_in_their_unit(days: list[dt.date], unit: str) -> None:
    for values in (pl.Series(days), pl.Series(days).dt.strftime("%d.%m.%Y")):
        ends = outer_ends(values, Scale.DATE, unit)
        form = "%Y-%m-%d" if values.dtype == pl.Date else "%d.%m.%Y"
        for day, low, high in zip(days, ends.low, ends.high, strict=True):
            first, last = (dt.datetime.strptime(text.zfill(10), form).date() for text in (low, high))
            assert first <= day <= last
            assert (first.year, last.year) == (day.year, day.year)
            if unit == "month":
                assert (first.day, (last + dt.timedelta(1)).day if last < dt.date.max else 1) == (1, 1)
            elif unit == "quarter":
                assert (first.month - 1) % 3 == 0
                assert last.month == first.month + 2
            elif unit == "year":
                assert (first.month, first.day, last.month, last.day) == (1, 1, 12, 31)
            else:
                assert first == last == day


@pytest.mark.parametrize("unit", UNITS)
def test_times_lie_in_their_unit(unit: str) -> None:
    moment = dt.datetime(2024, 5, 17, 13, 45, 59, 123456)
    texts = outer_ends(pl.Series([moment.isoformat(" ")]), Scale.DATE, unit)
    typed = outer_ends(pl.Series([moment]), Scale.DATE, unit)
    zoned = outer_ends(pl.Series([moment]).dt.replace_time_zone("Europe/Berlin"), Scale.DATE, unit)
    assert (texts.low[0], texts.high[0]) == (typed.low[0], typed.high[0])
    assert dt.datetime.fromisoformat(typed.low[0]) <= moment < dt.datetime.fromisoformat(typed.high[0])
    aware = moment.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert dt.datetime.fromisoformat(zoned.low[0]) <= aware < dt.datetime.fromisoformat(zoned.high[0])
    assert ("T" in outer_ends(pl.Series(["2024-05-17T13:45:59"]), Scale.DATE, "minute").low[0]) is True


def test_a_range_costs_at_least_the_distance_of_its_places() -> None:
    numbers = np.array([18.0, 19.0, 22.0, 37.0, 38.0])
    ends = outer_ends(pl.Series([18, 19, 22, 37, 38]), Scale.INTEGER, "5")
    places = outer_places(ends.begins, numbers)
    assert places.tolist() == [18.0, 18.0, 20.0, 38.0, 38.0]
    for low in range(5):
        for high in range(low, 5):
            shown = min(38, int(ends.high[high])) - max(18, int(ends.low[low]))
            assert places[high] - places[low] <= shown


def test_the_cheapest_unit_of_dates() -> None:
    day, once = dt.date(1930, 1, 1), np.ones(400, dtype=np.int64)
    births = pl.Series([day + dt.timedelta(73 * number) for number in range(400)])  # 80 years: a year is more than 1 %
    assert cheapest_unit(births, once, Scale.DATE, (), False) == "quarter"
    assert cheapest_unit(births.dt.strftime("%Y/%m/%d"), once, Scale.DATE, (), False) == "quarter"
    assert cheapest_unit(births, 2 * once, Scale.DATE, (), False) is None  # nobody has one alone
    assert cheapest_unit(births, 2 * once, Scale.DATE, (), True) == "quarter"  # but a person may have two records
    year = pl.Series([dt.date(2020, 1, 1) + dt.timedelta(number) for number in range(300)])
    assert cheapest_unit(year, once[:300], Scale.DATE, (), False) is None  # a month is too much, a day is a value
    times = pl.Series([dt.datetime(2020, 1, 1) + dt.timedelta(seconds=79_001 * number) for number in range(400)])
    assert cheapest_unit(times, once, Scale.DATE, (), False) == "day"
    years = pl.Series([dt.date(1000 + number, 1, 1) for number in range(400)])
    assert cheapest_unit(years, once, Scale.DATE, (), False) is None  # they are whole years already
    assert cheapest_unit(pl.Series(range(400)), once, Scale.INTEGER, (), False) is None


def test_wrong_units() -> None:
    assert (
        unit_problem("month", Scale.DATE) == unit_problem("2.5", Scale.DECIMAL) == unit_problem(EXACT, Scale.DATE) == ""
    )
    for unit, scale in (("5", Scale.DATE), ("month", Scale.INTEGER), ("2.5", Scale.INTEGER), ("0", Scale.DECIMAL)):
        assert unit_problem(unit, scale)
    for unit in ("-1", "nan", "inf", "1e400", "", "1e-99"):
        assert unit_problem(unit, Scale.DECIMAL)
    with pytest.raises(ValueError, match="too large"):
        outer_ends(pl.Series([2**60]), Scale.INTEGER, "5")
    with pytest.raises(ValueError, match="too large"):
        outer_ends(pl.Series([1.7e308]), Scale.DECIMAL, "0.1")
