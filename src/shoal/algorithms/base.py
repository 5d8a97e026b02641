"""What an algorithm is: a frozen, keyword-only dataclass of parameters with one method, `cluster`.

An algorithm sees the encoded table, the requirement and a context (seed, threads, progress). It returns a group
number per record. It keeps no state on itself, leaves its input untouched and gives the same groups for the same
table, parameters and seed, whatever the number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.progress import Progress, ProgressCallback, StopRequest, silent

Item = TypeVar("Item")
Answer = TypeVar("Answer")
One = TypeVar("One")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Context:
    """What a run gives to an algorithm besides the data."""

    seed: int = 0
    threads: int = 1
    progress: ProgressCallback = silent
    stop: StopRequest = field(default_factory=StopRequest)  # a search may end early when it is asked to
    wants_bound: bool = True  # False: a lower bound is known already
    suppression_limit: float = 0.0  # the share of the records that may be suppressed, by the algorithm or after it
    part: float = 1.0  # the table is this share of one whose other parts are searched too, and shares the effort

    @property
    def may_suppress(self) -> bool:
        """Some records may be suppressed: a lower bound must allow for it."""
        return self.suppression_limit > 0

    def random(self, *stream: int) -> np.random.Generator:
        """A random stream of its own for each piece of work, so that threads do not change the result."""
        return np.random.default_rng([self.seed, *stream])

    def report(self, fraction: float, *, loss: float | None = None, note: str | None = None) -> None:
        self.progress(Progress("cluster", min(1.0, max(0.0, fraction)), loss, note))

    def report_bound(self, bound: float) -> None:
        """Tell that no release can lose less, as far as is known now."""
        self.progress(Progress("bound", 1.0, bound=bound))

    def map(self, work: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
        """`work` on every item, on all threads, answers in the order of the items. Kernels release the GIL."""
        pieces = list(items)
        if self.threads <= 1 or len(pieces) <= 1:
            return [work(piece) for piece in pieces]
        with ThreadPoolExecutor(max_workers=self.threads) as pool:
            return list(pool.map(work, pieces))

    def both(self, one: Callable[[], One], other: Callable[[], Other]) -> tuple[One, Other]:
        """The answers of two pieces of work that do not need each other, at the same time if there are threads."""
        if self.threads <= 1:
            return one(), other()
        with ThreadPoolExecutor(max_workers=1) as pool:
            answer = pool.submit(one)
            found = other()
            return answer.result(), found


@dataclass(frozen=True)
class Boxes:
    """Released values that are wider than the tight box of a group, as code bounds per attribute.

    Used by algorithms whose released value is not the tightest cover of the group: a cut through a taxonomy, a box
    per record. `low` and `high` have shape (attributes, boxes); `box_of_record` leads from the records to the boxes.
    `labels` may give, per attribute name, the released text of every box where the usual text does not fit.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    box_of_record: NDArray[np.int32]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class BoundProof:
    """Prices that prove a lower bound (docs/lower_bound.md): what `shoal verify --bound` confirms."""

    prices: NDArray[np.float64]  # (rows,) what each record of a row of the table is priced at
    k: int  # for groups of at least so many records
    suppression: bool  # no price is above what a suppressed record loses
    rungs: Mapping[str, list[int]]  # which boxes the prices were held against


@dataclass(frozen=True)
class Clustering:
    """A group number (0..groups-1) for every record, in the order of the input."""

    groups: NDArray[np.int32]
    boxes: Boxes | None = None  # None: recode every group to its tight box
    suppressed: NDArray[np.bool_] | None = None  # (records,) records whose quasi-identifiers are all released as `*`
    lower_bound: float | None = None  # no release with these models has a lower GCP than this, if known
    proof: BoundProof | None = None  # prices that prove it, or a lower one, where there are any
    attribute_groups: NDArray[np.int32] | None = None  # (attributes, records) a grouping of its own per attribute
    details: Mapping[str, Any] = field(
        default_factory=dict
    )  # numbers and words for the result; never a value of the data


@dataclass(frozen=True)
class RowClustering:
    """Groups by rows: each row of the table comes apart into items of some weight, and each item is in a group.

    The items of a row are neighbours. They are dealt out to the records of the row in order, whoever holds these.
    """

    item_row: NDArray[np.int32]  # (items,) rising
    item_weight: NDArray[np.int64]  # (items,) records
    item_group: NDArray[np.int32]  # (items,)
    lower_bound: float | None = None
    proof: BoundProof | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """The base of all algorithms. Parameters are the dataclass fields, checked in `__post_init__`."""

    name: ClassVar[str]
    title: ClassVar[str]  # one line for `shoal algorithms`
    citation: ClassVar[str]
    class_based: ClassVar[bool] = True  # False: groups are not equivalence classes (non-homogeneous generalization)
    takes_sets: ClassVar[bool] = False  # True: it has its own way with several quasi-identifier sets
    takes_priorities: ClassVar[bool] = True  # False: it adds up no losses of attributes, so none can weigh more
    takes_rows: ClassVar[bool] = False  # True: the order of the input does not matter to it, so rows and counts will do
    takes_caps: ClassVar[bool] = False  # True: it never lifts an attribute above its `at_most` by itself
    own_values: ClassVar[bool] = False  # True: it says which values are released (`Boxes`), so these are never means

    def prepare(self) -> None:  # noqa: B027  (most algorithms have nothing to do)
        """Called before the table is read: begin what takes time and needs no data."""

    @abstractmethod
    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        """Put every record of the table into a group."""

    def cluster_rows(self, table: EncodedTable, requirement: Requirement, context: Context) -> RowClustering | None:
        """The same groups as `cluster`, found and told without a number per record; None unless `deals_rows`."""
        return None

    def deals_rows(self, requirement: Requirement) -> bool:
        """Whether `cluster_rows` knows the groups: nothing but the rows and their weights matters."""
        return False

    def searches_again(self) -> bool:
        """Whether a second search pays, without the records that are better suppressed."""
        return False

    def looks_at(self) -> tuple[str, ...]:
        """The columns, besides quasi-identifiers and those of models, that the groups depend on."""
        return ()

    def parameters(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}
