"""Paths from leaf to root become a `Hierarchy`, and are checked on the way.

A path lists the labels of one leaf, the leaf first and the root last, as a line of an ARX file does. A node is a
label *at a level*: the same label may stand on several levels, but a label at one level must have one parent.

Order. Leaves keep the order of their first appearance as far as the tree allows: siblings are ordered by where the
first leaf of each appears. Numbers are not sorted, so a file's own order is kept; `order_by` sorts siblings by any
key where that is wanted.

No message holds a label: leaves are values of the data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy

Path = tuple[str, ...]
IntegerArray = NDArray[np.int64]

# A number as programs write it. Leading zeros are left out on purpose: `0123` is a postcode, not 123.
_PLAIN_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


def from_paths(column: str, paths: Sequence[Sequence[str]]) -> Hierarchy:
    """The hierarchy of these paths (leaf first, root last). Raises `InputError` with every problem found."""
    problems: list[Problem] = []
    rows = _even_rows(column, [tuple(path) for path in paths], problems)
    if rows:
        rows = list(dict.fromkeys(rows))  # equal rows are one, the first
        codes, labels = _number_levels(rows)
        problems += _check_labels(column, rows)
        problems += _check_tree(column, rows, codes, labels)
    if problems:
        raise InputError(problems)
    return assemble([row[0] for row in rows], codes[1:], labels[1:])


def assemble(leaves: Sequence[str], codes: Sequence[NDArray[np.integer]], labels: Sequence[Sequence[str]]) -> Hierarchy:
    """A hierarchy from leaves that are known to be distinct, and per level above them the node of each leaf.

    `codes[level]` numbers the nodes of a level in any way; `labels[level][code]` is a node's text. Siblings come in
    the order of their first leaf.
    """
    count = len(leaves)
    ranks = [_first_appearance(np.asarray(level)) for level in codes]
    order = np.lexsort((np.arange(count), *ranks)) if ranks else np.arange(count)
    texts = [leaves[leaf] for leaf in order]
    node_texts, ancestors = list(texts), [np.arange(count)]
    for nodes, level_labels in zip(codes, labels, strict=True):
        in_order = np.asarray(nodes)[order]
        starts = np.flatnonzero(np.diff(in_order, prepend=in_order[0] - 1))  # leaves of a node are neighbours now
        number_of_node = np.repeat(np.arange(len(starts)), np.diff(starts, append=count))
        ancestors.append(len(node_texts) + number_of_node)
        node_texts += [level_labels[code] for code in in_order[starts]]
    return Hierarchy(tuple(texts), tuple(node_texts), np.stack(ancestors).astype(np.int32))


def order_by(hierarchy: Hierarchy, keys: NDArray[np.float64]) -> Hierarchy:
    """The same tree with siblings ordered by the smallest key below them; `keys` has one number per leaf."""
    by_key = np.argsort(keys, kind="stable")
    leaves = [hierarchy.leaves[leaf] for leaf in by_key]
    codes, labels = [], []
    for nodes in hierarchy.ancestors[1:]:
        lowest = int(nodes.min())
        codes.append((nodes[by_key] - lowest).astype(np.int64))
        labels.append(hierarchy.labels[lowest : int(nodes.max()) + 1])
    return assemble(leaves, codes, labels)


def align_numbers(hierarchy: Hierarchy, values: Iterable[str | None]) -> Hierarchy:
    """The same tree with leaves written as the values write them, where both are the same number.

    A file may say `33.00` where the data, read as numbers, says `33.0`. Only leaves that are no values themselves are
    renamed, each to the first value that fits. Leading zeros count: `0123` is not 123.
    """
    present = {value for value in values if value is not None}
    unmatched = {float(v): v for v in sorted(present - hierarchy.leaf_index.keys()) if _PLAIN_NUMBER.fullmatch(v)}
    if not unmatched:
        return hierarchy
    texts = list(hierarchy.leaves)
    for leaf, text in enumerate(texts):
        if text not in present and _PLAIN_NUMBER.fullmatch(text):
            texts[leaf] = unmatched.pop(float(text), text)
    return Hierarchy(tuple(texts), (*texts, *hierarchy.labels[len(texts) :]), hierarchy.ancestors)


def add_below_root(hierarchy: Hierarchy, values: Iterable[str | None], column: str) -> Hierarchy:
    """The same tree with every value that it lacks as a leaf right below the root, after all others."""
    new = [value for value in dict.fromkeys(values) if value is not None and value not in hierarchy.leaf_index]
    if not new:
        return hierarchy
    paths = [hierarchy.path(leaf) for leaf in range(len(hierarchy.leaves))]
    root = hierarchy.labels[hierarchy.root]
    return from_paths(column, [*paths, *((value,) * (hierarchy.levels - 1) + (root,) for value in new)])


def require_cover(hierarchy: Hierarchy, values: Iterable[str | None], column: str) -> list[Problem]:
    """A problem if some of the values are no leaves; missing values need none. Counts only, never the values."""
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    uncovered = sum(1 for value in distinct if value not in hierarchy.leaf_index)
    if not uncovered:
        return []
    return [
        Problem(
            "uncovered-values",
            f"{_count(uncovered, 'distinct value')} of {len(distinct)} not in the hierarchy",
            column,
            "add a line for each of them to the hierarchy, or check spelling, blanks and number format; "
            "or --new-values root, to put them right below the root; "
            "'shoal hierarchies check DATA --hierarchies FOLDER --show-values' names them and where they would go",
        )
    ]


def _first_appearance(codes: NDArray[np.integer]) -> IntegerArray:
    """Each code replaced by the position where it appears first."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.int64)


def _even_rows(column: str, rows: list[Path], problems: list[Problem]) -> list[Path]:
    """The rows that have the usual number of levels, so that the other checks can still be made."""
    if not rows:
        problems.append(Problem("empty-hierarchy", "the hierarchy has no values", column, "give at least one line"))
        return []
    lengths = Counter(len(row) for row in rows)
    usual = max(lengths, key=lambda length: (lengths[length], length))
    uneven = len(rows) - lengths[usual]
    if uneven:
        first = next(number for number, row in enumerate(rows, start=1) if len(row) != usual)
        problems.append(
            Problem(
                "uneven-levels",
                f"{_count(uneven, 'row')} of the hierarchy do not have {usual} levels (the first is row {first})",
                column,
                "repeat the last label of a short branch until all rows have the same number of levels",
            )
        )
    if usual < 2:
        problems.append(
            Problem(
                "one-level",
                "the hierarchy has one level only",
                column,
                "a row holds the value, its groups and the root, separated by ; or , or a tab",
            )
        )
        return []
    return [row for row in rows if len(row) == usual]


def _number_levels(rows: list[Path]) -> tuple[list[IntegerArray], list[list[str]]]:
    """Per level the node number of each row, in order of appearance, and the labels of the nodes."""
    codes, labels = [], []
    for level in zip(*rows, strict=True):
        numbers, distinct = factorize(level)
        codes.append(numbers)
        labels.append(distinct)
    return codes, labels


def factorize(texts: Sequence[str]) -> tuple[IntegerArray, list[str]]:
    """Numbers for texts in the order of their first appearance, and the distinct texts."""
    index: dict[str, int] = {}
    codes = np.fromiter((index.setdefault(text, len(index)) for text in texts), dtype=np.int64, count=len(texts))
    return codes, list(index)


def _check_labels(column: str, rows: list[Path]) -> list[Problem]:
    blank = sum(1 for row in rows if not all(label.strip() for label in row[1:]))
    if not blank:
        return []
    return [
        Problem(
            "blank-label",
            f"{_count(blank, 'row')} of the hierarchy with an empty label above the value",
            column,
            "name every group; a separator at the end of the lines also makes an empty label",
        )
    ]


def _check_tree(column: str, rows: list[Path], codes: list[IntegerArray], labels: list[list[str]]) -> list[Problem]:
    problems = []
    roots = len(labels[-1])
    if roots > 1:
        problems.append(
            Problem("two-roots", f"the hierarchy has {roots} roots", column, "end every row with the same root, e.g. *")
        )
    repeated = len(rows) - len(labels[0])  # equal rows are merged before, so these have different paths
    if repeated:
        problems.append(
            Problem(
                "duplicate-leaf",
                f"{_count(repeated, 'row')} of the hierarchy repeat a value with different groups",
                column,
                "give each value one row",
            )
        )
    parted = sum(_nodes_with_two_parents(codes[level], codes[level + 1]) for level in range(1, len(codes) - 2))
    if parted:
        problems.append(
            Problem(
                "two-parents",
                f"{_count(parted, 'group')} of the hierarchy with more than one parent",
                column,
                "a label at one level must always have the same label above it",
            )
        )
    return problems


def _nodes_with_two_parents(children: IntegerArray, parents: IntegerArray) -> int:
    edges = np.unique(np.stack([children, parents]), axis=1)
    _, parent_counts = np.unique(edges[0], return_counts=True)
    return int(np.count_nonzero(parent_counts > 1))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
