"""Groups to released values: every text form, every kind of attribute."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from shoal.algorithms.base import Boxes, Clustering
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.hierarchies.spec import make_hierarchy
from shoal.recode.release import RecodeOptions, hidden_records, recode
from shoal.released.cells import read_cells
from shoal.released.domain import make_domain
from shoal.tables.scales import find_scale
from shoal.tables.schema import Attribute, Role, Scale

JOBS = {"*": {"Technical": ["Craft", "Support"], "Other": ["Sales", "Army", "Service"]}}


def release(
    columns: dict[str, list],
    groups: list[int],
    *,
    recoding: str = "range",
    trees: dict | None = None,
    orders=None,
    **more,
) -> pl.DataFrame:
    frame = pl.DataFrame(columns)
    orders = orders or {}
    attributes = [
        Attribute(
            name,
            Role.QUASI_IDENTIFYING,
            Scale.ORDERED if name in orders else find_scale(frame[name]),
            orders.get(name),
        )
        for name in frame.columns
    ]
    made = {name: make_hierarchy(spec, [], name, None) for name, spec in (trees or {}).items()}
    options = EncodeOptions(as_nodes=frozenset(made) if recoding == "nodes" else frozenset())
    table, book = encode_table(frame, attributes, made, options)
    clustering = Clustering(np.array(groups, dtype=np.int32), **more)
    return recode(frame, table, book, clustering, [], RecodeOptions(recoding))


def test_ranges_and_exact_numbers_as_they_came() -> None:
    out = release({"x": ["10", "9", "1.50", "1.50"]}, [0, 0, 1, 1])
    assert out["x"].to_list() == ["[9, 10]", "[9, 10]", "1.50", "1.50"]


def test_one_number_in_two_spellings_is_one_number() -> None:
    assert release({"x": ["1.50", "1.5", "3"]}, [0, 0, 1])["x"].to_list() == ["1.5", "1.5", "3"]


@pytest.mark.parametrize("typed", [True, False])
def test_numbers_that_share_a_float_are_a_range(typed: bool) -> None:
    large = [2**53 + 2, 2**53 + 3, 10**16, 10**16 - 1, -(2**53), -(2**53) - 1]
    out = release({"x": large if typed else [str(number) for number in large]}, [0, 0, 1, 1, 2, 2])
    assert out["x"].to_list()[::2] == [
        "[9007199254740994, 9007199254740995]",
        "[9999999999999999, 10000000000000000]",
        "[-9007199254740993, -9007199254740992]",
    ]


def test_times_that_share_a_microsecond_are_a_range() -> None:
    times = ["2020-01-01 00:00:00.1234567", "2020-01-01 00:00:00.1234569", "2020-01-02 00:00", "2020-01-02 00:00:00"]
    out = release({"t": times}, [0, 0, 1, 1])
    assert out["t"].to_list()[::2] == [f"[{times[0]}, {times[1]}]", "2020-01-02 00:00"]


def test_missing_numbers() -> None:
    out = release({"x": ["1", "", "", ""]}, [0, 0, 1, 1])
    assert out["x"].to_list() == ["*", "*", None, None]


def test_sets_in_sorted_order_quoted_where_needed_and_star_for_all() -> None:
    values = ["b", "a", 'x "y", z', "a", "b", None, "c", "c"]
    out = release({"c": values}, [0, 0, 1, 1, 2, 2, 3, 3])
    assert out["c"].to_list()[::2] == ["{a, b}", '{a, "x ""y"", z"}', "{b, (missing)}", "c"]
    assert set(release({"c": ["a", "b", "a", "b"]}, [0, 0, 1, 1])["c"]) == {"*"}


def test_ancestors_and_missing_below_the_root() -> None:
    jobs = ["Craft", "Support", "Army", "Craft", "Sales", None, None, None]
    out = release({"job": jobs}, [0, 0, 1, 1, 2, 2, 3, 3], trees={"job": JOBS})
    assert out["job"].to_list()[::2] == ["Technical", "*", "*", None]


@pytest.mark.parametrize("recoding", ["range", "mean", "cell-suppression"])
def test_group_numbers_with_gaps(recoding: str) -> None:
    columns = {"x": ["1", "1", "2", "3"], "job": ["Army", "Army", "Craft", "Support"], "c": ["a", "a", "b", "b"]}
    without = release(columns, [0, 0, 1, 1], recoding=recoding, trees={"job": JOBS})
    assert release(columns, [2, 2, 5, 5], recoding=recoding, trees={"job": JOBS}).equals(without)


def test_exact_leaf_keeps_its_label() -> None:
    assert release({"job": ["Army", "Army"]}, [0, 0], trees={"job": JOBS})["job"].to_list() == ["Army", "Army"]


def test_ordered_categories_are_ranges() -> None:
    out = release({"s": ["low", "high", "mid", "mid"]}, [0, 0, 1, 1], orders={"s": ("low", "mid", "high")})
    assert out["s"].to_list() == ["[low, high]", "[low, high]", "mid", "mid"]


def test_dates() -> None:
    out = release({"d": ["2024-02-01", "2023-12-31"]}, [0, 0])
    assert out["d"].to_list() == ["[2023-12-31, 2024-02-01]"] * 2


def test_numbers_as_nodes() -> None:
    tree = [("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*")]
    out = release({"x": ["1", "2", "3", "3"]}, [0, 0, 1, 1], recoding="nodes", trees={"x": tree})
    assert out["x"].to_list() == ["low", "low", "3", "3"]


@pytest.mark.parametrize(
    ("how", "expected"), [("mean", ["2.5", "2.5", "4", "4"]), ("midpoint", ["2.5", "2.5", "4", "4"])]
)
def test_aggregates_of_text_numbers(how: str, expected: list[str]) -> None:
    assert release({"x": ["2", "3", "3", "5"]}, [0, 0, 1, 1], recoding=how)["x"].to_list() == expected


def test_aggregates_of_typed_columns_stay_typed() -> None:
    out = release(
        {"x": [1, 2, 6], "d": [dt.date(2024, 1, 1), dt.date(2024, 1, 3), dt.date(2024, 1, 5)]},
        [0, 0, 0],
        recoding="mean",
    )
    assert out["x"].to_list() == [3.0] * 3
    assert out["d"].to_list() == [dt.date(2024, 1, 3)] * 3


BERLIN = [dt.datetime(2019, 12, 31, 23, 30), dt.datetime(2020, 7, 1, 10, 0), dt.datetime(2020, 7, 1, 10, 1)]


@pytest.mark.parametrize("how", ["mean", "midpoint"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_aggregates_of_times_keep_their_zone(how: str, unit: str) -> None:
    moments = (
        pl.Series(BERLIN).dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin").dt.cast_time_unit(unit)
    )
    out = release({"t": pl.concat([moments[:1], moments])}, [0, 0, 1, 1], recoding=how)["t"]
    assert out.dtype == pl.Datetime(unit, "Europe/Berlin")
    texts = ["2020-01-01 00:30:00 +0100", "2020-07-01 12:00:30 +0200"]
    assert out.dt.strftime("%Y-%m-%d %H:%M:%S %z").to_list()[::2] == texts


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2020-01-01 00:30+01:00", "2020-01-01 00:40+01:00"], "2020-01-01 00:35:00.000000+01:00"),
        (["2020-01-01T00:30:00-0330", "2020-01-01T00:40:00-0330"], "2020-01-01 00:35:00.000000-0330"),
        (["2020-01-01 00:30Z", "2020-01-01 00:40Z"], "2020-01-01 00:35:00.000000Z"),
        (["2020-01-01 00:30+01:00", "2020-01-01 01:40+02:00"], "2019-12-31 23:35:00.000000+00:00"),
        (["2020-01-01 00:30:01.5", "2020-01-01 00:40:01.5"], "2020-01-01 00:35:01.000000"),
    ],
)
def test_aggregates_of_times_as_texts_say_their_zone(times: list[str], expected: str) -> None:
    assert release({"t": times}, [0, 0], recoding="mean")["t"].to_list() == [expected] * 2
    domain = make_domain(pl.Series(times), Attribute("t", Role.QUASI_IDENTIFYING, Scale.DATE))
    middle = read_cells(domain, pl.Series([expected])).number
    assert middle == pytest.approx(domain.positions.mean(), abs=1 / 86400)


def test_a_group_of_one_value_keeps_it() -> None:
    """Means are rounded to some figures, and times to seconds; what is exact needs no mean."""
    columns = {
        "x": ["12345678901234.50"] * 2 + ["1", "2"],
        "y": [123456789012.25] * 2 + [1.0, 2.0],
        "t": ["2020-01-01T00:00:00.5+01:00"] * 2 + ["2020-01-01 00:00:00Z", "2020-01-01 00:00:02Z"],
        "m": [dt.datetime(2020, 1, 1, 0, 0, 0, 500)] * 2 + [dt.datetime(2020, 1, 1)] * 2,
    }
    out = release(columns, [0, 0, 1, 1], recoding="mean")
    assert out.row(0) == tuple(values[0] for values in columns.values())
    assert out.row(2) == ("1.5", 1.5, "2020-01-01 00:00:01.000000+00:00", dt.datetime(2020, 1, 1))


def test_mean_and_midpoint_differ_and_missing_is_suppressed() -> None:
    values = [1, 2, 6, 5, None]
    assert release({"x": values}, [0, 0, 0, 1, 1], recoding="midpoint")["x"].to_list() == [
        "3.5",
        "3.5",
        "3.5",
        "*",
        "*",
    ]


def test_typed_columns_that_stay_exact_keep_their_type() -> None:
    out = release({"x": [1, 1, 2, 2], "f": [True, True, False, False]}, [0, 0, 1, 1])
    assert out.schema == {"x": pl.Int64, "f": pl.Boolean}


def test_given_boxes_and_labels() -> None:
    frame = {"x": ["1", "2", "9"], "c": ["a", "b", "c"]}
    boxes = Boxes(
        low=np.array([[0, 1], [0, 0]], dtype=np.int32),
        high=np.array([[1, 2], [1, 2]], dtype=np.int32),
        box_of_record=np.array([0, 0, 1], dtype=np.int32),
        labels={"x": ("[1-5)", "[5-9)")},
    )
    out = release(frame, [0, 0, 1], boxes=boxes)
    assert out["x"].to_list() == ["[1-5)", "[1-5)", "[5-9)"]
    assert out["c"].to_list() == ["{a, b}", "{a, b}", "*"]


def test_suppressed_records() -> None:
    out = release({"x": ["1", "1", "5"], "c": ["a", "a", "b"]}, [0, 0, 1], suppressed=np.array([False, False, True]))
    assert out.rows() == [("1", "a"), ("1", "a"), ("*", "*")]


def test_cell_and_value_suppression() -> None:
    columns = {"x": ["1", "1", "2", "3", "1", "1"], "c": ["a", "a", "a", "b", "c", "c"]}
    groups = [0, 0, 1, 1, 2, 2]
    cells = release(columns, groups, recoding="cell-suppression")
    assert cells["x"].to_list() == ["1", "1", "*", "*", "1", "1"]
    assert cells["c"].to_list() == ["a", "a", "*", "*", "c", "c"]
    values = release(columns, groups, recoding="value-suppression")
    assert values["x"].to_list() == ["1", "1", "*", "*", "1", "1"]
    assert values["c"].to_list() == ["*", "*", "*", "*", "c", "c"]  # a is generalized in the second group


@pytest.mark.parametrize("recoding", ["range", "mean", "midpoint", "cell-suppression", "value-suppression"])
def test_hidden_records_are_those_whose_released_values_are_all_stars(recoding: str) -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        columns = {
            "x": random.choice(["1", "2", "", "7"], 12).tolist(),
            "job": random.choice(["Craft", "Support", "Army", ""], 12).tolist(),
            "c": random.choice(["a", "*", "b"], 12).tolist(),
        }
        names = list(random.permutation(["x", "job", "c"])[: int(random.integers(1, 4))])
        frame = pl.DataFrame({name: columns[name] for name in names})
        attributes = [Attribute(name, Role.QUASI_IDENTIFYING, find_scale(frame[name])) for name in names]
        trees = {"job": make_hierarchy(JOBS, [], "job", None)}
        table, book = encode_table(frame, attributes, trees, EncodeOptions())
        suppressed = random.random(12) < 0.2 if random.random() < 0.5 else None
        clustering = Clustering(random.integers(0, 4, 12).astype(np.int32), suppressed=suppressed)
        out = recode(frame, table, book, clustering, [], RecodeOptions(recoding))
        expected = [all(value == "*" for value in row) for row in out.rows()]
        assert hidden_records(table, book, clustering, RecodeOptions(recoding)).tolist() == expected


LARGE = 2**53 + 1  # no float is this number


@pytest.mark.parametrize("how", ["mean", "midpoint"])
@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.6e308, 1.7e308], 1.65e308),
        ([-1.7e308, -1.6e308], -1.65e308),
        ([1.7976931348623157e308, 1.7976931348623155e308], None),  # rounding must not go beyond the largest
        ([5e-324, 1.5e-323], 1e-323),
    ],
)
def test_centres_near_the_limits_of_floats(
    how: str, as_text: bool, values: list[float], expected: float | None
) -> None:
    column = [str(value) for value in values] if as_text else values
    out = [float(value) for value in release({"x": column}, [0, 0], recoding=how)["x"]]
    assert out[0] == out[1]
    assert min(values) <= out[0] <= max(values)
    assert expected is None or out[0] == pytest.approx(expected, rel=1e-9, abs=0)


def test_the_sum_of_many_large_numbers() -> None:
    values = [1.5e308 + place * 1e303 for place in range(1000)]
    out = release({"x": values}, [0] * 1000, recoding="mean")["x"]
    assert out[0] == pytest.approx(1.5e308 + 499.5e303, rel=1e-9)


@pytest.mark.parametrize("how", ["mean", "midpoint"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([LARGE, LARGE + 2], LARGE + 1),
        ([LARGE, LARGE + 1], LARGE),
        ([-LARGE - 1, -LARGE], -LARGE - 1),
        ([2**62 + 1, 2**62 + 2], 2**62 + 1),
        ([2**62 + 1, 2**62 + 3], 2**62 + 2),
        ([10**12 + 1, 10**12 + 3], 10**12 + 2),  # a float, but not one of ten figures
    ],
)
def test_centres_of_large_integers_lie_within_their_group(how: str, values: list[int], expected: int) -> None:
    groups = [0, 0, 1, 1]
    small = [4, 8]
    typed = release({"x": [*values, *small]}, groups, recoding=how)["x"]
    assert typed.to_list() == [expected, expected, 6, 6]
    texts = release({"x": [str(value) for value in [*values, *small]]}, groups, recoding=how)["x"]
    assert [int(float(text)) if "e" in text else int(text) for text in texts] == [expected, expected, 6, 6]


def test_centres_of_integers_longer_than_any_type() -> None:
    values = [10**40 + 1, 10**40 + 3, 10**40 + 5]
    out = release({"x": [str(value) for value in values]}, [0, 0, 0], recoding="mean")["x"]
    assert out.to_list() == [str(10**40 + 3)] * 3


def test_a_large_integer_that_a_group_shares_is_kept() -> None:
    out = release({"x": [LARGE, LARGE, 1, 3]}, [0, 0, 1, 1], recoding="mean")["x"]
    assert out.to_list() == [LARGE, LARGE, 2, 2]


def test_ten_figures_are_enough_where_they_lie_within_the_group() -> None:
    out = release({"x": [10**18, 3 * 10**18 + 8]}, [0, 0], recoding="mean")["x"]
    assert out.dtype == pl.Float64
    assert out.to_list() == [2e18, 2e18]


def test_large_integers_beside_missing_values() -> None:
    values = [2**62 + 1, 2**62 + 3, None, None, LARGE, None]
    out = release({"x": values}, [0, 0, 1, 1, 2, 2], recoding="mean")["x"]
    assert out.to_list() == [str(2**62 + 2)] * 2 + [None, None, "*", "*"]


def test_a_column_without_a_name_keeps_it() -> None:
    frame = release({"": [1, 2], "x": [3, 4]}, [0, 0])
    assert frame.columns == ["", "x"]
