"""The possible worlds of two releases as transport plans between their cells; questions are answered lazily.

One plan is kept and changed from question to question. What a plan was seen to do is possible, so `found` is a lower
bound of what any world does; it is the exact number once `exact` says so, or where it reaches the closed form, which
is an upper bound. Most questions need no more than the first plan: it sends every class into the tightest later class
around it, if there is one. Cost: one path search per pair that the bounds leave open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.released.domain import CodeArray, CountArray
from shoal.releases.classes import Covers, ReleaseClasses, pairs_that_fit
from shoal.releases.kernels.covering import classes_inside, inside_others
from shoal.releases.kernels.flows import first_plan, most_free, raise_pairs, room_nearby

Network = tuple[
    CountArray, CountArray, NDArray[np.int64], CodeArray, CodeArray, NDArray[np.int64], NDArray[np.int64], CountArray,
    CountArray,
]  # fmt: skip
WHOLE = int(np.iinfo(np.int64).max)  # as `enough`: all there is


@dataclass(frozen=True, eq=False)
class Edges:
    """Earlier and later cells that fit and carry the same sensitive value, sorted by the earlier cell."""

    tail: CodeArray  # (edges,) earlier cell
    head: CodeArray  # (edges,) later cell
    start: NDArray[np.int64]  # (earlier cells + 1,)
    back: NDArray[np.int64]  # (edges,) the edges sorted by the later cell
    back_start: NDArray[np.int64]  # (later cells + 1,)
    pair: NDArray[np.int64]  # (edges,) the pair of classes of each edge


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of classes with cells that fit, sorted by the earlier and then the later class, and their edges."""

    earlier: CodeArray  # (pairs,)
    later: CodeArray  # (pairs,)
    start: NDArray[np.int64]  # (pairs + 1,)
    edges: NDArray[np.int64]

    @property
    def count(self) -> int:
        return int(self.earlier.shape[0])


@dataclass(frozen=True, eq=False)
class Worlds:
    """All ways in which the records of one release can be records of the other."""

    one: ReleaseClasses
    other: ReleaseClasses
    edges: Edges
    pairs: Pairs
    flow: CountArray  # (edges,) the plan
    taken: CountArray  # (later cells,) of the plan
    found: CountArray  # (edges,) the most that was seen
    free: CountArray  # (later cells,) the most newcomers that were seen
    exact: NDArray[np.uint8]  # (pairs,)
    given_up: NDArray[np.uint8]  # (later cells,) 1 where `free` may be too low, because the search was given up

    @property
    def closed(self) -> CountArray:
        """(edges,) the smaller of the two cells: no world sends more."""
        return np.minimum(self.one.cell_sizes[self.edges.tail], self.other.cell_sizes[self.edges.head])

    def of_pairs(self, of_edges: CountArray) -> CountArray:
        """Sums over the edges of every pair."""
        return np.bincount(self.edges.pair, weights=of_edges, minlength=self.pairs.count).astype(np.int64)

    def of_classes(self, of_cells: CountArray) -> CountArray:
        """Sums over the cells of every later class."""
        classes = self.other.sizes.shape[0]
        return np.bincount(self.other.cell_class, weights=of_cells, minlength=classes).astype(np.int64)

    def ask(self, pairs: NDArray[np.int64], enough: int = WHOLE, reach: int = WHOLE) -> None:
        """Settle for some pairs how many records can go there at most, or that `enough` can.

        Each search looks along `reach` edges at most; a pair whose search is given up stays open.
        """
        raise_pairs(pairs, enough, reach, self.pairs.start, self.pairs.edges, *self._network, self.found, self.exact)

    def ask_newcomers(self, classes: NDArray[np.int64], reach: int = WHOLE) -> None:
        """Settle for some later classes how many newcomers they can hold at most."""
        chosen = np.zeros(self.other.sizes.shape[0], dtype=np.bool_)
        chosen[classes] = True
        cells = np.flatnonzero(chosen[self.other.cell_class])
        most_free(cells, self.other.cell_sizes[cells], reach, *self._network, self.free, self.given_up)

    def surely_elsewhere(self, edges: NDArray[np.bool_]) -> int:
        """How many earlier records do not go along these edges, whichever world is the real one."""
        chosen = np.flatnonzero(edges)
        one, other, all_edges = self.one.cell_sizes, self.other.cell_sizes, self.edges
        tail, head = all_edges.tail[chosen], all_edges.head[chosen]
        flow, taken = np.zeros(chosen.shape[0], dtype=np.int64), np.zeros(other.shape[0], dtype=np.int64)
        return first_plan(
            np.arange(chosen.shape[0], dtype=np.int64), one, other, _starts(tail, one.shape[0]), head, tail,
            _starts(head, other.shape[0]), np.argsort(head, kind="stable").astype(np.int64), flow, taken,
        )  # fmt: skip

    def surely_new(self, classes: NDArray[np.bool_]) -> int:
        """How many records of these later classes are newcomers, whichever world is the real one."""
        cells = classes[self.other.cell_class]
        placed = int(self.one.cell_sizes.sum()) - self.surely_elsewhere(cells[self.edges.head])
        return int(self.other.cell_sizes[cells].sum()) - placed

    def inside_good_pairs(self, pairs: NDArray[np.int64], good: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of some pairs: whether one of the good pairs holds every value that the two classes share."""
        covered = self.around_it(pairs, good, same_earlier=True) >= 0
        covered[~covered] = self.around_it(pairs[~covered], good, same_earlier=False) >= 0
        return covered

    def around_it(
        self, pairs: NDArray[np.int64], good: NDArray[np.bool_], *, same_earlier: bool
    ) -> NDArray[np.int64]:  # fmt: skip
        """Of some pairs: a good one with the same earlier (or later) class that holds every value they share; or -1."""
        by = np.empty(pairs.shape[0], dtype=np.int64)
        one, other, mine, theirs = self.one, self.other, self.pairs.earlier, self.pairs.later
        slots = np.flatnonzero(good)
        if not same_earlier:
            one, other, mine, theirs = other, one, theirs, mine
            slots = slots[np.argsort(mine[slots], kind="stable")]
        starts = _starts(mine[slots], one.sizes.shape[0])
        inside_others(pairs, mine, theirs, starts, slots, *one.covers.arrays, *other.covers.arrays, by)
        return by

    def pair_of(self, earlier_class: CodeArray, later_class: CodeArray) -> NDArray[np.int64]:
        """The number of the pair of two classes next to each other; -1 where they do not fit."""
        if self.pairs.count == 0:
            return np.full(earlier_class.shape[0], -1, dtype=np.int64)
        span = self.other.sizes.shape[0]
        keys = self.pairs.earlier.astype(np.int64) * span + self.pairs.later  # sorted, as the pairs are
        wanted = earlier_class.astype(np.int64) * span + later_class
        place = np.minimum(np.searchsorted(keys, wanted), keys.shape[0] - 1)
        return np.where(keys[place] == wanted, place, -1)

    def closed_newcomers(self) -> CountArray:
        """Per later class, by the closed form: its size less the earlier records that find no room elsewhere nearby."""
        edges, sizes = self.edges, self.other.cell_sizes
        fitting = np.bincount(edges.head, self.one.cell_sizes[edges.tail], sizes.shape[0]).astype(np.int64)
        room = np.zeros(sizes.shape[0], dtype=np.int64)
        room_nearby(sizes, edges.start, edges.head, edges.tail, edges.back_start, edges.back, room)
        needed = np.maximum(0, fitting - (room - sizes))
        return self.of_classes(sizes - np.where(fitting > 0, needed, 0))

    @property
    def _network(self) -> Network:
        edges = self.edges
        return (
            self.one.cell_sizes, self.other.cell_sizes, edges.start, edges.head, edges.tail, edges.back_start,
            edges.back, self.flow, self.taken,
        )  # fmt: skip


def make_worlds(earlier: ReleaseClasses, later: ReleaseClasses, *, may_leave: bool = False) -> Worlds:
    """The worlds of two releases, with a first plan. Raises InputError if there is no world.

    Records are told apart by the sensitive columns that both releases have.

    With `may_leave` records of the earlier release need not be in the later one. Then any of them can be gone, nothing
    stands in each other's way, and the closed forms are exact.
    """
    both = [name for name in earlier.cell_columns if name in later.cell_columns]
    earlier, later = earlier.told_by(both), later.told_by(both)
    pairs, edges = _join(earlier, later)
    flow = np.zeros(edges.head.shape[0], dtype=np.int64)
    taken = np.zeros(later.cell_sizes.shape[0], dtype=np.int64)
    exact = np.zeros(pairs.count, dtype=np.uint8)
    given_up = np.zeros(later.cell_sizes.shape[0], dtype=np.uint8)
    free = later.cell_sizes.copy()
    worlds = Worlds(earlier, later, edges, pairs, flow, taken, flow.copy(), free, exact, given_up)
    if may_leave:
        worlds.found[:] = worlds.closed
        exact[:] = 1
        return worlds
    unplaced = first_plan(_tightest_first(worlds), *worlds._network)
    if unplaced:
        message = f"{unplaced} records of the earlier release cannot be in the later one"
        hint = "give them in the order of time, with the same people, values and columns; or say that people left"
        raise InputError(Problem("releases-do-not-fit", message, None, hint))
    room = later.cell_sizes - taken
    worlds.found[:] = np.minimum(earlier.cell_sizes[edges.tail], flow + room[edges.head])
    worlds.free[:] = room
    exact[worlds.of_pairs(worlds.found) == worlds.of_pairs(worlds.closed)] = 1
    return worlds


def inside(one: Covers, other: Covers, first: CodeArray, second: CodeArray) -> NDArray[np.bool_]:
    """For pairs of classes: whether the first, of one release, lies inside the second, of the other."""
    found = np.zeros(first.shape[0], dtype=np.uint8)
    classes_inside(first, second, *one.arrays, *other.arrays, found)
    return np.asarray(found == 1)


def _tightest_first(worlds: Worlds) -> NDArray[np.int64]:
    """The edges into classes around their own, the tightest of them first."""
    pairs = worlds.pairs
    around = inside(worlds.one.covers, worlds.other.covers, pairs.earlier, pairs.later)
    covers = worlds.other.covers
    spans = np.minimum(covers.high, 1e300) - np.maximum(covers.low, -1e300)
    spans = np.maximum(spans, 0.0) / np.maximum(1.0, np.where(spans < 1e290, spans, 0.0).max(axis=0, initial=1.0))
    width = np.minimum(spans, 2.0).sum(axis=1)[pairs.later]
    edges = np.flatnonzero(around[worlds.edges.pair])
    return edges[np.argsort(width[worlds.edges.pair[edges]], kind="stable")]


def _join(earlier: ReleaseClasses, later: ReleaseClasses) -> tuple[Pairs, Edges]:
    first, second = pairs_that_fit(earlier.covers, later.covers)
    joined = (
        pl.DataFrame({"earlier": first, "later": second})
        .join(_cells(earlier, "earlier", "tail"), on="earlier")
        .join(_cells(later, "later", "head"), on=["later", *(f"value {name}" for name in earlier.cell_columns)])
        .sort("tail", "head")
    )
    tail, head = joined["tail"].to_numpy(), joined["head"].to_numpy()
    span = later.sizes.shape[0]
    keys, pair = np.unique(
        joined["earlier"].to_numpy().astype(np.int64) * span + joined["later"].to_numpy(), return_inverse=True
    )
    pairs = Pairs(
        (keys // span).astype(np.int32),
        (keys % span).astype(np.int32),
        _starts(pair, keys.shape[0]),
        np.argsort(pair, kind="stable").astype(np.int64),
    )
    edges = Edges(
        tail=tail,
        head=head,
        start=_starts(tail, earlier.cell_sizes.shape[0]),
        back=np.argsort(head, kind="stable").astype(np.int64),
        back_start=_starts(head, later.cell_sizes.shape[0]),
        pair=pair.astype(np.int64),
    )
    return pairs, edges


def _cells(release: ReleaseClasses, class_name: str, cell_name: str) -> pl.DataFrame:
    numbers = np.arange(release.cell_sizes.shape[0], dtype=np.int32)
    values = {f"value {name}": codes for name, codes in release.cell_columns.items()}
    return pl.DataFrame({class_name: release.cell_class, cell_name: numbers, **values})


def _starts(sorted_or_not: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Where the entries of every number begin once they are sorted, and where the last ones end."""
    return np.append(0, np.cumsum(np.bincount(sorted_or_not, minlength=count))).astype(np.int64)
