from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.errors import InputError
from shoal.tables.frames.frames import to_polars

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


def every_pandas_type() -> Any:
    return pd.DataFrame(
        {
            "int": np.array([1, 2, 3], dtype=np.int32),
            "nullable int": pd.array([1, None, 3], dtype="Int64"),
            "float": [1.5, np.nan, 3.0],
            "nullable float": pd.array([1.5, None, 3.0], dtype="Float64"),
            "bool": [True, False, True],
            "nullable bool": pd.array([True, None, False], dtype="boolean"),
            "object text": pd.Series(["a", None, np.nan], dtype=object, index=[9, 7, 8]),
            "object date": np.array([dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)], dtype=object),
            "object decimal": np.array([Decimal("1.1"), None, Decimal("2.2")], dtype=object),
            "text": pd.array(["a", None, ""], dtype="string"),
            "category": pd.Categorical(["u", None, "v"], categories=["v", "unused", "u"]),
            "ordered": pd.Categorical(["low", "high", None], categories=["low", "high"], ordered=True),
            "category of ints": pd.Categorical([10, 20, None]),
            "datetime": pd.to_datetime(["2020-01-01 10:00", None, "2021-06-01 00:00"]),
            "zoned": pd.to_datetime(["2020-01-01 10:00", None, "2021-06-01 00:00"]).tz_localize("Europe/Berlin"),
            "duration": pd.to_timedelta(["1 day", None, "2 hours"]),
            "sparse": pd.arrays.SparseArray([0, 0, 1]),
            "arrow int": pd.array([1, None, 3], dtype="int64[pyarrow]"),
            "arrow text": pd.array(["a", None, "b"], dtype="string[pyarrow]"),
            "arrow date": pd.array([dt.date(2020, 1, 1), None, None], dtype=pd.ArrowDtype(pa.date32())),
            "empty": np.array([None, None, None], dtype=object),
        },
        index=pd.Index([9, 7, 8], name="key"),
    )


def test_pandas_values_in_polars() -> None:
    frame, _ = to_polars(every_pandas_type())
    row = frame.row(1, named=True)
    assert {name for name, value in row.items() if value is not None} == {
        "int",
        "bool",
        "ordered",
        "category of ints",
        "sparse",
    }
    assert frame["nullable int"].to_list() == [1, None, 3]
    assert frame["float"].to_list() == [1.5, None, 3.0]
    assert frame["object text"].to_list() == ["a", None, None]
    assert frame["category"].dtype == pl.Categorical
    assert frame["ordered"].dtype == pl.Enum(["low", "high"])
    assert frame["category of ints"].to_list() == [10, 20, None]
    assert frame["zoned"].dtype.time_zone == "Europe/Berlin"
    assert frame["object date"].dtype == pl.Date
    assert frame["empty"].dtype == pl.String


def test_unchanged_pandas_frame_comes_back_equal_and_input_is_untouched() -> None:
    original = every_pandas_type()
    copy = original.copy(deep=True)
    frame, way_back = to_polars(original)
    restored = way_back.restore(frame)
    expected = copy.reset_index(drop=True)
    expected["category"] = expected["category"].cat.remove_unused_categories()
    expected["object text"] = pd.Series(["a", None, None], dtype=object)
    pd.testing.assert_frame_equal(restored, expected)
    restored.loc[0, "int"] = 77
    pd.testing.assert_frame_equal(original, copy)


def test_changed_pandas_columns_get_the_nearest_type() -> None:
    original = every_pandas_type()
    frame, way_back = to_polars(original)
    changed = frame.drop("int", "duration").with_columns(
        pl.lit("[1, 3]").alias("float"),
        (pl.col("nullable int") + 1),
        pl.lit("*").alias("category"),
        pl.Series("object text", ["*", "b", None]),
        pl.Series("text", ["*", "b", None]),
        (pl.col("nullable float") * 2),
        pl.Series("bool", [None, True, False]),
        pl.Series("new", [1, None, 2]),
    )
    restored = way_back.restore(changed)
    assert list(restored.columns) == changed.columns
    assert str(restored["nullable int"].dtype) == "Int64"
    assert str(restored["nullable float"].dtype) == "Float64"
    assert str(restored["bool"].dtype) == "boolean"
    assert str(restored["new"].dtype) == "Int64"
    assert restored["object text"].dtype == object
    assert str(restored["text"].dtype) == "string"
    assert restored["float"].tolist() == ["[1, 3]"] * 3
    assert restored["category"].tolist() == ["*"] * 3
    assert restored["nullable int"].tolist() == [2, pd.NA, 4]
    assert isinstance(restored["ordered"].dtype, pd.CategoricalDtype)
    assert restored["zoned"].equals(original["zoned"].reset_index(drop=True))


def test_some_rows_come_back_in_their_order() -> None:
    original = every_pandas_type().drop(columns=["object text", "category"])
    frame, way_back = to_polars(original)
    rows = np.array([2, 0])
    restored = way_back.restore(frame[rows], rows)
    expected = original.iloc[rows].reset_index(drop=True)
    for name in ("ordered", "category of ints"):
        expected[name] = expected[name].cat.remove_unused_categories()
    pd.testing.assert_frame_equal(restored, expected)
    table = pa.table({"a": [1, 2, 3]})
    frame, way_back = to_polars(table)
    assert way_back.restore(frame[rows], rows).to_pydict() == {"a": [3, 1]}
    with pytest.raises(ValueError, match="number of rows"):
        way_back.restore(frame[rows])


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", 2)], names=["x", "y"]),
        pd.Index(["Ada", "Bob", "Cleo"]),
        pd.Index([4711, 4712, 4713], name="patient"),
        pd.RangeIndex(3, name="patient"),
        pd.RangeIndex(10, 13),
        pd.RangeIndex(2, -1, -1),
        pd.RangeIndex(3),
    ],
)
def test_an_index_does_not_come_back(index: Any) -> None:
    original = pd.DataFrame({"v": ["1", "2", "3"]}, index=index)
    frame, way_back = to_polars(original)
    assert frame.columns == ["v"]
    for released in (frame, frame.with_columns(pl.lit("*").alias("v"))):
        restored = way_back.restore(released)
        pd.testing.assert_index_equal(restored.index, pd.RangeIndex(3), exact=True)
        assert restored["v"].tolist() == released["v"].to_list()
    assert original.index.equals(index)


def test_mixed_columns_are_named_and_no_value_is_told() -> None:
    original = pd.DataFrame({"fine": [1, 2], "m1": ["SECRET", 1], "m2": [1.5, [1]]}, dtype=object)
    with pytest.raises(InputError) as caught:
        to_polars(original)
    assert [(p.reason, p.column) for p in caught.value.problems] == [("mixed-types", "m1"), ("mixed-types", "m2")]
    assert "SECRET" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        to_polars(pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)}))
    assert caught.value.reasons == ("mixed-types",)


def test_types_that_cannot_be_read() -> None:
    original = pd.DataFrame({"c": np.array([1 + 2j, 3j]), "i": pd.interval_range(0, 2), "ok": [1, 2]})
    with pytest.raises(InputError) as caught:
        to_polars(original)
    assert {p.column for p in caught.value.problems} <= {"c", "i"}
    assert "c" in {p.column for p in caught.value.problems}


def test_column_names() -> None:
    with pytest.raises(InputError) as caught:
        to_polars(pd.DataFrame([[1, 2, 3]], columns=["a", "a", 5]))
    assert caught.value.reasons == ("column-name-not-text", "duplicate-column")
    with pytest.raises(InputError) as caught:
        to_polars(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    assert caught.value.reasons == ("duplicate-column",)


@pytest.mark.parametrize(
    "thing", [None, 5, "table.csv", {"a": [1]}, [[1]], np.zeros((2, 2)), pl.Series([1]), pd.Series([1])]
)
def test_other_things_are_no_frames(thing: Any) -> None:
    with pytest.raises(InputError) as caught:
        to_polars(thing)
    assert caught.value.reasons == ("unknown-frame",)


def test_polars_frames() -> None:
    original = pl.DataFrame({"a": [1, None], "c": pl.Series(["x", "y"], dtype=pl.Categorical)})
    for given in (original, original.lazy()):
        frame, way_back = to_polars(given)
        assert_frame_equal(frame, original)
        assert_frame_equal(way_back.restore(frame), original)


def test_arrow_tables_keep_types_and_lose_notes() -> None:
    original = pa.table(
        {
            "i": pa.array([1, None, 3], pa.int16()),
            "s": pa.array(["a", None, ""], pa.string()),
            "d": pa.array(["x", "y", "x"]).dictionary_encode(),
            "t": pa.array([1, 2, None], pa.timestamp("ms", "Asia/Tokyo")),
            "n": pa.array([Decimal("1.10"), None, Decimal("2.25")]),
        }
    )
    noted = pa.schema(
        [field.with_metadata({"note": "of a column"}) for field in original.schema], {"r": "row names", "pandas": "{}"}
    )
    frame, way_back = to_polars(original.cast(noted))
    restored = way_back.restore(frame)
    assert restored.equals(original, check_metadata=True)
    changed = way_back.restore(frame.drop("t").with_columns(pl.lit("*").alias("s")))
    assert changed.schema.names == ["i", "s", "d", "n"]
    assert changed.schema.field("i").type == pa.int16()
    assert changed.schema.field("d").type == original.schema.field("d").type
    assert changed.column("s").to_pylist() == ["*"] * 3
    assert changed.schema.metadata is None


def test_pandas_from_a_parquet_file_with_index_notes() -> None:
    original = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]))
    frame, way_back = to_polars(original)
    assert way_back.restore(frame).to_pandas()["__index_level_0__"].tolist() == ["x", "y"]  # a column like others
    assert way_back.restore(frame).to_pandas().index.tolist() == [0, 1]
    assert way_back.restore(frame.drop("__index_level_0__")).to_pandas().index.tolist() == [0, 1]
