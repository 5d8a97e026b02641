"""What an engine is: where records are held while a release is made, in five verbs.

    facts -> distinct -> release -> released_counts -> publish

An engine never sees a job, a model or an algorithm. It counts the distinct rows of some columns, gives records their
released values by a plan, counts what it has written, and puts that into its place. Everything in between (planning,
encoding, clustering, the check, the metrics) is done once, by the same code, on counted rows (`pipeline/counted.py`).
The engine `local` holds the whole table and takes the direct way (`pipeline/run.py`); the same contract tests say that
all engines release the same cells. What an engine cannot do is declared (`Abilities`); the support table in
`docs/scale.md` is made from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl

from shoal.encode.counted import CountedRows
from shoal.encode.stored import StoredRows
from shoal.progress import Passed
from shoal.recode.block_plan import AnyPlan
from shoal.tables.formats.files import ReadTable
from shoal.tables.value_sizes import KeptFacts

Watcher = Callable[[Passed], None]  # told how much of the table has gone by


def unwatched(passed: Passed) -> None:
    """Nobody wants to know."""


TOO_MANY = (
    "allow more with --memory, coarsen a quasi-identifier beforehand, or name fewer; with k-anonymity alone, without a "
    "label, means and value suppression, such a table is done block by block"
)


@dataclass(frozen=True)
class Abilities:
    """What an engine can do, in words for the support table and as facts for the checks before any work."""

    inputs: str
    outputs: str
    memory: str  # what the memory of the machine that clusters grows with
    any_algorithm: bool  # False: algorithms that take rows only
    report: bool  # writes the HTML report
    groups: bool  # tells the group of every record
    frames: str  # which frames it takes in Python
    into_folder: bool = False  # the release is a folder of files, not one file


@dataclass(frozen=True)
class Facts:
    """What is known of a table before its records are read."""

    schema: Mapping[str, pl.DataType]


@dataclass(frozen=True, eq=False)
class Written:
    """What is on the disk, counted, and its hash."""

    counted: CountedRows
    sha256: str
    alone: int  # records that stand alone for whoever knows the kept columns too
    files: Mapping[str, str] = field(default_factory=dict)  # of a folder: its files, with their hashes


@dataclass(frozen=True)
class Reading:
    """How the records are read."""

    missing: Sequence[str] = ()  # texts that mean a missing value
    blocks: bool = False  # the job can be done block by block, if memory does not hold the distinct rows


@dataclass(frozen=True, eq=False)
class Counted:
    """What a pass over the input tells."""

    rows: CountedRows | StoredRows
    kept: KeptFacts


class OwnPlace(Protocol):
    """A place that is no single file: a folder, a table of a database."""

    waiting: Path  # where the release waits until it was checked; a table waits in the database

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the certificate should know of it."""

    @property
    def database(self) -> Mapping[str, str]:
        """The kind of database and the table, if it is one."""

    def publish(self) -> None:
        """Put it into its place, whole, or leave what is there."""


class Engine(ABC):
    """A table that somebody holds."""

    name: ClassVar[str]
    can: ClassVar[Abilities]

    @abstractmethod
    def facts(self) -> Facts:
        """Names and types of the columns. Raises InputError if there is no such table."""

    @abstractmethod
    def distinct(
        self, names: Sequence[str], kept: Sequence[str], reading: Reading, watcher: Watcher = unwatched
    ) -> Counted:
        """The distinct combinations of these columns with their counts, and what the kept columns are like. Raises
        InputError with what is wrong with the table."""

    def each_block(self, work: Callable[[int], Any], blocks: int, watcher: Watcher = unwatched) -> list[Any]:
        """What comes of some work on every block of the distinct rows; it can be sent elsewhere."""
        found = []
        for number in range(blocks):
            watcher(Passed(number / blocks))
            found.append(work(number))
        return found

    @property
    @abstractmethod
    def sha256(self) -> str:
        """Of the input; known once its rows were counted."""

    @property
    def like(self) -> ReadTable | None:
        """How the input is written, if it is text; it holds no records."""
        return None

    @abstractmethod
    def release(
        self,
        plan: AnyPlan,
        waiting: Path,
        hidden: Sequence[str],
        order: str,
        watcher: Watcher = unwatched,
    ) -> None:
        """Write the release where it waits to be published, its rows by their `released` values or in `input` order.

        `hidden` are columns that are not in it, but to be counted beside it: models look at them, and nobody else may.
        """

    @abstractmethod
    def as_written(self, rows: pl.DataFrame, waiting: Path) -> pl.DataFrame:
        """These released cells as they read in what was written: a text file has no types."""

    @abstractmethod
    def released_counts(
        self, waiting: Path, names: Sequence[str], known: Sequence[str], watcher: Watcher = unwatched
    ) -> Written:
        """The distinct combinations of these columns of what was written (and of the hidden ones beside it), and how
        many records stand alone for whoever knows the columns `known`."""

    def own_place(self) -> OwnPlace | None:
        """Where the release waits, if it is no single file; None: it is one, which the caller moves with the others."""
        return None

    def published(self) -> Any:
        """The release as whoever gave a frame gets it; None: the path says enough."""
        return None
