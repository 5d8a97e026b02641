"""Which nodes of a hierarchy a label can mean, and which of them is meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from shoal.released.domain import CodeArray, Domain, DomainKind, FloatArray
from shoal.released.ranges import parse_numbers

_indexes: WeakKeyDictionary[Domain, LabelIndex] = WeakKeyDictionary()


@dataclass(frozen=True)
class Node:
    """A node as positions of the domain; `scattered` holds value codes where the node is no range of positions."""

    low: float
    high: float
    level: int
    leaves: int
    scattered: CodeArray | None = None

    def covers(self, behind: tuple[float, float]) -> bool:
        return self.low <= behind[0] and behind[1] <= self.high


@dataclass(frozen=True)
class Union:
    """Several leaves together."""

    codes: CodeArray
    leaves: int


class LabelIndex:
    """The labels of a domain's hierarchy. A label can occur on several levels; the lowest that covers is meant."""

    def __init__(self, domain: Domain) -> None:
        hierarchy = domain.hierarchy
        assert hierarchy is not None
        self.domain = domain
        self.hierarchy = hierarchy
        self.nodes_of: dict[str, list[tuple[int, int]]] = {}
        seen: set[int] = set()
        for level in range(hierarchy.levels):
            for node in np.unique(hierarchy.ancestors[level]).tolist():
                if node not in seen:
                    seen.add(node)
                    self.nodes_of.setdefault(hierarchy.labels[node], []).append((level, node))

    @classmethod
    def of(cls, domain: Domain) -> LabelIndex:
        """The index of a domain, built once."""
        found = _indexes.get(domain)
        if found is None:
            found = _indexes[domain] = cls(domain)
        return found

    @cached_property
    def label_list(self) -> list[str]:
        return list(self.nodes_of)

    @cached_property
    def leaf_positions(self) -> FloatArray:
        """Position of every leaf in the domain's measure; NaN for leaves that have none."""
        leaves = pl.Series(self.hierarchy.leaves, dtype=pl.String)
        if self.domain.kind is DomainKind.NUMBER:
            return parse_numbers(leaves, self.domain.scale)
        if self.domain.kind is DomainKind.ORDER:
            ranks = {value: float(rank) for rank, value in enumerate(self.domain.order or ())}
            return np.array([ranks.get(leaf, np.nan) for leaf in self.hierarchy.leaves])
        return np.arange(len(leaves), dtype=np.float64)

    def _node(self, level: int, node: int) -> Node | None:
        if node < len(self.hierarchy.leaves):
            under = np.array([node])
        else:
            under = np.flatnonzero(self.hierarchy.ancestors[level] == node)
        positions = self.leaf_positions[under]
        positions = positions[~np.isnan(positions)]
        if positions.shape[0] == 0:
            return None
        return Node(float(positions.min()), float(positions.max()), level, int(under.shape[0]))

    def find(self, label: str, behind: tuple[float, float] | None) -> Node | None:
        """The lowest node of that label that covers the values behind it; all nodes together if none does."""
        found = [node for place in self.nodes_of.get(label, ()) if (node := self._node(*place)) is not None]
        if not found:
            return None
        if behind is None or len(found) == 1:
            return found[0]
        covering = [node for node in found if node.covers(behind)]
        if covering:
            return covering[0]
        if self.domain.kind is not DomainKind.TREE:
            return Node(min(n.low for n in found), max(n.high for n in found), found[-1].level, found[-1].leaves)
        union = self.union([label])
        assert union is not None
        return Node(found[0].low, found[0].high, max(n.level for n in found), union.leaves, union.codes)

    def union(self, labels: Sequence[str]) -> Union | None:
        """All leaves under the given labels (tree domains only); None if a label is unknown."""
        under: list[np.ndarray] = []
        for label in labels:
            if label not in self.nodes_of:
                return None
            for level, node in self.nodes_of[label]:
                under.append(np.flatnonzero(self.hierarchy.ancestors[level] == node))
        leaves = np.unique(np.concatenate(under)) if under else np.zeros(0, dtype=np.int64)
        codes = np.flatnonzero(np.isin(self.domain.positions, leaves.astype(np.float64)))
        return Union(codes.astype(np.int32), int(leaves.shape[0]))
