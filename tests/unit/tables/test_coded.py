"""Columns as numbers: the same values come back, whatever the type of the column."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from shoal.tables.distinct import code_column, code_columns, text_codes, with_categories

COLUMNS = {
    "texts": pl.Series(["b", "a", None, "", "b"]),
    "no value at all": pl.Series([None, None], dtype=pl.String),
    "no record": pl.Series([], dtype=pl.String),
    "integers": pl.Series([3, None, 1, 3]),
    "floats": pl.Series([0.5, float("nan"), None, 0.5]),
    "dates": pl.Series([date(2020, 1, 2), None, date(2019, 1, 1), date(2020, 1, 2)]),
    "truths": pl.Series([True, False, None]),
    "categories": pl.Series(["x", "y", None, "x"], dtype=pl.Categorical),
    "ordered categories": pl.Series(["x", "y", "x"], dtype=pl.Enum(["y", "z", "x"])),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_values_and_codes_give_the_column_back(column: pl.Series) -> None:
    coded = code_column(column)
    assert coded.values.dtype == column.dtype
    assert coded.values.n_unique() == len(coded.values)
    assert coded.values.gather(coded.codes).equals(column, null_equal=True)


def test_every_column_gets_its_own_numbers() -> None:
    frame = pl.DataFrame({"a": ["x", "y", "x"], "b": ["y", "y", "x"], "c": [1, 2, 3]})
    coded = code_columns(frame, ["a", "b", "a"])
    assert list(coded) == ["a", "b"]
    assert coded["a"].codes.tolist() == [0, 1, 0]
    assert coded["b"].codes.tolist() == [0, 0, 1]


def test_categories_have_the_codes_of_their_texts() -> None:
    frame = pl.DataFrame({"a": ["x", None, "", "x"], "b": [1, 2, 3, 4]})
    compared = with_categories(frame, ["a", "b"])
    assert isinstance(compared.schema["a"], pl.Categorical)
    assert compared.schema["b"] == pl.Int64
    assert compared["a"].cast(pl.String).equals(frame["a"], null_equal=True)
    for column in (frame["a"], compared["a"], compared["a"].gather([1, 2, 3])):
        texts, codes = text_codes(column)
        assert texts.gather(codes).equals(column.cast(pl.String), null_equal=True)
        assert texts.to_list()[-1] is None
