"""The engine for tables larger than memory on one machine: every pass reads the table piece by piece.

Three passes: count the distinct rows of the input; give records their released values and write them; count what was
written. Memory: the distinct rows and values, and one piece. Which records of a shared key go to which group is told by
counters, since the pieces come in the order of the input: the cells are those of the engine `local`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.base import Abilities, Counted, Engine, Facts, Share, Written, unwatched
from shoal.engines.counting import RowCounter
from shoal.errors import InputError, InternalError, Problem
from shoal.recode.plan import Ranks, ReleasePlan
from shoal.tables.distinct import as_text
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.write import as_csv_cells
from shoal.tables.formats.files import Format, ReadTable, format_of, written_options
from shoal.tables.formats.pieces import PieceSizes, TablePieces
from shoal.tables.formats.write_pieces import write_pieces
from shoal.tables.hashed_counts import HashedCounts
from shoal.tables.numbering import Numbering
from shoal.tables.sorted_pieces import EvenSample, SortedPieces
from shoal.tables.types import has_text
from shoal.tables.value_sizes import KeptFacts, SizeCounter

SAMPLE_ROWS = 200_000  # from which buckets are cut, and kept columns looked at in pairs
_BESIDE = "beside "
_AS_TEXT = "store it as text, or use the engine 'local'"


class StreamEngine(Engine):
    """CSV and Parquet, one file or a folder of them, in and out of files."""

    name: ClassVar[str] = "stream"
    can: ClassVar[Abilities] = Abilities(
        inputs="CSV, Parquet; a file or a folder of files",
        outputs="CSV, Parquet; one file",
        memory="the distinct rows of the quasi-identifiers; with further models also 4 bytes per record and column",
        any_algorithm=False,
        report=False,
        groups=False,
        frames="none",
    )

    def __init__(
        self,
        path: Path,
        options: CsvOptions,
        scratch: Path,
        most_rows: int | None = None,
        sizes: PieceSizes | None = None,
    ) -> None:
        """`scratch` is a folder for what waits on disk; `most_rows` is how many distinct rows the memory can hold."""
        self._pieces = TablePieces(path, options, sizes or PieceSizes())
        self._scratch, self._most_rows = scratch, most_rows
        self._sample = pl.DataFrame()
        self._schema: dict[str, pl.DataType] = {}
        self._numberings: dict[str, Numbering] = {}
        self._hidden: dict[str, NDArray[np.int32]] = {}
        self._records = self._width = 0

    def facts(self) -> Facts:
        self._schema = self._pieces.schema()
        problems = [
            Problem("cannot-stream", f"columns of type {dtype} depend on all of their values", name, _AS_TEXT)
            for name, dtype in self._schema.items()
            if any(word in str(dtype) for word in ("Enum", "Int128"))  # categories that occur, digits that fit
        ]
        if problems:
            raise InputError(problems)
        return Facts(self._schema)

    def distinct(
        self, names: Sequence[str], kept: Sequence[str], missing: Sequence[str], share: Share = unwatched
    ) -> Counted:
        counter, sample = RowCounter(self._schema, names), EvenSample(SAMPLE_ROWS)
        readable = [name for name in kept if has_text(self._schema[name])]
        with ExitStack() as open_counters:
            sizes = {name: open_counters.enter_context(SizeCounter(self._scratch, missing)) for name in readable}
            for piece in self._pieces.read(None, share):
                counter.add(piece)
                sample.add(piece)
                for name, one in sizes.items():
                    one.add(piece[name])
                self._refuse_too_many(counter)
            kept_sizes = {name: one.result() for name, one in sizes.items()}
        self._numberings = counter.numberings
        self._records = counter.records
        self._sample = sample.result()
        return Counted(counter.result(), KeptFacts(self._sample, kept_sizes))

    def _refuse_too_many(self, counter: RowCounter) -> None:
        if self._most_rows is not None and counter.rows() > 2 * self._most_rows:
            counter.collapse()
            if counter.rows() > self._most_rows:
                raise InputError(_too_many(self._most_rows))

    @property
    def sha256(self) -> str:
        return self._pieces.sha256

    @property
    def like(self) -> ReadTable:
        return self._pieces.like

    def release(
        self, plan: ReleasePlan, waiting: Path, hidden: Sequence[str], order: str, share: Share = unwatched
    ) -> None:
        """Hidden columns are kept as numbers, 4 bytes per record, in the order of what is written."""
        self._hidden = {name: np.empty(self._records, dtype=np.int32) for name in hidden}
        self._width = len(plan.kept)
        schema, like = plan.schema(self._schema), self._pieces.like
        if order == "input":
            write_pieces(self._noted(self._released(plan, share)), schema, waiting, like)
            return
        sample = plan.released(self._sample, plan.first_deal[self._keys(plan, self._sample)[0]])
        with SortedPieces(self._scratch, sample, self._records, self._pieces.sizes.bucket) as rows:
            for shown, beside in self._released(plan, share):
                rows.add(shown, beside)
            write_pieces(self._noted(rows.pieces(self._width)), schema, waiting, like)

    def _keys(self, plan: ReleasePlan, piece: pl.DataFrame) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int32]]]:
        """The key of every record, and the numbers of the values that it was found by."""
        looked_at = dict.fromkeys([*plan.names, *self._hidden])
        numbers = {name: self._numberings[name].known(piece[name]) for name in looked_at}
        return plan.keys_of(numbers), numbers

    def _released(self, plan: ReleasePlan, share: Share) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """The released records in the order of the input, and the numbers of what is hidden beside them."""
        ranks, done = Ranks(plan), 0
        for piece in self._pieces.read(list(dict.fromkeys([*plan.names, *self._hidden, *plan.kept])), share):
            done += piece.height
            if done > self._records:
                raise InternalError(Problem("input-changed", "the input has grown since its records were counted"))
            keys, numbers = self._keys(plan, piece)
            beside = pl.DataFrame({f"{_BESIDE}{name}": numbers[name] for name in self._hidden})
            yield plan.released(piece, ranks.deals_of(keys)), beside

    def _noted(self, rows: Iterator[tuple[pl.DataFrame, pl.DataFrame]]) -> Iterator[pl.DataFrame]:
        """The records as they are written; what is hidden beside them is noted in the same order."""
        done = 0
        for shown, beside in rows:
            for name, line in self._hidden.items():
                line[done : done + shown.height] = beside[f"{_BESIDE}{name}"].to_numpy()
            done += shown.height
            yield shown

    def as_written(self, rows: pl.DataFrame, waiting: Path) -> pl.DataFrame:
        if format_of(waiting) is not Format.CSV:
            return rows
        return as_csv_cells(rows, written_options(waiting, self._pieces.like), alone=self._width == 1)

    def released_counts(
        self, waiting: Path, names: Sequence[str], known: Sequence[str], share: Share = unwatched
    ) -> Written:
        written = TablePieces(waiting, written_options(waiting, self._pieces.like), self._pieces.sizes)
        schema = written.schema()
        shown = [name for name in names if name not in self._hidden]
        values = {name: self._numberings[name].values(self._schema[name], name) for name in self._hidden}
        counter = RowCounter({**schema, **{name: one.dtype for name, one in values.items()}}, names)
        done = 0
        with HashedCounts(self._scratch) as rows:
            for piece in written.read(list(dict.fromkeys([*shown, *known])), share):
                beside = {
                    name: values[name].gather(line[done : done + piece.height]) for name, line in self._hidden.items()
                }
                counter.add(piece.select(shown).with_columns(**beside))
                if known:
                    rows.add(pl.DataFrame({name: as_text(piece[name]) for name in known}).hash_rows())
                done += piece.height
            sizes, how_many = rows.sizes()
        if done != self._records:
            raise InternalError(Problem("records-lost", "the release has another number of records than the input"))
        return Written(counter.result(), written.sha256, int(how_many[sizes == 1].sum()))


def _too_many(most: int) -> Problem:
    message = f"the table has more than {most} distinct rows, which do not fit into the memory that may be used"
    hint = "allow more with --memory, coarsen a quasi-identifier beforehand, or name fewer"
    return Problem("too-many-distinct-rows", message, hint=hint)
