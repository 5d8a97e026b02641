"""The population of k-map in the codes of the table, whatever way either of them is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.encode.encode import encode_table
from shoal.encode.population import encode_population
from shoal.tables.schema import Attribute, Role, Scale


def codes_of(table: list, scale: Scale, population: list, missing: tuple[str, ...] = ()) -> list[int]:
    """The code of each value of the population, -1 for those that the table does not have."""
    attribute = Attribute("x", Role.QUASI_IDENTIFYING, scale)
    _, codebook = encode_table(pl.DataFrame({"x": table}), [attribute], {})
    found = []
    for value in population:
        codes, _ = encode_population(pl.DataFrame({"x": [value]}), codebook, missing)
        found.append(int(codes[0, 0]) if codes.size else -1)
    return found


def test_numbers_are_found_however_they_are_written() -> None:
    population = ["34", "34.0", " +34 ", 34, 34.0, "3.4e1", "33", "x", None, "?"]
    assert codes_of([20.0, 34.0, None], Scale.DECIMAL, population, ("?",)) == [1, 1, 1, 1, 1, 1, -1, -1, 2, 2]
    assert codes_of(["34", "34.0"], Scale.DECIMAL, ["34", "34.0", "34.00"]) == [0, 1, 0]


def test_single_precision_is_found_by_what_it_is_written_as() -> None:
    table = pl.Series([0.1, 0.2], dtype=pl.Float32)
    assert codes_of(table, Scale.DECIMAL, ["0.1", "0.20", 0.2]) == [0, 1, 1]


def test_integers_that_share_a_position_are_not_mixed_up() -> None:
    assert codes_of([2**53, 2**53 + 2], Scale.INTEGER, [2**53, 2**53 + 1, 2**53 + 2]) == [0, -1, 1]


def test_dates_are_found_in_any_form_and_codes_letter_by_letter() -> None:
    population = ["2020-02-01", "01.02.2020", "2020/02/01", "2020-02-01 00:00", "2020-02-02", "no"]
    assert codes_of(["2020-01-01", "2020-02-01"], Scale.DATE, population) == [1, 1, 1, 1, -1, -1]
    assert codes_of(["007", "7"], Scale.CATEGORY, ["007", "7", "07", 7]) == [0, 1, -1, 1]


def test_a_whole_number_column_that_pandas_made_float_fits_its_population(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    ages, sex = random.integers(20, 60, 120), random.choice(["m", "f"], 120)
    pl.DataFrame({"age": ages, "sex": sex}).write_csv(tmp_path / "population.csv")
    table = pd.DataFrame({"age": ages.astype(float), "sex": sex})
    settings = {"quasi": ["age", "sex"], "models": ["k-map:5"], "population": tmp_path / "population.csv"}
    same = shoal.anonymize(pd.DataFrame({"age": ages, "sex": sex}), algorithm="mondrian", **settings)
    as_float = shoal.anonymize(table, algorithm="mondrian", **settings)
    assert as_float.certificate["checks"] == same.certificate["checks"]
    table.loc[0, "age"] = float("nan")
    for output in (None, tmp_path / "release.csv"):
        found = shoal.anonymize(table, algorithm="mondrian", output=output, **settings)
        assert found.certificate["passed"]


@pytest.mark.parametrize("name", ["persons", "weight", "owner", "q0"])
def test_a_quasi_identifier_may_have_any_name(name: str, tmp_path: Path) -> None:
    table = pl.DataFrame({name: [number % 9 for number in range(90)], "id": range(90)})
    table.write_csv(tmp_path / "population.csv")
    for person in (None, "id"):
        made = shoal.anonymize(
            table,
            quasi=[name],
            models=["k-map:5"],
            person=person,
            identifiers=() if person else ("id",),
            population=tmp_path / "population.csv",
            algorithm="mondrian",
        )
        assert made.certificate["checks"][0]["measured"] == 10.0
