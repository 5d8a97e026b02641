from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.tables.scales import find_scale, is_missing, parse_numbers, parse_values
from shoal.tables.schema import Scale


def texts(values: Sequence[str | None]) -> pl.Series:
    return pl.Series("c", values, dtype=pl.String)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (["1", "-20", "0", None, ""], Scale.INTEGER),
        (["+3", " 4", "5 "], Scale.INTEGER),
        (["1", "2.5", ".5", "5.", "-1e-3", "1E5"], Scale.DECIMAL),
        (["0.5", "0", "-0.25"], Scale.DECIMAL),
        (["007", "12"], Scale.CATEGORY),
        (["00501", "10001"], Scale.CATEGORY),
        (["12", "-01"], Scale.CATEGORY),
        (["1", "a"], Scale.CATEGORY),
        (["a", "1"], Scale.CATEGORY),
        (["1", "NaN"], Scale.INTEGER),
        (["1", "inf"], Scale.DECIMAL),
        (["nan"], Scale.CATEGORY),
        (["1", "NAN"], Scale.CATEGORY),
        (["1,5"], Scale.CATEGORY),
        (["1_000"], Scale.CATEGORY),
        (["0x10"], Scale.CATEGORY),
        (["1 2"], Scale.CATEGORY),
        (["٣"], Scale.CATEGORY),
        (["-", "+", "."], Scale.CATEGORY),
        (["[1, 2]"], Scale.CATEGORY),
        (["2020-01-31", "1999-12-01"], Scale.DATE),
        (["2020/01/31"], Scale.DATE),
        (["31.01.2020", "1.2.2020"], Scale.DATE),
        (["2020-01-31 10:20", "2020-01-31T10:20:30.5"], Scale.DATE),
        (["2020-01-31T10:20Z", "2020-01-31T10:20:30+0100"], Scale.DATE),
        (["2020-02-30"], Scale.CATEGORY),
        (["2020-01-31", "31.01.2020"], Scale.CATEGORY),
        (["2020-01-31", "x"], Scale.CATEGORY),
        (["2020-1-1"], Scale.CATEGORY),
        ([None, ""], Scale.CATEGORY),
        ([], Scale.CATEGORY),
    ],
)
def test_scale_of_text(values: list[str | None], scale: Scale) -> None:
    assert find_scale(texts(values)) is scale
    assert find_scale(texts(values[::-1])) is scale


def test_texts_that_mean_missing_do_not_decide() -> None:
    assert find_scale(texts(["1", "?", "N/A"])) is Scale.CATEGORY
    assert find_scale(texts(["1", "?", "N/A"]), ["?", "N/A"]) is Scale.INTEGER


TYPED = [
    (pl.Series([1, None], dtype=pl.UInt8), Scale.INTEGER, [1.0, math.nan]),
    (pl.Series([1.5, math.nan, None]), Scale.DECIMAL, [1.5, math.nan, math.nan]),
    (pl.Series([Decimal("1.25"), None]), Scale.DECIMAL, [1.25, math.nan]),
    (pl.Series([dt.date(1970, 1, 11), None]), Scale.DATE, [10.0, math.nan]),
    (pl.Series([dt.datetime(1970, 1, 1, 0, 1), None], dtype=pl.Datetime("ns")), Scale.DATE, [60.0, math.nan]),
    (pl.Series([dt.datetime(1970, 1, 1, 1, 1)]).dt.replace_time_zone("Europe/Berlin"), Scale.DATE, [60.0]),
]


@pytest.mark.parametrize(("series", "scale", "positions"), TYPED, ids=lambda value: str(getattr(value, "dtype", "")))
def test_typed_columns(series: pl.Series, scale: Scale, positions: list[float]) -> None:
    assert find_scale(series) is scale
    found, problems = parse_values(series, scale, "c")
    np.testing.assert_array_equal(found, positions)
    assert problems == []
    np.testing.assert_array_equal(is_missing(series).to_numpy(), np.isnan(positions))


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["1", "2", ""])])
def test_typed_categories(dtype: pl.DataType) -> None:
    series = pl.Series(["1", "", None, "2"], dtype=dtype)
    assert find_scale(series) is Scale.CATEGORY
    assert is_missing(series, ["2"]).to_list() == [False, True, True, True]
    positions, problems = parse_values(series, Scale.INTEGER, "c")  # if the user says so
    np.testing.assert_array_equal(positions, [1, math.nan, math.nan, 2])
    assert problems == []


def test_booleans_and_others_are_categories() -> None:
    for series in (pl.Series([True, None]), pl.Series([dt.time(1)]), pl.Series([[1]]), pl.Series([None, None])):
        assert find_scale(series) is Scale.CATEGORY
        assert is_missing(series, ["x"]).to_list() == series.is_null().to_list()


def test_missing_is_exact_but_for_blanks_around_it() -> None:
    series = texts(["", " ", "?", None, "nan", "NaN", "Nan", "x"])
    assert is_missing(series).to_list() == [True, True, False, True, True, True, False, False]
    assert is_missing(series, ["?"]).to_list() == [True, True, True, True, True, True, False, False]


def test_positions_of_text() -> None:
    positions, problems = parse_values(
        texts(["1", "+2.5", "-1e3", "", None, "NaN", "?", "007"]), Scale.DECIMAL, "c", ["?"]
    )
    np.testing.assert_array_equal(positions, [1, 2.5, -1000, math.nan, math.nan, math.nan, math.nan, 7])
    assert problems == []
    days, _ = parse_values(texts(["1970-01-02", None, "1969-12-31"]), Scale.DATE, "c")
    np.testing.assert_array_equal(days, [1, math.nan, -1])
    seconds, _ = parse_values(texts(["1970-01-01T00:01", "1970-01-01 00:00:01.25"]), Scale.DATE, "c")
    np.testing.assert_array_equal(seconds, [60, 1.25])
    seconds, _ = parse_values(texts(["1970-01-01T01:00+01:00", "1970-01-01T00:00:01Z"]), Scale.DATE, "c")
    np.testing.assert_array_equal(seconds, [0, 1])


@pytest.mark.parametrize(
    ("values", "scale", "reasons", "count"),
    [
        (["1", "SECRET", "x1"], Scale.INTEGER, ["not-a-number"], 2),
        (["1", "1.5"], Scale.INTEGER, ["not-an-integer"], 1),
        (["1", "-inf", "1e999", "Infinity"], Scale.DECIMAL, ["infinite-number"], 3),
        (["2020-01-01", "2020-02-30", "SECRET"], Scale.DATE, ["not-a-date"], 2),
        (["SECRET"], Scale.DATE, ["not-a-date"], 1),
        (["SECRET", "inf", "1.5"], Scale.INTEGER, ["not-a-number", "not-an-integer", "infinite-number"], 1),
    ],
)
def test_problems_have_counts_and_no_values(values: list[str], scale: Scale, reasons: list[str], count: int) -> None:
    positions, problems = parse_values(texts(values), scale, "weight")
    assert [problem.reason for problem in problems] == reasons
    assert all(problem.column == "weight" and problem.hint for problem in problems)
    assert problems[0].message.startswith(f"{count} distinct values")
    assert "SECRET" not in " ".join(map(str, problems))
    assert not np.isinf(positions).any()


def test_infinite_floats_and_wrong_types() -> None:
    _, problems = parse_values(pl.Series([1.0, math.inf]), Scale.DECIMAL, "c")
    assert [problem.reason for problem in problems] == ["infinite-number"]
    _, problems = parse_values(pl.Series([1, 2]), Scale.DATE, "c")
    assert [problem.reason for problem in problems] == ["not-a-date"]
    _, problems = parse_values(pl.Series([dt.date(2020, 1, 1)]), Scale.INTEGER, "c")
    assert [problem.reason for problem in problems] == ["not-a-number"]
    with pytest.raises(ValueError, match="no positions"):
        parse_values(pl.Series(["a"]), Scale.CATEGORY, "c")


def test_nothing_to_parse() -> None:
    for scale in (Scale.INTEGER, Scale.DECIMAL, Scale.DATE):
        for series in (texts([]), texts([None, ""]), pl.Series([None, None])):
            positions, problems = parse_values(series, scale, "c")
            assert positions.shape == (series.len(),)
            assert np.isnan(positions).all()
            assert problems == []


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=10))
def test_written_floats_are_read_exactly(values: list[float]) -> None:
    series = texts([repr(value) for value in values])
    assert find_scale(series).is_numeric
    np.testing.assert_array_equal(parse_numbers(series).positions, values)


@settings(deadline=None)
@given(
    st.lists(st.dates(min_value=dt.date(1000, 1, 1)), min_size=1, max_size=10),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y"]),
)
def test_written_dates_are_read_exactly(days: list[dt.date], form: str) -> None:
    series = texts([day.strftime(form) for day in days])
    assert find_scale(series) is Scale.DATE
    positions, _ = parse_values(series, Scale.DATE, "c")
    assert positions.tolist() == [(day - dt.date(1970, 1, 1)).days for day in days]


@settings(deadline=None)
@given(st.lists(st.text(max_size=6), max_size=10), st.sampled_from([Scale.INTEGER, Scale.DECIMAL, Scale.DATE]))
def test_any_text_is_parsed_or_counted(values: list[str], scale: Scale) -> None:
    series = texts(values)
    positions, problems = parse_values(series, scale, "c")
    assert positions.shape == (len(values),)
    assert problems or np.isnan(positions).tolist() == is_missing(series).to_list()  # NaN means missing, nothing else
    if find_scale(series) is scale:
        assert {problem.reason for problem in problems} <= {"infinite-number"}
