"""The workbench in a real browser: the whole way, cancel, a killed server, nasty tables, narrow windows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.web.conftest import LONG

from shoal.web.users import add_user

NASTY = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


def command_line(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shoal.cli.main", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_from_the_sample_to_a_release_that_the_command_line_repeats(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve("--workspace", tmp_path / "workspace")
    seen = visit(server)
    page = seen.page
    page.get_by_role("button", name="Open the sample").click()
    seen.see("Who stands alone")
    seen.see("What singles people out")
    page.get_by_label("Role of cost").select_option("sensitive")
    seen.step("Requirement")
    seen.see("Yes: a release of this table can meet it.")
    page.get_by_role("button", name="Nobody alone, nothing certain").click()
    page.get_by_label("Remove l-diversity:cost:3").click()
    seen.see("Yes: a release of this table can meet it.")
    seen.step("Run")
    page.get_by_role("combobox", name="Effort").select_option("low")
    page.get_by_role("button", name="Start the run").click()
    seen.see("Checked")
    page.get_by_role("table").get_by_role("link", name="Publish").click()
    seen.see("The release holds. It is the certified file, byte for byte.")
    page.reload()
    seen.see("The release holds.")
    saved = {name: seen.save(name, tmp_path) for name in ("The release", "Certificate", "Job file", "The table")}
    for name in ("Public report", "Internal report"):
        assert "<h1>" in seen.save(name, tmp_path).read_text()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("Job file", "The table"):
        saved[name].rename(elsewhere / saved[name].name)
    command_line(elsewhere, "anonymize", "--job", "job.yaml", "--quiet")
    assert (elsewhere / "release.csv").read_bytes() == saved["The release"].read_bytes()
    assert (elsewhere / "certificate.json").read_bytes() == saved["Certificate"].read_bytes()
    command_line(elsewhere, "verify", "release.csv", "--certificate", "certificate.json")
    lines = page.get_by_label("Python", exact=True).inner_text()
    for name in ("release.csv", "certificate.json", "report.html"):
        (elsewhere / name).unlink()
    subprocess.run([sys.executable, "-c", lines], cwd=elsewhere, check=True, capture_output=True)
    assert (elsewhere / "release.csv").read_bytes() == saved["The release"].read_bytes()
    assert (elsewhere / "certificate.json").read_bytes() == saved["Certificate"].read_bytes()
    seen.step("Run")
    page.get_by_role("button", name="Details").click()
    page.get_by_text("Cells kept exact: ").wait_for()
    (run,) = [json.loads(path.read_text()) for path in tmp_path.rglob("run.json") if "Run 1" in path.read_text()]
    losses, bounds = ([number for _, number in run[curve]] for curve in ("curve", "bounds"))
    assert losses == sorted(losses, reverse=True)
    assert bounds == sorted(bounds)
    assert len(bounds) > 0
    assert bounds[-1] <= losses[-1]
    seen.is_clean()
    assert server.end() == 0


def test_cancel_leaves_no_process_and_no_file(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, people: Path
) -> None:
    server = serve("--workspace", tmp_path / "workspace", people)
    seen = visit(server)
    page = seen.page
    page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    seen.step("Run")
    page.get_by_role("button", name="Start the run").click()
    page.get_by_role("button", name="Cancel").click()
    seen.see("Cancelled")
    kept = {path.name for path in (tmp_path / "workspace").glob("projects/owner/*/runs/*/*")}
    assert kept == {"run.json", "job.yaml"}
    seen.is_clean()
    server.end()
    assert "SECRET" not in "".join(server.said)


def run_processes(server: Any) -> list[int]:
    """The processes of runs that this server has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == server.process.pid and b"shoal.web.worker\0run" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="finds processes in /proc")
def test_a_run_whose_process_is_killed_takes_nothing_with_it(
    serve: Callable[..., Any], visit: Callable[..., Any], people: Path
) -> None:
    server = serve(people)
    seen = visit(server)
    seen.page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    seen.step("Run")
    seen.page.get_by_role("button", name="Start the run").click()
    seen.page.get_by_role("button", name="Cancel").wait_for()
    for _ in range(2000):
        processes = run_processes(server)
        if processes:
            break
        seen.page.wait_for_timeout(20)
    (process,) = processes
    os.kill(process, signal.SIGKILL)
    seen.see("Lost")
    seen.page.get_by_role("button", name="Details").click()
    seen.see("the process of this run was ended from outside")
    seen.step("Table")
    seen.see("Rows 1 to 25 of 240")
    seen.is_clean()


def test_a_killed_server_keeps_finished_work_and_the_session(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, people: Path
) -> None:
    server = serve("--workspace", tmp_path / "workspace", people)
    seen = visit(server)
    page = seen.page
    page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    seen.step("Run")
    page.get_by_role("button", name="Start the run").click()
    seen.see("Checked")
    page.get_by_role("button", name="Start the run").click()
    page.get_by_role("button", name="Cancel").wait_for()
    address = page.url
    server.kill()
    again = serve("--workspace", tmp_path / "workspace", "--port", str(server.port))
    page.goto(address)
    page.reload()
    seen.see("Lost")
    seen.see("Checked")
    page.get_by_role("table").get_by_role("link", name="Publish").click()
    seen.see("The release holds.")
    again.end()


def test_texts_of_the_table_are_texts(serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "<img src=x onerror=window.hacked=1>.csv").write_text("a\n1\n")
    table = tmp_path / "nasty.csv"
    pl.DataFrame(
        {
            NASTY: [NASTY, "b"] * 30,
            "number": [n % 5 for n in range(60)],
            f"{NASTY}2": [f"{NASTY}{n % 3}" for n in range(60)],
        }
    ).write_csv(table)
    server = serve("--folder", folder)
    seen = visit(server)
    page = seen.page
    page.get_by_role("button", name="<img src=x onerror=window.hacked=1>.csv").click()
    seen.see("Rows 1 to 1 of 1")
    page.get_by_label("Name of the project").fill(NASTY)
    page.get_by_label("Name of the project").blur()
    page.get_by_role("link", name="Shoal").click()
    page.get_by_role("link", name=NASTY).wait_for()
    page.locator("input[type=file]").set_input_files(table)
    seen.see("Who stands alone")
    page.get_by_label(f"Role of {NASTY}", exact=True).select_option("quasi-identifying")
    page.get_by_label(f"Role of {NASTY}2", exact=True).select_option("sensitive")
    seen.step("Requirement")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("heading", name="Can it be met?").wait_for()
    seen.step("Run")
    page.get_by_role("button", name="Start the run").click()
    seen.see("Checked")
    page.get_by_role("table").get_by_role("link", name="Publish").click()
    seen.see("The release holds.")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script").count() == 0
    seen.is_clean()


def test_impossible_requirements_say_the_nearest_possible(
    serve: Callable[..., Any], visit: Callable[..., Any], people: Path
) -> None:
    seen = visit(serve(people))
    page = seen.page
    page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    seen.step("Requirement")
    page.get_by_label("k", exact=True).first.fill("500")
    page.get_by_label("k", exact=True).first.blur()
    seen.see("the largest k that can be met is 240")
    page.keyboard.press("Control+z")
    seen.see("Yes: a release of this table can meet it.")
    seen.is_clean()


def test_no_page_is_wider_than_its_window_and_a_closed_tab_comes_back(
    serve: Callable[..., Any], visit: Callable[..., Any], people: Path
) -> None:
    server = serve(people)
    seen = visit(server)
    seen.page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    seen.step("Run")
    seen.page.get_by_role("button", name="Start the run").click()
    seen.page.get_by_role("button", name="Cancel").wait_for()
    address = seen.page.url
    seen.page.close()
    page = seen.page = seen.context.new_page()
    page.set_default_timeout(LONG)
    page.goto(address)
    seen.see("Checked")
    number = page.url.split("/")[4]
    shown = {
        "table": "Who stands alone",
        "look": "F-measure",
        "risk": "Three attackers",
        "publish": "The release holds.",
    }
    for step in ("table", "hierarchies", "requirement", "run", "look", "risk", "publish"):
        page.goto(page.url.split("#")[0] + f"#/{number}/{step}")
        page.get_by_role("heading", level=1).wait_for()
        if step in shown:
            seen.see(shown[step])
        for width in (1440, 800, 400):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (step, width)


def test_two_browsers_see_the_same_runs(serve: Callable[..., Any], visit: Callable[..., Any], people: Path) -> None:
    server = serve(people)
    one = visit(server)
    one.page.get_by_role("link", name="people").click()
    one.see("Who stands alone")
    other = visit(server, server.next_link())
    other.page.goto(one.page.url.replace("/table", "/run"))
    other.see("The frontier")
    one.step("Run")
    one.page.get_by_label("Name", exact=True).fill("From the first browser")
    one.page.get_by_role("button", name="Start the run").click()
    other.page.get_by_role("button", name="Delete From the first browser").wait_for()
    other.page.get_by_role("button", name="Cancel").click()
    one.page.get_by_role("button", name="Cancel").wait_for(state="detached")
    one.is_clean()
    other.is_clean()


def test_users_log_in_and_see_their_own_projects_only(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, people: Path
) -> None:
    passwords = tmp_path / "passwords"
    for name in ("ann", "bob"):
        add_user(passwords, name, f"the word of {name}")
    server = serve("--password-file", passwords)
    ann, bob = visit(server), visit(server)
    for seen, name in ((ann, "ann"), (bob, "bob")):
        seen.page.get_by_label("Name").fill(name)
        seen.page.get_by_label("Password").fill(f"the word of {name}")
        seen.page.get_by_role("button", name="Log in").click()
        seen.page.get_by_role("button", name="Log out").wait_for()
    ann.page.locator("input[type=file]").set_input_files(people)
    ann.see("Who stands alone")
    address = ann.page.url
    ann.is_clean()
    assert bob.page.get_by_role("link", name="people").count() == 0
    bob.page.goto(address)
    bob.see("there is no such thing here")
    assert bob.page.get_by_text("SECRET").count() == 0
    ann.page.get_by_role("button", name="Log out").click()
    ann.page.get_by_role("heading", name="Log in").wait_for()
    ann.page.goto(address)
    ann.page.get_by_role("heading", name="Log in").wait_for()
