"""Hierarchies, Look, Risk and the frontier, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml


@pytest.fixture
def opened(serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, people: Path) -> Any:
    """A small table, open in the browser."""
    seen = visit(serve("--workspace", tmp_path / "workspace", people))
    seen.page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    return seen


def stored(tmp_path: Path) -> dict[str, Any]:
    """The settings as they are on the disk."""
    (file,) = (tmp_path / "workspace").glob("projects/owner/*/project.json")
    return dict(json.loads(file.read_text())["settings"])


def runs_of(tmp_path: Path) -> list[str]:
    """The numbers of all runs with a release, the earliest first."""
    found = [json.loads(path.read_text()) for path in (tmp_path / "workspace").glob("projects/owner/*/runs/*/run.json")]
    return [run["number"] for run in sorted(found, key=lambda run: run["made"]) if run["published"]]


def wait_until_stored(opened: Any, tmp_path: Path, name: str, expected: Any) -> None:
    for _ in range(100):
        if stored(tmp_path).get(name) == expected:
            return
        opened.page.wait_for_timeout(50)
    raise AssertionError(stored(tmp_path).get(name))


def choose(tree: Any, labels: list[str]) -> None:
    """Choose nodes of a tree."""
    for place, label in enumerate(labels):
        tree.get_by_role("button", name=label, exact=True).click(modifiers=["Control"] if place else [])


def test_a_hierarchy_is_built_edited_undone_and_saved(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    opened.step("Hierarchies")
    page.get_by_role("navigation", name="Columns").get_by_role("button", name="zip").click()
    page.get_by_role("button", name="Flat").click()
    page.get_by_role("tree").get_by_text("SECRETzip3", exact=True).wait_for()
    wait_until_stored(opened, tmp_path, "hierarchies", {"zip": {"builder": "flat"}})
    page.get_by_role("button", name="By hand").click()
    page.get_by_role("toolbar").wait_for()
    answer = lambda dialog: dialog.accept("north")  # noqa: E731
    page.on("dialog", answer)
    tree = page.get_by_role("tree")
    tree.get_by_role("button", name="SECRETzip0", exact=True).click()
    tree.get_by_role("button", name="SECRETzip1", exact=True).click(modifiers=["Control"])
    page.get_by_role("button", name="Group together").click()
    tree.get_by_role("button", name="north").wait_for()
    wanted = [f"SECRETzip{n}" for n in range(2, 8)]
    wait_until_stored(
        opened, tmp_path, "hierarchies", {"zip": {"*": [*wanted, {"north": ["SECRETzip0", "SECRETzip1"]}]}}
    )
    tree.get_by_role("button", name="north").press("F2")
    page.get_by_label("New name").fill("south")
    page.get_by_label("New name").press("Enter")
    tree.get_by_role("button", name="south").wait_for()
    page.get_by_role("button", name="Undo").click()
    tree.get_by_role("button", name="north").wait_for()
    page.get_by_role("button", name="Redo").click()
    tree.get_by_role("button", name="south").wait_for()
    tree.get_by_role("button", name="south").click()
    page.get_by_role("button", name="Take apart").click()
    wait_until_stored(opened, tmp_path, "hierarchies", {"zip": {"*": [*wanted, "SECRETzip0", "SECRETzip1"]}})
    groups = [["SECRETzip2", "SECRETzip3", "SECRETzip4"], ["SECRETzip0", "SECRETzip1"]]
    page.remove_listener("dialog", answer)
    for label, values in zip(("east", "west"), groups, strict=True):
        page.once("dialog", lambda dialog, label=label: dialog.accept(label))
        choose(tree, values)
        page.get_by_role("button", name="Group together").click()
        tree.get_by_role("button", name=label).wait_for()
    page.once("dialog", lambda dialog: dialog.accept("south"))
    choose(tree, ["SECRETzip4"])
    page.get_by_role("button", name="Split off").click()
    tree.get_by_role("button", name="south").wait_for()
    choose(tree, ["west", "south"])
    page.get_by_role("button", name="Merge").click()
    tree.get_by_role("button", name="south").wait_for(state="detached")
    rest = ["SECRETzip5", "SECRETzip6", "SECRETzip7"]
    grown = [
        *rest,
        {"east": ["SECRETzip2", "SECRETzip3"]},
        {"west": ["SECRETzip0", "SECRETzip1", "SECRETzip4"]},
    ]
    wait_until_stored(opened, tmp_path, "hierarchies", {"zip": {"*": grown}})
    for _ in range(4):
        page.get_by_role("button", name="Undo").click()
    wait_until_stored(opened, tmp_path, "hierarchies", {"zip": {"*": [*wanted, "SECRETzip0", "SECRETzip1"]}})
    page.reload()
    opened.see("By hand")
    opened.is_clean()


def test_lines_of_arx_and_values_that_they_leave_out(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    opened.step("Hierarchies")
    page.get_by_role("navigation", name="Columns").get_by_role("button", name="zip").click()
    page.get_by_role("button", name="File").click()
    lines = "\n".join(f"SECRETzip{n};{'low' if n < 4 else 'high'};*" for n in range(7))
    page.get_by_label("Lines").fill(lines)
    page.get_by_role("button", name="Use these lines").click()
    opened.see("Values not covered: 1.")
    page.get_by_label("or below").select_option(label="high")
    page.get_by_text("Values not covered").wait_for(state="detached")
    tree = {"low": [f"SECRETzip{n}" for n in range(4)], "high": [f"SECRETzip{n}" for n in range(4, 8)]}
    wait_until_stored(opened, tmp_path, "hierarchies", {"zip": {"*": tree}})
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as a file for ARX").click()
    text = Path(waiting.value.path()).read_text()
    assert sorted(text.splitlines()) == sorted([*lines.splitlines(), "SECRETzip7;high;*"])
    opened.is_clean()


def test_look_and_risk(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    opened.step("Run")
    page.get_by_role("button", name="Start the run").click()
    opened.see("Checked")
    page.get_by_role("table").get_by_role("link", name="Look").click()
    side = page.get_by_role("region", name="Original and release side by side")
    side.wait_for()
    assert side.locator("tbody tr").count() == 20
    side.get_by_title("Show the whole group").first.click()
    opened.see("of this group look the same from outside")
    (look,) = (tmp_path / "workspace").glob("projects/owner/*/runs/*/look.parquet")
    released = pl.read_parquet(look)
    first = released.row(0)
    size = released.filter(
        pl.all_horizontal(pl.col(name) == value for name, value in zip(released.columns, first, strict=True))
    ).height
    page.get_by_text(f"The {size} records of this group").wait_for()
    opened.see("F-measure")
    opened.see("Counting queries")
    page.get_by_label("Foretell").select_option("disease")
    opened.see("Accuracy for disease")
    figure = page.locator("figure").filter(has_text="Loss by column").first
    figure.get_by_role("button", name="Table").click()
    assert figure.locator("tbody tr").count() == 3
    figure.get_by_role("button", name="Picture").click()
    for kind in ("SVG", "PNG"):
        with page.expect_download() as waiting:
            figure.get_by_role("button", name=kind).click()
        assert waiting.value.suggested_filename == f"loss-by-column.{kind.lower()}"
        assert Path(waiting.value.path()).stat().st_size > 500
    bar = figure.locator("rect.mark").first
    bar.hover()
    page.locator(".tip").wait_for()
    opened.step("Risk")
    opened.see("Three attackers")
    opened.see("Attacks, carried out")
    opened.is_clean()


def test_two_runs_together_and_the_frontier(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    opened.step("Run")
    page.get_by_role("checkbox", name="Fill it by itself").uncheck()
    for _ in range(2):
        page.get_by_role("button", name="Start the run").click()
        page.get_by_role("button", name="Cancel").wait_for()
        page.get_by_role("button", name="Cancel").wait_for(state="detached")
    assert page.get_by_text("Checked").count() == 2
    page.get_by_label("k", exact=True).fill("2, 6")
    page.get_by_role("button", name="Fill the frontier").click()
    page.get_by_role("button", name="of 4 done").wait_for()
    page.get_by_role("button", name="Fill the frontier").wait_for()
    figure = page.locator("figure").filter(has_text="Loss against k")
    figure.get_by_role("button", name="Table").click()
    assert figure.locator("tbody tr").count() == 6
    for box in page.get_by_role("checkbox", name="Compare").all():
        box.check()
    compared = page.locator("section").filter(has=page.get_by_role("heading", name="Compared"))
    compared.get_by_role("row", name="Loss", exact=False).first.wait_for()
    assert compared.get_by_role("columnheader").all_inner_texts() == ["", "Run 1", "Run 2"]
    opened.step("Look")
    page.get_by_role("textbox", name="h", exact=True).fill("2, 6, 500")
    page.get_by_role("button", name="Find out for 6 clusters").click()
    figure = page.locator("figure").filter(has_text="F-measure against h")
    figure.get_by_role("button", name="Table").click()
    assert figure.locator("tbody tr").count() == 3
    figure.get_by_role("row", name="500").get_by_text("no such release").wait_for()
    page.goto(page.url.partition("#")[0] + "#/" + page.url.split("/")[4] + "/publish/" + runs_of(tmp_path)[0])
    page.get_by_role("checkbox", name="This release was published").check()
    page.get_by_role("combobox", name="Run").select_option(index=0)
    opened.step("Risk")
    opened.see("Three attackers")
    opened.see("Together they still hide everybody among 5.")
    published = next((tmp_path / "workspace").glob("projects/owner/*/runs/*/release.csv"))
    page.get_by_label("A file: Joined with an earlier release").set_input_files(published)
    page.get_by_role("button", name="Take release.csv away").wait_for()
    page.get_by_role("combobox", name="Published before").select_option("release.csv")
    page.get_by_role("cell", name="holds").first.wait_for()
    opened.is_clean()


def test_the_best_so_far_is_released_and_said_to_be_early(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    seen = visit(serve())
    page = seen.page
    page.get_by_role("button", name="Open the sample").click()
    seen.see("Who stands alone")
    seen.step("Run")
    page.get_by_label("Effort").select_option("high")
    page.get_by_role("button", name="Start the run").click()
    page.get_by_role("figure").filter(has_text="Loss while searching").wait_for()
    page.get_by_role("button", name="Take the best so far").click()
    seen.see("Checked, ended early")
    page.get_by_role("table").get_by_role("link", name="Publish").click()
    seen.see("The release holds.")
    seen.see("This run was ended early")
    seen.is_clean()


def test_the_job_names_every_column(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    page.get_by_label("Several records of one person?").select_option("name")
    page.get_by_label("Texts that mean “missing”").fill("SECRETill1, ?")
    page.get_by_label("Texts that mean “missing”").blur()
    wait_until_stored(opened, tmp_path, "missing", ["SECRETill1", "?"])
    opened.step("Run")
    page.get_by_role("button", name="Start the run").click()
    opened.see("Checked")
    (run,) = runs_of(tmp_path)
    (file,) = (tmp_path / "workspace").glob(f"projects/owner/*/runs/{run}/job.yaml")
    job = yaml.safe_load(file.read_text())
    assert job["person"] == "name"
    assert job["missing"] == ["SECRETill1", "?"]
    assert job["quasi"] == ["age", "zip", "sex"]
    assert job["sensitive"] == ["disease"]
    opened.is_clean()


def test_a_column_is_picked_and_put_or_dragged_to_another_role(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    alone = page.locator(".fact").filter(has_text="Stand alone")
    alone.get_by_text("0 records").wait_for()
    page.get_by_role("button", name="name", exact=True).press("Enter")
    page.get_by_role("button", name="Make name quasi-identifying").press("Enter")
    wait_for_role(opened, tmp_path, "name", "quasi-identifying")
    lane = page.locator(".lane").filter(has_text="Quasi-identifying")
    alone.get_by_text("240 records").wait_for()  # live
    page.get_by_text("By the 4 quasi-identifying columns").wait_for()
    page.get_by_role("figure").filter(has_text="What singles people out").get_by_text("100 %").first.wait_for()
    identifying = page.locator(".lane").filter(has_text="tells who it is")
    lane.get_by_role("button", name="name", exact=True).drag_to(identifying)
    wait_for_role(opened, tmp_path, "name", "identifying")
    page.get_by_label("Role of disease").select_option("insensitive")
    wait_for_role(opened, tmp_path, "disease", "insensitive")
    page.get_by_label("Role of disease").select_option("sensitive")
    page.reload()  # at once: what was changed last is not lost
    opened.see("Who stands alone")
    assert page.get_by_label("Role of disease").input_value() == "sensitive"
    opened.is_clean()


def wait_for_role(opened: Any, tmp_path: Path, column: str, role: str) -> None:
    for _ in range(100):
        if stored(tmp_path)["roles"].get(column) == role:
            return
        opened.page.wait_for_timeout(50)
    raise AssertionError(stored(tmp_path)["roles"])


def test_numbers_and_dates_that_are_written_in_another_way(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    table = tmp_path / "clinic.csv"
    rows = [f"{n % 28 + 1:02}/{n % 12 + 1:02}/2024;{n % 40},5;{'mf'[n % 2]}" for n in range(240)]
    table.write_text("visit;weight;sex\n" + "\n".join(rows) + "\n")
    seen = visit(serve("--workspace", tmp_path / "workspace", table))
    page = seen.page
    page.get_by_role("link", name="clinic").click()
    seen.see("numbers with a decimal comma")
    for name in ("visit", "weight", "sex"):
        page.get_by_label(f"Role of {name}", exact=True).select_option("quasi-identifying")
    page.get_by_role("button", name="Read decimal commas").click()
    page.get_by_label("How dates of visit are written").select_option("%d/%m/%Y")
    seen.see("dates such as 31/12/1950")
    page.get_by_label("Scale of weight").locator("option:first-child", has_text="decimal").wait_for(state="attached")
    page.get_by_label("Scale of visit").locator("option:first-child", has_text="date").wait_for(state="attached")
    page.get_by_role("cell", name="0.5", exact=True).first.wait_for()
    seen.step("Run")
    page.get_by_role("button", name="Start the run").click()
    seen.see("Checked")
    page.get_by_role("table").get_by_role("link", name="Look").click()
    page.get_by_role("region", name="Original and release side by side").wait_for()
    seen.see("Distribution of")
    jobs = [yaml.safe_load(path.read_text()) for path in (tmp_path / "workspace").glob("projects/*/*/runs/*/job.yaml")]
    (job,) = [job for job in jobs if job["output"]]
    assert job["csv"] == {"decimal_comma": True}
    assert job["date_formats"] == {"visit": "%d/%m/%Y"}
    seen.is_clean()
    rows[0] = rows[0].replace("/2024", "/2023")
    table.write_text("visit;weight;sex\n" + "\n".join(rows) + "\n")  # while the page is open
    page.reload()
    seen.see("the table has changed since this run")
    seen.step("Table")
    page.get_by_role("cell", name="2023-01-01", exact=True).wait_for()
