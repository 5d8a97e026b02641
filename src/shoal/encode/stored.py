"""Counted rows that wait on the disk, because memory does not hold them: by number of value, in files.

What does fit are the distinct values of every column. A row may stand in several files with a part of its count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.block_cuts import BlockCuts
from shoal.encode.counted import CountedRows
from shoal.encode.encoded_table import IntegerArray

_COUNT = "count"


class RowFiles:
    """Files of counted rows, which only their owner can read: it is whose folder it is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: list[Path] = []
        self.rows = 0  # in all files; a row may be in several

    def add(self, numbers: IntegerArray, counts: NDArray[np.int64]) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self.rows += counts.shape[0]
        lines = {f"c{place}": line for place, line in enumerate(numbers)}
        self._names.append(self._folder / f"{len(self._names)}.arrow")
        pl.DataFrame({**lines, _COUNT: counts}).write_ipc(self._names[-1], compression="lz4")

    def pieces(self) -> Iterator[tuple[IntegerArray, NDArray[np.int64]]]:
        for name in self._names:
            frame = pl.read_ipc(name)
            lines = frame.drop(_COUNT)
            numbers = np.stack([line.to_numpy() for line in lines]).astype(np.int32)
            yield numbers, frame[_COUNT].to_numpy().astype(np.int64)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Distinct combinations of values of some columns, and how often each occurs; see `CountedRows`."""

    values: Mapping[str, pl.Series]
    files: RowFiles
    folder: Path  # where more may wait
    records: int
    most: int  # rows that memory holds while they are clustered
    _totals: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def value_counts(self, name: str) -> NDArray[np.int64]:
        """(values,) how many records have each value of a column."""
        if not self._totals:
            for numbers, counts in self.files.pieces():
                for one, line in zip(self.names, numbers, strict=True):
                    found = np.bincount(line, weights=counts, minlength=len(self.values[one])).astype(np.int64)
                    self._totals[one] = self._totals[one] + found if one in self._totals else found
        return self._totals[name]

    def blocks(self, cuts: BlockCuts, lines: Sequence[IntegerArray], least: int) -> tuple[BlockCuts, list[RowFiles]]:
        """The rows by blocks of at least so many records, and the cuts that lead to them.

        IN  lines  per column, the code of each of its values
        """

        def parted() -> Iterator[tuple[IntegerArray, NDArray[np.int64], IntegerArray]]:
            for numbers, counts in self.files.pieces():
                yield numbers, counts, cuts.of([one[line] for one, line in zip(lines, numbers, strict=True)])

        records = np.zeros(cuts.blocks, dtype=np.int64)
        for _, counts, block in parted():
            records += np.bincount(block, weights=counts, minlength=cuts.blocks).astype(np.int64)
        cuts = cuts.joined(records, least)
        found = [RowFiles(self.folder / f"block-{number}") for number in range(cuts.blocks)]
        for numbers, counts, block in parted():
            order = np.argsort(block, kind="stable")
            for some in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
                found[int(block[some[0]])].add(numbers[:, some], counts[some])
        return cuts, found

    def block(self, files: RowFiles) -> CountedRows:
        """The rows of one block, each once."""
        parts = list(files.pieces())
        numbers, counts = (np.concatenate([part[place] for part in parts], axis=-1) for place in (0, 1))
        lines = [f"c{place}" for place in range(numbers.shape[0])]
        frame = pl.DataFrame({**dict(zip(lines, numbers, strict=True)), _COUNT: counts})
        frame = frame.group_by(lines).agg(pl.col(_COUNT).sum()).sort(lines)
        rows = np.stack([frame[line].to_numpy() for line in lines]).astype(np.int32)
        return CountedRows(self.values, rows, frame[_COUNT].to_numpy().astype(np.int64))
