"""The levels of an attribute: which node a code belongs to at each level, and what lifting it there costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.hierarchy import Hierarchy

LARGEST_HALVING = 6  # 64 cells are fine enough for algorithms that climb


def tree_levels(
    hierarchy: Hierarchy, missing: bool, positions: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Ancestors and costs of the leaves of a hierarchy; a missing value is one more leaf right below the root.

    A node costs its share of the leaves or, where the leaves are numbers, its share of their range: `positions` are
    those of the leaves, 0 to 1 over the values that occur, NaN for leaves that are none.
    """
    leaves, ancestors = len(hierarchy.leaves), hierarchy.ancestors
    cost = hierarchy.leaf_counts[ancestors] / leaves if positions is None else _widths(hierarchy, positions)
    cost[hierarchy.leaf_counts[ancestors] == 1] = 0.0  # a single leaf loses nothing, repeated or not
    cost[-1] = 1.0
    if missing:
        ancestors, cost = _with_missing_leaf(ancestors, cost, leaves)
    if hierarchy.levels == 1:  # a single value: lifting it to the root loses nothing
        cost[:] = 0.0
    return np.ascontiguousarray(ancestors, dtype=np.int32), np.ascontiguousarray(cost, dtype=np.float64)


def _with_missing_leaf(
    ancestors: NDArray[np.int32], cost: NDArray[np.float64], leaves: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """One more leaf, numbered behind the others, that stays itself up to the root; inner nodes move up by one."""
    levels = ancestors.shape[0]
    ancestors = np.where(ancestors >= leaves, ancestors + 1, ancestors)
    column = np.full((levels, 1), leaves, dtype=np.int32)
    column[-1] = ancestors[-1, 0]
    lift = np.zeros((levels, 1))
    lift[-1] = 1.0
    return np.hstack([ancestors, column]), np.hstack([cost, lift])


def _widths(hierarchy: Hierarchy, positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(levels, leaves) how much of 0 to 1 the leaves of a node span; what lies outside does not occur."""
    inside = np.clip(positions, 0.0, 1.0)
    widths = np.empty(hierarchy.ancestors.shape)
    for level, nodes in enumerate(hierarchy.ancestors):
        low, high = np.full(int(nodes.max()) + 1, np.inf), np.full(int(nodes.max()) + 1, -np.inf)
        np.fmin.at(low, nodes, inside)
        np.fmax.at(high, nodes, inside)
        widths[level] = np.maximum(0.0, high - low)[nodes]
    return widths


def flat_levels(size: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Two levels: the value, and everything."""
    ancestors = np.vstack([np.arange(size), np.full(size, size)]).astype(np.int32)
    cost = np.vstack([np.zeros(size), np.full(size, 1.0 if size > 1 else 0.0)])
    return ancestors, cost


def interval_levels(
    positions: NDArray[np.float64], hierarchy_nodes: NDArray[np.int32] | None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The levels of the given hierarchy, else nested halves of the range.

    IN  positions        (size,) scaled to 0..1, a missing value at 2
    IN  hierarchy_nodes  (levels, size) node of each code at each level, all of them ranges, -1 for a missing value
    """
    size = positions.shape[0]
    if hierarchy_nodes is None:
        hierarchy_nodes = _nested_halves(positions)
    levels = hierarchy_nodes.shape[0]
    ancestors = np.empty((levels, size), dtype=np.int32)
    cost = np.zeros((levels, size))
    first_free = 0
    for level in range(levels):
        nodes = np.arange(size) if level == 0 else hierarchy_nodes[level]
        if level == levels - 1:
            nodes = np.zeros(size, dtype=np.int64)
        _, inverse = np.unique(nodes, return_inverse=True)
        cost[level] = _widths_of_parts(inverse, positions)
        ancestors[level] = inverse + first_free
        first_free += int(inverse.max()) + 1 if size else 0
    return ancestors, cost


def _widths_of_parts(part: NDArray[np.int64], positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(size,) how much of the range the part of each code spans, 1 at most."""
    count = int(part.max()) + 1 if part.size else 0
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, part, positions)
    np.maximum.at(high, part, positions)
    return np.asarray(np.minimum(1.0, high - low)[part])


def _nested_halves(positions: NDArray[np.float64]) -> NDArray[np.int32]:
    present = positions <= 1.0
    distinct = int(present.sum())
    deepest = min(LARGEST_HALVING, max(0, int(np.floor(np.log2(max(1, distinct))))))
    rows = [np.arange(positions.shape[0])]
    for depth in range(deepest, -1, -1):
        cells = np.minimum((positions * 2**depth).astype(np.int64), 2**depth - 1)
        rows.append(np.where(present, cells, -1))
    return np.vstack(rows).astype(np.int32)


def nodes_are_ranges(nodes: NDArray[np.int32]) -> bool:
    """True if on every level equal nodes are neighbours, so that a node is a range of codes."""
    for row in nodes:
        runs = 1 + int(np.count_nonzero(row[1:] != row[:-1]))
        if runs != np.unique(row).shape[0]:
            return False
    return True
