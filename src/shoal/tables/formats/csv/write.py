"""Frames into CSV files: UTF-8, LF line ends, quotes only where needed, the same bytes for the same frame.

Null is written as an empty cell and an empty text as `""`, so that both come back as what they were. In a table of
one text column null is written as `""` too, because many readers take an empty line for no record at all.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.csv.options import CsvOptions

_NOT_FOR_TEXT = (pl.List, pl.Array, pl.Struct, pl.Binary, pl.Object)
GZIP_LEVEL = 6


def write_csv(frame: pl.DataFrame, path: Path | str, options: CsvOptions | None = None) -> None:
    """Write with the delimiter and header of `options` (those found while reading), packed if `path` ends in .gz."""
    path, options = Path(path), options or CsvOptions()
    problems = [
        Problem("not-for-csv", f"values of type {dtype} cannot be written to CSV", column=name, hint="use Parquet")
        for name, dtype in frame.schema.items()
        if isinstance(dtype, _NOT_FOR_TEXT)
    ]
    if problems:
        raise InputError(problems)
    if path.suffix.lower() == ".gz":
        # no name and no time in the gzip header: the same table gives the same bytes
        with path.open("wb") as raw, gzip.GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0) as packed:
            write_rows(frame, cast(BinaryIO, packed), options)
    else:
        with path.open("wb") as file:
            write_rows(frame, file, options)


def write_rows(frame: pl.DataFrame, file: BinaryIO, options: CsvOptions, *, first: bool = True) -> None:
    """Write the records of a frame; unless they are the `first` of the file, no header goes before them."""
    if frame.width == 1:
        frame = frame.with_columns(pl.col(pl.String).fill_null(""))
    frame = frame.with_columns(pl.col(pl.Time).cast(pl.String))  # 08:15:00 as everywhere else, without nanoseconds
    header = options.header is not False and first
    frame.write_csv(
        file,
        include_bom=first and _begins_with_mark(frame, header),
        include_header=header,
        separator=options.delimiter or ",",
        line_terminator="\n",
        quote_char='"' if options.delimiter != '"' else "'",
        null_value="",
        quote_style="necessary",
    )


def as_csv_cells(frame: pl.DataFrame, options: CsvOptions, *, alone: bool) -> pl.DataFrame:
    """The cells as they read in a CSV file that holds them: written and read, in memory.

    `alone`: the file has no other columns, so that a null of a single column is written as an empty text.
    """
    from shoal.tables.formats.csv.read import read_records
    from shoal.tables.formats.csv.scan import scan

    written = frame if alone else frame.with_columns(pl.lit("-").alias("".join([*frame.columns, "-"])))
    options = replace(options, delimiter=options.delimiter or ",", header=True)
    buffer = BytesIO()
    write_rows(written, buffer, options)
    data = np.frombuffer(buffer.getvalue(), dtype=np.uint8)
    delimiter, quote = str(options.delimiter), str(options.quote or '"')
    cells = read_records(data, scan(data, delimiter, quote), delimiter, quote).slice(1)
    return pl.DataFrame({name: cells.to_series(place) for place, name in enumerate(frame.columns)})


def _begins_with_mark(frame: pl.DataFrame, header: bool) -> bool:
    """Whether the first text begins with a byte order mark, which readers would drop; a real one in front saves it."""
    if frame.width == 0 or (not header and frame.height == 0):
        return False
    first = frame.columns[0] if header else frame[0, 0]
    return isinstance(first, str) and first.startswith("\ufeff")
