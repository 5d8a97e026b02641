"""Rows in the order of publication (`tables/row_order.py`) for a table that is never held whole: a bucket sort on disk.

Buckets are ranges of the order, cut at rows of a sample, so that they are about equally large. Rows are put into their
buckets as they come, and wait in files that only their owner can read; then one bucket after the other is sorted in
memory. Cost: every row is written and read once more; memory: one bucket and what waits to be written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.tables.row_order import cell_texts, published_order, row_ranks

BUCKET_ROWS = 400_000
WAITING_ROWS = 1_000_000  # rows that may wait in memory before they go to the disk
_END, _MISSING, _PRESENT = "\x00\x00", "\x00", "\x01"


class SortedPieces:
    """Takes rows in any order and gives them back in the order of publication. To be used in a `with` block."""

    def __init__(self, folder: Path, sample: pl.DataFrame, rows: int, bucket_rows: int = BUCKET_ROWS) -> None:
        """The files wait in a folder inside `folder`. `sample` are rows like those to come, `rows` how many will."""
        self._scratch = tempfile.TemporaryDirectory(dir=folder, prefix=".shoal-")
        buckets = -(-rows // bucket_rows)
        self._looked_at = _deciding_columns(sample, buckets)
        self._cuts = _cuts(sample[:, : self._looked_at], buckets)
        self._most_waiting = max(1, WAITING_ROWS * bucket_rows // BUCKET_ROWS)
        self._waiting: list[tuple[pl.DataFrame, NDArray[np.int64]]] = []
        self._waiting_rows = self._parts = 0

    def __enter__(self) -> SortedPieces:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def add(self, rows: pl.DataFrame, beside: pl.DataFrame | None = None) -> None:
        """`beside` are columns that go with the rows, but do not decide about their order."""
        bucket = self._buckets(rows[:, : self._looked_at])
        self._waiting.append((rows if beside is None else rows.hstack(beside), bucket))
        self._waiting_rows += rows.height
        if self._waiting_rows >= self._most_waiting and len(self._cuts):
            self._store()

    def _buckets(self, rows: pl.DataFrame) -> NDArray[np.int64]:
        """(rows,) the bucket of each row; keys are made of the different rows only."""
        _, first, of_row = np.unique(row_ranks(rows), return_index=True, return_inverse=True)
        found = self._cuts.search_sorted(_keys(rows[first]), side="right")
        return found.to_numpy().astype(np.int64)[of_row]

    def pieces(self, width: int) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """The rows in order, bucket by bucket: the first `width` columns, which are sorted by, and what was beside."""
        if self._parts:
            self._store()
        held = dict(self._by_bucket())
        for number in range(len(self._cuts) + 1):
            rows = self._load(number) if self._parts else held.pop(number, None)
            if rows is not None:
                rows = rows[published_order(rows[:, :width])]
                yield rows[:, :width], rows[:, width:]

    def _by_bucket(self) -> Iterator[tuple[int, pl.DataFrame]]:
        """What waits in memory, parted by buckets; those without rows are left out."""
        if not self._waiting:
            return
        bucket = np.concatenate([one for _, one in self._waiting])
        rows = pl.concat([one for one, _ in self._waiting])
        self._waiting, self._waiting_rows = [], 0
        rows = rows[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=len(self._cuts) + 1))
        for number, end in enumerate(ends.tolist()):
            start = 0 if number == 0 else int(ends[number - 1])
            if end > start:
                yield number, rows[start:end]

    def _store(self) -> None:
        for number, rows in self._by_bucket():
            rows.write_ipc(Path(self._scratch.name) / f"{number}-{self._parts}.arrow", compression="lz4")
        self._parts += 1

    def _load(self, number: int) -> pl.DataFrame | None:
        names = [Path(self._scratch.name) / f"{number}-{part}.arrow" for part in range(self._parts)]
        found = [pl.read_ipc(name) for name in names if name.exists()]
        for name in names:
            name.unlink(missing_ok=True)
        return pl.concat(found) if found else None


def _keys(rows: pl.DataFrame) -> pl.Series:
    """One text per row that sorts like the texts of its cells, column after column, missing cells first."""
    parts = []
    for column in rows:
        texts = cell_texts(column)
        if texts.str.contains("\x00", literal=True).any():
            texts = texts.str.replace_all("\x00", "\x00\x01", literal=True)
        marked = pl.format("{}{}{}", pl.lit(_PRESENT), texts, pl.lit(_END))
        parts.append(pl.select(pl.when(texts.is_null()).then(pl.lit(_MISSING)).otherwise(marked)).to_series())
    return pl.select(pl.concat_str(parts)).to_series()


def _deciding_columns(sample: pl.DataFrame, buckets: int) -> int:
    """How many of the first columns part the rows finely enough: none of their rows fills half a bucket."""
    for width in range(1, sample.width):
        _, counts = np.unique(row_ranks(sample[:, :width]), return_counts=True)
        if counts.size and counts.max() * 2 * buckets <= sample.height:
            return width
    return sample.width


def _cuts(sample: pl.DataFrame, buckets: int) -> pl.Series:
    """The keys at which buckets begin, but for the first."""
    if buckets <= 1 or sample.height == 0:
        return pl.Series([], dtype=pl.String)
    keys = _keys(sample).sort()
    places = np.unique(np.linspace(0, len(keys), buckets + 1)[1:-1].astype(np.int64))
    return keys.gather(places).unique().sort()


class EvenSample:
    """Every so manyth row of a table that goes by: at least `least` of them, and not many more than twice as many."""

    def __init__(self, least: int) -> None:
        self._least, self._step, self._seen = least, 1, 0
        self._rows: list[pl.DataFrame] = []
        self._held = 0

    def add(self, piece: pl.DataFrame) -> None:
        taken = piece.gather_every(self._step, offset=-self._seen % self._step)
        self._seen += piece.height
        self._rows.append(taken)
        self._held += taken.height
        while self._held > 2 * self._least:
            self._step *= 2
            self._rows = [pl.concat(self._rows).gather_every(2)]
            self._held = self._rows[0].height

    def result(self) -> pl.DataFrame:
        return pl.concat(self._rows)
