"""Hierarchies for the editor: the tree that a description makes, and the values that it leaves out."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.hierarchies.files import read_hierarchy_file
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.spec import describe, make_hierarchy

MOST_LEAVES = 3_000  # a larger tree is shown in numbers only
MOST_UNCOVERED = 500


def hierarchy_answer(spec: Any, values: Sequence[str], column: str) -> dict[str, Any]:
    """The tree of a spec for these values. What is wrong is told, with the values that are not covered."""
    if isinstance(spec, dict) and "lines" in spec:
        return _answer(_read_lines(str(spec["lines"]), column), values)
    try:
        return _answer(make_hierarchy(spec, values, column), values)
    except InputError as error:
        if error.reasons != ("uncovered-values",):
            raise
        return _answer(make_hierarchy(spec, [], column), values)


def _read_lines(text: str, column: str) -> Hierarchy:
    """Lines of a hierarchy file of ARX or another tool, as they were pasted or loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hierarchy.csv"
        path.write_text(text, encoding="utf-8")
        return read_hierarchy_file(path, column)


def _answer(tree: Hierarchy, values: Sequence[str]) -> dict[str, Any]:
    uncovered = [value for value in values if value not in tree.leaf_index]
    large = len(tree.leaves) > MOST_LEAVES
    return {
        "tree": None if large else nested(tree),
        "large": large,
        "shape": describe(tree),
        "sample": [list(tree.path(leaf)) for leaf in _spread(len(tree.leaves), 12)],
        "uncovered": uncovered[:MOST_UNCOVERED],
        "uncovered_count": len(uncovered),
    }


def _spread(count: int, wanted: int) -> list[int]:
    step = max(1, count // wanted)
    return list(range(0, count, step))[:wanted]


def nested(tree: Hierarchy) -> dict[str, Any]:
    """The tree from the root down; a node that only repeats its one child is left out."""
    children: dict[int, dict[int, None]] = {}
    for level in range(1, tree.levels):
        for child, parent in zip(tree.ancestors[level - 1].tolist(), tree.ancestors[level].tolist(), strict=True):
            children.setdefault(parent, {})[child] = None

    def node(number: int) -> dict[str, Any]:
        below = list(children.get(number, ()))
        if len(below) == 1 and tree.labels[below[0]] == tree.labels[number]:
            return node(below[0])
        shown: dict[str, Any] = {"label": tree.labels[number]}
        if below:
            shown["children"] = [node(child) for child in below]
        return shown

    return node(tree.root)
