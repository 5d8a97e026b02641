"""Reading released text back: what every distinct text of a released column says about the original value.

Our own forms are understood (the exact value, `[20, 29]`, the label of a hierarchy node, `{A, B}`, `*`, an empty cell
for a missing value) and those of other tools (see `numbers`; masks such as `123**`; labels of the hierarchy). A text
that nobody can read counts as a full loss and is reported. Everything is per distinct text: no loop over records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.released.domain import CodeArray, Domain, DomainKind, FloatArray, is_missing_text, make_domains
from shoal.released.labels import LabelIndex, Node
from shoal.released.masks import matching_mask
from shoal.released.ranges import parse_numbers, parse_ranges
from shoal.released.value_sets import split_range, split_set
from shoal.tables.schema import Scale

__all__ = ["Cells", "Domain", "Observed", "make_domains", "read_cells"]

BoolArray = NDArray[np.bool_]
MISSING_IN_SET = "(missing)"
_KEY_SPAN = 2**32


@dataclass(frozen=True)
class Observed:
    """Per released text: the lowest and highest code of the original values it stands for (missing comes last)."""

    lowest: CodeArray
    highest: CodeArray


@dataclass(frozen=True, eq=False)
class Cells:
    """Per distinct released text: what it covers and what it loses. `members` lists the codes of scattered sets."""

    loss: FloatArray  # as in GCP
    low: FloatArray  # lowest position covered
    high: FloatArray  # highest position covered
    first: CodeArray  # lowest code of the domain's values covered
    last: CodeArray  # highest; below `first` if none is covered
    leaves: NDArray[np.int64]  # leaves (tree) or distinct original values (otherwise) covered
    level: CodeArray  # level in the hierarchy, -1 where there is none or the text is no node
    covers_missing: BoolArray
    number: FloatArray  # the number that the text is, NaN otherwise
    suppressed: BoolArray
    unreadable: BoolArray
    members: Mapping[int, CodeArray] = field(default_factory=dict)
    ends: tuple[FloatArray, FloatArray] | None = None  # as they are written, also beyond all values

    @cached_property
    def _member_keys(self) -> NDArray[np.int64]:
        """Every (text, code) of the scattered sets as one sorted number."""
        if not self.members:
            return np.zeros(0, dtype=np.int64)
        texts = np.repeat(np.array(list(self.members), dtype=np.int64), [len(codes) for codes in self.members.values()])
        codes = np.concatenate(list(self.members.values())).astype(np.int64)
        return np.sort(texts * _KEY_SPAN + codes)

    def covers(self, domain: Domain, texts: CodeArray, codes: CodeArray) -> BoolArray:
        """Whether each text covers the value code next to it; pairs given as two arrays."""
        missing = codes == domain.missing_code
        inside = (codes >= self.first[texts]) & (codes <= self.last[texts]) & (codes >= 0)
        if self.members:
            scattered = np.zeros(self.loss.shape[0], dtype=np.bool_)
            scattered[list(self.members)] = True
            pairs = np.flatnonzero(scattered[texts] & ~missing)
            wanted = texts[pairs].astype(np.int64) * _KEY_SPAN + codes[pairs]
            place = np.minimum(np.searchsorted(self._member_keys, wanted), self._member_keys.shape[0] - 1)
            inside[pairs] = self._member_keys[place] == wanted
        return np.where(missing, self.covers_missing[texts], inside)


class _Reader:
    """Fills the arrays of Cells step by step; `open` marks the texts that nothing has explained yet."""

    def __init__(self, domain: Domain, texts: pl.Series, observed: Observed | None) -> None:
        count = len(texts)
        self.domain, self.observed = domain, observed
        self.texts = texts.fill_null("")  # as it is: spaces may belong to a value
        self.trimmed = self.texts.str.strip_chars()
        self.low = np.full(count, np.nan)
        self.high = np.full(count, np.nan)
        self.level = np.full(count, -1, dtype=np.int32)
        self.number = np.full(count, np.nan)
        self.covers_missing = np.zeros(count, dtype=np.bool_)
        self.suppressed = (self.trimmed.str.contains(r"^\*+$")).to_numpy().copy()
        self.missing = is_missing_text(texts, domain.missing_texts, domain.scale).to_numpy().copy()
        self.members: dict[int, CodeArray] = {}
        self.sizes: dict[int, int] = {}
        self.open = ~self.missing & ~self.suppressed

    def pending(self) -> list[tuple[int, str]]:
        """The texts that are not read yet, with their numbers."""
        numbers = np.flatnonzero(self.open)
        return list(zip(numbers.tolist(), self.texts.gather(numbers).to_list(), strict=True))

    def set_range(self, where: BoolArray, low: FloatArray, high: FloatArray) -> None:
        fill = where & self.open & ~np.isnan(low) & ~np.isnan(high)
        self.low[fill], self.high[fill] = low[fill], high[fill]
        self.open[fill] = False

    def set_one(self, text: int, low: float, high: float, level: int = -1) -> None:
        self.low[text], self.high[text], self.level[text] = low, high, level
        self.open[text] = False

    def set_members(self, text: int, codes: CodeArray, size: int) -> None:
        """A scattered set: the value codes, and how many leaves or values it counts for."""
        present = codes[codes != self.domain.missing_code]
        self.covers_missing[text] = present.shape[0] < codes.shape[0]
        self.members[text] = np.sort(codes)
        self.sizes[text] = size
        positions = self.domain.positions[present]
        if present.shape[0]:
            self.low[text], self.high[text] = positions.min(), positions.max()
        self.open[text] = False

    def settle_missing(self) -> None:
        """An empty cell is the missing value where only missing values stand behind it, else it is suppressed."""
        for text in np.flatnonzero(self.missing):
            behind = self.observed is None or self.observed.lowest[text] >= self.domain.missing_code
            if self.domain.missing_count and behind:
                self.covers_missing[text] = True
            else:
                self.missing[text] = False
                self.suppressed[text] = True


def read_cells(domain: Domain, texts: pl.Series, observed: Observed | None = None) -> Cells:
    """Read distinct released texts. `observed` (from rows that belong together) settles labels with two meanings."""
    reader = _Reader(domain, texts, observed)
    reader.settle_missing()
    if domain.kind is DomainKind.NUMBER:
        _read_numbers(reader)
    elif domain.kind is DomainKind.ORDER:
        _read_order(reader)
    elif domain.kind is DomainKind.TREE:
        _read_labels(reader)
    else:
        _read_exact(reader)
    _read_sets(reader)
    _read_masks(reader)
    return _finish(reader)


def _read_numbers(reader: _Reader) -> None:
    domain = reader.domain
    number = parse_numbers(reader.trimmed, domain.scale)
    number[~reader.open] = np.nan
    if domain.hierarchy is not None:
        _read_labels(reader, number)
    reader.number = np.where(reader.open, number, np.nan)
    reader.set_range(~np.isnan(number), number, number)
    if reader.open.any():
        pending = np.flatnonzero(reader.open)
        ranges = parse_ranges(reader.trimmed.gather(pending), domain.scale)
        low, high = np.full(len(reader.texts), np.nan), np.full(len(reader.texts), np.nan)
        low[pending], high[pending] = ranges.low, ranges.high
        reader.set_range(reader.open.copy(), low, high)


def _read_order(reader: _Reader) -> None:
    ranks = {value: float(rank) for rank, value in enumerate(reader.domain.order or ())}
    for text, words in reader.pending():
        ends = (words, words) if words in ranks else split_range(words, ranks)
        if ends is not None:
            reader.set_one(text, ranks[ends[0]], ranks[ends[1]])
    if reader.domain.hierarchy is not None:
        _read_labels(reader)


def _read_labels(reader: _Reader, number: FloatArray | None = None) -> None:
    """Labels of the hierarchy. A number that is also a label is a label only where the number cannot be meant.

    Among numbers a leaf is its number. An inner node is meant if it covers what is behind the text; otherwise the
    number is a mean or a midpoint.
    """
    domain = reader.domain
    index = LabelIndex.of(domain)
    known = reader.texts.is_in(index.label_list).to_numpy() & reader.open
    for text in np.flatnonzero(known):
        behind = _positions_behind(reader, int(text))
        node = index.find(reader.texts[int(text)], behind)
        if node is None or (number is not None and not _label_is_meant(node, number[text], behind)):
            continue
        if node.scattered is not None:
            reader.set_members(int(text), node.scattered, node.leaves)
            reader.level[text] = node.level
        else:
            reader.set_one(int(text), node.low, node.high, node.level)


def _label_is_meant(node: Node, number: float, behind: tuple[float, float] | None) -> bool:
    """Whether a label among numbers means its node, and not the number (NaN: none) that it could also be."""
    if np.isnan(number):
        return True
    if behind is None or behind == (number, number):
        return False
    return node.level > 0 and node.covers(behind)


def _positions_behind(reader: _Reader, text: int) -> tuple[float, float] | None:
    """Lowest and highest position of the original values behind a text; None if unknown or missing."""
    if reader.observed is None:
        return None
    lowest, highest = int(reader.observed.lowest[text]), int(reader.observed.highest[text])
    highest = min(highest, reader.domain.missing_code - 1)
    if lowest < 0 or lowest > highest:
        return None
    return float(reader.domain.positions[lowest]), float(reader.domain.positions[highest])


def _read_exact(reader: _Reader) -> None:
    codes = reader.domain.code_of
    for text, words in reader.pending():
        code = codes.get(words)
        if code is not None:
            reader.set_one(text, reader.domain.positions[code], reader.domain.positions[code])


def _read_sets(reader: _Reader) -> None:
    domain = reader.domain
    if not reader.open.any():
        return
    known: Mapping[str, int] = domain.code_of
    for text, words in reader.pending():
        elements = split_set(words.strip(), known)
        if elements is None:
            continue
        if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
            _read_set_of_labels(reader, text, elements)
            continue
        codes = [domain.missing_code if word == MISSING_IN_SET else known.get(word, -1) for word in elements]
        if codes and -1 not in codes:
            reader.set_members(text, np.unique(np.array(codes, dtype=np.int32)), len(set(codes)))


def _read_set_of_labels(reader: _Reader, text: int, elements: Sequence[str]) -> None:
    union = LabelIndex.of(reader.domain).union([element for element in elements if element != MISSING_IN_SET])
    if union is not None:
        missing = [reader.domain.missing_code] if MISSING_IN_SET in elements else []
        reader.set_members(text, np.append(union.codes, missing).astype(np.int32), union.leaves)


def _read_masks(reader: _Reader) -> None:
    """`123**`: the values of the same length that agree; for ordered and other texts without a better reading."""
    domain = reader.domain
    if domain.kind is DomainKind.NUMBER and domain.scale is not Scale.DATE:
        return
    pool = domain.hierarchy.leaves if domain.kind is DomainKind.TREE and domain.hierarchy else domain.values
    for text, words in reader.pending():
        if "*" not in words:
            continue
        matched = matching_mask(words, pool)
        if matched:
            codes = [domain.code_of[value] for value in matched if value in domain.code_of]
            reader.set_members(text, np.array(sorted(codes), dtype=np.int32), len(matched))


def _finish(reader: _Reader) -> Cells:
    domain = reader.domain
    everything = reader.suppressed | reader.open
    low, high = _within_bounds(reader, everything)
    first, last = _codes_between(domain, low, high)
    covers_missing = reader.covers_missing | everything
    leaves = _leaves(reader, low, high, covers_missing & ~reader.missing)
    loss = _loss(domain, low, high, leaves, reader)
    loss[everything] = 1.0
    loss[reader.missing] = 0.0
    if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
        covers_missing |= leaves >= len(domain.hierarchy.leaves)
    return Cells(
        loss, low, high, first, last, leaves, _levels(reader, everything), covers_missing, reader.number,
        reader.suppressed, reader.open, reader.members, (reader.low, reader.high),
    )  # fmt: skip


def _within_bounds(reader: _Reader, everything: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The ends of each text, cut to the positions that there are; what lies outside of all stays as it is."""
    bottom, top = _bounds(reader.domain)
    low = np.where(everything, bottom, reader.low)
    high = np.where(everything, top, reader.high)
    outside = (low > top) | (high < bottom)
    return np.where(outside, low, np.maximum(low, bottom)), np.where(outside, high, np.minimum(high, top))


def _codes_between(domain: Domain, low: FloatArray, high: FloatArray) -> tuple[CodeArray, CodeArray]:
    """The first and the last value code between the ends; 1 and 0 where there are no ends."""
    first = np.searchsorted(domain.positions, low, side="left").astype(np.int32)
    last = (np.searchsorted(domain.positions, high, side="right") - 1).astype(np.int32)
    none = np.isnan(low) | np.isnan(high)
    first[none], last[none] = 1, 0
    return first, last


def _bounds(domain: Domain) -> tuple[float, float]:
    """The lowest and highest position: all leaves of a tree count; elsewhere only the values that occur."""
    if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
        return 0.0, len(domain.hierarchy.leaves) - 1.0
    return (float(domain.positions[0]), float(domain.positions[-1])) if len(domain.values) else (0.0, 0.0)


def _levels(reader: _Reader, everything: BoolArray) -> CodeArray:
    level = reader.level
    if reader.domain.hierarchy is not None:
        level = np.where(everything, reader.domain.hierarchy.levels - 1, level)
        level = np.where(reader.missing, 0, level)
    return level.astype(np.int32)


def _leaves(reader: _Reader, low: FloatArray, high: FloatArray, with_missing: BoolArray) -> NDArray[np.int64]:
    """How many leaves or distinct values a text covers; a missing value counts as one where it is a value."""
    domain = reader.domain
    if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
        full = reader.suppressed | reader.open
        count = np.where(full, len(domain.hierarchy.leaves), np.nan_to_num(high - low, nan=0.0) + 1)
    else:
        grid = domain.distinct_positions
        span = np.searchsorted(grid, high, side="right") - np.searchsorted(grid, low, side="left")
        count = np.where(np.isnan(low), 0, span) + (with_missing if domain.missing_count else 0)
        count = np.maximum(count, 1)
    leaves = count.astype(np.int64)
    for text, size in reader.sizes.items():
        leaves[text] = size
    return leaves


def _loss(domain: Domain, low: FloatArray, high: FloatArray, leaves: NDArray[np.int64], reader: _Reader) -> FloatArray:
    if domain.kind in (DomainKind.NUMBER, DomainKind.ORDER):
        with np.errstate(over="ignore"):  # a width beyond all floats is the whole span
            width = np.nan_to_num(high - low, nan=0.0, posinf=domain.span)
        loss = np.minimum(1.0, width / domain.span) if domain.span > 0 else np.zeros(len(low))
        loss[[text for text, size in reader.sizes.items() if reader.covers_missing[text] and size > 1]] = 1.0
        return loss
    if domain.kind is DomainKind.TREE and domain.hierarchy is not None:
        loss = np.where(leaves <= 1, 0.0, leaves / len(domain.hierarchy.leaves))
        loss[[text for text, codes in reader.members.items() if reader.covers_missing[text] and len(codes) > 1]] = 1.0
        return np.minimum(1.0, loss)
    return np.minimum(1.0, (leaves - 1) / max(1, domain.size - 1))
