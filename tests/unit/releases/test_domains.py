"""Releases read without their original: scales, hierarchies, means."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.hierarchies.nested import from_dict
from shoal.released.domain import make_domains
from shoal.releases.check import check_together
from shoal.releases.classes import pairs_that_fit, read_classes
from shoal.releases.domains import domains_of_releases
from shoal.tables.schema import Attribute, Role, Scale


@pytest.mark.parametrize(
    ("cells", "scale"),
    [
        (["[1, 3]", "4", "*"], Scale.INTEGER),
        (["[1.5, 3]", "4", ""], Scale.DECIMAL),
        (["2020-05-01", "2021", "*"], Scale.DATE),
        (["{a, b}", "c"], Scale.CATEGORY),
        (["[1, 3]", "c"], Scale.CATEGORY),
    ],
)
def test_the_scale_is_told_by_the_cells(cells: list[str], scale: Scale) -> None:
    frame = pl.DataFrame({"x": cells})
    assert domains_of_releases([frame, frame], ["x"])["x"].scale is scale


def test_a_scale_and_an_order_can_be_given() -> None:
    frames = [pl.DataFrame({"x": ["[low, middle]"]}), pl.DataFrame({"x": ["[middle, high]"]})]
    domains = domains_of_releases(frames, ["x"], orders={"x": ["low", "middle", "high"]})
    one, other = read_classes(frames, ["x"], domains)
    assert pairs_that_fit(one.covers, other.covers)[0].shape[0] == 1
    numbers = [pl.DataFrame({"x": ["1"]}), pl.DataFrame({"x": ["1.0"]})]
    apart = domains_of_releases(numbers, ["x"], scales={"x": Scale.CATEGORY})
    one, other = read_classes(numbers, ["x"], apart)
    assert pairs_that_fit(one.covers, other.covers)[0].shape[0] == 0


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ("north", "oslo", True),
        ("north", "rome", False),
        ("{oslo, rome}", "north", True),
        ("{rome, bern}", "{oslo, bern}", True),
        ("any", "rome", True),
        ("any", "", True),
        ("north", "", False),
    ],
)
def test_labels_of_a_hierarchy_cover_their_leaves(one: str, other: str, fits: bool) -> None:
    hierarchy = from_dict("x", {"any": {"north": ["oslo", "kiel"], "south": ["rome", "bern"]}})
    frames = [pl.DataFrame({"x": [one]}), pl.DataFrame({"x": [other]})]
    domains = domains_of_releases(frames, ["x"], {"x": hierarchy})
    earlier, later = read_classes(frames, ["x"], domains)
    assert (pairs_that_fit(earlier.covers, later.covers)[0].shape[0] == 1) is fits


def test_a_mean_is_read_as_anything_where_the_original_is_known() -> None:
    original = pl.DataFrame({"x": [1, 2, 4, 5]})
    domains = make_domains(original, [Attribute("x", Role.QUASI_IDENTIFYING, Scale.INTEGER)])
    means = pl.DataFrame({"x": ["3", "3", "3", "3"]})
    ranges = pl.DataFrame({"x": ["[1, 2]", "[1, 2]", "[4, 5]", "[4, 5]"]})
    verdict = check_together([means, ranges], "x", 2, setting="same", domains=domains)
    assert verdict.passed
    assert verdict.unreadable_cells == 4
    with pytest.raises(InputError):  # without the original the mean is a value like any other
        check_together([means, ranges], "x", 2, setting="same")
