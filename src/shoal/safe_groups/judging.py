"""Is a global recoding safe? Its classes are counted over the distinct rows, then the models are asked.

A recoding is a line per attribute: the node that stands for each code. Sizes come first: they are cheap, and where a
recoding leaves too many records in small classes, so does every finer one. Models that judge classes over some
attributes only see the others as one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.kernels.row_classes import class_weights, row_classes
from shoal.models.base import Model, Requirement

Lines = Sequence[NDArray[np.int32]]  # per attribute (codes,) the node that stands for each code


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows that look the same after recoding."""

    class_of_row: NDArray[np.int32]
    first_row: NDArray[np.int32]  # (classes,)
    sizes: NDArray[np.int64]  # (classes,)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found about a recoding."""

    safe: bool
    too_small: bool  # not safe because of sizes alone, so no finer recoding is safe either
    classes: Classes  # over all attributes
    suppressed: NDArray[np.bool_]  # (classes,) those that break a model; none if the recoding is not safe


@dataclass(frozen=True, eq=False)
class _Part:
    """The models that judge classes over the same attributes."""

    inside: tuple[bool, ...]
    requirement: Requirement


@dataclass(frozen=True, eq=False)
class Judge:
    """Knows the table, the requirement and how many records may be suppressed."""

    table: EncodedTable
    requirement: Requirement
    allowed: int  # records

    @classmethod
    def of(cls, table: EncodedTable, requirement: Requirement, suppression_limit: float) -> Judge:
        allowed = int(suppression_limit * table.records + 1e-9)
        if table.records and allowed / table.records > suppression_limit:
            allowed -= 1
        whole = not any(model.class_columns() for model in requirement.models)
        return cls(table, requirement, allowed if whole else 0)

    @property
    def monotone(self) -> bool:
        """Whether every recoding that is coarser than a safe one is safe.

        With suppression this is sure for sizes only: a safe class may be joined by a class that was suppressed.
        """
        return self.requirement.size_only or (self.allowed == 0 and self.requirement.monotone)

    def judge_levels(self, levels: Sequence[int]) -> Verdict:
        """All values of an attribute lifted to one level."""
        return self.judge([one.ancestors[level] for one, level in zip(self.table.attributes, levels, strict=True)])

    def judge(self, lines: Lines) -> Verdict:
        whole = self.classes(lines)
        unsafe = np.zeros(whole.sizes.shape[0], dtype=np.bool_)
        for part in self._parts:
            found = whole if all(part.inside) else self.classes(self._lifted(lines, part))
            small = found.sizes < part.requirement.k
            if int(found.sizes[small].sum()) > self.allowed:
                return Verdict(False, True, whole, np.zeros_like(unsafe))
            bad = small if part.requirement.size_only else self._breaking(part, found)
            if int(found.sizes[bad].sum()) > self.allowed:
                return Verdict(False, False, whole, np.zeros_like(unsafe))
            if all(part.inside):
                unsafe |= bad
        return Verdict(True, False, whole, unsafe)

    def classes(self, lines: Lines) -> Classes:
        rows = self.table.rows
        class_of_row = np.empty(rows, dtype=np.int32)
        first_row = np.empty(rows, dtype=np.int32)
        hashes, slots = self._room
        count = row_classes(
            np.concatenate(lines),
            self._starts,
            self.table.codes,
            self.table.weights,
            hashes,
            slots,
            class_of_row,
            first_row,
        )
        sizes = np.empty(count, dtype=np.int64)
        class_weights(class_of_row, self.table.weights, sizes)
        return Classes(class_of_row, first_row[:count].copy(), sizes)

    def _breaking(self, part: _Part, found: Classes) -> NDArray[np.bool_]:
        groups = found.class_of_row[self.table.row_of_record]
        return np.asarray(part.requirement.deficits(self.table, groups, found.sizes.shape[0]) > 0)

    def _lifted(self, lines: Lines, part: _Part) -> Lines:
        tops = (attribute.ancestors[-1] for attribute in self.table.attributes)
        return [line if here else top for line, here, top in zip(lines, part.inside, tops, strict=True)]

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        every = frozenset(attribute.name for attribute in self.table.attributes)
        of_set: dict[frozenset[str], list[Model]] = {}
        for model in self.requirement.models:
            of_set.setdefault(frozenset(model.class_columns()) or every, []).append(model)
        return tuple(
            _Part(tuple(attribute.name in columns for attribute in self.table.attributes), Requirement.of(models))
            for columns, models in of_set.items()
        )

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        sizes = [attribute.size for attribute in self.table.attributes]
        return np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)

    @cached_property
    def _room(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        slots = 1 << max(4, int(2 * self.table.rows).bit_length())
        return np.empty(self.table.rows, dtype=np.uint64), np.empty(slots, dtype=np.int32)


def node_bounds(line: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(nodes,) the first and the last code that each node of a line stands for; the line is a level of a hierarchy."""
    count = int(line.max(initial=-1)) + 1
    codes = np.arange(line.shape[0], dtype=np.int32)
    first, last = np.full(count, line.shape[0], dtype=np.int32), np.full(count, -1, dtype=np.int32)
    np.minimum.at(first, line, codes)
    np.maximum.at(last, line, codes)
    return first, last
