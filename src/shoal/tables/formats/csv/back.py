"""A CSV file that was just written, read back for the check: the bytes on the disk, not what was meant to be written.

The file is our own and its form is known, so it is not copied into memory: it is mapped there, and three readers look
at it at the same time: polars makes the table, the scan says what a record is, and the hash is taken. What polars has
read counts only if the scan agrees with it; otherwise (None) the reader for files of any form has to decide.

Columns that are compared for equal texts only are read as categories at once, which takes less time and memory than to
read texts first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl

from shoal.tables.formats.csv.decode import Bytes
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.read import TAKEN_FOR_OTHERS, first_record
from shoal.tables.formats.csv.scan import scan


def read_csv_back(path: Path, options: CsvOptions, categories: Collection[str]) -> tuple[pl.DataFrame, str] | None:
    """The table and the hash of its bytes; None if it is not what polars and the scan both take for the same table.

    `options` must say everything. The columns named in `categories` are categories, all others texts.
    """
    delimiter, quote = options.delimiter, options.quote
    if delimiter is None or quote is None or options.header is not True or path.stat().st_size == 0:
        return None
    data: Bytes = np.memmap(path, dtype=np.uint8, mode="r")
    if bytes(data[:3]).startswith(TAKEN_FOR_OTHERS):
        return None
    with ThreadPoolExecutor(max_workers=2) as threads:
        reading = threads.submit(_read, path, delimiter, quote, categories)
        hashing = threads.submit(lambda: hashlib.sha256(data.data).hexdigest())
        found = scan(data, delimiter, quote)
        frame, sha256 = reading.result(), hashing.result()
    if frame is None or not found.is_well_formed or found.needs_rewriting or frame.height != found.records - 1:
        return None
    return (frame, sha256) if frame.columns == first_record(data, found, delimiter, quote) else None


def _read(path: Path, delimiter: str, quote: str, categories: Collection[str]) -> pl.DataFrame | None:
    try:
        return pl.read_csv(
            path,
            has_header=True,
            infer_schema=False,
            schema_overrides={name: pl.Categorical(pl.Categories.random()) for name in categories},
            separator=delimiter,
            quote_char=quote or None,
            encoding="utf8",
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None
