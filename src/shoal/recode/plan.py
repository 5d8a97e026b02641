"""How a release is dealt out to records that nobody holds all at once: a plan that can be saved and sent.

It holds the dictionaries of the columns of the key with the code of every value, the keys, the deals of each key and
the released values of each deal. Whoever has some records gives them their values without knowing the others; only keys
that are shared out to several groups (few) need to know the rank of a record among those of its key.
Memory: about 30 bytes per key, 8 bytes per deal and quasi-identifier, and the distinct values.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.counted import CountedRows, CountedTable
from shoal.encode.encoded_table import IntegerArray
from shoal.encode.key_index import KeyIndex
from shoal.errors import InternalError, Problem
from shoal.recode.deals import Deals, deals_as_records
from shoal.recode.release import RecodeOptions, ReleasedCells, released_cells
from shoal.tables.types import with_one_zero


@dataclass(frozen=True, eq=False)
class ReleasePlan:
    """Everything that a release needs besides the records."""

    names: tuple[str, ...]  # columns of the key; one may be there twice, as quasi-identifier and for a model
    values: Mapping[str, pl.Series]  # the distinct values of each
    codes: tuple[IntegerArray, ...]  # per column of the key, the code of each value
    index: KeyIndex
    key_starts: NDArray[np.int64]  # (keys + 1,) where the records of a key begin in canonical order
    first_deal: NDArray[np.int64]  # (keys + 1,) where its deals begin
    deal_ends: NDArray[np.int64]  # (deals,) where the records of a deal end
    cells: Mapping[str, ReleasedCells]  # per quasi-identifier; `of_record` is per deal
    kept: tuple[str, ...]  # the columns of the release, in order

    def keys_of(self, numbers: Mapping[str, IntegerArray]) -> NDArray[np.int64]:
        """(records,) the key of each record, from the numbers of its values (-1: a value that was not counted)."""
        lines = [
            np.where(numbers[name] >= 0, codes[numbers[name]], -1)
            for name, codes in zip(self.names, self.codes, strict=True)
        ]
        keys = self.index.find(lines)
        if keys.size and keys.min() < 0:
            message = "the input has records that were not there when they were counted: it changed in between"
            raise InternalError(Problem("input-changed", message))
        return keys

    @property
    def types(self) -> dict[str, pl.DataType]:
        """Of the released quasi-identifiers."""
        return {name: cells.values.dtype for name, cells in self.cells.items()}

    def dealer(self) -> Dealer:
        return Dealer(self)

    def parts(self, numbers: Mapping[str, IntegerArray]) -> Iterator[tuple[int, ReleasePlan, NDArray[np.int64]]]:
        """The blocks that some records belong to, with their plans and which of the records: here there is one."""
        yield 0, self, np.arange(next(iter(numbers.values())).shape[0])

    def of_block(self, number: int) -> ReleasePlan:
        return self

    def shared(self) -> NDArray[np.int64]:
        """The keys whose records go to several groups; they are few."""
        return np.flatnonzero(np.diff(self.first_deal) > 1)

    def are_shared(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(records,) whether the key of each record goes to several groups."""
        return np.asarray(self.first_deal[keys + 1] - self.first_deal[keys] > 1)

    def deals_of(self, keys: NDArray[np.int64], ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """(records,) the deal of each record; `ranks` counts the records of each key in the order of the input."""
        position = self.key_starts[keys] + ranks
        if position.size and (position >= self.key_starts[keys + 1]).any():
            message = "the input has more records of a kind than were counted: it changed in between"
            raise InternalError(Problem("input-changed", message))
        return np.searchsorted(self.deal_ends, position, side="right")

    def released(self, records: pl.DataFrame, deals: NDArray[np.int64]) -> pl.DataFrame:
        """The records with released values in the place of their quasi-identifiers, without the dropped columns."""
        return pl.DataFrame(
            {
                name: self.cells[name].values.gather(self.cells[name].of_record[deals])
                if name in self.cells
                else with_one_zero(records[name])
                for name in self.kept
            }
        )

    def schema(self, input_schema: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
        """Names and types of the release."""
        types = self.types
        return {name: types[name] if name in types else input_schema[name] for name in self.kept}

    def has_known_values(self, name: str) -> bool:
        """Whether a column of the release has values of the input only."""
        if name not in self.cells:
            return name in self.kept
        cells = self.cells[name]
        texts = cells.values.gather(np.unique(cells.of_record)).cast(pl.String).drop_nulls()
        return bool(texts.is_in(self.values[name].cast(pl.String).implode()).all())

    def save(self, path: Path) -> None:
        """One file; it holds values of the data, so it belongs where the input does."""
        with path.open("wb") as file:
            pickle.dump(self, file, protocol=5)

    @staticmethod
    def load(path: Path) -> ReleasePlan:
        """Only for files that this program has written itself: a pickle can hold anything."""
        with path.open("rb") as file:
            plan = pickle.load(file)
        assert isinstance(plan, ReleasePlan)
        return plan


def make_release_plan(
    counted: CountedRows, encoded: CountedTable, deals: Deals, options: RecodeOptions, kept: Sequence[str]
) -> ReleasePlan:
    """The plan of a release from its deals."""
    cells = released_cells(deals_as_records(deals, encoded), encoded.codebook, deals.clustering, options, deals.weight)
    keys = encoded.key_counts.shape[0]
    return ReleasePlan(
        names=tuple(part.name for part in encoded.parts),
        values={part.name: counted.values[part.name] for part in encoded.parts},
        codes=tuple(part.code_of_value for part in encoded.parts),
        index=KeyIndex(encoded.key_codes, [part.size for part in encoded.parts]),
        key_starts=np.concatenate([[0], np.cumsum(encoded.key_counts)]).astype(np.int64),
        first_deal=np.searchsorted(deals.key, np.arange(keys + 1)).astype(np.int64),
        deal_ends=np.cumsum(deals.weight).astype(np.int64),
        cells={one.name: cell for one, cell in zip(encoded.table.attributes, cells, strict=True)},
        kept=tuple(kept),
    )


class Dealer:
    """Gives records their released values, as they come; counts those of shared keys, which are few."""

    def __init__(self, plan: ReleasePlan) -> None:
        self._plan = plan
        self._shared = plan.shared()
        self._seen = np.zeros(self._shared.shape[0], dtype=np.int64)

    def released(self, records: pl.DataFrame, numbers: Mapping[str, IntegerArray]) -> pl.DataFrame:
        """The next records with released values; they come in the order of the input."""
        return self._plan.released(records, self.deals_of(self._plan.keys_of(numbers)))

    def like(self, records: pl.DataFrame, numbers: Mapping[str, IntegerArray]) -> pl.DataFrame:
        """Some records with released values, for who wants to know what a release looks like."""
        return self._plan.released(records, self._plan.first_deal[self._plan.keys_of(numbers)])

    def deals_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """(records,) the deals of the next records."""
        deals = self._plan.first_deal[keys]
        few = np.flatnonzero(self._plan.are_shared(keys))
        if few.size:
            own, place = keys[few], np.searchsorted(self._shared, keys[few])
            deals[few] = self._plan.deals_of(own, self._seen[place] + rank_in_order(own))
            np.add.at(self._seen, place, 1)
        return deals


def rank_in_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """(records,) how many records of the same key come before each."""
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
    length = np.diff(begins, append=keys.shape[0])
    ranks = np.empty(keys.shape[0], dtype=np.int64)
    ranks[order] = np.arange(keys.shape[0]) - np.repeat(begins, length)
    return ranks
