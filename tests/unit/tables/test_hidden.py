from __future__ import annotations

import io
from pathlib import Path

import polars as pl
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


def test_all_null_and_empty_columns() -> None:
    frame = pl.DataFrame({"a": [None, None], "b": pl.Series([None, None], dtype=pl.Date), "c": [[1], None]})
    assert_frame_equal(without_hidden_values(frame), frame)
    assert_frame_equal(without_hidden_values(frame.clear()), frame.clear())
