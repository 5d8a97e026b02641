from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest
from polars.testing import assert_frame_equal

from shoal.tables.formats.arrow import write_arrow
from shoal.tables.formats.parquet import write_parquet
from shoal.tables.frames.frames import to_polars
from shoal.tables.frames.hidden import without_hidden_values

NUMBER = 1234567890123456789


def with_suppressed_cells() -> pl.DataFrame:
    frame = pl.DataFrame(
        {"n": [NUMBER, 5, None], "t": ["SECRET is longer than twelve", "x", "y"], "b": [True, False, None]}
    )
    first = pl.int_range(pl.len()) == 0
    return frame.with_columns(pl.when(first).then(None).otherwise(pl.all()).name.keep())


def holds_secret(content: bytes) -> bool:
    return b"SECRET" in content or NUMBER.to_bytes(8, "little") in content


def ipc_bytes(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_ipc(file, compression="uncompressed")
    return file.getvalue()


def test_the_danger_is_real() -> None:
    assert holds_secret(ipc_bytes(with_suppressed_cells()))


def test_nothing_is_left_under_nulls(tmp_path: Path) -> None:
    frame = with_suppressed_cells()
    clean = without_hidden_values(frame)
    assert_frame_equal(clean, frame)
    assert not holds_secret(ipc_bytes(clean))
    write_arrow(frame, tmp_path / "t.arrow")
    write_parquet(frame, tmp_path / "t.parquet")
    assert not holds_secret((tmp_path / "t.arrow").read_bytes())
    assert not holds_secret((tmp_path / "t.parquet").read_bytes())


def test_nothing_is_left_in_restored_frames() -> None:
    frame = with_suppressed_cells()
    _, polars_way = to_polars(frame)
    assert not holds_secret(ipc_bytes(polars_way.restore(frame)))
    _, arrow_way = to_polars(pl.DataFrame({"n": [1, 2, 3]}).to_arrow())
    table = arrow_way.restore(frame)
    buffers = [buffer for column in table.columns for chunk in column.chunks for buffer in chunk.buffers() if buffer]
    assert not any(holds_secret(buffer.to_pybytes()) for buffer in buffers)


def nested_with_hidden_values() -> pa.Table:
    """Structures and lists that are missing, with a value below; a dictionary within, with an entry that nobody has."""
    texts = pa.array(["SECRET is longer than twelve", "xx", "yy", "zz"])
    structures = pa.StructArray.from_arrays([texts], names=["c"], mask=pa.array([True, False, False, False]))
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 1], pa.int32()), pa.array(["a", "b", "SECRET entry"]))
    return pa.table(
        {
            "structure": structures,
            "in list": pa.ListArray.from_arrays(pa.array([0, 1, 1, 3, 4], pa.int32()), structures),
            "missing list": pa.ListArray.from_arrays(
                pa.array([0, 1, 2, 2, 4], pa.int32()), texts, mask=pa.array([True, False, False, False])
            ),
            "deep": pa.StructArray.from_arrays([structures, pa.array([1.5, None, 0.0, 2.0])], names=["s", "x"]),
            "fixed": pa.FixedSizeListArray.from_arrays(pa.concat_arrays([structures, structures]), 2),
            "coded": pa.StructArray.from_arrays([coded], names=["d"]),
        }
    )


def arrow_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "pandas"])
def test_nothing_is_left_within_lists_and_structures(kind: str, tmp_path: Path) -> None:
    table = nested_with_hidden_values()
    assert holds_secret(arrow_bytes(table))
    given: Any = table
    if kind == "polars":
        given = pl.from_arrow(table)
    elif kind == "pandas":
        given = table.to_pandas(types_mapper=pd.ArrowDtype)
    frame, way_back = to_polars(given)
    restored = way_back.restore(frame)
    seen = to_polars(restored)[0]
    assert seen.to_dicts() == frame.to_dicts()
    if kind == "polars":
        assert not holds_secret(ipc_bytes(restored))
    else:
        back = restored if kind == "pyarrow" else pa.Table.from_pandas(restored, preserve_index=False)
        assert not holds_secret(arrow_bytes(back))
        assert back.schema.field("structure").type == table.schema.field("structure").type
    write_arrow(frame, tmp_path / "t.arrow")
    assert not holds_secret((tmp_path / "t.arrow").read_bytes())


def test_all_null_and_empty_columns() -> None:
    frame = pl.DataFrame({"a": [None, None], "b": pl.Series([None, None], dtype=pl.Date), "c": [[1], None]})
    assert_frame_equal(without_hidden_values(frame), frame)
    assert_frame_equal(without_hidden_values(frame.clear()), frame.clear())
