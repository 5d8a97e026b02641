"""Full-domain generalization: every value of an attribute is lifted to the same level, and the levels are the best.

P. Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001 (k-minimal
generalization); K. LeFevre, D. DeWitt, R. Ramakrishnan, Incognito, SIGMOD 2005; F. Kohlmayer, F. Prasser, C. Eckert,
A. Kemper, K. Kuhn, Flash, PASSAT 2012 (paths searched by halves).

A node of the lattice names a level per attribute. It is safe if all classes are, less the records that may be
suppressed (`suppression_limit`): records of unsafe classes are suppressed. Of the safe nodes the one of lowest loss is
released, and it is the best there is (`details["optimal"]`), for every model and for several quasi-identifier sets;
only in a lattice of more than a million nodes it is a minimal node found by descending, which need not be the best.
`all_minimal` also lists every safe node below which nothing is safe.

Levels are those of the hierarchy; a category without one has two (value, everything), a number without one the nested
halves of its range. A node of a single value is released as that value.

Cost: one pass over the distinct rows per node that is checked, a small share of the lattice. Memory: a byte per node
and attribute of the lattice at most, and 16 bytes per row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from shoal.algorithms.base import Algorithm, Boxes, Clustering, Context
from shoal.algorithms.full_domain.lattice import Node
from shoal.algorithms.full_domain.losses import OBJECTIVES
from shoal.algorithms.full_domain.search import MOST_NODES, Search, descend
from shoal.encode.encoded_table import EncodedAttribute, EncodedTable
from shoal.errors import Problem, RequirementError
from shoal.models.base import Requirement
from shoal.models.feasible import raise_if_impossible
from shoal.safe_groups.judging import Classes, Judge, Verdict, node_bounds


@dataclass(frozen=True, kw_only=True)
class FullDomain(Algorithm):
    """`objective`: gcp, entropy, precision, height or discernibility. `all_minimal` lists all minimal nodes."""

    objective: str = "gcp"
    all_minimal: bool = False
    name: ClassVar[str] = "full-domain"
    title: ClassVar[str] = "the best full-domain generalization: one level per attribute, by a search of the lattice"
    citation: ClassVar[str] = "Samarati 2001; LeFevre, DeWitt, Ramakrishnan 2005; Kohlmayer, Prasser et al. 2012"
    takes_sets: ClassVar[bool] = True
    takes_caps: ClassVar[bool] = True
    own_values: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}, not '{self.objective}'")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        judge = Judge.of(table, requirement, context.suppression_limit)
        levels = tuple(_levels(attribute) for attribute in table.attributes)
        _raise_if_the_top_is_unsafe(table, requirement, judge, levels)
        if prod(levels) > MOST_NODES:
            return self._descended(table, judge, levels)
        search = Search.of(table, judge, self.objective, levels)
        search.find_safe(context, self.all_minimal)
        best = search.find_best()
        if best.node is None:
            raise RequirementError(Problem("requirement-impossible", "no combination of levels is safe"))
        details = self._details(table, best.node, best.loss, search.checked, prod(levels), optimal=True)
        if self.all_minimal:
            details["minimal"] = [
                {"levels": _named(table, node), "loss": search.loss_of(node)[0]} for node in search.lattice.minimal()
            ]
        return _released(table, best.node, search.verdict(best.node), details)

    def _descended(self, table: EncodedTable, judge: Judge, levels: Node) -> Clustering:
        node, checked = descend(table, judge, levels)
        found = judge.judge_levels(node)
        details = self._details(table, node, None, checked, prod(levels), optimal=False)
        return _released(table, node, found, details)

    def _details(
        self, table: EncodedTable, node: Node, loss: float | None, checked: int, nodes: int, *, optimal: bool
    ) -> dict[str, Any]:
        return {
            "objective": self.objective,
            "loss": loss,
            "levels": _named(table, node),
            "nodes": nodes,
            "checked": checked,
            "optimal": optimal,
        }


def _raise_if_the_top_is_unsafe(table: EncodedTable, requirement: Requirement, judge: Judge, levels: Node) -> None:
    """Where everything above a safe node is safe, an unsafe top means that nothing is safe."""
    if judge.monotone and not judge.judge_levels(tuple(level - 1 for level in levels)).safe:
        raise_if_impossible(requirement, table)
        message = "not even the most general levels that are allowed make every class safe"
        hint = "allow higher levels (at_most), or a larger share of suppressed records"
        raise RequirementError(Problem("levels-too-low", message, hint=hint))


def _levels(attribute: EncodedAttribute) -> int:
    """How many levels an attribute may take."""
    return attribute.levels if attribute.at_most is None else min(attribute.levels, attribute.at_most + 1)


def _named(table: EncodedTable, node: Node) -> dict[str, int]:
    return {attribute.name: level for attribute, level in zip(table.attributes, node, strict=True)}


def _released(table: EncodedTable, node: Node, found: Verdict, details: dict[str, Any]) -> Clustering:
    """Groups and boxes of a node; suppressed records are a group of their own, the last one."""
    suppressed_rows = found.suppressed[found.classes.class_of_row]
    groups = found.classes.class_of_row[table.row_of_record]
    low, high = _boxes(table, node, found.classes)
    boxes = Boxes(low, high, groups)
    if not suppressed_rows.any():
        return Clustering(groups, boxes=boxes, details=details)
    kept = ~found.suppressed
    number = np.where(kept, np.cumsum(kept) - 1, int(kept.sum())).astype(np.int32)
    suppressed = suppressed_rows[table.row_of_record]
    return Clustering(number[groups], boxes=boxes, suppressed=suppressed, details=details)


def _boxes(table: EncodedTable, node: Node, classes: Classes) -> tuple[Any, Any]:
    """(attributes, classes) the lowest and highest code under the node of each class."""
    shape = (table.width, classes.first_row.shape[0])
    low, high = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    for number, (attribute, level) in enumerate(zip(table.attributes, node, strict=True)):
        line = attribute.ancestors[level]
        first, last = node_bounds(line)
        nodes = line[table.codes[number, classes.first_row]]
        low[number], high[number] = first[nodes], last[nodes]
    return low, high
