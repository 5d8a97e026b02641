"""Requirement and Hierarchies: every builder, models with their sentences, presets, sliders, what cannot be met."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.web.catalogue import PRESETS, catalogue


@pytest.fixture
def opened(serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path) -> Any:
    """A small table with numbers, dates and words, open in the browser."""
    table = tmp_path / "visits.csv"
    rows = [f"{n % 60},2024-{n % 12 + 1:02}-{n % 28 + 1:02},0410{n % 8},{'abc'[n % 3]},ill {n % 5}" for n in range(240)]
    table.write_text("age,visit,zip,ward,disease\n" + "\n".join(rows) + "\n")
    seen = visit(serve("--workspace", tmp_path / "workspace", table))
    seen.page.get_by_role("link", name="visits").click()
    seen.see("Who stands alone")
    roles = dict.fromkeys(("age", "visit", "zip", "ward"), "quasi-identifying") | {"disease": "sensitive"}
    for name, role in roles.items():
        seen.page.get_by_label(f"Role of {name}", exact=True).select_option(role)
    return seen


def becomes(opened: Any, tmp_path: Path, name: str, expected: Any) -> None:
    """Wait until a setting is stored."""
    (file,) = (tmp_path / "workspace").glob("projects/owner/*/project.json")
    for _ in range(100):
        found = json.loads(file.read_text())["settings"].get(name)
        if found == expected:
            return
        opened.page.wait_for_timeout(50)
    raise AssertionError(found)


def test_every_builder_shows_its_tree(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    opened.step("Hierarchies")
    columns, tree = page.get_by_role("navigation", name="Columns"), page.get_by_role("tree")
    columns.get_by_role("button", name="age").click()
    page.get_by_role("button", name="Ranges").click()
    page.get_by_label("Width of the finest").fill("20")
    page.get_by_label("Width of the finest").blur()
    tree.get_by_text("20 values").first.wait_for()
    becomes(opened, tmp_path, "hierarchies", {"age": {"builder": "ranges", "width": 20}})
    columns.get_by_role("button", name="visit").click()
    page.get_by_role("button", name="Dates").click()
    tree.get_by_text("2024-Q1", exact=True).wait_for()
    page.get_by_role("checkbox", name="quarter").uncheck()
    tree.get_by_text("2024-Q1", exact=True).wait_for(state="detached")
    columns.get_by_role("button", name="zip").click()
    page.get_by_role("button", name="Prefix").click()
    tree.get_by_text("0****", exact=True).wait_for()
    columns.get_by_role("button", name="ward").click()
    page.get_by_role("button", name="Order").click()
    page.get_by_label("Values from low to high").fill("c\nb\na")
    page.get_by_label("Values from low to high").blur()
    becomes(
        opened,
        tmp_path,
        "hierarchies",
        {
            "age": {"builder": "ranges", "width": 20},
            "visit": {"builder": "dates", "levels": ["month", "year"]},
            "zip": {"builder": "prefix"},
            "ward": {"builder": "order", "sizes": [2, 4], "values": ["c", "b", "a"]},
        },
    )
    page.get_by_role("button", name="None", exact=True).click()
    page.get_by_role("button", name="File", exact=True).click()
    lines = tmp_path / "ward.csv"
    lines.write_text("a;low;*\nb;low;*\nc;high;*\n")
    page.get_by_label("A hierarchy file").set_input_files(lines)
    tree.get_by_role("button", name="low", exact=True).wait_for()
    tree.get_by_role("button", name="b", exact=True).click()
    page.get_by_label("Move to").select_option(label="  high")
    tree.get_by_role("button", name="c", exact=True).drag_to(tree.get_by_role("button", name="low", exact=True))
    page.get_by_role("combobox", name="At most as blurred as").select_option("level 1, such as low")
    becomes(opened, tmp_path, "at_most", {"ward": 1})
    (file,) = (tmp_path / "workspace").glob("projects/owner/*/project.json")
    stored = json.loads(file.read_text())["settings"]["hierarchies"]["ward"]
    assert stored == {"*": {"low": ["a", "c"], "high": ["b"]}}
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    becomes(opened, tmp_path, "hierarchies", {**_others(file), "ward": {"*": {"low": ["a"], "high": ["c", "b"]}}})
    page.keyboard.press("Control+Shift+z")
    becomes(opened, tmp_path, "hierarchies", {**_others(file), "ward": {"*": {"low": ["a", "c"], "high": ["b"]}}})
    wait_for_history(page, file.with_name("history.json"))
    page.reload()  # what was done can be undone all the same
    page.get_by_role("button", name="Undo").press("Enter")
    becomes(opened, tmp_path, "hierarchies", {**_others(file), "ward": {"*": {"low": ["a"], "high": ["c", "b"]}}})
    page.get_by_role("button", name="Redo").press("Enter")
    becomes(opened, tmp_path, "hierarchies", {**_others(file), "ward": {"*": {"low": ["a", "c"], "high": ["b"]}}})
    opened.is_clean()


def wait_for_history(page: Any, file: Path) -> None:
    """Until the step before the cap can be gone back to and the cap can be done again."""
    for _ in range(400):
        kept = json.loads(file.read_text()) if file.is_file() else {"past": [], "future": []}
        before = [step["hierarchies"]["ward"] for step in kept["past"][-1:]]
        if before == [{"*": {"low": ["a"], "high": ["c", "b"]}}] and len(kept["future"]) == 1:
            return
        page.wait_for_timeout(50)
    raise AssertionError(kept)


def _others(file: Path) -> dict[str, Any]:
    stored = json.loads(file.read_text())["settings"]["hierarchies"]
    return {name: tree for name, tree in stored.items() if name != "ward"}


def test_what_must_hold_is_said_and_impossible_ones_tell_the_nearest(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    opened.step("Requirement")
    opened.see("Yes: a release of this table can meet it.")
    for preset in PRESETS:
        page.get_by_role("button", name=str(preset["name"])).click()
        becomes(opened, tmp_path, "k", preset["k"])
        models = [] if preset["l"] is None else [f"l-diversity:disease:{preset['l']}"]
        becomes(opened, tmp_path, "models", models)
    opened.see("Yes: a release of this table can meet it.")
    page.get_by_label("Remove l-diversity:disease:5").click()
    page.get_by_role("spinbutton", name="l", exact=True).fill("6")
    page.get_by_role("button", name="Add", exact=True).click()
    opened.see("No release of this table can meet it")
    page.get_by_text("the largest l that can be met is 5").first.wait_for()
    page.get_by_label("Remove l-diversity:disease:6").press("Enter")
    opened.see("Yes: a release of this table can meet it.")
    page.get_by_role("slider", name="age").press("ArrowRight")
    becomes(opened, tmp_path, "priorities", {"age": 1.1})
    page.get_by_role("slider", name="At most").press("ArrowRight")
    becomes(opened, tmp_path, "suppression_limit", 0.005)
    page.get_by_role("slider", name="k").press("ArrowRight")
    becomes(opened, tmp_path, "k", 26)
    opened.is_clean()


def test_every_model_says_what_it_stops_and_what_not() -> None:
    for model in catalogue()["models"]:
        for part in ("meaning", "stops", "does_not_stop"):
            assert model[part].endswith("."), (model["name"], part)
