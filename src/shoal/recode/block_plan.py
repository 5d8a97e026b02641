"""How a release is dealt out where the distinct rows do not fit into memory: a plan for every block of them.

The plans of the blocks wait in files and are read where they lie. A record is told its block by its codes alone, and
its values by the plan of that block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.block_cuts import BlockCuts
from shoal.encode.codebook import Codebook, ColumnCodebook
from shoal.encode.encoded_table import IntegerArray, Kind
from shoal.recode.mapped import load_mapped, save_mapped
from shoal.recode.plan import Dealer, ReleasePlan
from shoal.recode.release import ReleasedCells
from shoal.tables.neat import neat_texts

Numbers = Mapping[str, IntegerArray]


@dataclass(frozen=True, eq=False)
class BlockPlan:
    """Everything that a release needs besides the records; see `ReleasePlan`."""

    names: tuple[str, ...]  # columns of the key
    values: Mapping[str, pl.Series]  # the distinct values of each
    codes: tuple[IntegerArray, ...]  # per column of the key, the code of each value
    kept: tuple[str, ...]  # the columns of the release, in order
    cuts: BlockCuts
    files: tuple[Path, ...]  # the plan of each block
    types: Mapping[str, pl.DataType]  # of the released quasi-identifiers
    known_values: frozenset[str]  # columns of the release that have values of the input only
    _open: dict[int, ReleasePlan] = field(default_factory=dict)

    def schema(self, input_schema: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
        """Names and types of the release."""
        return {name: self.types[name] if name in self.types else input_schema[name] for name in self.kept}

    def has_known_values(self, name: str) -> bool:
        """Whether a column of the release has values of the input only."""
        return name in self.known_values

    def dealer(self) -> BlockDealer:
        return BlockDealer(self)

    def of_block(self, number: int) -> ReleasePlan:
        """The plan of a block; its arrays stay in their file."""
        if number not in self._open:
            found = load_mapped(self.files[number])
            assert isinstance(found, ReleasePlan)
            self._open[number] = replace(found, values=self.values, codes=self.codes)
        return self._open[number]

    def __getstate__(self) -> dict[str, Any]:
        """Who is sent a plan opens the files itself."""
        return {**self.__dict__, "_open": {}}

    def parts(self, numbers: Numbers) -> Iterator[tuple[int, ReleasePlan, NDArray[np.int64]]]:
        """The blocks that some records belong to, with their plans and which of the records."""
        block = self.cuts.of([codes[numbers[name]] for name, codes in zip(self.names, self.codes, strict=True)])
        order = np.argsort(block, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
            if some.size:
                number = int(block[some[0]])
                yield number, self.of_block(number), some


AnyPlan = ReleasePlan | BlockPlan


class BlockDealer:
    """Gives records their released values, as they come."""

    def __init__(self, plan: BlockPlan) -> None:
        self._plan = plan
        self._dealers: dict[int, Dealer] = {}

    def released(self, records: pl.DataFrame, numbers: Numbers) -> pl.DataFrame:
        """The next records with released values; they come in the order of the input."""
        return self._by_block(records, numbers, Dealer.released)

    def like(self, records: pl.DataFrame, numbers: Numbers) -> pl.DataFrame:
        """Some records with released values, for who wants to know what a release looks like."""
        return self._by_block(records, numbers, Dealer.like)

    def _by_block(
        self, records: pl.DataFrame, numbers: Numbers, deal: Callable[[Dealer, pl.DataFrame, Numbers], pl.DataFrame]
    ) -> pl.DataFrame:
        found, order = [], []
        for block, plan, some in self._plan.parts(numbers):
            if block not in self._dealers:
                self._dealers[block] = plan.dealer()
            own = {name: line[some] for name, line in numbers.items()}
            found.append(deal(self._dealers[block], records[some], own))
            order.append(some)
        return in_order(found, order)


def in_order(parts: Sequence[pl.DataFrame], order: Sequence[NDArray[np.int64]]) -> pl.DataFrame:
    """Parts of a table put together again; `order` tells of each where its records belong."""
    place = np.argsort(np.concatenate(order))
    return pl.concat(parts)[place]


def save_block(plan: ReleasePlan, path: Path) -> None:
    """Write the plan of a block, without what is the same in all."""
    save_mapped(replace(plan, values={}, codes=()), path)


def one_type(files: Sequence[Path], book: Codebook) -> dict[str, pl.DataType]:
    """Where some blocks release values as they are and others texts, let all be texts. Gives the types."""
    found: dict[str, set[pl.DataType]] = {}
    for file in files:
        for name, cells in load_mapped(file).cells.items():
            found.setdefault(name, set()).add(cells.values.dtype)
    mixed = {name for name, types in found.items() if len(types) > 1}
    for file in files if mixed else ():
        plan = load_mapped(file)
        cells = {
            name: ReleasedCells(_texts(one.values, book[name]), one.of_record) if name in mixed else one
            for name, one in plan.cells.items()
        }
        whole = file.with_suffix(".texts")
        save_mapped(replace(plan, cells=cells), whole)
        whole.replace(file)
    return {name: pl.String() if name in mixed else next(iter(types)) for name, types in found.items()}


def _texts(values: pl.Series, book: ColumnCodebook) -> pl.Series:
    """Values as they are, in the words in which a release has them beside generalized ones."""
    if values.dtype == pl.String:
        return values
    known = book.values.is_not_null()
    texts = neat_texts(book.values, book.texts) if book.kind is Kind.INTERVAL else book.texts
    return values.replace_strict(book.values.filter(known), texts.filter(known), default=None, return_dtype=pl.String)
