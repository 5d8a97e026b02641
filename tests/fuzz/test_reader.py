"""The fuzzer's own reader: it must find what is wrong, else its silence means nothing."""

from __future__ import annotations

from typing import Any

import pytest

from fuzzing.check import check_cells, check_certificate, check_kept, is_possible
from fuzzing.covering import Reader, set_elements
from fuzzing.definitions import Release, judge, parse
from fuzzing.frames import plain_text, shown
from fuzzing.shrink import shrink

CASE: dict[str, Any] = {
    "number": 0,
    "columns": {
        "q": {"kind": "int64", "values": ["1", "2", "3", "4"]},
        "s": {"kind": "text", "values": ["flu", "flu", "gout", "?"]},
    },
    "settings": {"quasi": ["q"], "sensitive": ["s"], "algorithm": "mondrian", "k": 2, "missing": ["?"]},
    "way": {"kind": "frame", "frame": "polars"},
}
GOOD = {"q": ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"], "s": ["flu", "flu", "gout", "?"]}


def _kinds(case: dict[str, Any], cells: dict[str, list[Any]]) -> list[str]:
    keys = {"q": [shown(cell) for cell in cells["q"]]}
    return [kind for kind, _ in check_cells(case, cells, keys)]


def test_a_good_release_passes() -> None:
    assert _kinds(CASE, GOOD) == []


def test_a_class_of_one_is_found() -> None:
    assert _kinds(CASE, {**GOOD, "q": ["[1, 2]", "[1, 2]", "3", "[3, 4]"]}) == ["violates k-anonymity"]


def test_two_zeros_that_look_different_are_two_classes() -> None:
    case = {**CASE, "columns": {**CASE["columns"], "q": {"kind": "float", "values": ["0.0", "-0.0", "0.0", "-0.0"]}}}
    case["settings"] = {**CASE["settings"], "k": 3}
    assert _kinds(case, {**GOOD, "q": [0.0, -0.0, 0.0, -0.0]}) == ["violates k-anonymity"]
    assert _kinds(case, {**GOOD, "q": [0.0, 0.0, 0.0, 0.0]}) == []


def test_a_range_that_lacks_its_value_is_found() -> None:
    assert _kinds(CASE, {**GOOD, "q": ["[1, 2]", "[1, 2]", "[4, 5]", "[4, 5]"]}) == ["not covered"]


def test_a_mean_outside_its_class_is_found() -> None:
    case = {**CASE, "settings": {**CASE["settings"], "recoding": "mean"}}
    assert _kinds(case, {**GOOD, "q": [1.5, 1.5, 3.5, 3.5]}) == []
    assert _kinds(case, {**GOOD, "q": [1.5, 1.5, 4.5, 4.5]}) == ["not covered"]


def test_too_few_candidates_are_found() -> None:
    case = {**CASE, "settings": {**CASE["settings"], "algorithm": "nonhomogeneous"}}
    assert _kinds(case, {**GOOD, "q": ["[1, 2]", "[2, 3]", "[3, 4]", "[3, 4]"]}) == ["violates candidates"]
    assert _kinds(case, {**GOOD, "q": ["[1, 2]", "[1, 3]", "[2, 4]", "[3, 4]"]}) == []


def test_a_wrong_certificate_is_found() -> None:
    check = {"measured": 2.0}
    right = {"classes": 2, "smallest_class": 2, "records": {"suppressed": 0, "released": 4}, "checks": [check]}
    assert check_certificate(CASE, GOOD, right) == []
    assert [kind for kind, _ in check_certificate(CASE, GOOD, {**right, "classes": 3})] == ["certificate classes"]
    wrong = {**right, "checks": [{"measured": 3.0}]}
    assert [kind for kind, _ in check_certificate(CASE, GOOD, wrong)] == ["measured k-anonymity"]


def test_a_kept_column_that_changed_is_found() -> None:
    before = {"q": [1, 2], "s": [2**60 + 1, 2]}
    case = {**CASE, "columns": {"q": {}, "s": {}}}
    assert check_kept(case, before, before, whole=True) == []
    assert check_kept(case, before, {**before, "s": [2**60, 2]}, whole=True)
    assert check_kept(case, before, {**before, "s": [2**60 + 1, 2.0]}, whole=True)
    assert check_kept(case, before, {"q": [1, 2]}, whole=True)


# By hand: classes {flu, flu} and {gout, missing}; the table has flu 1/2, gout 1/4, missing 1/4.
@pytest.mark.parametrize(
    ("spec", "holds", "measured"),
    [
        ("k-anonymity:2", True, 2),
        ("k-anonymity:3", False, 2),
        ("xy-anonymity:s:2", False, 1),
        ("l-diversity:s:1.5", False, 1),
        ("distinct-l:s:2", False, 1),
        ("entropy-l:s:1.5", False, 1),
        ("recursive-cl:s:1.5,2", False, None),
        ("alpha-k:s:0.9", False, 1),
        ("alpha-k:s=gout:0.5", True, 0.5),
        ("confidence:q:s=flu:0.9", False, 1),
        ("t-closeness:s:0.5", True, 0.5),
        ("t-closeness:s:0.4:ordered", False, 0.375),
        ("t-closeness:s:0.3:hierarchical", False, 0.5),
        ("beta-likeness:s:1", True, 1),
        ("beta-likeness:s:0.9", False, 1),
        ("beta-likeness:s:2:enhanced", False, 1),
        ("delta-disclosure:s:5", False, None),
    ],
)
def test_a_model_by_hand(spec: str, holds: bool, measured: float | None) -> None:
    release = Release(lambda names: [[0, 1], [2, 3]], {"s": ["flu", "flu", "gout", None]})
    release.orders["s"] = ["flu", "gout", None]
    release.trees["s"] = {"flu": ["a", "*"], "gout": ["b", "*"], None: ["(missing)", "*"]}
    verdict = judge(parse(spec), release)
    assert verdict.measured == (None if measured is None else pytest.approx(measured))
    assert verdict.holds is (holds if "ordered" not in spec else True)


def test_a_distance_in_a_tree_by_hand() -> None:
    """Two of four values below each of two nodes: what stays below its node is carried half as far."""
    release = Release(lambda names: [[0, 2]], {"s": ["a", "b", "c", "d"]})
    release.trees["s"] = {"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"], "d": ["y", "*"]}
    assert judge(parse("t-closeness:s:0.25:hierarchical"), release).measured == pytest.approx(0.25)
    release.classes = lambda names: [[0, 1]]
    assert judge(parse("t-closeness:s:0.25:hierarchical"), release).measured == pytest.approx(0.5)


def test_a_requirement_that_the_whole_table_meets_is_possible() -> None:
    assert is_possible(CASE)
    assert not is_possible({**CASE, "settings": {**CASE["settings"], "k": 5}})


def test_sets_are_taken_apart() -> None:
    assert set_elements('{a, "b, c", "say ""x""", (missing)}') == ["a", "b, c", 'say "x"', "(missing)"]
    assert set_elements("a") is None


def test_what_a_label_stands_for() -> None:
    tree = {"rows": [["a", "x", "*"], ["b", "y", "*"]]}
    reader = Reader({"kind": "text"}, (), None, tree)
    assert reader.covers("x", "a")
    assert not reader.covers("x", "b")
    dates = Reader({"kind": "date"}, (), None, {"builder": "dates"})
    assert dates.covers("2020-Q1", "2020-03-15")
    assert not dates.covers("2020-Q2", "2020-03-15")
    numbers = Reader({"kind": "int64"}, (), None, {"builder": "ranges"})
    assert numbers.covers("[0, 10)", "9")
    assert not numbers.covers("[0, 10)", "10")


def test_one_text_for_a_value_however_it_is_written() -> None:
    assert plain_text("1.00") == plain_text(1) == plain_text(1.0)
    assert plain_text("-0.0") == plain_text(0)
    assert plain_text(2**60 + 1) != plain_text(2**60)


def test_a_case_is_made_as_small_as_the_finding_allows() -> None:
    small = shrink(CASE, lambda case: "3" in case["columns"]["q"]["values"])
    assert small["columns"]["q"]["values"] == ["3"]
    assert set(small["settings"]) == {"quasi", "sensitive", "algorithm"}
