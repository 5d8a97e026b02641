"""Released cells read back: which of the known values does a released text stand for?

By the rules of the release: `*` fits everything, `[20, 29]` the numbers, dates or ordered categories in between,
`{A, B}` these values (`(missing)` among them a missing one), a label of a hierarchy the leaves below it (the topmost
label also a missing value), anything else only itself, an empty cell only a missing value. Numbers and dates are
compared by what they are, however they are written; all else letter by letter. A text that says nothing fits nobody.

Everything works on distinct values and distinct texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy
from shoal.released.value_sets import split_range, split_set
from shoal.tables.scales import EXACT_BELOW, comparable_positions, find_scale
from shoal.tables.schema import Scale
from shoal.verification.classes import SUPPRESSED, value_numbers

MISSING_IN_SET = "(missing)"  # how a released set writes a missing value
_RANGE = r"^\[(?<low>.*), (?<high>.*)\]$"


@dataclass(frozen=True)
class Knowledge:
    """What is known besides a release: about its columns, and the tables that some models need.

    `orders` (values from low to high) and `hierarchies` are for distances of sensitive values and for cells that have
    to be read; `missing` are texts that mean a missing value, besides the empty one and `NaN`; a scale that is not
    given is told by the values. `population` is the table of k-map. `hidden` has columns that are not released but
    that a model counts, such as persons, row by row as in the release.
    """

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    population: pl.DataFrame | None = None
    hidden: pl.DataFrame | None = None


NOTHING_KNOWN = Knowledge()


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct released texts of a column beside the distinct values that they may stand for."""

    numbers: NDArray[np.int64]  # (records,) number of the value of each record that may be meant
    values: list[str | None]  # by number; the last may be None, a missing value
    positions: NDArray[np.float64]  # (values,) where each lies on its scale or in its order, NaN: nowhere; places in
    # the exact order where floats are not fine enough
    text_numbers: NDArray[np.int64]  # (released records,) number of the text of each released record
    texts: list[str | None]
    low: NDArray[np.float64]  # (texts,) the first and the last position that a text stands for, NaN: none
    high: NDArray[np.float64]
    is_range: NDArray[np.bool_]  # (texts,)
    ordered: bool  # the values have an order: numbers, dates, or a given one
    by_position: bool  # equal positions are equal values, however they are written
    hierarchy: Hierarchy | None

    @property
    def on_line(self) -> bool:
        """Whether the two ends of a text say everything: values with an order, and no labels."""
        everywhere = not np.isnan(self.positions[~self.missing]).any()
        return self.hierarchy is None and self.ordered and everywhere

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """(values,) which one is the missing value, if any."""
        return np.array([value is None for value in self.values], dtype=np.bool_)

    def fitting(self) -> Iterator[NDArray[np.bool_]]:
        """For every released text (values,) which values it stands for."""
        place = {value: number for number, value in enumerate(self.values) if value is not None}
        labels = _Labels(self) if self.hierarchy is not None else None
        for number, text in enumerate(self.texts):
            if text is None:
                yield self.missing
            elif text == SUPPRESSED:
                yield np.ones(len(self.values), dtype=np.bool_)
            else:
                under = labels.under(text) if labels is not None else None
                # a leaf is a number too: 0 stands for -0.0 as well
                yield self._fits(number, text, place) if under is None else under | self._same_position(number)

    def _fits(self, number: int, text: str, place: Mapping[str, int]) -> NDArray[np.bool_]:
        fits = np.zeros(len(self.values), dtype=np.bool_)
        if text in place:
            fits[place[text]] = True
            return fits | self._same_position(number)
        if (elements := split_set(text, place)) is not None:
            fits[[place[element] for element in elements if element in place]] = True
            return fits | self.missing if MISSING_IN_SET in elements else fits
        if self.is_range[number]:
            return np.asarray((self.positions >= self.low[number]) & (self.positions <= self.high[number]))
        return self._same_position(number)

    def _same_position(self, number: int) -> NDArray[np.bool_]:
        """Values that are the same number or moment as a single text, otherwise written."""
        if not self.by_position or not abs(self.low[number]) < EXACT_BELOW:
            return np.zeros(len(self.values), dtype=np.bool_)
        return np.asarray(self.positions == self.low[number])


class _TextEnds(NamedTuple):
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_range: NDArray[np.bool_]


def read_cells(values: pl.Series, released: pl.Series, name: str, known: Knowledge) -> Cells:
    """Make ready to read the cells of one column. `values` and `released` need not be of the same records."""
    typed = values.dtype.is_numeric() or isinstance(values.dtype, pl.Date | pl.Datetime)
    numbers, distinct = value_numbers(values if typed else values.cast(pl.String), known.missing)
    text_numbers, texts = value_numbers(released.cast(pl.String), known.missing)
    texts = _without_fraction(texts)
    order, scale = known.orders.get(name), known.scales.get(name)
    ends = _ends_of_texts(texts, order, scale)
    by_position = order is None and (scale or _told_scale(distinct, texts, ends)).is_numeric
    places = _positions(distinct, order, scale)
    if order is None and max(map(_largest, (places, ends.low, ends.high))) >= EXACT_BELOW:
        places, ends = _in_exact_order(distinct, places, texts, ends)
    return Cells(
        numbers,
        distinct.cast(pl.String).to_list(),
        places,
        text_numbers,
        texts.to_list(),
        *ends,
        ordered=order is not None or by_position,
        by_position=by_position,
        hierarchy=known.hierarchies.get(name),
    )


def _ends_of_texts(texts: pl.Series, order: Sequence[str] | None, scale: Scale | None) -> _TextEnds:
    """(texts,) each: where a released text begins and ends, and whether it is a range."""
    low, high = _ends(texts, order)
    is_range = ((low != texts) | (high != texts)).fill_null(False).to_numpy()
    return _TextEnds(_positions(low, order, scale), _positions(high, order, scale), is_range)


def _told_scale(values: pl.Series, texts: pl.Series, ends: _TextEnds) -> Scale:
    """The scale that values show, unless the released texts that are no ranges are no numbers."""
    single = texts.filter(pl.Series(~ends.is_range & ~np.isnan(ends.low)))
    if single.is_empty() or find_scale(single).is_numeric:
        return find_scale(values)
    return Scale.CATEGORY


def _without_fraction(texts: pl.Series) -> pl.Series:
    """A time of day as a typed column spells it; CSV files add a fraction of zeros."""
    return texts.str.replace(r"^([0-9]{2}:[0-9]{2}:[0-9]{2})\.0{9}$", "${1}")


def _ends(texts: pl.Series, order: Sequence[str] | None) -> tuple[pl.Series, pl.Series]:
    """The two ends of every range; a text that is none is both its ends."""
    if order is None:
        ends = texts.str.extract_groups(_RANGE).struct.unnest()
        return ends["low"].fill_null(texts), ends["high"].fill_null(texts)
    pairs = [None if text is None or text in order else split_range(text, order) for text in texts.to_list()]
    both = [(text, text) if pair is None else pair for text, pair in zip(texts.to_list(), pairs, strict=True)]
    low, high = (pl.Series([pair[end] for pair in both], dtype=pl.String) for end in (0, 1))
    return low, high


def _positions(values: pl.Series, order: Sequence[str] | None, scale: Scale | None) -> NDArray[np.float64]:
    if order is not None:
        rank = {text: float(number) for number, text in enumerate(order)}
        return np.array([rank.get(text, np.nan) for text in values.cast(pl.String).to_list()], dtype=np.float64)
    if scale is not None:
        return comparable_positions(values, scale) if scale.is_numeric else np.full(len(values), np.nan)
    numbers = comparable_positions(values, Scale.DECIMAL)
    return np.where(np.isnan(numbers), comparable_positions(values, Scale.DATE), numbers)


def _largest(positions: NDArray[np.float64]) -> float:
    return float(np.nanmax(np.abs(positions), initial=0.0))


def _in_exact_order(
    values: pl.Series, positions: NDArray[np.float64], texts: pl.Series, ends: _TextEnds
) -> tuple[NDArray[np.float64], _TextEnds]:
    """The same with places in the exact order of all numbers instead of positions: beyond 2^53 different integers have
    the same position, and a range must not reach further than its ends say."""
    low, high = _ends(texts, None)
    columns = ((values.cast(pl.String), positions), (low, ends.low), (high, ends.high))
    exact = [[_exact(text, place) for text, place in zip(*column, strict=True)] for column in columns]
    all_of_them = sorted({number for column in exact for number in column if number is not None})
    place_of: dict[Decimal | None, float] = {number: float(place) for place, number in enumerate(all_of_them)}
    places = [np.array([place_of.get(number, np.nan) for number in column], dtype=np.float64) for column in exact]
    return places[0], _TextEnds(places[1], places[2], ends.is_range)


def _exact(text: str | None, position: float) -> Decimal | None:
    """The number that a text is; where it is none (a moment), its position."""
    if np.isnan(position):
        return None
    try:
        return Decimal(str(text).strip())
    except InvalidOperation:
        return Decimal(position)


class _Labels:
    """The labels of a hierarchy, and the values below each."""

    def __init__(self, cells: Cells) -> None:
        assert cells.hierarchy is not None
        tree = cells.hierarchy
        self._tree, self._leaf = tree, _leaf_of_values(cells, tree)
        self._missing = cells.missing
        self._nodes: dict[str, list[tuple[int, int]]] = {}
        for level in range(tree.levels):
            for node in np.unique(tree.ancestors[level]).tolist():
                self._nodes.setdefault(tree.labels[node], []).append((level, node))

    def under(self, label: str) -> NDArray[np.bool_] | None:
        """(values,) which values are below a label, None if there is no such label."""
        if label not in self._nodes:
            return None
        fits = np.zeros(self._leaf.shape[0], dtype=np.bool_)
        for level, node in self._nodes[label]:
            fits |= (self._tree.ancestors[level, self._leaf] == node) & (self._leaf >= 0)
            if level == self._tree.levels - 1:
                fits |= self._missing  # a missing value hangs right below the root
        return fits


def _leaf_of_values(cells: Cells, tree: Hierarchy) -> NDArray[np.int64]:
    """(values,) the leaf of each value, -1 if it has none; numbers are found however they are written."""
    leaf = np.array([-1 if value is None else tree.leaf_index.get(value, -1) for value in cells.values], dtype=np.int64)
    if cells.by_position and (leaf < 0).any():
        found = _positions(pl.Series(tree.leaves, dtype=pl.String), None, None)
        of_position = {position: number for number, position in reversed(list(enumerate(found.tolist())))}
        values = _positions(pl.Series(cells.values, dtype=pl.String), None, None)
        for number in np.flatnonzero((leaf < 0) & (np.abs(values) < EXACT_BELOW)).tolist():
            leaf[number] = of_position.get(float(values[number]), -1)
    return leaf
