"""Paths become trees: tree order, numbering, and everything that can be wrong with paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import align_numbers, from_paths, order_by, require_cover

Path = tuple[str, ...]


def problems_of(paths: list[Path]) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        from_paths("job", paths)
    assert all(problem.column == "job" for problem in caught.value.problems)
    return {problem.reason: problem.message for problem in caught.value.problems}


def test_leaves_come_in_tree_order_by_first_appearance() -> None:
    hierarchy = from_paths("c", [("b", "B", "*"), ("a", "A", "*"), ("b2", "B", "*"), ("a0", "A", "*")])
    assert hierarchy.leaves == ("b", "b2", "a", "a0")
    assert hierarchy.labels == ("b", "b2", "a", "a0", "B", "A", "*")
    assert hierarchy.ancestors.tolist() == [[0, 1, 2, 3], [4, 4, 5, 5], [6, 6, 6, 6]]
    assert hierarchy.ancestors.dtype == np.int32
    assert hierarchy.ancestors.flags.c_contiguous
    assert (hierarchy.levels, hierarchy.root) == (3, 6)
    assert hierarchy.leaf_counts.tolist() == [1, 1, 1, 1, 2, 2, 4]
    assert hierarchy.first_leaves.tolist() == [0, 1, 2, 3, 0, 2, 0]
    assert hierarchy.node_levels.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert hierarchy.path(1) == ("b2", "B", "*")


def test_a_label_repeated_on_successive_levels_is_no_error() -> None:
    hierarchy = from_paths("c", [("1", "1", "low", "*"), ("2", "1-2", "low", "*"), ("80", ">=80", ">=80", "*")])
    assert hierarchy.path(2) == ("80", ">=80", ">=80", "*")
    # A released label stands for its largest node.
    assert hierarchy.node_index[">=80"] == 5
    assert hierarchy.leaf_counts[hierarchy.node_index["*"]] == 3


def test_the_same_label_on_different_levels_of_different_branches_are_two_nodes() -> None:
    hierarchy = from_paths("c", [("other", "X", "*"), ("a", "other", "*"), ("b", "other", "*")])
    assert hierarchy.leaf_counts[hierarchy.node_index["other"]] == 2
    assert hierarchy.labels.count("other") == 2


def test_equal_rows_are_merged() -> None:
    assert from_paths("c", [("a", "*"), ("b", "*"), ("a", "*")]).leaves == ("a", "b")


def test_two_roots() -> None:
    assert problems_of([("a", "*"), ("b", "all")]) == {"two-roots": "the hierarchy has 2 roots"}


def test_uneven_levels_say_how_many_and_where() -> None:
    found = problems_of([("a", "A", "*"), ("b", "*"), ("c", "A", "*"), ("d",)])
    assert found == {"uneven-levels": "2 rows of the hierarchy do not have 3 levels (the first is row 2)"}


def test_a_leaf_with_two_paths() -> None:
    assert "1 row " in problems_of([("a", "A", "*"), ("a", "B", "*")])["duplicate-leaf"]


def test_a_group_with_two_parents() -> None:
    found = problems_of([("a", "A", "X", "*"), ("b", "A", "Y", "*"), ("c", "C", "Y", "*")])
    assert found == {"two-parents": "1 group of the hierarchy with more than one parent"}


def test_no_rows_one_level_and_blank_labels() -> None:
    assert set(problems_of([])) == {"empty-hierarchy"}
    assert set(problems_of([("a",), ("b",)])) == {"one-level"}
    assert set(problems_of([("a", "", "*")])) == {"blank-label"}


def test_all_problems_are_reported_at_once_and_hold_no_label() -> None:
    paths = [("secret", "A", "X", "*"), ("secret", "A", "Y", "*"), ("u", "*"), ("v", "B", "Y", "all")]
    found = problems_of(paths)
    assert set(found) == {"uneven-levels", "duplicate-leaf", "two-parents", "two-roots"}
    assert "secret" not in " ".join(found.values())


def test_require_cover_counts_distinct_values_and_names_none() -> None:
    hierarchy = from_paths("c", [("a", "*"), ("b", "*")])
    assert require_cover(hierarchy, ["a", None, "b", "a"], "c") == []
    (problem,) = require_cover(hierarchy, ["a", "hidden", "hidden", "other", None], "c")
    assert (problem.reason, problem.column) == ("uncovered-values", "c")
    assert problem.message.startswith("2 distinct values of 3 ")
    assert "hidden" not in str(problem)


def test_align_numbers_renames_equal_numbers_only() -> None:
    hierarchy = from_paths("c", [("33.00", "33", "*"), ("33.5", "33", "*"), ("0123", "x", "*"), ("7", "x", "*")])
    aligned = align_numbers(hierarchy, ["33.0", "33.5", "123", "7", "7.0", None])
    assert aligned.leaves == ("33.0", "33.5", "0123", "7")
    assert aligned.labels == ("33.0", "33.5", "0123", "7", "33", "x", "*")
    assert len(require_cover(aligned, ["33.0", "33.5", "123", "7", "7.0"], "c")) == 1
    assert align_numbers(hierarchy, ["7", None]) is hierarchy


def test_order_by_sorts_siblings_and_keeps_the_tree() -> None:
    paths = [("9", "high", "*"), ("2", "low", "*"), ("7", "high", "*"), ("1", "low", "*")]
    hierarchy = from_paths("c", paths)
    ordered = order_by(hierarchy, np.array([float(leaf) for leaf in hierarchy.leaves]))
    assert ordered.leaves == ("1", "2", "7", "9")
    assert {ordered.path(leaf) for leaf in range(4)} == set(paths)


@st.composite
def random_paths(draw: st.DrawFn) -> list[Path]:
    """Paths of a random tree: every node of a level picks its parent among those above; rows in any order."""
    levels = draw(st.integers(1, 4))
    parents_above = ["*"]
    parent_of: list[dict[str, str]] = []
    for level in range(levels, 0, -1):
        count = draw(st.integers(1, 8))
        nodes = [f"{level}.{number}" for number in range(count)]
        parent_of.append({node: draw(st.sampled_from(parents_above)) for node in nodes})
        parents_above = nodes
    paths = []
    for leaf in parents_above:
        path = [leaf]
        for parents in reversed(parent_of):
            path.append(parents[path[-1]])
        paths.append(tuple(path))
    return draw(st.permutations(paths))


def naive_common_ancestor(paths: list[Path], chosen: list[str]) -> str:
    by_leaf = {path[0]: path for path in paths}
    for level in range(len(paths[0])):
        labels = {by_leaf[leaf][level] for leaf in chosen}
        if len(labels) == 1:
            return labels.pop()
    raise AssertionError("no common ancestor")


@given(random_paths(), st.data())
def test_any_tree_is_kept_and_its_nodes_are_ranges_of_leaves(paths: list[Path], data: st.DataObject) -> None:
    hierarchy = from_paths("c", paths)
    assert {hierarchy.path(leaf) for leaf in range(len(hierarchy.leaves))} == set(paths)
    assert_contiguous(hierarchy)
    chosen = data.draw(st.lists(st.sampled_from(hierarchy.leaves), min_size=1))
    codes = [hierarchy.leaf_index[leaf] for leaf in chosen]
    node = hierarchy.common_ancestor(min(codes), max(codes))
    assert hierarchy.labels[node] == naive_common_ancestor(paths, chosen)


@given(random_paths())
def test_first_appearance_decides_between_siblings(paths: list[Path]) -> None:
    hierarchy = from_paths("c", paths)
    rank = {path[0]: number for number, path in enumerate(paths)}
    for level in range(1, hierarchy.levels):
        firsts: dict[tuple[int, int], int] = {}  # (parent, child) -> where its first leaf appears
        for leaf, text in enumerate(hierarchy.leaves):
            edge = (int(hierarchy.ancestors[level, leaf]), int(hierarchy.ancestors[level - 1, leaf]))
            firsts[edge] = min(firsts.get(edge, len(rank)), rank[text])
        for parent in {edge[0] for edge in firsts}:
            siblings = [first for edge, first in sorted(firsts.items()) if edge[0] == parent]
            assert siblings == sorted(siblings)


def assert_contiguous(hierarchy: Hierarchy) -> None:
    for nodes in hierarchy.ancestors:
        for node in np.unique(nodes):
            leaves = np.flatnonzero(nodes == node)
            assert leaves.tolist() == list(range(leaves[0], leaves[-1] + 1))
            assert hierarchy.first_leaves[node] == leaves[0]
            assert hierarchy.leaf_counts[node] == len(leaves)
