"""Numeric ranges: labels, exact boundaries, given edges."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ranges
from shoal.hierarchies.scaled_numbers import decimal_places

AGES = [str(age) for age in range(17, 91)]


def path_of(hierarchy: Hierarchy, leaf: str) -> tuple[str, ...]:
    return hierarchy.path(hierarchy.leaf_index[leaf])


def test_whole_numbers_have_closed_ranges() -> None:
    hierarchy = ranges(AGES, width=5)
    assert path_of(hierarchy, "29") == ("29", "[25, 29]", "[20, 29]", "[20, 39]", "[0, 39]", "*")
    assert list(hierarchy.leaves) == AGES
    assert path_of(ranges(AGES, width=10, levels=1), "30") == ("30", "[30, 39]", "*")
    assert path_of(ranges(AGES, width=5, factor=4, levels=2), "41") == ("41", "[40, 44]", "[40, 59]", "*")


def test_decimals_have_half_open_ranges_with_exact_boundaries() -> None:
    hierarchy = ranges(["0.3", "0.1", "0.25", "1.75", None], width=0.1, levels=2)
    assert path_of(hierarchy, "0.3") == ("0.3", "[0.3, 0.4)", "[0.2, 0.4)", "*")
    assert hierarchy.leaves == ("0.1", "0.25", "0.3", "1.75")
    assert path_of(ranges(["20", "30"], width="2.5", levels=1), "20")[1] == "[20, 22.5)"


def test_negative_numbers() -> None:
    hierarchy = ranges(["5", "-5", "-1", "0", "12"], width=5, levels=1)
    assert [hierarchy.path(leaf)[1] for leaf in range(5)] == ["[-5, -1]", "[-5, -1]", "[0, 4]", "[5, 9]", "[10, 14]"]


def test_a_width_is_found_out() -> None:
    assert path_of(ranges(AGES), "29")[1] == "[25, 29]"
    assert path_of(ranges([str(n / 100) for n in range(100)]), "0.55")[1] == "[0.5, 0.6)"
    assert path_of(ranges(AGES, levels=2), "29") == ("29", "[20, 39]", "[0, 39]", "*")
    assert path_of(ranges(["1", "2", "3"]), "3")[1] == "[2, 3]"
    assert ranges(["7"]).path(0)[-1] == "*"


def test_given_edges_with_open_ends() -> None:
    hierarchy = ranges(AGES, edges=[[18, 30, 45, 65], [30, 65]])
    assert path_of(hierarchy, "17") == ("17", "<18", "<30", "*")
    assert path_of(hierarchy, "18") == ("18", "[18, 29]", "<30", "*")
    assert path_of(hierarchy, "64") == ("64", "[45, 64]", "[30, 64]", "*")
    assert path_of(hierarchy, "65") == ("65", ">=65", ">=65", "*")
    assert path_of(ranges(["0.5", "2"], edges=[0, 1.5, 3]), "0.5") == ("0.5", "[0, 1.5)", "*")


def test_huge_and_tiny_numbers_stay_readable() -> None:
    hierarchy = ranges(["-1.5", "1e300", "2e300"])
    assert path_of(hierarchy, "1e300")[1] == "[1E+300, 1.2E+300)"
    assert path_of(hierarchy, "-1.5")[1] == "[-2E+299, 0)"
    assert path_of(ranges(["1e-7", "3e-7"], width="1e-7", levels=1), "3e-7")[1] == "[0.0000003, 0.0000004)"


def test_all_problems_at_once_without_a_value() -> None:
    with pytest.raises(InputError) as caught:
        ranges(["1", "secret", "nan", "inf"], width=-1, levels=0, factor=1, column="age")
    assert caught.value.reasons == ("bad-builder", "bad-builder", "bad-builder", "not-a-number")
    assert "3 of 4 distinct values are not numbers" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "edges", [[], [[]], "abc", [1, "x"], [3, 2, 1], [[1, 2], [3]], [[1, 2, 3], [1, 2, 2]], [1, [2]], [True, False]]
)
def test_wrong_edges(edges: object) -> None:
    with pytest.raises(InputError) as caught:
        ranges(["1"], edges=edges)  # type: ignore[arg-type]
    assert set(caught.value.reasons) == {"bad-builder"}


def test_edges_exclude_width() -> None:
    with pytest.raises(InputError, match="either edges"):
        ranges(["1"], edges=[1, 2], width=3)


@pytest.mark.parametrize(
    ("text", "places"), [("1", 0), ("1.50", 1), ("-0.25", 2), ("1e-3", 3), ("1.5E2", 0), ("2.25e1", 1)]
)
def test_decimal_places(text: str, places: int) -> None:
    assert decimal_places(text) == places


@given(
    st.lists(st.decimals(-10_000, 10_000, places=3), min_size=1, max_size=40),
    st.decimals("0.001", 500, places=3),
)
def test_every_number_lies_in_all_its_ranges(numbers: list[Decimal], width: Decimal) -> None:
    hierarchy = ranges([str(number) for number in numbers], width=width)
    assert [Decimal(leaf) for leaf in hierarchy.leaves] == sorted(Decimal(leaf) for leaf in hierarchy.leaves)
    for leaf, text in enumerate(hierarchy.leaves):
        for label in hierarchy.path(leaf)[1:-1]:
            assert lies_in(Decimal(text), label)


def lies_in(number: Decimal, label: str) -> bool:
    parts = re.fullmatch(r"\[(.+), (.+)([\])])", label)
    if parts is None:
        return number == Decimal(label)
    low, high = Decimal(parts[1]), Decimal(parts[2])
    return low <= number <= high if parts[3] == "]" else low <= number < high
