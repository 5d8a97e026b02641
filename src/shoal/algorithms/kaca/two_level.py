"""Two-level clustering: merge inside outer clusters, then across them, without searching all classes.

M. Verma, k-Anonymity using two level clustering, M.Tech. thesis, NIT Rourkela, 2013.

Inner clusters are the equivalence classes; an outer cluster holds those that are equal when every quasi-identifier is
lifted by one level. Both have numbers (see `numbering`): lifting one quasi-identifier merges a progression.

1. Inside each outer cluster, quasi-identifiers in order of what lifting them by one level costs, cheapest first: the
   classes of fewer than k records whose numbers are in one progression become one class. A class with k records is
   final. What is left in an outer cluster in the end is one class of fewer than k records, or none.
2. Outer cluster by outer cluster, the class left over is merged with the nearest class left over in an outer
   cluster that differs in one quasi-identifier only: their numbers are a progression, each is found by binary search.
   The level of that quasi-identifier grows until there is a partner. If no such outer cluster has a small class,
   finished classes of these and of its own outer cluster are partners too. If there is none either, all classes
   of the outer clusters that share the longest beginning of the number (again by binary search).

Cost: step 1 is m sorts of the open rows, O(m n log n). Step 2 makes, for each small class, as many binary searches as
there are sibling nodes: O(m s log n) with s siblings per attribute. No search runs over all classes.

Deviations and decisions: the thesis leaves open the order of digits (here the dearest attribute is leftmost, so that
numbers close to each other share what is dear), what to do when no progression has a partner (step 2, last part),
and whether final classes may take others in (only if no small class can). Numbers that exceed 63 bits have several
words instead of being limited. Models other than k-anonymity are left to the shared repair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.kaca.distance import IntegerArray, Ladders, group_covers, make_ladders
from shoal.algorithms.kaca.kernels.kaca import Classes
from shoal.algorithms.kaca.kernels.two_level import Chain, Outer, merge_across
from shoal.algorithms.kaca.merging import check_feasible, roots
from shoal.algorithms.kaca.numbering import MixedRadix, equal_numbers
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.items import renumber
from shoal.hierarchies.weights import check_scheme
from shoal.models.base import Requirement


@dataclass(frozen=True, kw_only=True)
class TwoLevel(Algorithm):
    """Merge classes inside outer clusters, then across them, by arithmetic on class numbers."""

    weights: str = "uniform"  # of the levels: uniform or height
    beta: float = 1.0  # exponent of height weights

    name: ClassVar[str] = "two-level"
    title: ClassVar[str] = "merge classes inside outer clusters, then across them, by class numbers"
    citation: ClassVar[str] = "Verma 2013"

    def __post_init__(self) -> None:
        check_scheme(self.weights, self.beta)

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        check_feasible(table, requirement)
        ladders = make_ladders(table.attributes, self.weights, self.beta)
        codes = ladders.flat_codes(table.codes)
        outer = outer_clusters(ladders, codes)
        classes = merge_inside(ladders, codes, table.weights, outer.of_row, requirement.k)
        context.report(0.4)
        merged, ways = merge_small_across(ladders, codes, table.weights, outer, classes, requirement.k)
        context.report(0.9)
        groups = renumber(merged)[table.row_of_record]
        details = {
            "outer_clusters": int(outer.numbers.shape[0]),
            "classes_inside": int(classes.max()) + 1,
            "merged_small": int(ways[0]),
            "merged_finished": int(ways[1]),
            "merged_by_beginning": int(ways[2]),
        }
        return Clustering(groups, details=details)


@dataclass(frozen=True)
class OuterClusters:
    """The outer clusters: their numbers in order, and the one that each row is in."""

    order: NDArray[np.int64]  # (attributes,) attributes from left to right: the dearest to lift comes first
    radix: MixedRadix  # over level-1 nodes, in that order
    numbers: NDArray[np.int64]  # (clusters, words), sorted
    of_row: NDArray[np.int64]  # (rows,)


def outer_clusters(ladders: Ladders, codes: IntegerArray) -> OuterClusters:
    """The outer clusters of rows (rows, attributes)."""
    order = np.argsort(-ladders.first_step, kind="stable")
    node = _level_one(ladders)
    radix = MixedRadix.of([int(node[ladders.starts[attribute + 1] - 1]) + 1 for attribute in order])
    numbers = radix.numbers(node[codes[:, order]].T)
    of_row, first = equal_numbers(list(numbers.T))
    return OuterClusters(order, radix, np.ascontiguousarray(numbers[first]), of_row)


def merge_inside(
    ladders: Ladders, codes: IntegerArray, weights: NDArray[np.int64], outer_of_row: NDArray[np.int64], k: int
) -> IntegerArray:
    """(rows,) classes after merging inside outer clusters, quasi-identifier of least distortion first."""
    radix, numbers = _class_numbers(ladders, codes)
    classes = np.full(codes.shape[0], -1, dtype=np.int32)
    open_rows = np.arange(codes.shape[0])
    found = 0
    for attribute in [None, *np.argsort(ladders.first_step, kind="stable")]:  # None: the classes as they are
        if attribute is not None:
            numbers = radix.base(numbers, int(attribute))
        group, _ = equal_numbers([outer_of_row[open_rows], *numbers.T])
        done = np.bincount(group, weights=weights[open_rows])[group] >= k
        finished = renumber(group[done])
        classes[open_rows[done]] = finished + found
        found += int(finished.max(initial=-1)) + 1
        open_rows, numbers, group = open_rows[~done], numbers[~done], group[~done]
    classes[open_rows] = renumber(group) + found
    return classes


def _class_numbers(ladders: Ladders, codes: IntegerArray) -> tuple[MixedRadix, NDArray[np.int64]]:
    """(rows, words) the number of every row inside its outer cluster, and how it is put together."""
    child = _child_numbers(ladders)
    radix = MixedRadix.of([int(children.max()) + 1 for children in np.split(child, ladders.starts[1:-1])])
    return radix, radix.numbers(child[codes].T)


def _level_one(ladders: Ladders) -> IntegerArray:
    """(all codes,) the node of each code at level 1."""
    nodes: IntegerArray = ladders.nodes[min(1, ladders.nodes.shape[0] - 1)]
    return nodes


def _child_numbers(ladders: Ladders) -> IntegerArray:
    """(all codes,) the place of each code among those under the same level-1 node."""
    begins = np.diff(_level_one(ladders), prepend=-1) != 0
    begins[ladders.starts[:-1]] = True
    places = np.arange(begins.shape[0], dtype=np.int32)
    return np.asarray(places - places[begins][np.cumsum(begins) - 1], dtype=np.int32)


def merge_small_across(
    ladders: Ladders,
    codes: IntegerArray,
    weights: NDArray[np.int64],
    outer: OuterClusters,
    class_of_row: IntegerArray,
    k: int,
) -> tuple[IntegerArray, NDArray[np.int64]]:
    """(rows,) the class each row ends in; and how many partners were found in each way (see the kernel)."""
    low, high, _ = group_covers(codes, class_of_row)
    sizes = np.bincount(class_of_row, weights=weights).astype(np.int64)
    homes = np.empty(sizes.shape[0], dtype=np.int32)
    homes[class_of_row] = outer.of_row
    parent = np.arange(sizes.shape[0], dtype=np.int32)
    ways = np.zeros(3, dtype=np.int64)
    clusters = outer.numbers.shape[0]
    merge_across(
        ladders.arrays,
        Outer(
            outer.numbers, outer.radix.strides, outer.radix.radices, outer.radix.words, *_spans(ladders, outer.order)
        ),
        Classes(low, ladders.cover_costs(low, high), sizes),
        homes,
        _chain(np.arange(sizes.shape[0]), homes, clusters),
        _chain(np.flatnonzero(sizes < k), homes, clusters),
        k,
        parent,
        ways,
    )
    return roots(parent)[class_of_row], ways


def _chain(members: NDArray[np.int64], homes: IntegerArray, clusters: int) -> Chain:
    """The given classes as one list per outer cluster, lowest number first."""
    heads = np.full(clusters, -1, dtype=np.int32)
    following = np.full(homes.shape[0], -1, dtype=np.int32)
    ordered = members[np.argsort(homes[members], kind="stable")]
    home = homes[ordered]
    same = home[1:] == home[:-1]
    following[ordered[:-1][same]] = ordered[1:][same]
    first = np.flatnonzero(np.concatenate([[True], ~same])[: home.shape[0]])
    heads[home[first]] = ordered[first]
    return Chain(heads, following)


def _spans(ladders: Ladders, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], IntegerArray, IntegerArray]:
    """Offsets per attribute; first and last level-1 node under the same node, per level and level-1 node."""
    node = _level_one(ladders)
    firsts, lasts, counts = [], [], []
    for attribute in order:
        codes = slice(int(ladders.starts[attribute]), int(ladders.starts[attribute + 1]))
        leader = np.flatnonzero(np.diff(node[codes], prepend=-1))  # one code of each level-1 node
        above = ladders.nodes[:, codes][:, leader]
        firsts.append(np.array([np.searchsorted(line, line, side="left") for line in above]))
        lasts.append(np.array([np.searchsorted(line, line, side="right") - 1 for line in above]))
        counts.append(leader.shape[0])
    offsets = (np.cumsum(counts) - counts).astype(np.int64)
    first = np.ascontiguousarray(np.hstack(firsts), dtype=np.int32)
    return offsets, first, np.ascontiguousarray(np.hstack(lasts), dtype=np.int32)
