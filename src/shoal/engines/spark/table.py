"""The table that Spark reads: Parquet files that do not change, with the place of every record.

Parquet comes as it is. CSV is written as Parquet first, with the rules of our own reader, for Spark's differs with
quotes, line breaks and empty texts. A frame of Spark is written first too: it has no order, and may give other records
every time it is asked. Both wait in a folder that only its owner reads, beside the output, until the run ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal.engines.base import Watcher
from shoal.engines.spark.types import ddl, polars_type, spark_type, unknown_types
from shoal.engines.spark.worker import FILE, ROW, column
from shoal.errors import InputError, Problem
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import Format, ReadTable
from shoal.tables.formats.parquet import PARQUET_SETTINGS
from shoal.tables.formats.pieces import PieceSizes, TablePieces
from shoal.tables.frames.frames import check_names

Schema = dict[str, pl.DataType]


@dataclass
class FileTable:
    """A table in files."""

    path: Path
    options: CsvOptions
    sizes: PieceSizes

    def __post_init__(self) -> None:
        self._pieces = TablePieces(self.path, self.options, self.sizes)

    ordered = True  # the place of a record means something

    @property
    def like(self) -> ReadTable | None:
        return self._pieces.like

    def schema(self) -> Schema:
        found = self._pieces.schema()
        problems = unknown_types(found)
        if problems:
            raise InputError(problems)
        return found

    def store(self, session: Any, folder: Path, watcher: Watcher) -> list[Path]:
        if self._pieces.format is not Format.CSV:
            return [file.resolve() for file in self._pieces.files]
        folder.mkdir()
        files = []
        for number, piece in enumerate(self._pieces.read(None, watcher)):
            files.append(folder / f"part-{number:06d}.parquet")
            piece.write_parquet(files[-1], **PARQUET_SETTINGS)
        return files


@dataclass
class FrameTable:
    """A frame of Spark."""

    frame: Any

    ordered = False
    like = None

    def schema(self) -> Schema:
        check_names(list(self.frame.columns))
        named = {one.name: one.dataType.simpleString() for one in self.frame.schema.fields}
        found = {name: polars_type(kind) for name, kind in named.items()}
        problems = [
            Problem("cannot-stream", f"columns of type {named[name]} cannot be read", name, "cast it, or drop it")
            for name, kind in found.items()
            if kind is None
        ]
        if problems:
            raise InputError(problems)
        return {name: kind for name, kind in found.items() if kind is not None}

    def store(self, session: Any, folder: Path, watcher: Watcher) -> list[Path]:
        self.frame.toDF(*map(column, range(len(self.frame.columns)))).write.parquet(written_to(folder))
        return sorted(folder.glob("part-*.parquet"))


def read_stored(session: Any, files: Sequence[Path], schema: Schema, named: bool) -> Any:
    """The records as c0, c1, ... with `file` and `row`; `named`: whether the files have the names of the columns."""
    from pyspark.sql import functions

    found = session.read.parquet(*map(read_from, files))
    known = {one.name: one.dataType.simpleString() for one in found.schema.fields}
    names = list(schema) if named else [column(number) for number in range(len(schema))]
    problems = [
        Problem("cannot-stream", f"Spark reads it as {known.get(stored)}, and it is {kind}", name, "cast it beforehand")
        for stored, (name, kind) in zip(names, schema.items(), strict=True)
        if known.get(stored) != spark_type(kind)
    ]
    if problems:
        raise InputError(problems)
    columns = [found[_quoted(name)].alias(column(number)) for number, name in enumerate(names)]
    place = [functions.col("_metadata.file_name").alias(FILE), functions.col("_metadata.row_index").alias(ROW)]
    return found.select(*columns, *place)


def stored_schema(schema: Schema) -> str:
    """The schema of c0, c1, ... as Spark reads it."""
    return ddl({column(number): kind for number, kind in enumerate(schema.values())})


def rows_of(files: Sequence[Path]) -> list[int]:
    """How many records each file has; told by its last bytes, the records are not read."""
    found = []
    for file in files:
        try:
            count = pl.scan_parquet(file, glob=False, hive_partitioning=False).select(pl.len()).collect().item()
        except (pl.exceptions.PolarsError, OSError) as error:
            message = f"'{file}' cannot be read ({type(error).__name__})"
            raise InputError(Problem("damaged-file", message, hint="check the file")) from None
        found.append(int(count))
    return found


def written_to(path: Path) -> str:
    """A path as Spark writes to it: of the file system that all see, whatever the cluster's own is."""
    return f"file://{path}"


def read_from(path: Path) -> str:
    """A path as Spark reads from it: what would be a pattern is taken as it is."""
    return written_to(Path(re.sub(r"([\\\[\]{}*?])", r"\\\1", str(path))))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
