"""A hierarchy as arrays: the leaves in tree order, and each leaf's ancestor at every level.

Leaves are the texts of values. Tree order means that the leaves under any node are neighbours, so a node is a range
of leaves, and the lowest common ancestor of a set of leaves is that of its first and last one. All leaves have the
same number of levels; where a branch of the source is shorter, its last inner node (or the leaf) is repeated, as in
ARX files. Level 0 is the leaf itself, the last level is the one root.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Leaves in tree order; nodes numbered over all levels, the leaves first (node i is leaf i for i < leaf count).

    The nodes of a level follow those of the level below, each level in tree order. A label that is repeated on the
    next level of a path is a node of its own there.
    """

    leaves: tuple[str, ...]  # text of each leaf, in tree order
    labels: tuple[str, ...]  # text of each node; labels[:len(leaves)] == leaves
    ancestors: NDArray[np.int32]  # (levels, leaves) node number of each leaf at each level; row 0 is arange(leaves)

    @property
    def levels(self) -> int:
        return int(self.ancestors.shape[0])

    @property
    def root(self) -> int:
        return int(self.ancestors[-1, 0])

    @cached_property
    def leaf_counts(self) -> NDArray[np.int64]:
        """(nodes,) number of leaves under each node."""
        counts = np.zeros(len(self.labels), dtype=np.int64)
        for level in range(self.levels):
            nodes, sizes = np.unique(self.ancestors[level], return_counts=True)
            counts[nodes] = sizes
        return counts

    @cached_property
    def first_leaves(self) -> NDArray[np.int64]:
        """(nodes,) the first leaf under each node; the last one is first + leaf_counts - 1."""
        first = np.zeros(len(self.labels), dtype=np.int64)
        for level in range(self.levels):
            nodes, positions = np.unique(self.ancestors[level], return_index=True)
            first[nodes] = positions
        return first

    @cached_property
    def node_levels(self) -> NDArray[np.int32]:
        """(nodes,) the level of each node."""
        levels = np.zeros(len(self.labels), dtype=np.int32)
        for level in range(self.levels):
            levels[self.ancestors[level]] = level
        return levels

    @cached_property
    def leaf_index(self) -> dict[str, int]:
        return {leaf: number for number, leaf in enumerate(self.leaves)}

    @cached_property
    def node_index(self) -> dict[str, int]:
        """The node a released label stands for: the one with the most leaves, then the lowest, so loss is never
        understated where a label occurs on several levels."""
        order = np.lexsort((-self.node_levels, self.leaf_counts))
        return {self.labels[node]: int(node) for node in order}

    def path(self, leaf: int) -> tuple[str, ...]:
        """The labels from a leaf to the root."""
        return tuple(self.labels[node] for node in self.ancestors[:, leaf])

    def common_ancestor(self, first: int, last: int) -> int:
        """The lowest node above two leaves, and so above every leaf between them."""
        level = int(np.argmax(self.ancestors[:, first] == self.ancestors[:, last]))
        return int(self.ancestors[level, first])

    def digest(self) -> str:
        """A hash of leaves, labels and structure, to tell in a certificate which hierarchy was used."""
        digest = hashlib.sha256(json.dumps([self.leaves, self.labels], ensure_ascii=False).encode())
        digest.update(np.ascontiguousarray(self.ancestors, dtype="<i4").tobytes())
        return digest.hexdigest()
