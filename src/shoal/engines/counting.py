"""The distinct rows of a table that goes by piece by piece, with their counts: a group-by in bounded memory.

Every piece is collapsed on its own; what is left of the pieces is collapsed again when it has grown as large as what
is known already. So every distinct row is looked at a few times, and memory holds at most twice the distinct rows.
Who cannot hold them at all lets them wait on the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.counted import CountedRows
from shoal.encode.encoded_table import IntegerArray
from shoal.encode.stored import RowFiles, StoredRows
from shoal.tables.numbering import Numbering

_COUNT = "count"
_LEAST = 500_000  # rows that may wait before they are collapsed


class RowCounter:
    """Counts the distinct combinations of some columns."""

    def __init__(self, schema: Mapping[str, pl.DataType], names: Sequence[str]) -> None:
        self._schema = {name: schema[name] for name in names}
        self.numberings = {name: Numbering() for name in names}
        self._lines = [f"c{place}" for place in range(len(names))]
        self._known: pl.DataFrame | None = None
        self._waiting: list[pl.DataFrame] = []
        self._waiting_rows = 0
        self.records = 0

    def add(self, piece: pl.DataFrame) -> None:
        self.records += piece.height
        numbers = {
            line: numbering.number(piece[name])
            for line, (name, numbering) in zip(self._lines, self.numberings.items(), strict=True)
        }
        counted = pl.DataFrame(numbers).group_by(self._lines).len(_COUNT).cast({_COUNT: pl.Int64})
        self._waiting.append(counted)
        self._waiting_rows += counted.height
        known = 0 if self._known is None else self._known.height
        if self._waiting_rows > max(_LEAST, known):
            self.collapse()

    def add_all(self, pieces: Iterable[pl.DataFrame]) -> RowCounter:
        for piece in pieces:
            self.add(piece)
        return self

    def rows(self) -> int:
        """Distinct rows so far, at most."""
        return self._waiting_rows + (0 if self._known is None else self._known.height)

    def result(self) -> CountedRows:
        return CountedRows(self._values(), *self._taken())

    def store(self, files: RowFiles) -> None:
        """Let all rows so far wait on the disk."""
        if self.rows():
            files.add(*self._taken())
            self._known = None

    def stored(self, files: RowFiles, folder: Path, most: int) -> StoredRows:
        """All rows, most of which wait on the disk already."""
        self.store(files)
        return StoredRows(self._values(), files, folder, self.records, most)

    def _values(self) -> dict[str, pl.Series]:
        return {name: self.numberings[name].values(dtype, name) for name, dtype in self._schema.items()}

    def _taken(self) -> tuple[IntegerArray, NDArray[np.int64]]:
        """The rows so far, each once, and their counts."""
        self.collapse()
        assert self._known is not None
        numbers = np.empty((len(self._lines), self._known.height), dtype=np.int32)
        for place, line in enumerate(self._lines):
            numbers[place] = self._known[line].to_numpy()
        return numbers, self._known[_COUNT].to_numpy().astype(np.int64)

    def collapse(self) -> None:
        """Join what waits with what is known."""
        waiting = [*([self._known] if self._known is not None else []), *self._waiting]
        if len(waiting) > 1:
            self._known = pl.concat(waiting).group_by(self._lines).agg(pl.col(_COUNT).sum())
        elif waiting:
            self._known = waiting[0]
        self._waiting, self._waiting_rows = [], 0
