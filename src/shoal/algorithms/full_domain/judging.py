"""Is a node of the lattice safe? Its classes are counted over the distinct rows, then the models are asked.

Sizes come first: they are cheap, and where a node has too many records in small classes, so has every node below it.
Models that judge classes over some attributes only see the others at the top of their hierarchies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.full_domain.lattice import Node
from shoal.encode.encoded_table import EncodedTable
from shoal.kernels.row_classes import class_weights, row_classes
from shoal.models.base import Requirement


@dataclass(frozen=True, eq=False)
class Classes:
    """Equal rows after lifting."""

    class_of_row: NDArray[np.int32]
    first_row: NDArray[np.int32]  # (classes,)
    sizes: NDArray[np.int64]  # (classes,)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found about a node."""

    safe: bool
    too_small: bool  # not safe because of sizes alone, so no node below is safe either
    classes: Classes  # over all attributes
    suppressed: NDArray[np.bool_]  # (classes,) those that break a model; none if the node is not safe


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
        """Whether every node above a safe one is safe.

        With suppression this is sure for sizes only: a safe class may be joined by a class that was suppressed.
        """
        return self.requirement.size_only or (self.allowed == 0 and self.requirement.monotone)

    def judge(self, node: Node) -> Verdict:
        whole = self.classes(node)
        unsafe = np.zeros(whole.sizes.shape[0], dtype=np.bool_)
        verdict_of_size = True
        for part in self._parts:
            found = whole if all(part.inside) else self.classes(self._lifted(node, part))
            small = found.sizes < part.requirement.k
            if int(found.sizes[small].sum()) > self.allowed:
                return Verdict(False, verdict_of_size, whole, np.zeros_like(unsafe))
            bad = small if part.requirement.size_only else self._breaking(part, found)
            if int(found.sizes[bad].sum()) > self.allowed:
                return Verdict(False, False, whole, np.zeros_like(unsafe))
            if all(part.inside):
                unsafe |= bad
        return Verdict(True, False, whole, unsafe)

    def classes(self, node: Node) -> Classes:
        rows = self.table.rows
        starts = np.array([self._line_starts[number][level] for number, level in enumerate(node)], dtype=np.int64)
        class_of_row = np.empty(rows, dtype=np.int32)
        first_row = np.empty(rows, dtype=np.int32)
        hashes, slots = self._room
        count = row_classes(
            self._lines, starts, self.table.codes, self.table.weights, hashes, slots, class_of_row, first_row
        )
        sizes = np.empty(count, dtype=np.int64)
        class_weights(class_of_row, self.table.weights, sizes)
        return Classes(class_of_row, first_row[:count].copy(), sizes)

    def _breaking(self, part: _Part, found: Classes) -> NDArray[np.bool_]:
        groups = found.class_of_row[self.table.row_of_record]
        return np.asarray(part.requirement.deficits(self.table, groups, found.sizes.shape[0]) > 0)

    def _lifted(self, node: Node, part: _Part) -> Node:
        tops = (attribute.levels - 1 for attribute in self.table.attributes)
        return tuple(level if here else top for level, here, top in zip(node, part.inside, tops, strict=True))

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        names = [attribute.name for attribute in self.table.attributes]
        sets = {frozenset(model.class_columns()) or frozenset(names) for model in self.requirement.models}
        return tuple(
            _Part(
                tuple(name in columns for name in names),
                Requirement.of(
                    [
                        m
                        for m in self.requirement.models
                        if (frozenset(m.class_columns()) or frozenset(names)) == columns
                    ]
                ),
            )
            for columns in sorted(sets, key=sorted)
        )

    @cached_property
    def _line_starts(self) -> list[list[int]]:
        """Where the line of each level of each attribute starts in `_lines`."""
        starts, used = [], 0
        for attribute in self.table.attributes:
            starts.append([used + level * attribute.size for level in range(attribute.levels)])
            used += attribute.levels * attribute.size
        return starts

    @cached_property
    def _lines(self) -> NDArray[np.int32]:
        return np.concatenate([attribute.ancestors.ravel() for attribute in self.table.attributes])

    @cached_property
    def _room(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        slots = 1 << max(4, int(2 * self.table.rows).bit_length())
        return np.empty(self.table.rows, dtype=np.uint64), np.empty(slots, dtype=np.int32)
