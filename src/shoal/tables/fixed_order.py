"""Rows in an order that their own values give, for tables that come in no order that means anything.

By the columns of a key, then by all others, as values and not as texts. Rows that are equal in all columns that have an
order keep the order in which they came: whoever looks at them cannot tell them apart by those either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from shoal.tables.formats.parquet import PARQUET_SETTINGS
from shoal.tables.sorted_pieces import BUCKET_ROWS, EvenSample

_SAMPLE_ROWS = 100_000
_MARK = "\0mark"


def in_fixed_order(frame: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """By the key, then by all other columns; lists and structures have no order, bytes that of their digits."""
    by = _sorted_by(frame.schema, key)
    return frame.sort(by, nulls_last=True, maintain_order=True) if by else frame


def _sorted_by(schema: pl.Schema, key: Sequence[str]) -> list[pl.Expr]:
    orderable = [name for name, kind in schema.items() if not (kind.is_nested() or isinstance(kind, pl.Object))]
    names = [name for name in dict.fromkeys([*key, *orderable]) if name in orderable]
    return [pl.col(name).bin.encode("hex") if schema[name] == pl.Binary else pl.col(name) for name in names]


class OrderedRows:
    """The same for a table that is never held whole: pieces wait on the disk, are cut into ranges of the order at rows
    of a sample, and each range is sorted by itself. The result is a folder of Parquet files.

    Cost: every row is written three times; memory: one range, one piece and the sample.
    """

    def __init__(self, folder: Path, key: Sequence[str], bucket_rows: int = BUCKET_ROWS) -> None:
        """`folder` is made, and has what waits and what is ready; its owner alone can read it."""
        folder.mkdir(mode=0o700)
        self._folder, self._key, self._bucket_rows = folder, tuple(key), bucket_rows
        self._sample = EvenSample(_SAMPLE_ROWS)
        self._pieces = self.rows = 0

    def add(self, piece: pl.DataFrame) -> None:
        self._sample.add(piece)
        piece.write_ipc(self._folder / f"came-{self._pieces}.arrow", compression="lz4")
        self._pieces += 1
        self.rows += piece.height

    def store(self) -> Path:
        """The folder of the files with all rows in order; nothing can be added any more."""
        ready = self._folder / "ready"
        ready.mkdir()
        ranges = -(-self.rows // self._bucket_rows)
        marks = self._marks(ranges)
        for number in range(self._pieces):
            path = self._folder / f"came-{number}.arrow"
            for place, rows in self._cut(pl.read_ipc(path), marks):
                rows.write_ipc(self._folder / f"{place}-{number}.arrow", compression="lz4")
            path.unlink()
        for place in range(len(marks) + 1):
            found = sorted(self._folder.glob(f"{place}-*.arrow"), key=lambda path: int(path.stem.partition("-")[2]))
            if found:
                rows = pl.concat([pl.read_ipc(path) for path in found])
                in_fixed_order(rows, self._key).write_parquet(ready / f"{place:06d}.parquet", **PARQUET_SETTINGS)
            for path in found:
                path.unlink()
        return ready

    def _marks(self, ranges: int) -> pl.DataFrame:
        """Rows at which the ranges begin, but for the first."""
        sample = in_fixed_order(self._sample.result(), self._key) if self.rows else pl.DataFrame()
        places = {number * sample.height // ranges for number in range(1, ranges)} if sample.height else set()
        return sample[sorted(places)] if places else sample[:0]

    def _cut(self, piece: pl.DataFrame, marks: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
        """The rows of a piece by ranges: a row belongs behind the last mark that is not above it."""
        if not marks.height:
            yield 0, piece
            return
        both = pl.concat([marks.with_columns(pl.lit(1).alias(_MARK)), piece.with_columns(pl.lit(0).alias(_MARK))])
        by = [*_sorted_by(piece.schema, self._key), pl.col(_MARK)]
        descending = [*(False for _ in by[1:]), True]  # a mark before the rows that are equal to it
        both = both.sort(by, nulls_last=True, maintain_order=True, descending=descending)
        numbered = both.with_columns(pl.col(_MARK).cum_sum().alias("\0range")).filter(pl.col(_MARK) == 0)
        for (place,), rows in (
            numbered.drop(_MARK).partition_by("\0range", as_dict=True, include_key=False, maintain_order=True).items()
        ):
            yield int(place), rows
