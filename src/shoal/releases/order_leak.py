"""What the order of the rows of a release tells beyond its cells.

Somebody who guesses that the rows are sorted by an attribute narrows its ranges: no value is below an earlier one. This
is measured for every quasi-identifier, rising and falling, numbers by their size and words by the alphabet and by the
order of their hierarchy; words in sets count as the range from the first to the last. A sorted stretch is a run whose
ranges allow it. Because short runs come up in any order, the same is counted for the rows in a random order. If the
rows of the file are longer in order than chance would have it, cells are given away.

A file in the order of its own published values (`tables/row_order.py`) tells nothing, whatever the runs look like.

Cost: a few passes over the rows for each quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.released.domain import Domain, DomainKind
from shoal.released.reading import ReadColumn, ReadTable, group_rows, read_release
from shoal.releases.domains import domains_of_releases
from shoal.releases.kernels.runs import narrow_in_runs
from shoal.tables.row_order import is_published_order
from shoal.tables.schema import Scale

FloatArray = NDArray[np.float64]
LONGER_RUNS = 4.0  # runs that are so many times as long as in a random order show that the rows are sorted
FEWEST_ROWS = 20  # below that, chance orders too much


@dataclass(frozen=True, eq=False)
class Narrowed:
    """One quasi-identifier under the guess that the rows are sorted by it."""

    generalized: int  # cells that stand for several values
    narrowed: int  # of these, cells that stand for fewer under the guess
    decided: int  # of these, cells that stand for one value
    runs: int
    runs_by_chance: int  # of the rows in a random order
    low: FloatArray
    high: FloatArray

    @property
    def leaks(self) -> bool:
        return self.narrowed > 0 and self.runs * LONGER_RUNS <= self.runs_by_chance

    def as_dict(self) -> dict[str, Any]:
        names = ("generalized", "narrowed", "decided", "runs", "runs_by_chance")
        return {**{name: getattr(self, name) for name in names}, "leaks": self.leaks}


def order_leak(
    release: pl.DataFrame,
    quasi: Sequence[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    scales: Mapping[str, Scale] | None = None,
    missing: Sequence[str] = (),
) -> dict[str, Any]:
    """What the row order of a release gives away: per quasi-identifier, and the records that then stand alone."""
    if release.height < FEWEST_ROWS or is_published_order(release):
        return {"leaks": False, "by_released_values": release.height >= FEWEST_ROWS, "attributes": {}, "alone": 0}
    domains = domains_of_releases([release], quasi, hierarchies, scales=scales, missing=missing)
    table = read_release(release, release, quasi, domains, same_order=False)
    found = {name: _strongest(table, table.columns[name]) for name in quasi}
    return {
        "leaks": any(one.leaks for one in found.values()),
        "by_released_values": False,
        "attributes": {name: one.as_dict() for name, one in found.items()},
        "alone": _alone(table, found),
    }


def _strongest(table: ReadTable, column: ReadColumn) -> Narrowed:
    """The guess, rising or falling, that somebody would make: of those that fit, the one with the fewest runs.

    The wrong way round may decide more cells, but wrongly.
    """
    shuffled = np.random.Generator(np.random.PCG64(0)).permutation(table.rows)
    guesses = []
    for low, high in _ranges(table, column):
        by_chance = narrow_in_runs(low[shuffled], high[shuffled], np.empty_like(low), np.empty_like(high))
        guesses.append(_narrowed(low, high, by_chance, falling=False))
        guesses.append(_narrowed(low, high, by_chance, falling=True))
    return max(guesses, key=lambda guess: (guess.leaks, -guess.runs * guess.leaks, guess.decided, guess.narrowed))


def _narrowed(low: FloatArray, high: FloatArray, by_chance: int, *, falling: bool) -> Narrowed:
    step = -1 if falling else 1
    narrow_low, narrow_high = np.empty_like(low), np.empty_like(high)
    runs = narrow_in_runs(
        np.ascontiguousarray(low[::step]), np.ascontiguousarray(high[::step]), narrow_low, narrow_high
    )
    narrow_low, narrow_high = narrow_low[::step], narrow_high[::step]
    wide = high > low
    fewer = wide & ((narrow_low > low) | (narrow_high < high))
    decided = fewer & (narrow_low >= narrow_high)
    cells = [int(np.count_nonzero(mask)) for mask in (wide, fewer, decided)]
    return Narrowed(cells[0], cells[1], cells[2], runs, by_chance, narrow_low, narrow_high)


def _ranges(table: ReadTable, column: ReadColumn) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Lowest and highest place of every row's cell: in the order of the domain, and words in that of the alphabet."""
    domain = column.domain
    top = max(0, len(domain.values) - 1)
    first = np.clip(column.first, 0, top)
    last = np.clip(column.last, 0, top)
    unknown = (column.first > top) | (column.last > top) | (column.first < 0)  # a missing value may be any
    first, last = np.where(unknown, 0, first), np.where(unknown, top, last)
    rows = table.class_of_row
    yield first[rows].astype(np.float64), last[rows].astype(np.float64)
    if domain.kind is DomainKind.TREE:
        by_alphabet = _alphabetical(domain, first, last)
        yield by_alphabet[0][rows], by_alphabet[1][rows]


def _alphabetical(domain: Domain, first: NDArray[np.int32], last: NDArray[np.int32]) -> tuple[FloatArray, FloatArray]:
    """The first and last place in the alphabet of the values from one code to another."""
    place = np.argsort(np.argsort(np.array(domain.values, dtype=object))).astype(np.float64)
    pairs, number = np.unique(np.stack([first, last], axis=1), axis=0, return_inverse=True)
    ends = [(place[start : end + 1].min(), place[start : end + 1].max()) for start, end in pairs.tolist()]
    found = np.array(ends, dtype=np.float64)[number.reshape(-1)]
    return found[:, 0], found[:, 1]


def _alone(table: ReadTable, found: Mapping[str, Narrowed]) -> int:
    """Records that no other one looks like, once the cells are narrowed that the order gives away."""
    keys = [table.class_of_row]
    for one in found.values():
        if one.leaks:
            for ends in (one.low, one.high):
                keys.append(np.unique(ends, return_inverse=True)[1].astype(np.int32))
    sizes = group_rows(keys, table.rows)[1]
    return int(np.count_nonzero(sizes == 1))
