"""The report in a real browser: charts are drawn, nothing is fetched, nothing from the data runs.

Needs playwright and a chromium (`CHROMIUM` names it, else it is looked for on the path); skipped without them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.cluster_release import publish_for_clustering
from shoal.comparison.frontier import comparison_report
from shoal.evaluation.evaluate import EvaluationOptions, evaluate_release
from shoal.reports.report import build_report

pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'shoal[report]'")

NASTY = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


@pytest.fixture(scope="module")
def evaluation() -> dict[str, Any]:
    random = np.random.default_rng(0)
    original = pl.DataFrame(
        {
            "age": np.sort(random.integers(20, 60, 300)),
            NASTY: random.choice([NASTY, "b", "c"], 300).tolist(),
            "label": random.choice(["x", "y"], 300).tolist(),
        }
    )
    groups = np.arange(300) // 6
    ages = original["age"].to_numpy().reshape(-1, 6)
    release = original.with_columns(
        pl.Series("age", [f"[{row.min()}, {row.max()}]" for row in ages]).gather(groups), pl.lit("*").alias(NASTY)
    )
    options = EvaluationOptions(k=6, sensitive=("label",), queries=100, sampling_fraction=0.2)
    return evaluate_release(original, release, ["age", NASTY], options).as_dict()


class Visit:
    """A page opened in the browser, with everything it said and asked for."""

    def __init__(self, chromium: Any, path: Path, html: str) -> None:
        path.write_text(html, encoding="utf-8")
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page = chromium.new_page(viewport={"width": 1100, "height": 900})
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("document.body.dataset.charts !== undefined", timeout=60_000)

    def check(self, path: Path) -> None:
        assert self.page.evaluate("document.body.dataset.charts") == "drawn"
        assert self.said == []
        assert self.asked == [path.as_uri()]
        assert self.page.evaluate("window.hacked") is None


@pytest.mark.parametrize("public", [False, True])
def test_the_report(chromium: Any, tmp_path: Path, evaluation: dict[str, Any], public: bool) -> None:
    path = tmp_path / "report.html"
    visit = Visit(chromium, path, build_report(None, evaluation, public=public, title=NASTY))
    visit.check(path)
    charts = visit.page.query_selector_all(".chart")
    assert len(charts) == (2 if public else 5)
    for chart in charts:
        assert chart.query_selector("svg.marks") is not None
        assert len(chart.query_selector_all("svg.marks path")) > 5
    assert visit.page.inner_text("h1") == NASTY
    assert visit.page.query_selector("img") is None


def test_a_chart_answers_the_mouse(chromium: Any, tmp_path: Path, evaluation: dict[str, Any]) -> None:
    path = tmp_path / "report.html"
    visit = Visit(chromium, path, build_report(None, evaluation))
    marks = visit.page.query_selector_all(".mark-rect path")
    bar = next(mark for mark in marks if (mark.bounding_box() or {"height": 0})["height"] > 8)
    bar.scroll_into_view_if_needed()
    bar.hover()
    visit.page.wait_for_selector("#vg-tooltip-element.visible", timeout=10_000)
    assert "records" in visit.page.inner_text("#vg-tooltip-element")
    visit.check(path)


def test_a_narrow_screen_has_no_page_wide_scrolling(chromium: Any, tmp_path: Path, evaluation: dict[str, Any]) -> None:
    path = tmp_path / "report.html"
    visit = Visit(chromium, path, build_report(None, evaluation))
    visit.page.set_viewport_size({"width": 400, "height": 800})
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_the_comparison(chromium: Any, tmp_path: Path) -> None:
    records = [
        {"algorithm": algorithm, "k": k, "gcp": 0.01 * k, "average_risk": 1 / k, "highest_risk": 1 / k, "seconds": 1.0}
        for algorithm in ("shoal", NASTY)
        for k in (2, 10, 100)
    ]
    path = tmp_path / "comparison.html"
    visit = Visit(chromium, path, comparison_report(records))
    visit.check(path)
    assert len(visit.page.query_selector_all(".chart svg.marks")) == 4


def test_the_page_of_a_cluster_release(chromium: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    kind = random.random(300) < 0.5
    people = pl.DataFrame(
        {
            "age": np.where(kind, random.integers(20, 40, 300), random.integers(50, 80, 300)),
            NASTY: np.where(kind, NASTY, random.choice(["b", "c"], 300)).tolist(),
        }
    )
    made = publish_for_clustering(people, quasi=["age", NASTY], clusters=2, h=10, sweep=[5, 50])
    path = tmp_path / "clusters.html"
    visit = Visit(chromium, path, made.report())
    visit.check(path)
    assert len(visit.page.query_selector_all(".chart svg.marks")) == 3
    visit.page.set_viewport_size({"width": 400, "height": 800})
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 400
