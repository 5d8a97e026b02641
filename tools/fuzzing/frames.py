"""A case as the frame or file that it goes in by, and released frames and files as plain cells."""

from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from fuzzing.values import Column, single, typed

FRAMES = ("polars", "pandas", "pandas-nullable", "pandas-arrow", "pyarrow")
FILES = ("csv", "parquet", "arrow")

_POLARS: dict[str, Any] = {
    "text": pl.String,
    "int64": pl.Int64,
    "int8": pl.Int8,
    "uint64": pl.UInt64,
    "huge": pl.Int128,
    "float": pl.Float64,
    "float32": pl.Float32,
    "date": pl.Date,
    "time": pl.Time,
    "bool": pl.Boolean,
}
_NULLABLE = {"int64": "Int64", "int8": "Int8", "uint64": "UInt64", "float": "Float64", "bool": "boolean"}


def as_frame(columns: dict[str, Column], kind: str) -> Any:
    """The columns as a frame of this kind."""
    if kind == "polars":
        return pl.DataFrame({name: polars_series(name, column) for name, column in columns.items()})
    if kind == "pyarrow":
        return pa.table({name: arrow_array(column) for name, column in columns.items()})
    frame = pd.DataFrame({name: pandas_series(column, kind) for name, column in columns.items()})
    frame.index = pd.Index([f"person {number}" for number in range(len(frame))], name="who")
    return frame


def polars_series(name: str, column: Column) -> pl.Series:
    values = [typed(text, column) for text in column["values"]]
    if column["kind"] == "category":
        if column["ordered"]:
            return pl.Series(name, values, dtype=pl.Enum(column["categories"]))
        return pl.Series(name, values, dtype=pl.Categorical)
    if column["kind"] == "decimal":
        return pl.Series(name, values, dtype=pl.Decimal(38, 2))
    if column["kind"] == "datetime":
        plain = pl.Series(name, values, dtype=pl.Datetime(column["unit"]))
        return plain if column["zone"] is None else plain.dt.replace_time_zone(column["zone"])
    return pl.Series(name, values, dtype=_POLARS[column["kind"]])


def arrow_array(column: Column) -> pa.Array:
    values = [typed(text, column) for text in column["values"]]
    kind = column["kind"]
    if kind == "category":
        codes = [None if value is None else column["categories"].index(value) for value in values]
        indices = pa.array(codes, pa.int32())
        return pa.DictionaryArray.from_arrays(indices, pa.array(column["categories"]), ordered=column["ordered"])
    if kind == "huge":
        return pa.array([None if value is None else Decimal(value) for value in values], pa.decimal128(38, 0))
    if kind == "datetime":
        zone = column["zone"]
        stamps = [None if value is None else pd.Timestamp(value, tz=zone) for value in values]
        return pa.array(stamps, pa.timestamp(column["unit"], zone))
    types = {
        "text": pa.string(),
        "int64": pa.int64(),
        "int8": pa.int8(),
        "uint64": pa.uint64(),
        "float": pa.float64(),
        "float32": pa.float32(),
        "decimal": pa.decimal128(38, 2),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "bool": pa.bool_(),
    }
    return pa.array(values, types[kind])


def pandas_series(column: Column, kind: str) -> Any:
    values = [typed(text, column) for text in column["values"]]
    what = column["kind"]
    if what == "category":
        return pd.Categorical(values, categories=column["categories"], ordered=column["ordered"])
    if kind == "pandas-arrow" and what not in ("huge",):
        array = arrow_array(column)
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))
    if what == "datetime":
        stamps = pd.Series(pd.to_datetime(pd.Series(values, dtype=object)))
        stamps = stamps.dt.as_unit(column["unit"])
        return stamps if column["zone"] is None else stamps.dt.tz_localize(column["zone"])
    if kind == "pandas-nullable" and what in _NULLABLE:
        return pd.array(values, dtype=_NULLABLE[what])
    if what in ("int64", "int8", "uint64", "bool") and None not in values:
        return pd.Series(values, dtype=what)
    if what in ("float", "float32"):
        return pd.Series([float("nan") if value is None else value for value in values], dtype=_numpy_float(what))
    if what == "text" and kind == "pandas":
        return pd.Series(values, dtype="str")
    return pd.Series(values, dtype=object)


def _numpy_float(what: str) -> str:
    return "float64" if what == "float" else "float32"


def write_file(columns: dict[str, Column], path: Path) -> None:
    """An input file, written without the code under test."""
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            for row in zip(*(column["values"] for column in columns.values()), strict=True):
                writer.writerow(["" if text is None else text for text in row])
    elif path.suffix == ".parquet":
        pa.parquet.write_table(as_frame(columns, "pyarrow"), path)
    else:
        pa.feather.write_feather(as_frame(columns, "pyarrow"), path, compression="uncompressed")


Cells = dict[str, list[Any]]  # a released table: Python values by column


def typed_cells(frame: Any) -> Cells:
    """What a program sees that looks at the values of a released frame."""
    if isinstance(frame, pl.DataFrame):
        return {name: frame[name].to_list() for name in frame.columns}
    if isinstance(frame, pa.Table):
        return {name: frame.column(name).to_pylist() for name in frame.column_names}
    return {name: list(frame[name]) for name in frame.columns}


def text_cells(frame: Any, names: list[str]) -> dict[str, list[str]]:
    """What a reader sees who writes the released frame to CSV."""
    if isinstance(frame, pl.DataFrame):
        text = frame.select(names).write_csv()
    elif isinstance(frame, pa.Table):
        sink = io.BytesIO()
        plain = [_without_dictionary(frame.column(name)) for name in names]
        pa.csv.write_csv(pa.table(plain, names=names), sink)
        text = sink.getvalue().decode()
    else:
        text = frame[names].to_csv(index=False, lineterminator="\n")
    return read_csv_text(text)


def _without_dictionary(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_decimal(column.type) else column


def read_csv_text(text: str) -> dict[str, list[str]]:
    rows = list(csv.reader(io.StringIO(text, newline="")))
    header, body = rows[0], rows[1:]
    body = [row if row else [""] for row in body]  # one column, and an empty cell in it: an empty line
    return {name: [row[number] for row in body] for number, name in enumerate(header)}


def read_file(path: Path) -> Cells:
    """A released file, read without the code under test."""
    if path.suffix == ".csv":
        return dict(read_csv_text(path.read_text(encoding="utf-8")))
    if path.suffix == ".parquet":
        return typed_cells(pa.parquet.read_table(path))
    return typed_cells(pa.feather.read_table(path))


def shown(value: Any) -> tuple[str, str]:
    """All that Python tells of a value: two cells are alike only if this is."""
    if value is None or value is pd.NaT or value is pd.NA:
        return type(value).__name__, ""
    return type(value).__name__, repr(value)


def plain_text(value: Any, kind: str = "") -> str:
    """One text for a value, however the frame or file that holds it spells it: for comparing two forms of a release."""
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return ""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return _moment_text(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    text = str(value)
    if text in ("NaN", "nan"):
        return ""
    if kind == "float32":
        text = _single_text(text)
    return _number_text(text)


def _single_text(text: str) -> str:
    """A number of 32 bits by its shortest text, or with all the digits that its 64 bits have: one number."""
    try:
        return repr(single(text))
    except ValueError:
        return text


def _moment_text(value: dt.datetime) -> str:
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC)
    text = value.replace(tzinfo=None).isoformat(sep=" ")
    return text.removesuffix(" 00:00:00")  # a day: some frames hold days as moments


def _number_text(text: str) -> str:
    try:
        number = Decimal(text.strip())
    except ArithmeticError:
        return _as_moment(text)
    if not number.is_finite():
        return text
    if number == 0:
        return "0"
    return f"{number.normalize():f}" if abs(number) < Decimal("1e30") else f"{float(number)!r}"


def _as_moment(text: str) -> str:
    if len(text) >= 16 and text[4:5] == "-" and ":" in text:
        try:
            return _moment_text(dt.datetime.fromisoformat(text))
        except ValueError:
            return text
    return text[:-10] if len(text) == 18 and text.endswith(".000000000") else text


def leftovers(frame: Any) -> list[str]:
    """Columns of a released frame whose type names categories that no record has."""
    found = []
    if isinstance(frame, pl.DataFrame):
        for name, dtype in frame.schema.items():
            if isinstance(dtype, pl.Enum) and set(dtype.categories) - set(frame[name].drop_nulls().cast(pl.String)):
                found.append(name)
    elif isinstance(frame, pa.Table):
        for name in frame.column_names:
            column = frame.column(name)
            if pa.types.is_dictionary(column.type):
                listed = {value for chunk in column.chunks for value in chunk.dictionary.to_pylist()}
                if listed - set(column.to_pylist()):
                    found.append(name)
    else:
        for name in frame.columns:
            is_category = isinstance(frame[name].dtype, pd.CategoricalDtype)
            if is_category and set(frame[name].cat.categories) - set(frame[name].dropna()):
                found.append(name)
    return found
