"""Pictures of the workbench for docs/workbench.md, taken in a real browser from the embedded sample.

    python tools/screenshots.py [FOLDER]        docs/pictures by default

Needs playwright and a chromium (`CHROMIUM` names it, else it is looked for on the path).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 800, "height": 900}
PATIENCE = 120_000  # milliseconds: the first run on a machine compiles


def go_through(page: Any, link: str, shoot: Any) -> None:
    """The whole way through the sample, with a picture of every perspective."""
    page.goto(link)
    page.get_by_role("button", name="Open the sample").wait_for()
    shoot("start")
    page.get_by_role("button", name="Open the sample").click()
    page.get_by_text("What singles people out").wait_for()
    shoot("table")
    step = page.get_by_role("navigation", name="Steps")
    step.get_by_text("Hierarchies").click()
    page.get_by_role("navigation", name="Columns").get_by_role("button", name="occupation").click()
    page.get_by_role("tree").get_by_text("health and social work").wait_for()
    shoot("hierarchies")
    step.get_by_text("Requirement").click()
    page.get_by_role("button", name="Nobody alone, nothing certain").click()
    page.get_by_text("Yes: a release of this table can meet it.").wait_for()
    shoot("requirement")
    step.get_by_text("Run", exact=True).click()
    page.get_by_role("button", name="Start the run").click()
    page.get_by_text("Checked").wait_for()
    page.get_by_label("k", exact=True).fill("2, 5, 25, 50")
    page.get_by_role("button", name="Fill the frontier").click()
    page.get_by_role("button", name="of 8 done").wait_for()
    page.get_by_role("button", name="Fill the frontier").wait_for()
    shoot("run")
    step.get_by_text("Look").click()
    page.get_by_text("F-measure").wait_for()
    page.get_by_text("Distribution of postcode").wait_for()
    shoot("look")
    step.get_by_text("Risk").click()
    page.get_by_text("Three attackers").wait_for()
    shoot("risk")
    step.get_by_text("Publish").click()
    page.get_by_text("The release holds.").wait_for()
    shoot("publish")
    page.emulate_media(color_scheme="dark")
    step.get_by_text("Risk").click()
    page.get_by_text("Three attackers").wait_for()
    shoot("dark")


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    server = subprocess.Popen(
        [sys.executable, "-m", "shoal.cli.main", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        link = next(found.group() for line in server.stdout if (found := re.search(r"http://\S+", line)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            page = browser.new_page(viewport=WIDE)
            page.set_default_timeout(PATIENCE)

            def shoot(name: str) -> None:
                for size in (WIDE, NARROW):
                    page.set_viewport_size(size)
                    page.wait_for_timeout(400)  # charts take the new width
                    page.screenshot(path=folder / f"{name}-{size['width']}.png", full_page=True)
                page.set_viewport_size(WIDE)
                print(folder / f"{name}-*.png", flush=True)

            go_through(page, link, shoot)
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
