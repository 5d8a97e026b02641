"""Released cells of every kind, read back: by k-map, by the check of candidates, and by plain counting."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.hierarchies.spec import make_hierarchy
from shoal.models.registry import parse_model
from shoal.tables.schema import Scale
from shoal.verification.check import verify_release
from shoal.verification.nonhomogeneous import check_candidates
from shoal.verification.reading import Knowledge, read_cells

RANDOM = np.random.default_rng(5)
RECORDS = 120
NUMBERS = RANDOM.integers(0, 40, RECORDS).tolist()
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=number) for number in NUMBERS]
MOMENTS = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=17 * number) for number in NUMBERS]
WORDS = [" a", "b", "c\nd", "e, f", '"g"', "{h}"]
COLUMNS: dict[str, pl.Series] = {
    "integers": pl.Series(NUMBERS),
    "texts of numbers": pl.Series([f"+{number}" if number % 2 else f" {number} " for number in NUMBERS]),
    "single precision": pl.Series([number / 10 for number in NUMBERS], dtype=pl.Float32),
    "decimals": pl.Series(NUMBERS).cast(pl.Decimal(10, 2)),
    "not a number": pl.Series([None if n % 7 == 0 else float("nan") if n % 5 == 0 else n / 3 for n in NUMBERS]),
    "missing numbers": pl.Series(["?" if number % 5 == 0 else str(number) for number in NUMBERS]),
    "dates": pl.Series(DAYS),
    "iso": pl.Series([day.isoformat() for day in DAYS]),
    "slashes": pl.Series([day.strftime("%Y/%m/%d") for day in DAYS]),
    "dots": pl.Series([day.strftime("%d.%m.%Y") for day in DAYS]),
    "minutes": pl.Series([moment.strftime("%Y-%m-%d %H:%M") for moment in MOMENTS]),
    "seconds": pl.Series([moment.strftime("%Y-%m-%dT%H:%M:%S") for moment in MOMENTS]),
    "moments": pl.Series(MOMENTS),
    "zone": pl.Series(MOMENTS).dt.replace_time_zone("Europe/Berlin"),
    "times of day": pl.Series([dt.time(number % 12, 30) for number in NUMBERS]),
    "truth": pl.Series([number % 2 == 0 for number in NUMBERS]),
    "words": pl.Series([WORDS[number % 6] for number in NUMBERS]),
    "missing words": pl.Series([["?", "", "b", "c", " d", None][number % 6] for number in NUMBERS]),
    "categories": pl.Series([f"c{number % 7}" for number in NUMBERS], dtype=pl.Categorical),
}
SIDE = RANDOM.choice(["m", "f"], RECORDS).tolist()


def table_of(kind: str) -> pl.DataFrame:
    return pl.DataFrame({"x": COLUMNS[kind], "sex": SIDE})


@pytest.mark.parametrize("output", [None, "release.csv", "release.parquet"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_our_own_releases_without_classes_are_read_back(kind: str, output: str | None, tmp_path: Path) -> None:
    path = tmp_path / output if output is not None else None
    made = shoal.anonymize(
        table_of(kind), drop_rest=True, quasi=["x", "sex"], k=3, missing=("?",), algorithm="nonhomogeneous", output=path
    )
    assert made.certificate["checks"][0]["passed"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_our_own_releases_are_read_back_beside_a_population(kind: str, ending: str, tmp_path: Path) -> None:
    """The population is the table itself, so a class fits at least its own records."""
    table = table_of(kind)
    table.write_parquet(tmp_path / "population.parquet")
    for output in (None, tmp_path / f"release.{ending}"):
        made = shoal.anonymize(
            table,
            drop_rest=True,
            quasi=["x", "sex"],
            models=["k-map:4"],
            missing=("?",),
            population=tmp_path / "population.parquet",
            algorithm="mondrian",
            output=output,
        )
        assert made.certificate["checks"][0]["measured"] >= made.certificate["smallest_class"]


@pytest.mark.parametrize(("first", "second"), [("integers", "texts of numbers"), ("iso", "dots"), ("dates", "slashes")])
def test_equal_values_in_another_form_fit_each_other(first: str, second: str, tmp_path: Path) -> None:
    found = []
    for population in (first, second):
        table_of(population).write_csv(tmp_path / "population.csv")
        made = shoal.anonymize(
            table_of(first),
            drop_rest=True,
            quasi=["x", "sex"],
            models=["k-map:4"],
            population=tmp_path / "population.csv",
            algorithm="mondrian",
        )
        found.append(made.certificate["checks"])
    assert found[0] == found[1]


def test_ordered_categories_are_read_by_their_order(tmp_path: Path) -> None:
    order = ("low", "low, but rising", "mid", "high", "top")
    table = pl.DataFrame({"x": [order[number % 5] for number in NUMBERS], "age": NUMBERS})
    table.write_csv(tmp_path / "population.csv")
    settings: dict[str, Any] = {"quasi": ["x", "age"], "orders": {"x": order}}
    assert shoal.anonymize(table, drop_rest=True, k=3, algorithm="nonhomogeneous", **settings).certificate["passed"]
    made = shoal.anonymize(
        table,
        drop_rest=True,
        models=["k-map:5"],
        population=tmp_path / "population.csv",
        algorithm="mondrian",
        **settings,
    )
    assert made.certificate["passed"]
    release = pl.DataFrame({"x": ["[low, but rising, high]", "mid", "[mid, top]"]})
    rank = [order.index(text) for text in table["x"]]
    wanted = [sum(1 <= n <= 3 for n in rank), sum(n == 2 for n in rank), sum(n >= 2 for n in rank)]
    for row, number in enumerate(wanted):
        found = verify_release(
            release[row : row + 1], ["x"], [parse_model("k-map:2")], Knowledge(population=table, orders={"x": order})
        )
        assert found.checks[0].measured == number


def fitting(values: list[Any], cells: list[str | None], **known: Any) -> list[list[int]]:
    """For each cell the places of the values that it stands for, told through the numbers of the values."""
    series = values if isinstance(values, pl.Series) else pl.Series(values)
    read = read_cells(series, pl.Series(cells, dtype=pl.String), "x", Knowledge(**known))
    lines = list(read.fitting())
    return [np.flatnonzero(lines[number][read.numbers]).tolist() for number in read.text_numbers.tolist()]


def test_sets_with_spaces_line_ends_and_quotes() -> None:
    values = [" a", "a", "c\nd", "e, f", '"g"', None, ""]
    cells = ["{ a, c\nd}", '{a, "e, f"}', '{"""g""", (missing)}', "a", None, "{b}", "*"]
    assert fitting(values, cells) == [[0, 2], [1, 3], [4, 5, 6], [1], [5, 6], [], [0, 1, 2, 3, 4, 5, 6]]


def test_numbers_are_compared_by_what_they_are_and_codes_are_not() -> None:
    assert fitting(["34", "34.0", "+34", "35", None], ["34", "[34, 34.5]", "035"]) == [[0], [0, 1, 2], []]
    assert fitting(["34", "34.0", "+34", "35", None], ["34", "[34, 34.5]"]) == [[0, 1, 2], [0, 1, 2]]
    assert fitting(["007", "7", "10"], ["7", "[7, 9]"], scales={"x": Scale.CATEGORY}) == [[1], []]
    assert fitting(["007", "7", "10"], ["7", "[7, 9]"], scales={"x": Scale.INTEGER}) == [[0, 1], [0, 1]]
    assert fitting(["007", "7", "10"], ["7"]) == [[1]]
    large = [2**53, 2**53 + 1]
    assert fitting(large, [str(value) for value in large]) == [[0], [1]]


def test_single_precision_is_what_it_is_written_as() -> None:
    values = pl.Series([0.1, 0.2, 0.3], dtype=pl.Float32)
    assert fitting(values, ["[0.1, 0.3]", "0.2"]) == [[0, 1, 2], [1]]


def test_days_and_moments_are_on_one_line() -> None:
    values = ["2020-01-31", "2020-01-31 00:00:00", "2020-01-31T12:00", "31.01.2020", "2020/01/31"]
    assert fitting(values, ["31.01.2020", "[2020-01-31, 2020-01-31 11:00]"], scales={"x": Scale.DATE}) == [
        [0, 1, 3, 4],
        [0, 1, 3, 4],
    ]


def test_the_topmost_label_stands_for_missing_values_too() -> None:
    tree = make_hierarchy({"any": {"west": ["1", "2"], "east": ["3"]}}, [], "x", None)
    values = ["1", "2.0", "3", None]
    cells = ["west", "any", "2", "3", None, "north"]
    known = {"hierarchies": {"x": tree}}
    assert fitting(values, cells, **known, scales={"x": Scale.DECIMAL}) == [[0, 1], [0, 1, 2, 3], [1], [2], [3], []]
    assert fitting(values, cells, **known, scales={"x": Scale.CATEGORY}) == [[0], [0, 2, 3], [], [2], [3], []]


@pytest.mark.parametrize(
    "kind", ["integers", "texts of numbers", "not a number", "dots", "moments", "single precision"]
)
def test_both_ways_to_count_candidates_agree(kind: str) -> None:
    """Values in order are compared by their ends; the table of what fits must say the same."""
    table = table_of(kind).select("x")
    made = shoal.anonymize(table, drop_rest=True, quasi=["x"], k=4, algorithm="nonhomogeneous").release
    cells = read_cells(table["x"], made["x"], "x", Knowledge())
    lines = np.array(list(cells.fitting()))
    pairs = lines[np.ix_(cells.text_numbers, cells.numbers)]
    for k in (2, 4, 8, 20):
        found = check_candidates(table, made, ["x"], k)
        assert found.records_per_released_row == min(k, int(pairs.sum(axis=1).min()))
        assert found.released_rows_per_record == min(k, int(pairs.sum(axis=0).min()))
        assert found.offending_records == int((pairs.sum(axis=0) < k).sum())


@pytest.mark.parametrize("how", ["mean", "midpoint"])
def test_means_are_refused_together_with_k_map(how: str, tmp_path: Path) -> None:
    table = table_of("integers").with_columns(born=pl.Series(DAYS))
    table.write_csv(tmp_path / "population.csv")
    settings: dict[str, Any] = {
        "models": ["k-map:4"],
        "population": tmp_path / "population.csv",
        "algorithm": "mondrian",
    }
    with pytest.raises(InputError) as caught:
        shoal.anonymize(table, drop_rest=True, quasi=["x", "sex", "born"], recoding=how, **settings)
    assert [(problem.reason, problem.column) for problem in caught.value.problems] == [
        ("no-range", "x"),
        ("no-range", "born"),
    ]
    with pytest.raises(InputError):
        shoal.anonymize(table, drop_rest=True, quasi=["x", "sex"], recodings={"x": how}, **settings)
    assert shoal.anonymize(table, drop_rest=True, quasi=["sex"], recoding=how, **settings).certificate[
        "passed"
    ]  # no number at all
