"""Global recoding: every value is released the same way wherever it occurs.

Three schemes, from the strictest to the freest (B. Fung, K. Wang, R. Chen, P. Yu, Privacy-preserving data publishing,
ACM Computing Surveys 42(4), 2010):

- `full-domain`: all values of an attribute stand at the same level of its hierarchy;
- `subtree`: a node is released for all values below it, or for none of them;
- `sibling`: some children of a node may be released as themselves while the node stands for the others. A value is
  released as the lowest released node above it.

Steps. (1) The smallest recoding of the scheme that no group of the algorithm is parted by: its classes are unions of
groups, so they are safe. (2) It is refined as long as all classes stay safe, the refinement that saves most loss
first: one level of an attribute (full-domain), a node into its children (subtree), one child out of a node (sibling).
With models for which unions of safe groups are safe, a refinement that is refused once is refused for good, so each is
tried once, and the result cannot be refined any further. Within the suppression limit, records of unsafe classes are
suppressed.

Cost: one pass over the distinct rows for each refinement that is tried; there are at most as many as nodes.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Boxes, Clustering, Context
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable
from shoal.errors import Problem, RequirementError
from shoal.kernels.boxes import common_level, group_bounds
from shoal.models.base import Requirement
from shoal.safe_groups.judging import Judge, Verdict, node_bounds

SCHEMES = ("full-domain", "subtree", "sibling")
Levels = NDArray[np.int32]  # (codes,) the level to which each code of an attribute is lifted


@dataclass(frozen=True, order=True)
class Refinement:
    """The codes under a node go down to its level; ordered by what that saves, the most first."""

    price: float  # minus the loss that it saves
    attribute: int
    level: int
    node: int  # the node that is released then; -1: all codes of the attribute; -2 - node: the children of a node


def recode_globally(
    table: EncodedTable, clustering: Clustering, requirement: Requirement, scheme: str, context: Context
) -> Clustering:
    """The recoding of a scheme that starts from the groups of a clustering, as groups and boxes."""
    judge = Judge.of(table, requirement, context.suppression_limit)
    levels = [covering_levels(table, clustering, number, scheme) for number in range(table.width)]
    found = judge.judge(_lines(table, levels))
    if not found.safe:
        message = f"groups that are safe cannot be joined to a {scheme} recoding that is"
        raise RequirementError(Problem("recoding-impossible", message, hint="leave out the recoding"))
    search = _Search(table, judge, scheme, levels, found)
    search.run(context)
    return _released(table, clustering, search)


class _Search:
    """The recoding so far, and the refinements that are still to be tried."""

    def __init__(self, table: EncodedTable, judge: Judge, scheme: str, levels: list[Levels], found: Verdict) -> None:
        self.table, self.judge, self.scheme = table, judge, scheme
        self.levels, self.found = levels, found
        self.tried = 0
        self.records = [
            np.bincount(codes, weights=table.weights, minlength=attribute.size)
            for codes, attribute in zip(table.codes, table.attributes, strict=True)
        ]
        self.open: list[Refinement] = []
        for number, attribute in enumerate(table.attributes):
            self._add(number, np.arange(attribute.size))

    def run(self, context: Context) -> None:
        """Refine until nothing is left to be tried."""
        while self.open:
            planned = heapq.heappop(self.open)
            now = self._priced(planned.attribute, planned.level, planned.node)
            if now is None:
                continue
            if now.price > planned.price:  # part of it was done meanwhile: it saves less than was thought
                heapq.heappush(self.open, now)
                continue
            self._try(now)
            if self.tried % 64 == 0:
                context.report(0.9, note=f"{self.tried:,} refinements tried")

    def _try(self, one: Refinement) -> None:
        codes = self._codes(one.attribute, one.level, one.node)
        if one.node >= 0 and self.judge.allowed == 0 and self._too_few(one, codes):
            return
        self.tried += 1
        finer = list(self.levels)
        finer[one.attribute] = self.levels[one.attribute].copy()
        finer[one.attribute][codes] = one.level
        verdict = self.judge.judge(_lines(self.table, finer))
        if verdict.safe:
            self.levels, self.found = finer, verdict
            if self.scheme != "sibling":  # there every node below was listed at the start
                self._add(one.attribute, codes)

    def _too_few(self, one: Refinement, codes: NDArray[np.int64]) -> bool:
        """Whether a part of what is refined has fewer records than any class needs."""
        quasi = [attribute.name for attribute in self.table.attributes]
        nodes = self.table.attributes[one.attribute].ancestors[one.level, codes]
        _, part = np.unique(nodes, return_inverse=True)
        sizes = np.bincount(part, weights=self.records[one.attribute][codes])
        return bool((sizes[sizes > 0] < self.judge.requirement.smallest_class(quasi)).any())

    def _add(self, number: int, codes: NDArray[np.int64]) -> None:
        """What can be done next with these codes."""
        here = self.levels[number]
        wanted: set[tuple[int, int]] = set()  # (level, node)
        for level in np.unique(here[codes]):
            mine = codes[(here[codes] == level) & (self.records[number][codes] > 0)]
            if level > 0 and mine.size:
                wanted |= self._below(number, int(level), mine)
        found = (self._priced(number, level, node) for level, node in sorted(wanted))
        for one in found:
            if one is not None:
                heapq.heappush(self.open, one)

    def _below(self, number: int, level: int, codes: NDArray[np.int64]) -> set[tuple[int, int]]:
        """(level, node) of what codes that stand at a level can be lowered to."""
        lines = self.table.attributes[number].ancestors
        if self.scheme == "full-domain":
            return {(level - 1, -1)}
        if self.scheme == "subtree":
            return {(level - 1, -2 - int(node)) for node in np.unique(lines[level, codes])}
        return {(low, int(node)) for low in range(level) for node in np.unique(lines[low, codes])}

    def _codes(self, number: int, level: int, node: int) -> NDArray[np.int64]:
        """The codes that a refinement lowers: -1 stands for all, below that for the node one level higher."""
        lines, here = self.table.attributes[number].ancestors, self.levels[number]
        if node == -1:
            return np.arange(here.shape[0])
        line, wanted = (lines[level + 1], -2 - node) if node < -1 else (lines[level], node)
        return np.flatnonzero((line == wanted) & (here > level))

    def _priced(self, number: int, level: int, node: int) -> Refinement | None:
        """None if there is nothing left of it."""
        codes = self._codes(number, level, node)
        records = self.records[number][codes]
        if records.sum() == 0:
            return None
        attribute = self.table.attributes[number]
        saved = attribute.level_cost[self.levels[number][codes], codes] - attribute.level_cost[level, codes]
        return Refinement(-float(records @ saved) * attribute.weight, number, level, node)


def covering_levels(table: EncodedTable, clustering: Clustering, number: int, scheme: str) -> Levels:
    """(codes,) the lowest levels of a scheme at which no group is parted."""
    attribute = table.attributes[number]
    groups = clustering.groups if clustering.attribute_groups is None else clustering.attribute_groups[number]
    released = np.ones(table.records, dtype=np.bool_) if clustering.suppressed is None else ~clustering.suppressed
    codes, groups = table.codes[number][table.row_of_record][released], groups[released]
    low, level = _common_levels(attribute, codes, groups)
    if scheme == "full-domain":
        return np.full(attribute.size, level.max(initial=0), dtype=np.int32)
    if scheme == "subtree":
        return _subtrees(attribute, low, level)
    lifted = np.zeros(attribute.size, dtype=np.int32)
    np.maximum.at(lifted, codes, level[groups])
    return _lowest_released(attribute, lifted)


def _subtrees(attribute: EncodedAttribute, low: NDArray[np.int32], level: Levels) -> Levels:
    """(codes,) the level of the highest node that a group is released as; `low` is -1 for groups without records."""
    lifted = np.zeros(attribute.size, dtype=np.int32)
    for height in range(attribute.levels):
        nodes = np.unique(attribute.ancestors[height, low[(level == height) & (low >= 0)]])
        lifted[np.isin(attribute.ancestors[height], nodes)] = height
    return lifted


def _common_levels(
    attribute: EncodedAttribute, codes: NDArray[np.int32], groups: NDArray[np.int32]
) -> tuple[NDArray[np.int32], Levels]:
    """(groups,) the lowest code, -1 without records, and the level at which all codes of a group meet."""
    count = int(groups.max(initial=-1)) + 1
    low, high = np.empty((1, count), dtype=np.int32), np.empty((1, count), dtype=np.int32)
    group_bounds(codes[None, :], np.arange(codes.shape[0], dtype=np.int32), groups, low, high)
    used = np.flatnonzero(high[0] >= 0)
    met = np.empty(used.shape[0], dtype=np.int32)
    common_level(attribute.ancestors, low[0, used], high[0, used], met)
    level = np.zeros(count, dtype=np.int32)
    level[used] = met
    return np.where(high[0] >= 0, low[0], np.int32(-1)), level


def _lowest_released(attribute: EncodedAttribute, levels: Levels) -> Levels:
    """A node below which some code is lifted higher is not released: the codes that stand there go higher as well."""
    for height in range(1, attribute.levels - 1):
        line = attribute.ancestors[height]
        next_above = np.full(int(line.max()) + 1, attribute.levels, dtype=np.int32)
        higher = levels > height
        np.minimum.at(next_above, line[higher], levels[higher])
        target = next_above[line]
        levels = np.where((levels == height) & (target < attribute.levels), target, levels).astype(np.int32)
    return levels


def _lines(table: EncodedTable, levels: list[Levels]) -> list[NDArray[np.int32]]:
    return [one.ancestors[own, np.arange(one.size)] for one, own in zip(table.attributes, levels, strict=True)]


def _released(table: EncodedTable, clustering: Clustering, search: _Search) -> Clustering:
    """Classes as groups, with the box of the node that each of them is released as."""
    classes, hidden = search.found.classes, search.found.suppressed
    low = np.empty((table.width, classes.first_row.shape[0]), dtype=np.int32)
    high = np.empty_like(low)
    for number, attribute in enumerate(table.attributes):
        codes = table.codes[number, classes.first_row]
        low[number], high[number] = _ends(attribute, search.levels[number][codes], codes)
    groups = classes.class_of_row[table.row_of_record]
    number_of = np.where(hidden, int((~hidden).sum()), np.cumsum(~hidden) - 1).astype(np.int32)
    told = {"scheme": search.scheme, "refinements_tried": search.tried}
    return replace(
        clustering,
        groups=number_of[groups],
        boxes=Boxes(low, high, groups),
        suppressed=hidden[groups] if hidden.any() else None,
        attribute_groups=None,
        details={**clustering.details, "recoding": told},
    )


def _ends(
    attribute: EncodedAttribute, levels: Levels, codes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The lowest and the highest code below the node of each code at its level."""
    low, high = np.empty_like(codes), np.empty_like(codes)
    for level in np.unique(levels):
        first, last = node_bounds(attribute.ancestors[level])
        there = levels == level
        nodes = attribute.ancestors[level, codes[there]]
        low[there], high[there] = first[nodes], last[nodes]
    return low, high
