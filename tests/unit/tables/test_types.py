"""Columns without texts come apart into columns with texts, whatever memory they are stored in."""

from __future__ import annotations

import datetime as dt
import hashlib

import polars as pl

from shoal.pipeline.certificate import frame_hash
from shoal.tables.types import has_text, with_text


def test_every_type_that_has_texts_has_them() -> None:
    plain = [pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(10, 2), pl.Boolean, pl.Date, pl.Time, pl.Null]
    plain += [pl.String, pl.Categorical, pl.Enum(["a"]), pl.Datetime("ms", "UTC")]
    for dtype in plain:
        column = pl.Series("x", [None], dtype=dtype)
        assert has_text(column.dtype)
        column.to_frame().write_csv()
        column.cast(pl.String)
    for dtype in (pl.List(pl.Int8), pl.Array(pl.Int8, 1), pl.Struct({"a": pl.Int8}), pl.Binary, pl.Duration("us")):
        assert not has_text(pl.Series("x", [None], dtype=dtype).dtype)


def test_nested_types_come_apart() -> None:
    wait = dt.timedelta(microseconds=5)
    column = pl.Series([[{"a": [b"\x0f"], "d": wait}, None], None, []])
    assert [part.to_list() for part in with_text(column)] == [
        [2, None, 0],  # lengths
        [False, True],  # which structures are null
        [1, None],
        ["0f"],
        [5, None],
    ]


DIFFERENT = [
    [[1, 2], None, [], [3]],
    [[1, 2], [], None, [3]],
    [[1], [2], None, [3]],
    [[1, 2], None, [None], [3]],
    [[1, 2], None, [], [4]],
]


def test_the_hash_tells_lists_apart() -> None:
    assert len({frame_hash(pl.DataFrame({"x": rows}, schema={"x": pl.List(pl.Int64)})) for rows in DIFFERENT}) == 5


def test_the_hash_does_not_depend_on_memory() -> None:
    frame = pl.DataFrame({"n": [1, 2, 3], "x": [[1, 2], None, [3]]})
    parts = pl.concat([frame.head(1), frame.tail(2)], rechunk=False)
    hidden = pl.DataFrame({"n": [1, 2, 3], "x": [[1, 2], [9, 9], [3]]}).with_columns(
        pl.when(pl.col("n") != 2).then("x").alias("x")
    )
    assert frame_hash(frame) == frame_hash(parts) == frame_hash(hidden)


def test_the_hash_of_a_plain_frame_stays_that_of_its_rows() -> None:
    frame = pl.DataFrame({"n": [1, 2], "day": [dt.date(2024, 2, 29), None], "t": ["a", "b, c"]})
    types = "[('n', 'Int64'), ('day', 'Date'), ('t', 'String')]"
    rows = '"n","day","t"\n"1","2024-02-29","a"\n"2","","b, c"\n'
    assert frame_hash(frame) == hashlib.sha256((types + rows).encode()).hexdigest()
