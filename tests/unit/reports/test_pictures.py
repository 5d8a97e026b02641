"""Small pictures: well-formed SVG that tells its values, whatever the names hold."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from shoal.reports.curves import curves
from shoal.reports.frontier import Comparison, frontier_picture
from shoal.reports.pictures import crowds, pairs
from shoal.reports.story import Grave, tell_story

NASTY = "<b>&\"'"
SVG = "svg"


def titles(html: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(html).iter("title")]


def test_pairs_tell_both_shares() -> None:
    html = pairs(NASTY, [{"label": NASTY, "before": 0.5, "after": 0.25}, {"label": "b", "before": 0.5, "after": 0.75}])
    assert titles(html) == [f"{NASTY}: before 50%, after 25%", "b: before 50%, after 75%"]


def test_a_hundred_squares_in_every_half() -> None:
    before = [
        {"sizes": "1", "order": 0, "records": 333, "share": 0.333},
        {"sizes": "2", "order": 1, "records": 667, "share": 0.667},
    ]
    after = [{"sizes": "10-19", "order": 4, "records": 1000, "share": 1.0}]
    html = crowds(before, after)
    squares = [element for element in ElementTree.fromstring(html).iter("rect") if element.get("height") == "13"]
    assert len(squares) == 200
    texts = [element.text for element in ElementTree.fromstring(html).iter("text")]
    assert texts[2:] == ["alone: 333 → 0", "among 2: 667 → 0", "among 10-19: 0 → 1,000"]


def test_curves_lie_where_their_numbers_are() -> None:
    html = curves({"a": [(2, 0.1, "first"), (8, 0.2, "last")]}, "k", "loss", "About it.")
    points = [
        (float(element.get("cx", 0)), float(element.get("cy", 0)))
        for element in ElementTree.fromstring(html).iter("circle")
    ]
    assert titles(html) == ["first", "last"]
    assert points[0][0] < points[1][0]
    assert points[0][1] > points[1][1]  # down is less


def test_a_comparison_shows_itself() -> None:
    records: list[dict[str, Any]] = [
        {"algorithm": "shoal", "k": 5, "gcp": 0.1, "lower_bound": 0.05, "highest_risk": 0.2, "smallest_class": 5},
        {"algorithm": "shoal", "k": 10, "gcp": 0.2, "lower_bound": 0.1, "highest_risk": 0.1, "smallest_class": 10},
        {"algorithm": "tdr", "k": 10, "error": [{"reason": "no-class"}]},
    ]
    comparison = Comparison(records)
    assert comparison == records
    html = comparison._repr_html_()
    assert html.count("<circle") == 4
    assert "failed: no-class" in html
    assert "least possible, k = 10: 10%" in frontier_picture(records)
    assert frontier_picture(records[2:]) == ""


@pytest.mark.parametrize(("alone", "grave"), [(900, True), (20, False)])
def test_what_must_not_be_missed_is_grave(alone: int, grave: bool) -> None:
    told = tell_story({"records": {"released": 1000}, "kept": {"ward": []}, "alone_with_kept": alone})
    sentence = next(text for text in told[-1].sentences if "stand alone" in text)
    assert isinstance(sentence, Grave) is grave
