"""The lattice of full-domain generalizations: a node is one level per attribute.

What is known about nodes is one array with an axis per attribute, so everything above or below a node is a slice of
it. A node is above another one if no level of it is lower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Node = tuple[int, ...]

UNKNOWN, SAFE, UNSAFE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Lattice:
    """The status of every node; `levels` is how many levels each attribute may take."""

    levels: Node
    status: NDArray[np.int8]

    @classmethod
    def of(cls, levels: Node) -> Lattice:
        return cls(levels, np.zeros(levels, dtype=np.int8))

    @property
    def top(self) -> Node:
        return tuple(count - 1 for count in self.levels)

    def mark_above(self, node: Node, status: int) -> None:
        self.status[tuple(slice(level, None) for level in node)] = status

    def mark_below(self, node: Node, status: int) -> None:
        self.status[tuple(slice(0, level + 1) for level in node)] = status

    def successors(self, node: Node) -> list[Node]:
        """The nodes one level above."""
        return [
            (*node[:axis], level + 1, *node[axis + 1 :])
            for axis, level in enumerate(node)
            if level + 1 < self.levels[axis]
        ]

    def heights(self) -> NDArray[np.int64]:
        """(lattice,) the sum of the levels of each node."""
        return np.asarray(sum(np.ix_(*(np.arange(count) for count in self.levels))), dtype=np.int64)

    def minimal(self) -> list[Node]:
        """The safe nodes below which no node is safe, in the order of the lattice."""
        safe_below = np.zeros(self.levels, dtype=np.bool_)  # whether the node or one below it is safe
        safe = self.status == SAFE
        strictly_below = np.zeros(self.levels, dtype=np.bool_)
        safe_below |= safe
        for axis in range(len(self.levels)):
            np.logical_or.accumulate(safe_below, axis=axis, out=safe_below)
        for axis in range(len(self.levels)):
            above = tuple(slice(1, None) if other == axis else slice(None) for other in range(len(self.levels)))
            below = tuple(slice(None, -1) if other == axis else slice(None) for other in range(len(self.levels)))
            strictly_below[above] |= safe_below[below]
        return [tuple(int(level) for level in node) for node in np.argwhere(safe & ~strictly_below)]
