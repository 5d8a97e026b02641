"""Releases that were given out: the series of a project, and a next release of a newer table that holds with them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from shoal.pipeline.series import load_series


def publish(seen: Any) -> None:
    seen.step("Run")
    seen.page.get_by_role("button", name="Start the run").click()
    seen.page.get_by_role("button", name="Cancel").wait_for()
    seen.page.get_by_role("button", name="Cancel").wait_for(state="detached")
    seen.page.get_by_role("table").get_by_role("link", name="Publish").first.click()
    seen.see("The release holds.")


def test_a_next_release_holds_together_with_what_was_given_out(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, people: Path
) -> None:
    workspace = tmp_path / "workspace"
    lines = people.read_text().splitlines(keepends=True)
    spring = tmp_path / "people.csv"
    spring.write_text("".join(lines[:121]))
    server = serve("--workspace", workspace)
    seen = visit(server)
    page = seen.page
    page.locator("input[type=file]").set_input_files(spring)
    seen.see("Who stands alone")
    seen.step("Run")
    page.get_by_role("checkbox", name="Fill it by itself").uncheck()
    publish(seen)
    (project,) = workspace.glob("projects/owner/*")
    assert not (project / "series.json").exists()
    page.get_by_role("checkbox", name="This release was published").check()
    seen.step("Run")
    seen.see("Given out before")
    assert len(load_series(project / "series.json")) == 1
    seen.step("Table")
    page.get_by_label("A newer version of the table").set_input_files(people)
    seen.see("Rows 1 to 25 of 240")
    publish(seen)
    seen.see("made to hold together with 1 release given out before")
    headings = ("The release", "Certificate", "Job file", "The table", "earlier-1.csv", "earlier-people.csv")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    saved = {name: seen.save(name, elsewhere) for name in headings}
    page.get_by_role("checkbox", name="This release was published").check()
    seen.step("Run")
    page.get_by_text("earlier table").wait_for()
    first, second = load_series(project / "series.json")  # checks that the second was checked with the first
    assert (first.original(), second.original()) == (project / "table" / "people.csv", project / "table/2/people.csv")
    released, certified = saved["The release"].read_bytes(), saved["Certificate"].read_bytes()
    for name in ("The release", "Certificate"):
        saved[name].unlink()
    command = [sys.executable, "-m", "shoal.cli.main", "anonymize", "--job", "job.yaml", "--quiet"]
    subprocess.run(command, cwd=elsewhere, check=True, capture_output=True)
    assert (elsewhere / "release.csv").read_bytes() == released
    assert (elsewhere / "certificate.json").read_bytes() == certified
    kept = yaml.safe_load((project / "job.yaml").read_text())
    assert len(kept["earlier"]) == 2
    page.get_by_role("table").get_by_role("link", name="Look").first.click()
    page.get_by_role("region", name="Original and release side by side").wait_for()
    seen.is_clean()
    server.end()
    assert "SECRET" not in "".join(server.said)


def test_people_may_have_left_since(serve: Callable[..., Any], tmp_path: Path, people: Path) -> None:
    server = serve("--workspace", tmp_path / "workspace")
    server.enter()
    head, *rows = people.read_bytes().splitlines(keepends=True)
    made = server.json("PUT", "/api/upload?name=people.csv", b"".join([head, *rows[:200]]))
    place = f"/api/projects/{made['number']}"
    roles = dict.fromkeys(("age", "zip", "sex"), "quasi-identifying") | {"name": "identifying", "disease": "sensitive"}
    settings = {**made["settings"], "roles": roles, "effort": "low"}
    server.json("PUT", f"{place}/frontier", {"on": False})

    def finished(wanted: dict[str, Any]) -> dict[str, Any]:
        run = server.json("POST", f"{place}/runs", {"settings": wanted})
        while run["state"] in ("waiting", "running"):
            time.sleep(0.2)
            run = server.json("GET", f"{place}/runs/{run['number']}")
        return dict(run)

    server.json("PUT", f"{place}/runs/{finished(settings)['number']}", {"given_out": True})
    server.json("PUT", f"{place}/table?name=people.csv", b"".join([head, *rows[20:]]))
    refused = finished(settings)
    assert [problem["reason"] for problem in refused["problems"]] == ["people-left"]
    held = finished({**settings, "setting": "moving"})
    assert (held["state"], held["together_with"]) == ("done", 1)


def test_a_table_that_lies_elsewhere_is_not_replaced(serve: Callable[..., Any], people: Path) -> None:
    server = serve(people)
    server.enter()
    (number,) = [one["number"] for one in server.json("GET", "/api/projects")["projects"]]
    assert server.ask("PUT", f"/api/projects/{number}/table?name=people.csv", people.read_bytes())[0] == 404
    made = json.loads(server.ask("PUT", "/api/upload?name=people.csv", people.read_bytes())[2])
    place = f"/api/projects/{made['number']}"
    assert server.ask("PUT", f"{place}/table?name=people.exe", people.read_bytes())[0] == 422
    assert server.ask("PUT", f"{place}/table?name=../people.csv", b"")[0] == 422
    assert server.json("GET", place)["source"] == {"kind": "upload", "name": "people.csv"}
    assert server.ask("PUT", f"{place}/table?name=../newer.csv", b"a,b\n1,2\n")[0] == 201
    assert server.ask("GET", f"{place}/table")[2] == b"a,b\n1,2\n"
