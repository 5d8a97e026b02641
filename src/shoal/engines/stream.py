"""The engine for tables larger than memory on one machine: every pass reads the table piece by piece.

Three passes: count the distinct rows of the input; give records their released values and write them; count what was
written. Memory: the distinct rows and values, and one piece. Which records of a shared key go to which group is told by
counters, since the pieces come in the order of the input: the cells are those of the engine `local`. The rows of a
database come in a fixed order and wait on the disk meanwhile (`tables/formats/sql/pieces.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.stored import RowFiles
from shoal.engines.base import (
    TOO_MANY,
    Abilities,
    Counted,
    Engine,
    Facts,
    OwnPlace,
    Reading,
    Watcher,
    Written,
    unwatched,
)
from shoal.engines.counting import RowCounter
from shoal.engines.targets import Pieces, Target
from shoal.errors import InputError, InternalError, Problem
from shoal.recode.block_plan import AnyPlan
from shoal.tables.formats.files import ReadTable
from shoal.tables.hashed_counts import HashedCounts, to_be_hashed
from shoal.tables.numbering import Numbering
from shoal.tables.sorted_pieces import EvenSample, SortedPieces
from shoal.tables.types import has_text
from shoal.tables.value_sizes import KeptFacts, SizeCounter

SAMPLE_ROWS = 200_000  # from which buckets are cut, and kept columns looked at in pairs
_BESIDE = "beside "
_AS_TEXT = "store it as text, or use the engine 'local'"


class StreamEngine(Engine):
    """CSV and Parquet, one file or a folder of them, and tables of databases, into a file or a table."""

    name: ClassVar[str] = "stream"
    can: ClassVar[Abilities] = Abilities(
        inputs="CSV, Parquet; a file or a folder of files; a table or query of a database",
        outputs="CSV, Parquet; one file; a table of a database",
        memory="the distinct rows of the quasi-identifiers; with further models also 4 bytes per record and column",
        any_algorithm=False,
        report=False,
        groups=False,
        frames="none",
    )

    def __init__(
        self,
        source: Pieces,
        target: Target,
        scratch: Path,
        most_rows: int | None = None,
    ) -> None:
        """`scratch` is a folder for what waits on disk; `most_rows` is how many distinct rows the memory can hold."""
        self._pieces, self._target = source, target
        self._scratch, self._most_rows = scratch, most_rows
        self._sample = pl.DataFrame()
        self._schema: dict[str, pl.DataType] = {}
        self._numberings: dict[str, Numbering] = {}
        self._hidden: dict[str, NDArray[np.int32]] = {}
        self._records = self._width = 0

    def facts(self) -> Facts:
        self._schema = self._pieces.schema()
        self._target.open(source_is_read=False)
        problems = [
            Problem("cannot-stream", f"columns of type {dtype} depend on all of their values", name, _AS_TEXT)
            for name, dtype in self._schema.items()
            if any(word in str(dtype) for word in ("Enum", "Int128"))  # categories that occur, digits that fit
        ]
        if problems:
            raise InputError(problems)
        return Facts(self._schema)

    def distinct(
        self, names: Sequence[str], kept: Sequence[str], reading: Reading, watcher: Watcher = unwatched
    ) -> Counted:
        counter, sample = RowCounter(self._schema, names), EvenSample(SAMPLE_ROWS)
        files = RowFiles(self._scratch / "rows")
        readable = [name for name in kept if has_text(self._schema[name])]
        with ExitStack() as open_counters:
            sizes = {
                name: open_counters.enter_context(SizeCounter(self._scratch, reading.missing)) for name in readable
            }
            for piece in self._pieces.read(None, watcher):
                counter.add(piece)
                sample.add(piece)
                for name, one in sizes.items():
                    one.add(piece[name])
                if self._too_many(counter):
                    if not reading.blocks:
                        raise InputError(too_many_rows(self._most_rows))
                    counter.store(files)
            kept_sizes = {name: one.result() for name, one in sizes.items()}
        self._target.open(source_is_read=True)
        self._numberings = counter.numberings
        self._records = counter.records
        self._sample = sample.result()
        rows = counter.stored(files, self._scratch, self._most_rows or 0) if len(files) else counter.result()
        return Counted(rows, KeptFacts(self._sample, kept_sizes))

    def _too_many(self, counter: RowCounter) -> bool:
        """Whether memory does not hold the distinct rows so far."""
        if self._most_rows is not None and counter.rows() > 2 * self._most_rows:
            counter.collapse()
            return counter.rows() > self._most_rows
        return False

    @property
    def sha256(self) -> str:
        return self._pieces.sha256

    @property
    def like(self) -> ReadTable:
        return self._pieces.like

    def release(
        self,
        plan: AnyPlan,
        waiting: Path,
        hidden: Sequence[str],
        order: str,
        watcher: Watcher = unwatched,
    ) -> None:
        """Hidden columns are kept as numbers, 4 bytes per record, in the order of what is written."""
        self._hidden = {name: np.empty(self._records, dtype=np.int32) for name in hidden}
        self._width = len(plan.kept)
        schema = plan.schema(self._schema)
        if order == "input" and self._target.keeps_order:
            in_order = self._noted(self._released(plan, watcher))
            self._target.write(in_order, schema, waiting, plan.has_known_values)
            return
        sample = plan.dealer().like(self._sample, self._numbers(plan, self._sample))
        with SortedPieces(self._scratch, sample, self._records, self._pieces.sizes.bucket) as rows:
            for shown, beside in self._released(plan, watcher):
                rows.add(shown, beside)
            self._target.write(self._noted(rows.pieces(self._width)), schema, waiting, plan.has_known_values)

    def _numbers(self, plan: AnyPlan, piece: pl.DataFrame) -> dict[str, NDArray[np.int32]]:
        """The numbers of the values that a record's key is found by, and of what is hidden beside it."""
        looked_at = dict.fromkeys([*plan.names, *self._hidden])
        return {name: self._numberings[name].known(piece[name]) for name in looked_at}

    def _released(self, plan: AnyPlan, watcher: Watcher) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """The released records in the order of the input, and the numbers of what is hidden beside them."""
        dealer, done = plan.dealer(), 0
        for piece in self._pieces.read(list(dict.fromkeys([*plan.names, *self._hidden, *plan.kept])), watcher):
            done += piece.height
            if done > self._records:
                raise InternalError(Problem("input-changed", "the input has grown since its records were counted"))
            numbers = self._numbers(plan, piece)
            beside = pl.DataFrame({f"{_BESIDE}{name}": numbers[name] for name in self._hidden})
            yield dealer.released(piece, numbers), beside

    def _noted(self, rows: Iterator[tuple[pl.DataFrame, pl.DataFrame]]) -> Iterator[pl.DataFrame]:
        """The records as they are written; what is hidden beside them is noted in the same order."""
        done = 0
        for shown, beside in rows:
            for name, line in self._hidden.items():
                line[done : done + shown.height] = beside[f"{_BESIDE}{name}"].to_numpy()
            done += shown.height
            yield shown

    def as_written(self, rows: pl.DataFrame, waiting: Path) -> pl.DataFrame:
        return self._target.as_written(rows, waiting, self._width)

    def own_place(self) -> OwnPlace | None:
        return self._target.own_place()

    def released_counts(
        self, waiting: Path, names: Sequence[str], known: Sequence[str], watcher: Watcher = unwatched
    ) -> Written:
        written = self._target.written(waiting)
        shown = [name for name in names if name not in self._hidden]
        beside = {
            name: (self._numberings[name].values(self._schema[name], name), line) for name, line in self._hidden.items()
        }
        kinds = {**written.schema(), **{name: values.dtype for name, (values, _) in beside.items()}}
        counter, done = RowCounter(kinds, names), 0
        with HashedCounts(self._scratch) as rows:
            for piece in self._read_back(written, list(dict.fromkeys([*shown, *known])), watcher):
                ends = done + piece.height
                hidden = {name: values.gather(line[done:ends]) for name, (values, line) in beside.items()}
                counter.add(piece.select(shown).with_columns(**hidden))
                if known:
                    rows.add(pl.DataFrame({name: to_be_hashed(piece[name]) for name in known}).hash_rows())
                done = ends
            sizes, how_many = rows.sizes()
        if done != self._records:
            raise InternalError(Problem("records-lost", "the release has another number of records than the input"))
        return Written(counter.result(), written.sha256, int(how_many[sizes == 1].sum()))

    def _read_back(self, written: Pieces, names: Sequence[str], watcher: Watcher) -> Iterator[pl.DataFrame]:
        """What was written, in the order in which it was written if something is hidden beside it."""
        if self._target.keeps_order or not self._hidden:
            yield from written.read(names, watcher)
            return
        sample = EvenSample(SAMPLE_ROWS)
        for piece in written.read(None, watcher):
            sample.add(piece)
        with SortedPieces(self._scratch, sample.result(), self._records, written.sizes.bucket) as rows:
            for piece in written.read():
                rows.add(piece)
            for piece, _ in rows.pieces(self._width):
                yield piece


def too_many_rows(most: int | None) -> Problem:
    """Told where the job cannot be done block by block."""
    message = f"the table has more than {most} distinct rows, which do not fit into the memory that may be used"
    return Problem("too-many-distinct-rows", message, hint=TOO_MANY)
