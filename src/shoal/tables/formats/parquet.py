"""Parquet files, with the types that they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.frames.categories import without_unused_categories
from shoal.tables.types import with_known_integers

# fixed, row groups too, so that a table written piece by piece has the same bytes
PARQUET_SETTINGS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "statistics": False,
    "row_group_size": 122_880,
}


def read_parquet(path: Path | str) -> pl.DataFrame:
    """The table in one Parquet file. Raises InputError if it is damaged or something else."""
    try:
        with Path(path).open("rb") as file:
            return pl.read_parquet(file, hive_partitioning=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # messages of the reader may quote content, so only its kind is passed on
        raise InputError(_damaged(Path(path), type(error).__name__)) from None


def write_parquet(frame: pl.DataFrame, path: Path | str) -> None:
    """Write with fixed settings, so that the same table gives the same bytes with the same version of polars."""
    with Path(path).open("wb") as file:
        clean = without_unused_categories(with_known_integers(frame.rechunk()))
        clean.write_parquet(file, **PARQUET_SETTINGS)


def _damaged(path: Path, kind: str) -> Problem:
    return Problem("damaged-file", f"'{path}' is not a Parquet file that can be read ({kind})", hint="check the file")
