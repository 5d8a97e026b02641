"""Arrow IPC files (.arrow, .feather, .ipc), with the types that they hold."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.frames.categories import without_unused_categories
from shoal.tables.frames.hidden import without_hidden_values
from shoal.tables.types import with_known_integers

_FILE_MAGIC = b"ARROW1"


def read_arrow(path: Path | str) -> pl.DataFrame:
    """The table in an Arrow file or stream. Raises InputError if it is damaged or something else."""
    try:
        with Path(path).open("rb") as file:
            is_stream = file.read(len(_FILE_MAGIC)) != _FILE_MAGIC
        with Path(path).open("rb") as file:  # anew, since polars goes on where the descriptor stands
            return pl.read_ipc_stream(file) if is_stream else pl.read_ipc(file)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:  # a panic: a type it lacks
        # messages of the reader may quote content, so only its kind is passed on
        raise InputError(_damaged(Path(path), type(error).__name__)) from None


def write_arrow(frame: pl.DataFrame, path: Path | str) -> None:
    """Write uncompressed, with the string type that every Arrow reader knows, and nothing hidden under nulls."""
    with Path(path).open("wb") as file:
        clean = without_unused_categories(without_hidden_values(with_known_integers(frame.rechunk())))
        clean.write_ipc(file, compression="uncompressed", compat_level=pl.CompatLevel.oldest())


def _damaged(path: Path, kind: str) -> Problem:
    return Problem("damaged-file", f"'{path}' is not an Arrow file that can be read ({kind})", hint="check the file")
