"""The masked values: where the cut of every attribute runs now, and what each value could be refined to.

A cut value is a range of codes: a node of a taxonomy, an interval of numbers, or a disclosed value; the suppressed
values of an attribute without a taxonomy share one cut value, its root. Values are numbered in the order in which
they appear. A value that can be refined is a candidate under its own number; a suppressed value can be disclosed, and
is a candidate under the number that it will have once it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.tdr.class_counts import ClassCounts
from shoal.encode.encoded_table import EncodedTable, Kind

NOBODY = -1


class CutValues:
    """Arrays over the values (grown by doubling) and over the codes of all attributes, one after the other."""

    def __init__(self, table: EncodedTable, counts: list[ClassCounts], smallest_parts: Sequence[int]) -> None:
        self.table = table
        self.counts = counts
        self.smallest_parts = smallest_parts  # per attribute: the records that each half of an interval needs
        self.flat = np.array([attribute.kind is Kind.FLAT for attribute in table.attributes], dtype=np.bool_)
        sizes = [attribute.size for attribute in table.attributes]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.value_of_code = np.zeros(int(self.offsets[-1]), dtype=np.int32)
        self.slot_of_code = np.zeros(int(self.offsets[-1]), dtype=np.int32)
        self._make_room_for_values(64)
        self.parts: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}  # bounds and records of the children
        self.roots = np.zeros(table.width, dtype=np.int32)
        self.candidates: list[int] = []  # found since they were last taken
        for number in range(table.width):
            self._add_root(number)

    def _make_room_for_values(self, capacity: int) -> None:
        self.count = 0
        self.attribute = np.zeros(capacity, dtype=np.int32)
        self.low = np.zeros(capacity, dtype=np.int32)
        self.high = np.zeros(capacity, dtype=np.int32)
        self.level = np.zeros(capacity, dtype=np.int32)
        self.parent = np.full(capacity, NOBODY, dtype=np.int32)
        self.records = np.zeros(capacity, dtype=np.int64)
        self.gain = np.zeros(capacity, dtype=np.float64)
        self.slot_counts = np.zeros(capacity, dtype=np.int32)
        self.open_values = np.zeros(capacity, dtype=np.bool_)

    @property
    def capacity(self) -> int:
        return int(self.attribute.shape[0])

    def take_candidates(self) -> NDArray[np.int64]:
        """The candidates that appeared since the last call."""
        found = np.array(self.candidates, dtype=np.int64)
        self.candidates.clear()
        return found

    def codes_of(self, attribute: int) -> slice:
        return slice(int(self.offsets[attribute]), int(self.offsets[attribute + 1]))

    def children(self, candidate: int) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
        """The value that a candidate refines, the values it gives way to, and the child slot of every code."""
        attribute = int(self.attribute[candidate])
        if self.flat[attribute]:
            slots = np.zeros(self.table.attributes[attribute].size, dtype=np.int32)
            slots[self.low[candidate]] = 1
            root = int(self.roots[attribute])
            return root, np.array([root, candidate], dtype=np.int32), slots
        bounds, records = self.parts.pop(candidate)
        level = int(self.level[candidate]) - 1
        numbers = [
            self._add(attribute, int(low), int(after) - 1, level, candidate, int(count))
            for low, after, count in zip(bounds[:-1], bounds[1:], records, strict=True)
        ]
        return candidate, np.array(numbers, dtype=np.int32), self.slot_of_code[self.codes_of(attribute)]

    def settle(self, candidate: int, children: NDArray[np.int32]) -> None:
        """Move the cut to the children, and find out what they could be refined to."""
        attribute = int(self.attribute[candidate])
        if self.flat[attribute]:
            self.value_of_code[self.offsets[attribute] + self.low[candidate]] = candidate
            self.open_values[candidate] = False
            self.records[self.roots[attribute]] -= self.records[candidate]
            self._update_disclosures(attribute)
            return
        self.slot_counts[candidate] = 0
        for child in children:
            start = self.offsets[attribute] + self.low[child]
            self.value_of_code[start : start + self.high[child] - self.low[child] + 1] = child
            self._find_children(int(child))

    def close(self, candidates: NDArray[np.int64]) -> None:
        """These can never be refined any more."""
        flat = self.flat[self.attribute[candidates]]
        self.slot_counts[candidates[~flat]] = 0
        self.open_values[candidates[flat]] = False

    def close_roots_without(self, live: NDArray[np.int64]) -> None:
        """Suppressed values none of which can be disclosed need no counting any more."""
        remaining = np.bincount(self.attribute[live], minlength=self.table.width)
        self.slot_counts[self.roots[self.flat & (remaining == 0)]] = 0

    def _add_root(self, number: int) -> None:
        attribute = self.table.attributes[number]
        everything = int(self.table.weights.sum())
        root = self._add(number, 0, attribute.size - 1, attribute.levels - 1, NOBODY, everything)
        self.roots[number] = root
        codes = self.codes_of(number)
        self.value_of_code[codes] = root
        if attribute.kind is not Kind.FLAT:
            self._find_children(root)
            return
        for code, records in enumerate(self.counts[number].code_records().tolist()):
            value = self._add(number, code, code, 0, root, records)
            self.slot_of_code[codes.start + code] = value
            self.open_values[value] = records > 0
            if records > 0:
                self.candidates.append(value)
        self.slot_counts[root] = -1
        self._update_disclosures(number)

    def _add(self, attribute: int, low: int, high: int, level: int, parent: int, records: int) -> int:
        if self.count == self.capacity:
            self._grow()
        value = self.count
        self.count += 1
        self.attribute[value] = attribute
        self.low[value], self.high[value] = low, high
        self.level[value] = level
        self.parent[value] = parent
        self.records[value] = records
        return value

    def _grow(self) -> None:
        for name in ("attribute", "low", "high", "level", "parent", "records", "gain", "slot_counts", "open_values"):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros_like(array)]))

    def _find_children(self, value: int) -> None:
        """The best refinement of a taxonomy node or an interval, if it has one."""
        attribute, low, high = int(self.attribute[value]), int(self.low[value]), int(self.high[value])
        if low == high or self.records[value] == 0:
            return
        is_tree = self.table.attributes[attribute].kind is Kind.TREE
        bounds = self._tree_bounds(value) if is_tree else self._halves(attribute, low, high)
        if bounds is None:
            return
        self.gain[value], records = self.counts[attribute].gain(bounds)
        self.parts[value] = bounds, records
        start, sizes = int(self.offsets[attribute]), np.diff(bounds)
        self.slot_of_code[start + low : start + high + 1] = np.repeat(np.arange(sizes.shape[0]), sizes)
        self.slot_counts[value] = sizes.shape[0]
        self.candidates.append(value)

    def _halves(self, attribute: int, low: int, high: int) -> NDArray[np.int64] | None:
        """Where the two parts of an interval begin, None if there is no split."""
        positions = self.table.attributes[attribute].positions
        split = self.counts[attribute].split(low, high, positions, self.smallest_parts[attribute])
        return None if split < 0 else np.array([low, split, high + 1], dtype=np.int64)

    def _tree_bounds(self, value: int) -> NDArray[np.int64]:
        """Where the children of a node begin. A level on which the node has a single child is passed over."""
        ancestors = self.table.attributes[int(self.attribute[value])].ancestors
        low, high = int(self.low[value]), int(self.high[value])
        level = int(self.level[value])
        while True:
            level -= 1
            nodes = ancestors[level, low : high + 1]
            steps = np.flatnonzero(nodes[1:] != nodes[:-1]) + 1
            if steps.shape[0]:
                break
        self.level[value] = level + 1
        return np.concatenate([[low], low + steps, [high + 1]]).astype(np.int64)

    def _update_disclosures(self, attribute: int) -> None:
        """The gain of each disclosure depends on what else is suppressed."""
        codes = self.codes_of(attribute)
        suppressed = self.value_of_code[codes] == self.roots[attribute]
        self.gain[self.slot_of_code[codes]] = self.counts[attribute].disclosures(suppressed)
