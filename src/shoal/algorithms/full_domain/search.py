"""The search of the lattice: which nodes are safe, and which of them loses least.

Where the nodes above a safe node are safe, a path from an unknown node to the top is searched by halves, as Flash
does: what is found on it settles everything above and below. Nodes that cannot beat the best one found are not looked
at, unless all minimal nodes are asked for. In a lattice of more than `MOST_NODES` the search only descends from the
top, the step that saves most first, and ends in a minimal node that need not be the best.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from shoal.algorithms.base import Context
from shoal.algorithms.full_domain.lattice import SAFE, UNKNOWN, UNSAFE, Lattice, Node
from shoal.algorithms.full_domain.losses import CellLoss, Discernibility, make_loss
from shoal.encode.encoded_table import EncodedTable
from shoal.safe_groups.judging import Judge, Verdict

MOST_NODES = 1 << 20
REMEMBERED = 64  # verdicts that are kept
SLACK = 1e-12  # losses closer than this are equal


@dataclass(eq=False)
class Best:
    """The best node so far; of equal losses the lowest node, then the first in the order of the lattice."""

    node: Node | None = None
    loss: float = np.inf

    def offer(self, node: Node, loss: float) -> None:
        if self.node is None or loss < self.loss - SLACK:
            self.node, self.loss = node, loss
        elif loss <= self.loss + SLACK and (sum(node), node) < (sum(self.node), self.node):
            self.node = node


@dataclass(eq=False)
class Search:
    """What a search knows and counts."""

    judge: Judge
    lattice: Lattice
    loss: CellLoss | Discernibility
    checked: int = 0
    best: Best = field(default_factory=Best)
    known: dict[Node, Verdict] = field(default_factory=dict)

    @classmethod
    def of(cls, table: EncodedTable, judge: Judge, objective: str, levels: Node) -> Search:
        return cls(judge, Lattice.of(levels), make_loss(table, objective, levels))

    def verdict(self, node: Node) -> Verdict:
        found = self.known.get(node)
        if found is None:
            self.checked += 1
            found = self.judge.judge_levels(node)
            if len(self.known) >= REMEMBERED:
                self.known.pop(next(iter(self.known)))
            self.known[node] = found
        return found

    def loss_of(self, node: Node) -> tuple[float, float]:
        """Loss and bound of a safe node."""
        return self.loss.of_node(node, self.verdict(node))

    def find_safe(self, context: Context, everything: bool) -> None:
        """Settle every node that may be the best one, or every node."""
        for count, node in enumerate(self._by_height()):
            if self.lattice.status[node] != UNKNOWN or (not everything and self._hopeless(node)):
                continue
            if self.judge.monotone:
                self._settle_path(node)
            else:
                self._settle_one(node)
            if count % 256 == 0:
                context.report(0.9 * count / self.lattice.status.size, note=f"{self.checked:,} nodes checked")

    def find_best(self) -> Best:
        """The safe node that loses least, among those that are settled."""
        lost = np.zeros(self.lattice.levels, dtype=np.bool_)  # nodes whose bound is above the best loss
        for node in self._candidates():
            if lost[node] or self._hopeless(node):
                continue
            loss, bound = self.loss_of(node)
            self.best.offer(node, loss)
            if bound > self.best.loss + SLACK:
                lost[tuple(slice(level, None) for level in node)] = True
        return self.best

    def _candidates(self) -> Iterable[Node]:
        if self.judge.monotone and self.judge.allowed == 0:  # no loss falls from a node to one above it
            return sorted(self.lattice.minimal(), key=lambda node: (sum(node), node))
        return (node for node in self._by_height() if self.lattice.status[node] == SAFE)

    def _hopeless(self, node: Node) -> bool:
        return isinstance(self.loss, CellLoss) and float(self.loss.bounds[node]) > self.best.loss + SLACK

    def _by_height(self) -> Iterable[Node]:
        heights = self.lattice.heights()
        bounds = self.loss.bounds.ravel() if isinstance(self.loss, CellLoss) else np.zeros(heights.size)
        for place in np.lexsort((np.arange(heights.size), bounds, heights.ravel())):
            yield tuple(int(level) for level in np.unravel_index(int(place), self.lattice.levels))

    def _settle_path(self, start: Node) -> None:
        """Search a path from a node upwards by halves: its lowest safe node settles what lies above and below."""
        path = self._path(start)
        low, high = 0, len(path)  # the lowest safe node is at a place from low to high; high: above the path
        while low < high:
            middle = (low + high) // 2
            if self._settle_one(path[middle]):
                high = middle
            else:
                low = middle + 1

    def _path(self, start: Node) -> list[Node]:
        """Unknown nodes, each above the one before, the one of lowest bound (or the first) at every step."""
        path, node = [start], start
        while True:
            unknown = [other for other in self.lattice.successors(node) if self.lattice.status[other] == UNKNOWN]
            if not unknown:
                return path
            if isinstance(self.loss, CellLoss):
                bounds = self.loss.bounds
                node = min(unknown, key=lambda other: (float(bounds[other]), other))
            else:
                node = unknown[0]
            path.append(node)

    def _settle_one(self, node: Node) -> bool:
        found = self.verdict(node)
        if found.safe:
            if self.judge.monotone:
                self.lattice.mark_above(node, SAFE)
            else:
                self.lattice.status[node] = SAFE
            self.best.offer(node, self.loss_of(node)[0])
        elif found.too_small or self.judge.monotone:
            self.lattice.mark_below(node, UNSAFE)
        else:
            self.lattice.status[node] = UNSAFE
        return found.safe


def descend(table: EncodedTable, judge: Judge, levels: Node) -> tuple[Node, int]:
    """A minimal node below the top, without a lattice in memory; and how many nodes were checked.

    An attribute that cannot go one level down now can not do so later: those nodes lie below an unsafe one.
    """
    loss = [_mean_costs(table, number)[:count] for number, count in enumerate(levels)]
    node = tuple(count - 1 for count in levels)
    open_axes = {axis for axis, level in enumerate(node) if level > 0}
    checked = 0
    while open_axes:
        saved = {axis: float(loss[axis][node[axis]] - loss[axis][node[axis] - 1]) for axis in open_axes}
        axis = max(sorted(saved), key=saved.__getitem__)
        lower = (*node[:axis], node[axis] - 1, *node[axis + 1 :])
        checked += 1
        if judge.judge_levels(lower).safe:
            node = lower
        if node != lower or node[axis] == 0:
            open_axes.discard(axis)
    return node, checked


def _mean_costs(table: EncodedTable, number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    attribute = table.attributes[number]
    records = np.bincount(table.codes[number], weights=table.weights, minlength=attribute.size)
    return np.asarray(attribute.level_cost @ records * attribute.weight)
