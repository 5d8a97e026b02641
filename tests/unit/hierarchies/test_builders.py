"""Masks, dates, ordered groups and the flat hierarchy."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.hierarchies.builders import dates, flat, ordered_groups, prefix_masks
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import from_paths


def paths(hierarchy: Hierarchy) -> list[str]:
    return [" ".join(hierarchy.path(leaf)) for leaf in range(len(hierarchy.leaves))]


def assert_sound(hierarchy: Hierarchy) -> None:
    """The paths pass every check that a file has to pass, and give the same tree."""
    again = from_paths("c", [hierarchy.path(leaf) for leaf in range(len(hierarchy.leaves))])
    assert again.labels == hierarchy.labels
    assert again.ancestors.tolist() == hierarchy.ancestors.tolist()


def reasons(caught: pytest.ExceptionInfo[InputError]) -> tuple[str, ...]:
    return caught.value.reasons


def test_flat() -> None:
    assert paths(flat(["b", None, "a", "b"])) == ["b *", "a *"]
    with pytest.raises(InputError) as caught:
        flat([None])
    assert reasons(caught) == ("empty-hierarchy",)


def test_masks_of_postcodes() -> None:
    assert paths(prefix_masks(["1234", "1250", "1235"])) == [
        "1234 123* 12** 1*** *",
        "1235 123* 12** 1*** *",
        "1250 125* 12** 1*** *",
    ]
    assert paths(prefix_masks(["01234"], step=2, mask="x")) == ["01234 012xx 0xxxx *"]


def test_short_values_stay_until_they_are_masked() -> None:
    assert paths(prefix_masks(["123", "1234", "1"])) == ["1 1 1 1 *", "123 123 12** 1*** *", "1234 123* 12** 1*** *"]


def test_masks_with_wrong_settings_or_endless_values() -> None:
    with pytest.raises(InputError) as caught:
        prefix_masks(["12"], step=0, mask="")
    assert reasons(caught) == ("bad-builder", "bad-builder")
    with pytest.raises(InputError) as caught:
        prefix_masks(["x" * 100_000, "y"])
    assert reasons(caught) == ("too-many-levels",)
    assert len(str(caught.value)) < 300


@given(st.lists(st.text(max_size=8), min_size=1, max_size=30), st.integers(1, 3))
def test_masks_make_a_tree_of_any_texts(values: list[str], step: int) -> None:
    hierarchy = prefix_masks(values, step=step)
    assert sorted(hierarchy.leaves) == sorted(set(values))
    for leaf, text in enumerate(hierarchy.leaves):
        for label in hierarchy.path(leaf)[1:-1]:
            assert label == text or text.startswith(label.rstrip("*")) or "*" in text


def test_dates_with_all_levels() -> None:
    hierarchy = dates(["2024-12-31", "2019-01-02", "2024-03-01", None])
    assert paths(hierarchy) == [
        "2019-01-02 2019-01 2019-Q1 2019 2010s *",
        "2024-03-01 2024-03 2024-Q1 2024 2020s *",
        "2024-12-31 2024-12 2024-Q4 2024 2020s *",
    ]
    assert_sound(hierarchy)


def test_dates_with_times_have_the_day_as_a_level() -> None:
    hierarchy = dates(["2024-03-01 10:00", "2024-03-01T09:00:00", "2019-01-02 00:00"], ["day", "year"])
    assert hierarchy.path(1)[1:] == hierarchy.path(2)[1:] == ("2024-03-01", "2024", "*")


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y/%m/%d"])
def test_dates_in_other_forms_have_the_groups_of_iso_dates(form: str) -> None:
    days = [date(2024, 12, 31), date(2019, 1, 2), date(2024, 3, 1)]
    written = dates([day.strftime(form) for day in days], levels=["quarter", "year"])
    iso = dates([day.isoformat() for day in days], levels=["quarter", "year"])
    assert [written.path(leaf)[1:] for leaf in range(3)] == [iso.path(leaf)[1:] for leaf in range(3)]
    assert list(written.leaves) == [day.strftime(form) for day in sorted(days)]


def test_wrong_dates_and_levels_are_reported_together() -> None:
    with pytest.raises(InputError) as caught:
        dates(["2024-03-01", "31.12.2024", "2023-02-29", "2024-03-01x"], ["day", "yaer"], column="admitted")
    assert reasons(caught) == ("bad-builder", "not-a-date")
    assert "did you mean 'year'?" in str(caught.value)
    assert "3 of 4 distinct values" in str(caught.value)
    assert "31.12" not in str(caught.value)
    with pytest.raises(InputError, match="from fine to coarse"):
        dates(["2024-03-01"], ["year", "month"])


@given(st.lists(st.dates(), min_size=1, max_size=50))
def test_dates_of_any_time_make_a_tree(values: list[object]) -> None:
    hierarchy = dates([str(value) for value in values])
    assert list(hierarchy.leaves) == sorted({str(value) for value in values})
    assert_sound(hierarchy)


def test_ordered_groups() -> None:
    assert paths(ordered_groups(list("abcdefg"), [2, 4])) == [
        "a [a, b] [a, d] *",
        "b [a, b] [a, d] *",
        "c [c, d] [a, d] *",
        "d [c, d] [a, d] *",
        "e [e, f] [e, g] *",
        "f [e, f] [e, g] *",
        "g g [e, g] *",
    ]
    assert paths(ordered_groups(["low", "mid", "high"], 2))[2] == "high high *"


@pytest.mark.parametrize("sizes", [[], [1], [2, 3], [4, 4], [2, True], 0])
def test_ordered_groups_with_wrong_sizes(sizes: list[int]) -> None:
    with pytest.raises(InputError) as caught:
        ordered_groups(list("abc"), sizes)
    assert reasons(caught) == ("bad-builder",)
