"""The key of a release: which row of the input became which row of the file. For the holder of the data alone.

It is a table in any format with the columns `input_row` and `released_row`, counted from 1. Whoever has it and the
input undoes the release; it is written so that its owner alone can read it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.files import read_table, write_table
from shoal.tables.row_order import RowNumbers, inverse

INPUT_ROW, RELEASED_ROW = "input_row", "released_row"


def write_key(order: RowNumbers, path: Path) -> None:
    """`order` tells which record each row of the file is."""
    places = inverse(order) + 1
    rows = np.arange(1, places.shape[0] + 1, dtype=np.int64)
    write_table(pl.DataFrame({INPUT_ROW: rows, RELEASED_ROW: places}), path)


def read_key(path: Path, rows: int) -> RowNumbers:
    """(records,) the row of the file, from 0, of every record. Raises InputError if it is no key of so many rows."""
    frame = read_table(path).frame
    wrong = InputError(Problem("bad-key", f"'{path}' is not the key of a release with {rows:,} records"))
    if frame.columns != [INPUT_ROW, RELEASED_ROW] or frame.height != rows:
        raise wrong
    numbers = frame.cast(pl.Int64, strict=False)
    if numbers.null_count().sum_horizontal().item():
        raise wrong
    numbers = numbers.sort(INPUT_ROW)
    every = np.arange(1, rows + 1)
    places = numbers[RELEASED_ROW].to_numpy()
    if not (np.array_equal(numbers[INPUT_ROW], every) and np.array_equal(np.sort(places), every)):
        raise wrong
    return (places - 1).astype(np.int64)
