"""Columns that tell people apart: what can be done about them in the page; what is said before a release goes out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.pipeline.public_certificate import proves
from shoal.pipeline.verify_files import verify_certified


def test_a_column_that_tells_people_apart_is_dropped_or_published_knowingly(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, people: Path
) -> None:
    server = serve("--workspace", tmp_path / "workspace", people)
    seen = visit(server)
    page = seen.page
    page.get_by_role("link", name="people").click()
    seen.see("Who stands alone")
    assert page.get_by_role("button", name="Undo").is_disabled()  # nobody has changed anything yet
    page.get_by_label("Role of name", exact=True).select_option("insensitive")
    seen.step("Run")
    page.get_by_role("combobox", name="Effort").select_option("low")
    page.get_by_role("button", name="Start the run").click()
    seen.see("Refused")
    page.get_by_role("cell").get_by_text("it is near unique: 240 values in 240 records").wait_for()
    seen.step("Requirement")
    page.get_by_role("button", name="Do not publish name").click()
    seen.see("Yes: a release of this table can meet it.")
    page.keyboard.press("Control+z")
    page.get_by_role("button", name="Publish name knowingly").press("Enter")
    seen.see("Yes: a release of this table can meet it.")
    seen.step("Table")
    page.get_by_text("published knowingly").last.wait_for()
    page.get_by_role("button", name="Ask again about name").click()
    page.get_by_text("published knowingly").last.wait_for(state="detached")
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("published knowingly").last.wait_for()
    seen.step("Run")
    page.get_by_role("button", name="Start the run").click()
    seen.see("Checked")
    seen.step("Risk")
    seen.see("Decide knowingly")
    seen.step("Publish")
    seen.see("The release holds.")
    seen.see("Published knowingly, although they can tell who somebody is: name.")
    seen.see("240 records stand alone for whoever knows the kept columns besides the generalized ones.")
    release, public = (seen.save(name, tmp_path) for name in ("The release", "Public certificate"))
    with page.expect_download() as waiting:
        page.get_by_role("link", name="With the salt").click()
    shown, proof = json.loads(public.read_text()), json.loads(Path(waiting.value.path()).read_text())
    certificate = json.loads(seen.save("Certificate", tmp_path).read_text())
    assert verify_certified(release, shown)["passed"]
    assert certificate["hashes"]["input"] not in public.read_text()
    assert proof["hashes"] == certificate["hashes"]
    assert proves(shown, proof)
    seen.is_clean()
    assert server.end() == 0
    assert "SECRET" not in "".join(server.said)
