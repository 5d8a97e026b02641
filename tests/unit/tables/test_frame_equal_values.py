"""Values that the check takes for one come back as one; kept values come back exactly."""

from __future__ import annotations

import datetime as dt
import pickle
import struct
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.tables.frames.frames import to_polars

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

ZEROS = [0.0, -0.0, 5.0, 5.0]
NAN, OTHER_NAN = struct.unpack("<2d", bytes.fromhex("000000000000f87f" + "010000000000f87f"))
BERLIN = dt.timezone(dt.timedelta(hours=1))
LARGE = [2**53 + 1, 2**62 + 1, None, 1]


def objects(*values: Any) -> Any:
    return pd.Series(values, dtype=object)


def released(frame: Any) -> Any:
    kept = [name for name in to_polars(frame)[0].columns if name != "q"]
    return shoal.anonymize(frame, quasi=["q"], keep=kept, allow=kept, k=2).release


def kept(column: Any) -> Any:
    return released(pd.DataFrame({"q": ["a", "a", "b", "b"], "kept": column}))["kept"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float32", "Float64", "double[pyarrow]", "object", "Sparse"])
def test_signed_zeros_in_pandas(dtype: str) -> None:
    column = pd.Series(ZEROS).astype(pd.SparseDtype("float64", 7.0) if dtype == "Sparse" else dtype)
    release = released(pd.DataFrame({"q": column}))
    assert release["q"].dtype == column.dtype
    assert [str(float(value)) for value in release["q"]] == ["0.0", "0.0", "5.0", "5.0"]
    assert "-" not in release.to_csv()
    assert shoal.verify(release, quasi=["q"], k=2).passed
    assert str(float(column[1])) == "-0.0"


def test_signed_zeros_in_polars_and_arrow() -> None:
    assert [str(value) for value in released(pl.DataFrame({"q": ZEROS}))["q"]] == ["0.0", "0.0", "5.0", "5.0"]
    for kind in (pa.float32(), pa.float64()):
        release = released(pa.table({"q": pa.array(ZEROS, kind)}))
        assert release.schema.field("q").type == kind
        assert [str(value) for value in release["q"].to_pylist()] == ["0.0", "0.0", "5.0", "5.0"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_not_a_number_has_one_form(kind: str) -> None:
    column = np.array([NAN, OTHER_NAN, 5.0, 5.0])
    assert len(set(column.view(np.int64).tolist())) == 3
    makers = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
    release = released(makers[kind]({"q": column}))
    shown = np.asarray(release["q"].to_numpy(), dtype=np.float64)
    assert len(set(shown.view(np.int64).tolist())) == 2


def test_missing_and_not_a_number_are_one() -> None:
    assert released(pl.DataFrame({"q": [NAN, None, 5.0, 5.0]}))["q"].to_list() == [None, None, 5.0, 5.0]
    masked = pd.arrays.FloatingArray(np.array([NAN, 3.0, 5.0, 5.0]), np.array([False, True, False, False]))
    assert released(pd.DataFrame({"q": masked}))["q"].tolist() == [pd.NA, pd.NA, 5.0, 5.0]
    assert released(pd.DataFrame({"q": objects(None, np.nan, "a", "a")}))["q"].tolist() == [None, None, "a", "a"]
    day = dt.date(2020, 1, 1)
    assert released(pd.DataFrame({"q": objects(pd.NaT, None, day, day)}))["q"].tolist() == [None, None, day, day]


@pytest.mark.parametrize(
    "column",
    [
        objects(Decimal("1.0"), Decimal("1.00"), Decimal("2"), Decimal("2.0")),
        objects(Decimal("0.0"), Decimal("-0.00"), Decimal("2"), Decimal("2.0")),
        objects(*[dt.datetime(2020, 1, 1, 1, tzinfo=BERLIN), dt.datetime(2020, 1, 1, 0, tzinfo=dt.UTC)] * 2),
        objects(*[pd.Timestamp(7, tz="UTC"), pd.Timestamp(7, tz="Asia/Tokyo")] * 2),
        objects(*[pd.Timestamp(1), pd.Timestamp(2)] * 2),
        objects(*[pd.Timestamp(1), pd.Timestamp(2), pd.Timestamp(1), pd.Timestamp(3)]),
        objects(np.float32(0.1), float(np.float32(0.1)), 5.0, 5.0),
        objects(True, np.bool_(True), False, False),
        objects(1, np.int64(1), 2, 2),
    ],
)
def test_equal_python_values_have_one_form(column: Any) -> None:
    values = released(pd.DataFrame({"q": column}))["q"].tolist()
    shown = [repr(value) for value in values]
    assert all(shown.count(one) >= 2 for one in shown)


def test_moments_of_one_instant_in_arrow_and_pandas() -> None:
    zoned = pd.to_datetime(["2020-01-01 10:00"] * 2 + ["2021-06-01 00:00"] * 2).tz_localize("Europe/Berlin")
    assert released(pd.DataFrame({"q": zoned}))["q"].tolist() == list(zoned)
    repeated = pd.to_datetime(["2020-10-25 00:30", "2020-10-25 01:30"] * 2, utc=True).tz_convert("Europe/Berlin")
    release = released(pd.DataFrame({"q": repeated}))  # one time of day, twice in that night
    assert shoal.verify(release, quasi=["q"], k=2).passed
    assert release["q"].nunique() in (1, 2)


@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "int64[pyarrow]", "object"])
def test_large_integers_are_kept_exactly(dtype: str) -> None:
    column = kept(pd.Series(LARGE, dtype=object).astype(dtype))
    assert str(column.dtype) == dtype
    assert [None if value is None or value is pd.NA else int(value) for value in column] == LARGE
    assert str(2**53 + 1) in column.to_csv()


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "object"])
def test_large_integers_as_quasi_identifiers_are_exact(dtype: str) -> None:
    values = [2**53 + 1, 2**53 + 1, None, None]
    column = released(pd.DataFrame({"q": pd.Series(values, dtype=object).astype(dtype)}))["q"]
    assert [None if value is None or value is pd.NA else int(value) for value in column] == values


def test_some_rows_of_large_integers_next_to_missing_ones() -> None:
    frame, way_back = to_polars(pd.DataFrame({"n": pd.array(LARGE, dtype="Int64")}))
    assert way_back.restore(frame.select(pl.col("n") - 1))["n"].tolist() == [2**53, 2**62, pd.NA, 0]
    _, way_back = to_polars(pd.DataFrame({"n": [1.5, 2.5, 3.5, 4.5]}))
    assert way_back.restore(frame)["n"].tolist() == [2**53 + 1, 2**62 + 1, pd.NA, 1]


def test_big_python_integers() -> None:
    assert kept(objects(2**70 + 1, 2**63, None, 1)).tolist() == [2**70 + 1, 2**63, None, 1]
    big = objects(2**70 + 1, 2**70 + 1, 2**70, 2**70)
    assert released(pd.DataFrame({"q": big}))["q"].nunique() in (1, 2)
    frame, way_back = to_polars(pd.DataFrame({"n": objects(2**70, None)}))
    assert way_back.restore(frame.select(pl.col("n") + 1))["n"].tolist() == [2**70 + 1, None]
    with pytest.raises(InputError) as caught:
        kept(objects(2**200 + 1, 1, 1, 1))
    assert caught.value.reasons == ("unknown-type",)
    assert str(2**200 + 1) not in str(caught.value)


def test_kept_moments_are_as_fine_as_they_were() -> None:
    moments = [pd.Timestamp(1), pd.Timestamp(2), None, None]
    assert kept(objects(*moments)).tolist() == moments


def test_nothing_is_left_of_a_larger_frame_or_under_missing_values() -> None:
    number = 1234567890123456789
    whole = pd.DataFrame({"q": ["a", "a", "b", "b", "SECRET"], "n": pd.array([number, 1, 2, 3, number], dtype="Int64")})
    whole["arrow"] = whole["n"].astype("int64[pyarrow]")
    whole["text"] = whole["q"].astype("string[pyarrow]")
    whole.loc[0, "n"] = pd.NA
    release = released(whole.iloc[:4].drop(columns="arrow"))
    content = pickle.dumps(release)
    assert b"SECRET" not in content
    assert number.to_bytes(8, "little") not in content
    table = pa.table({"q": whole["q"], "n": pa.array([5, 1, 2, 3, number])})
    release = released(table.slice(0, 4))
    buffers = [buffer for column in release.columns for chunk in column.chunks for buffer in chunk.buffers() if buffer]
    assert not any(b"SECRET" in part.to_pybytes() for part in buffers)
    assert not any(number.to_bytes(8, "little") in part.to_pybytes() for part in buffers)


def test_moments_with_and_without_zone_are_two_kinds() -> None:
    naive, zoned = dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    with pytest.raises(InputError) as caught:
        kept(objects(naive, zoned, None, None))
    assert caught.value.reasons == ("mixed-types",)
    assert "2020" not in str(caught.value)


@pytest.mark.parametrize(
    ("codes", "entries", "expected"),
    [
        ([0, 1, 2, 2], [0.0, -0.0, 1.0], [0.0, 1.0]),
        ([0, 1, 2, 2], ["a", "a", "b"], ["a", "b"]),
        ([0, None, 2, 2], [None, "a", "b"], ["b"]),
        ([None, None, None, None], ["a", "b"], []),
    ],
)
def test_entries_of_arrow_dictionaries_are_distinct(codes: list[Any], entries: list[Any], expected: list[Any]) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int16()), pa.array(entries))
    release = released(pa.table({"q": column}))["q"]
    assert release.type == column.type
    assert [str(value) for value in release.chunk(0).dictionary.to_pylist()] == [str(value) for value in expected]
    present = [None if code is None else entries[code] for code in codes]
    assert release.to_pylist() == present
    shown = release.chunk(0).indices.to_pylist()
    assert all(shown.count(one) >= 2 for one in shown)


def test_empty_frames_come_back() -> None:
    empty = pa.table(
        {"d": pa.chunked_array([], pa.dictionary(pa.int8(), pa.string())), "n": pa.chunked_array([], "f4")}
    )
    frame, way_back = to_polars(empty)
    assert way_back.restore(frame).schema == empty.schema
    nothing = pd.DataFrame({"c": pd.Categorical([]), "o": objects(), "a": pd.Series([], dtype="int64[pyarrow]")})
    frame, way_back = to_polars(nothing)
    assert way_back.restore(frame).dtypes.tolist() == nothing.dtypes.tolist()


def test_what_cannot_be_read_is_told_without_a_value() -> None:
    wide = pa.table({"a": pa.array([Decimal(1), Decimal(2)], pa.decimal256(60, 0))})
    large = pd.DataFrame({"a": [Decimal(10) ** 80, Decimal(10) ** 81]}, dtype=object)
    broken = pl.LazyFrame({"a": ["secret"]}).select(pl.col("a").str.to_integer(strict=True))
    for frame in (wide, large, broken):
        with pytest.raises(InputError) as refused:
            to_polars(frame)
        assert "secret" not in str(refused.value)
