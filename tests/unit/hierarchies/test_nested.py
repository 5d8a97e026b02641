"""Hierarchies as dicts: nested, and by parent."""

from __future__ import annotations

from datetime import date, datetime

import pytest
import yaml

from shoal.errors import InputError
from shoal.hierarchies.nested import from_dict, label_text


def reasons(source: dict[object, object]) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        from_dict("job", source)
    return caught.value.reasons


def test_nested_and_parent_form_give_the_same_tree() -> None:
    nested = from_dict("job", {"*": {"T": ["tech", "craft"], "O": ["sales"]}})
    parents = from_dict("job", {"tech": "T", "craft": "T", "sales": "O", "T": "*", "O": "*", "*": None})
    assert nested.labels == parents.labels == ("tech", "craft", "sales", "T", "O", "*")
    assert nested.ancestors.tolist() == parents.ancestors.tolist()


def test_short_branches_repeat_their_value() -> None:
    hierarchy = from_dict("job", {"*": {"T": {"TT": ["deep", "deeper"]}, "O": ["middle"], "top": None}})
    assert [hierarchy.path(leaf) for leaf in range(4)] == [
        ("deep", "TT", "T", "*"),
        ("deeper", "TT", "T", "*"),
        ("middle", "middle", "O", "*"),
        ("top", "top", "top", "*"),
    ]
    parents = from_dict("job", {"deep": "TT", "TT": "T", "T": "*", "top": "*"})
    assert parents.path(1) == ("top", "top", "top", "*")


def test_lists_may_hold_groups_and_a_group_one_value() -> None:
    hierarchy = from_dict("job", {"*": ["a", {"G": ["b", None, "c"], "H": "d"}]})
    assert hierarchy.leaves == ("a", "b", "c", "d")
    assert hierarchy.path(3) == ("d", "H", "*")


def test_yaml_words_become_text() -> None:
    source = yaml.safe_load("'*': {1: [2, 2.50, true, 2024-03-01], ~: [x], 7: [no]}")
    assert reasons(source) == ("blank-label",)
    del source["*"][None]
    assert from_dict("job", source).leaves == ("2", "2.5", "true", "2024-03-01", "false")
    assert label_text(date(2024, 3, 1)) == "2024-03-01"
    assert label_text(datetime(2024, 3, 1, 12, 30)) == "2024-03-01 12:30:00"


def test_two_roots() -> None:
    assert reasons({"A": ["a"], "B": ["b"]}) == ("two-roots",)
    assert reasons({"a": "A", "b": "B"}) == ("two-roots",)


def test_cycles_by_parent() -> None:
    assert reasons({"a": "b", "b": "a"}) == ("cycle",)
    assert reasons({"a": "a"}) == ("cycle",)
    assert reasons({"x": "a", "a": "b", "b": "c", "c": "a", "d": "*"}) == ("cycle",)
    assert reasons({"a": "b", "b": "a", "c": "X", "d": "Y"}) == ("two-roots", "cycle")


def test_cycles_in_nested_dicts() -> None:
    looped = yaml.safe_load("'*': &top {A: [a], B: *top}")
    assert reasons(looped) == ("cycle",)
    looped = yaml.safe_load("'*': &top [a, *top]")
    assert "cycle" in reasons(looped)
    assert reasons(yaml.safe_load("'*': [a, {B: [b]}, [c]]")) == ("blank-label",)


def test_a_shared_part_is_no_cycle() -> None:
    assert reasons(yaml.safe_load("'*': {A: &part [a], B: *part}")) == ("duplicate-leaf",)


def test_a_value_in_two_groups_and_a_group_in_two_groups() -> None:
    assert reasons({"*": {"A": ["x", "y"], "B": ["x"]}}) == ("duplicate-leaf",)
    assert reasons({"*": {"A": {"Other": ["x"]}, "B": {"Other": ["y"]}}}) == ("two-parents",)


def test_nothing_in_it() -> None:
    assert reasons({}) == ("empty-hierarchy",)
    assert reasons({"*": []}) == ("empty-hierarchy",)


def test_depth_is_no_limit() -> None:
    source: dict[object, object] = {"leaf": None}
    for level in range(3000):
        source = {f"g{level}": source}
    assert from_dict("job", source).levels == 3001
