"""Charts of cluster releases: the records behind them, and that they can be drawn."""

from __future__ import annotations

import pytest

from shoal.reports.charts.clusters import (
    contingency,
    contingency_records,
    grown_taxonomy,
    quality_against_h,
    taxonomy_records,
)
from shoal.reports.charts.draw import save_picture

NODES = [
    {"node": 3, "parent": None, "low": 0, "high": 5, "records": 34, "value": "[1-99)"},
    {"node": 4, "parent": 3, "low": 0, "high": 2, "records": 12, "value": "[1-37)"},
    {"node": 5, "parent": 3, "low": 3, "high": 5, "records": 22, "value": "[37-99)"},
    {"node": 9, "parent": 5, "low": 3, "high": 3, "records": 4, "value": "37"},
    {"node": 10, "parent": 5, "low": 4, "high": 5, "records": 18, "value": "[42-99)"},
]


def test_contingency_cells_carry_counts_and_shares():
    cells = contingency_records([[19, 2], [3, 10]])
    assert [cell["records"] for cell in cells] == [19, 2, 3, 10]
    assert cells[0]["share"] == pytest.approx(19 / 21)
    assert {cell["raw"] for cell in cells} == {"raw 1", "raw 2"}


def test_children_lie_within_their_parents():
    boxes = {box["value"]: box for box in taxonomy_records(NODES)}
    assert (boxes["[1-99)"]["left"], boxes["[1-99)"]["right"], boxes["[1-99)"]["level"]) == (0, 34, 0)
    assert (boxes["[37-99)"]["left"], boxes["[37-99)"]["right"], boxes["[37-99)"]["level"]) == (12, 34, 1)
    assert (boxes["37"]["left"], boxes["37"]["right"], boxes["37"]["level"]) == (12, 16, 2)
    assert (boxes["[42-99)"]["left"], boxes["[42-99)"]["right"]) == (16, 34)


def test_all_charts_can_be_drawn(tmp_path):
    specs = {
        "contingency": contingency(contingency_records([[19, 2], [3, 10]])),
        "quality": quality_against_h([{"h": h, "value": 1 - h / 200, "series": "cluster"} for h in (5, 50, 100)]),
        "taxonomy": grown_taxonomy(taxonomy_records(NODES), "Age"),
    }
    for name, spec in specs.items():
        save_picture(spec, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 2000
