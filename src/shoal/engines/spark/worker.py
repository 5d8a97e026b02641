"""What executors do with a batch of records. They need this package and the files that the driver names, nothing else.

Columns come as c0, c1, ... in the order of the table, so that no name of a column means anything to Spark; `file` and
`row` say where a record stands. Every function takes an iterator of Arrow batches and gives one back.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InternalError, Problem
from shoal.recode.block_plan import AnyPlan, in_order
from shoal.recode.plan import ReleasePlan
from shoal.tables.hashed_counts import to_be_hashed
from shoal.tables.numbering import Numbering
from shoal.tables.scales import is_missing

FILE, ROW, CONTENT = "file", "row", "content"
PLACE, KEY = "place", "key"
KEYS_OF_A_BLOCK = 1 << 40  # the block of a key and its place there, as one number
_ROWS_OF_A_FILE = 1 << 40  # a place is the number of the file and the row in it, as one number
Batches = Iterator[Any]
Places = NDArray[np.int64]


def column(number: int) -> str:
    return f"c{number}"


def as_frame(batch: Any) -> pl.DataFrame:
    import pyarrow as pa

    found = pl.from_arrow(pa.Table.from_batches([batch]))
    assert isinstance(found, pl.DataFrame)
    return found


def as_batches(frame: pl.DataFrame) -> Batches:
    """Spark knows plain texts and bytes only, no large ones and no views."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    kinds = pa.schema([one.with_type(plain.get(one.type, one.type)) for one in table.schema])
    yield from table.cast(kinds).to_batches()


def places(frame: pl.DataFrame, files: Mapping[str, int]) -> Places:
    """(records,) where each record stands, as one number that rises with the order of the table.

    Spark writes the names of files as addresses do, with %20 for a space.
    """
    known = {name: files.get(unquote(name), files.get(name)) for name in frame[FILE].unique().to_list()}
    number = frame[FILE].replace_strict(known, return_dtype=pl.Int64)
    if number.null_count():
        raise InternalError(Problem("input-changed", "there are files that were not there before"))
    found = number * _ROWS_OF_A_FILE + frame[ROW]
    return found.to_numpy().astype(np.int64)


@dataclass(frozen=True)
class SampleOf:
    """Every so manyth record of the table, with its place: the same ones as of a table that goes by in one piece."""

    files: Mapping[str, int]
    begins: Sequence[int]  # per file, how many records come before it
    step: int

    def __call__(self, batches: Batches) -> Batches:
        begins = np.array(self.begins, dtype=np.int64)
        for batch in batches:
            frame = as_frame(batch)
            place = places(frame, self.files)
            position = begins[place // _ROWS_OF_A_FILE] + place % _ROWS_OF_A_FILE
            taken = position % self.step == 0
            if taken.any():
                frame = frame.drop(FILE, ROW).with_columns(pl.Series(PLACE, position)).filter(pl.Series(taken))
                yield from as_batches(frame)


@dataclass(frozen=True)
class ValuesOf:
    """The values of kept columns as hashes with their counts; those that mean 'missing' are told apart."""

    missing: tuple[str, ...]

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            frame = as_frame(batch)
            for number, name in enumerate(frame.columns):
                absent = is_missing(frame[name], self.missing)
                values = pl.DataFrame(
                    {"absent": absent, "hash": to_be_hashed(frame[name]).hash().reinterpret(signed=True)}
                )
                counted = values.group_by("absent", "hash").len("records").cast({"records": pl.Int64})
                yield from as_batches(counted.select(pl.lit(number, pl.Int32).alias("number"), pl.all()))


@dataclass(frozen=True, eq=False)
class Dealt:
    """A plan, and the deals of those records whose key goes to several groups: what executors are sent."""

    plan: AnyPlan
    key_columns: Mapping[str, str]  # columns of the key -> what they are called here
    kept_columns: Mapping[str, str]  # columns of the release that are no quasi-identifiers
    files: Mapping[str, int]
    places: Places  # rising
    deals: NDArray[np.int64]

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            pickle.dump(self, file, protocol=5)


@dataclass(frozen=True, eq=False)
class _Ready:
    """What an executor has made of a plan; it does so once."""

    dealt: Dealt
    numberings: Mapping[str, Numbering]

    def parts(self, frame: pl.DataFrame) -> Iterator[tuple[int, ReleasePlan, NDArray[np.int64], NDArray[np.int64]]]:
        """Per block: its plan, which of the records it has, and their keys."""
        numbers = {name: one.known(frame[self.dealt.key_columns[name]]) for name, one in self.numberings.items()}
        for block, plan, some in self.dealt.plan.parts(numbers):
            yield block, plan, some, plan.keys_of({name: line[some] for name, line in numbers.items()})


@lru_cache(maxsize=2)
def _ready(path: str) -> _Ready:
    with Path(path).open("rb") as file:
        dealt = pickle.load(file)
    assert isinstance(dealt, Dealt)
    return _Ready(dealt, {name: Numbering(values) for name, values in dealt.plan.values.items()})


@dataclass(frozen=True)
class SharedOut:
    """The records whose key goes to several groups: their place, key, and content if that orders them."""

    path: str

    def __call__(self, batches: Batches) -> Batches:
        ready = _ready(self.path)
        for batch in batches:
            frame = as_frame(batch)
            for block, plan, some, keys in ready.parts(frame):
                few = np.flatnonzero(plan.are_shared(keys))
                if few.size:
                    own = frame[some[few]]
                    content = own[CONTENT] if CONTENT in own.columns else pl.zeros(own.height, pl.Int64, eager=True)
                    place = places(own, ready.dealt.files)
                    key = block * KEYS_OF_A_BLOCK + keys[few]
                    yield from as_batches(pl.DataFrame({PLACE: place, KEY: key, CONTENT: content}))


@dataclass(frozen=True)
class Released:
    """The records with released values, and columns that are counted beside them but not published."""

    path: str
    hidden: tuple[str, ...]  # what they are called here

    def __call__(self, batches: Batches) -> Batches:
        ready = _ready(self.path)
        names = {name: pl.col(known).alias(name) for name, known in ready.dealt.kept_columns.items()}
        for batch in batches:
            frame = as_frame(batch)
            found, order = [], []
            for _, plan, some, keys in ready.parts(frame):
                deals = plan.first_deal[keys]
                few = np.flatnonzero(plan.are_shared(keys))
                if few.size:
                    deals[few] = _deals_at(ready.dealt, places(frame[some[few]], ready.dealt.files))
                found.append(plan.released(frame[some].select(names.values()), deals))
                order.append(some)
            if not found:
                continue
            shown = in_order(found, order)
            numbered = {column(number): shown[name] for number, name in enumerate(shown.columns)}
            beside = {f"h{number}": frame[known] for number, known in enumerate(self.hidden)}
            yield from as_batches(pl.DataFrame({**numbered, **beside}))


@dataclass(frozen=True)
class Blocks:
    """What is to be done with blocks, by their numbers; what comes of it goes back as bytes."""

    path: str  # a pickle of a function

    def __call__(self, batches: Batches) -> Batches:
        work = pickle.loads(Path(self.path).read_bytes())
        for batch in batches:
            for number in as_frame(batch)["id"].to_list():
                yield from as_batches(pl.DataFrame({"id": [number], "found": [pickle.dumps(work(number))]}))


def _deals_at(dealt: Dealt, wanted: Places) -> NDArray[np.int64]:
    found = np.minimum(np.searchsorted(dealt.places, wanted), max(0, dealt.places.shape[0] - 1))
    if not dealt.places.shape[0] or (dealt.places[found] != wanted).any():
        raise InternalError(Problem("input-changed", "there are records that were not there before"))
    return dealt.deals[found]
