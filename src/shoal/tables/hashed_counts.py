"""How often values occur, told by hashes of 64 bits, for columns with more values than memory holds.

Hashes wait in memory until there are many, then in files, parted by their first bits, so that each part can be counted
by itself. What is told is how many values occur how often; the values themselves are not kept. Two values of a billion
share a hash with a chance of one in fifty: a count of one is then missed, and nothing else happens.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.distinct import as_text

_PARTS = 64
_MOST_HELD = 2_000_000


def to_be_hashed(column: pl.Series) -> pl.Series:
    """A column whose hashes tell its values apart as their texts do: numbers and times need not be written as text."""
    if column.dtype.is_float():
        return column.fill_nan(None) + 0.0  # one zero
    return column.to_physical() if column.dtype.is_integer() or column.dtype.is_temporal() else as_text(column)


class HashedCounts:
    """Counts hashes. To be used in a `with` block."""

    def __init__(self, folder: Path, most_held: int = _MOST_HELD) -> None:
        self._folder = folder
        self._scratch: tempfile.TemporaryDirectory[str] | None = None  # made when it is needed
        self._held: list[pl.DataFrame] = []
        self._rows, self._most, self._stored = 0, most_held, 0

    def __enter__(self) -> HashedCounts:
        return self

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()

    def add(self, hashes: pl.Series) -> None:
        counted = hashes.to_frame("hash").group_by("hash").len("count").cast({"count": pl.Int64})
        self._held.append(counted)
        self._rows += counted.height
        if self._rows > self._most:
            self._held = [_added_up(self._held)]
            self._rows = self._held[0].height
            if self._rows > self._most // 2:
                self._store()

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often values occur, rising, and how many values occur so often."""
        if self._stored:
            self._store()
            parts = [_added_up([pl.read_ipc(name) for name in names]) for names in self._files()]
        else:
            parts = [_added_up(self._held)] if self._held else []
        found = [part["count"].value_counts(name="values") for part in parts if part.height]
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        table = pl.concat(found).group_by("count").agg(pl.col("values").sum()).sort("count")
        return table["count"].to_numpy().astype(np.int64), table["values"].to_numpy().astype(np.int64)

    def _store(self) -> None:
        if not self._held:
            return
        rows = pl.concat(self._held).with_columns((pl.col("hash") % _PARTS).alias("part"))
        for (part,), group in rows.partition_by("part", as_dict=True).items():
            group.drop("part").write_ipc(self._place / f"{part}-{self._stored}.arrow")
        self._held, self._rows = [], 0
        self._stored += 1

    @property
    def _place(self) -> Path:
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(dir=self._folder, prefix=".shoal-")
        return Path(self._scratch.name)

    def _files(self) -> list[list[Path]]:
        found = [sorted(self._place.glob(f"{part}-*.arrow")) for part in range(_PARTS)]
        return [names for names in found if names]


def _added_up(parts: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(parts).group_by("hash").agg(pl.col("count").sum())
