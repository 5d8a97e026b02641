"""Every chart of every perspective: hovered, read as a table, saved, reached by the keyboard; no click without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 240_000  # milliseconds: machines may be busy
FIGURES = {
    "table": {"Records by size of their group", "What singles people out"},
    "run": {"Loss against k"},  # and the loss while searching, if that took a while
    "look": {"Groups", "Loss by column", "What goes together", "Counting queries", "Contingency"},
    "risk": {"Records by size of their group", "Records above a risk", "Columns that drive the risk"},
}
SEEN = {"table": "What singles people out", "run": "The frontier", "look": "F-measure", "risk": "Three attackers"}
OUT_OF_REACH = """() => [...document.querySelectorAll("main *, header *")].filter((element) =>
  getComputedStyle(element).cursor === "pointer" &&
  !element.closest("button, a[href], label, summary, select, input, svg")
).map((element) => element.outerHTML.slice(0, 80))"""
NAMELESS = """() => [
  ...document.querySelectorAll("button, a[href], input, select, textarea, svg[role]")
].filter((element) =>
  !(element.getAttribute("aria-label") || element.innerText || element.labels?.length || element.title)
).map((element) => element.outerHTML.slice(0, 80))"""


@pytest.fixture
def finished(serve: Callable[..., Any], visit: Callable[..., Any], people: Path) -> Any:
    """A project with a finished run."""
    seen = visit(serve(people))
    page = seen.page
    page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    page.get_by_label("Role of name").select_option("quasi-identifying")
    seen.step("Run")
    page.get_by_role("checkbox", name="Fill it by itself").uncheck()
    page.get_by_role("button", name="Start the run").press("Enter")
    seen.see("Checked")
    return seen


def try_out(seen: Any, figure: Any) -> str:
    """Everything that a chart must be able to do; its title."""
    page = seen.page
    title = figure.locator("figcaption strong").inner_text()
    drawing = figure.locator("svg.chart")
    assert drawing.get_attribute("aria-label"), title
    marks = drawing.locator("[tabindex='0']")
    assert marks.count() > 0, title
    marks.first.focus()
    page.keyboard.press("Shift")
    page.locator(".tip").wait_for()
    told = page.locator(".tip").inner_text()
    assert " ".join(told.split())[:12] in " ".join((marks.first.get_attribute("aria-label") or "").split()), title
    for kind, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as waiting:
            figure.get_by_role("button", name=kind).press("Enter")
        saved = Path(waiting.value.path()).read_bytes()
        assert saved.startswith(begin), title
        assert len(saved) > 500, title
    figure.get_by_role("button", name="Table", exact=True).press("Enter")
    assert figure.locator("table tbody tr").count() > 0, title
    assert figure.get_by_role("columnheader").count() > 1, title
    figure.get_by_role("button", name="Picture").press("Enter")
    return str(title)


def test_every_chart(finished: Any) -> None:
    page = finished.page
    for step in ("run", "look", "risk", "table"):
        page.goto(f"{page.url.partition('#')[0]}#/{page.url.split('/')[4]}/{step}")
        finished.see(SEEN[step])
        if step == "run":
            page.get_by_role("button", name="Details").press("Enter")
        if step == "look":
            finished.see("Adjusted Rand")
        titles = {try_out(finished, figure) for figure in page.get_by_role("figure").all()}
        assert titles >= FIGURES[step], step
        assert page.evaluate(OUT_OF_REACH) == []
        assert page.evaluate(NAMELESS) == []
    finished.is_clean()


def test_a_dot_shows_the_box_of_its_group(finished: Any) -> None:
    from playwright.sync_api import expect

    page = finished.page
    finished.step("Look")
    dots = page.locator("svg.dots")
    dots.locator("circle.mark").first.hover(force=True)
    tip = page.locator(".tip")
    for word in ("group", "age: ", "zip: ", "sex: "):
        tip.get_by_text(word).wait_for()
    dots.locator("polygon.box").first.wait_for(state="attached")
    coloured = "document.querySelectorAll('svg.dots circle.f1').length"
    page.get_by_role("button", name="by loss").press("Enter")
    assert page.evaluate(coloured) == 240
    cursor = dots.get_by_role("button")
    before = cursor.get_attribute("aria-label")
    cursor.press("ArrowRight")
    expect(cursor).not_to_have_attribute("aria-label", before, timeout=PATIENCE)
    cursor.press("Enter")
    finished.see("of this group look the same from outside")
    page.get_by_role("slider", name="Clusters").press("ArrowLeft")
    page.get_by_role("button", name="Find out for 5 clusters").wait_for()
    contingency = page.locator("figure").filter(has_text="Contingency")
    contingency.get_by_role("button", name="Table", exact=True).click()
    contingency.locator("tbody tr:nth-child(5)").wait_for()
    contingency.locator("tbody tr:nth-child(6)").wait_for(state="detached")
    finished.is_clean()
