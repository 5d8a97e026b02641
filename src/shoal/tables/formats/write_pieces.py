"""Tables that are written piece by piece; the bytes are those of the whole table written at once.

CSV cells do not depend on each other. Parquet has row groups of a fixed number of records, which polars fills from the
pieces as they come.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
from polars.io.plugins import register_io_source

from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.write import GZIP_LEVEL, write_rows
from shoal.tables.formats.files import Format, ReadTable, format_of, written_options
from shoal.tables.formats.parquet import PARQUET_SETTINGS


def write_pieces(
    pieces: Iterable[pl.DataFrame], schema: dict[str, pl.DataType], path: Path, like: ReadTable | None = None
) -> None:
    """Write the pieces in the format that the suffix of `path` names; text is written like the table it came from.

    What the pieces raise comes out as it is.
    """
    if format_of(path) is Format.CSV:
        _write_csv(pieces, path, written_options(path, like))
        return
    failure: list[BaseException] = []
    rows = register_io_source(_source(pieces, failure), schema=schema)
    try:
        with path.open("wb") as file:
            rows.sink_parquet(file, **PARQUET_SETTINGS)
    except pl.exceptions.PolarsError:
        if failure:
            raise failure[0] from None
        raise
    if failure:
        raise failure[0]


def _source(pieces: Iterable[pl.DataFrame], failure: list[BaseException]) -> Callable[..., Iterator[pl.DataFrame]]:
    def source(*_: object) -> Iterator[pl.DataFrame]:
        try:
            yield from pieces
        except BaseException as error:
            failure.append(error)
            raise

    return source


def _write_csv(pieces: Iterable[pl.DataFrame], path: Path, options: CsvOptions) -> None:
    with path.open("wb") as raw:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0) as packed:
                _write_all(pieces, cast(BinaryIO, packed), options)
        else:
            _write_all(pieces, raw, options)


def _write_all(pieces: Iterable[pl.DataFrame], file: BinaryIO, options: CsvOptions) -> None:
    for number, piece in enumerate(pieces):
        write_rows(piece, file, options, first=number == 0)
