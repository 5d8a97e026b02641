"""Pictures of the workbench for docs/workbench.md, taken in a real browser from the embedded sample.

    python tools/screenshots.py [FOLDER]        docs/pictures by default

Every perspective at 1440 and at 800 pixels, and two in dark colours. Needs playwright and a chromium (`CHROMIUM` names
it, else it is looked for on the path). The pictures have at most 256 colours each, so that they stay small.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDE, NARROW = 1440, 800
TALLEST = 1500  # pixels of a page that are kept
PATIENCE = 1_800_000  # milliseconds: machines may be busy
PIXELS = """async (picture) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, image.width, image.height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


class Camera:
    """Takes pictures of one page; another, empty one decodes them."""

    def __init__(self, page: Any, empty: Any, folder: Path) -> None:
        self.page, self.empty, self.folder = page, empty, folder

    def shoot(self, name: str, widths: tuple[int, ...] = (WIDE, NARROW), *, top: bool = True) -> None:
        """From the top of the page, or from where it was scrolled to."""
        for width in widths:
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.wait_for_timeout(600)  # charts take the new width
            whole = self.page.evaluate("document.documentElement.scrollHeight")
            self.page.set_viewport_size({"width": width, "height": max(900, min(TALLEST, whole))})
            if top:
                self.page.evaluate("scrollTo(0, 0)")
            self.page.wait_for_timeout(600)
            picture = base64.b64encode(self.page.screenshot()).decode()
            wide, high, pixels = self.empty.evaluate(PIXELS, picture)
            colours = np.frombuffer(base64.b64decode(pixels), dtype=np.uint8).reshape(high, wide, 4)[:, :, :3]
            path = self.folder / f"{name}-{width}.png"
            path.write_bytes(small_png(colours))
            print(path, path.stat().st_size >> 10, "kB", flush=True)
        self.page.set_viewport_size({"width": WIDE, "height": 900})


def small_png(colours: NDArray[np.uint8]) -> bytes:
    """The picture with its commonest colours, and those of every kind; others become the nearest of these."""
    high, wide, _ = colours.shape
    known, of_pixel, times = np.unique(colours.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    by_times = known[np.argsort(-times, kind="stable")]
    of_kind = np.unique(by_times >> 4, axis=0, return_index=True)[1]  # the commonest colour of each kind
    chosen = np.union1d(np.arange(min(96, len(by_times))), of_kind)[:256]
    palette = by_times[chosen].astype(np.int16)
    nearest = [np.abs(palette - colour).sum(axis=1).argmin() for colour in known.astype(np.int16)]
    indices = np.array(nearest, dtype=np.uint8)[of_pixel.ravel()].reshape(high, wide)
    lines = np.zeros((high, wide + 1), dtype=np.uint8)  # each line begins with the number of its filter: none
    lines[:, 1:] = indices
    pieces = [
        (b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    body = b"".join(struct.pack(">I", len(data)) + kind + data + _check(kind + data) for kind, data in pieces)
    return b"\x89PNG\r\n\x1a\n" + body


def _check(data: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(data))


def go_through(page: Any, link: str, camera: Camera) -> None:
    """The whole way through the sample, with a picture of every perspective."""
    page.goto(link)
    page.get_by_role("button", name="Open the sample").wait_for()
    camera.shoot("start")
    page.get_by_role("button", name="Open the sample").click()
    page.get_by_text("What singles people out").wait_for()
    camera.shoot("table")
    step = page.get_by_role("navigation", name="Steps")
    step.get_by_text("Hierarchies").click()
    page.get_by_role("navigation", name="Columns").get_by_role("button", name="occupation").click()
    tree = page.get_by_role("tree")
    tree.get_by_role("button", name="health and social work").click()
    tree.get_by_role("button", name="education and culture").click(modifiers=["Control"])
    camera.shoot("hierarchies")
    step.get_by_text("Requirement").click()
    page.get_by_role("button", name="Nobody alone, nothing certain").click()
    page.get_by_text("Yes: a release of this table can meet it.").wait_for()
    camera.shoot("requirement")
    runs(page, step, camera)
    step.get_by_text("Look").click()
    page.get_by_text("Distribution of postcode").wait_for()
    page.get_by_role("textbox", name="h", exact=True).fill("5, 10, 25, 50, 100")
    page.get_by_role("button", name="Find out for 6 clusters").click()
    page.get_by_text("F-measure against h, 6 clusters").wait_for()
    camera.shoot("look")
    page.locator("svg.dots").scroll_into_view_if_needed()
    page.locator("svg.dots circle.mark").nth(700).hover(force=True)
    camera.shoot("groups", (WIDE,), top=False)
    page.get_by_role("heading", name="Clusters an analyst would find").scroll_into_view_if_needed()
    camera.shoot("clusters", (WIDE,), top=False)
    step.get_by_text("Risk").click()
    page.get_by_text("Three attackers").wait_for()
    camera.shoot("risk")
    step.get_by_text("Publish").click()
    page.get_by_text("The release holds.").wait_for()
    camera.shoot("publish")
    page.emulate_media(color_scheme="dark")
    camera.shoot("publish-dark", (WIDE,))
    step.get_by_text("Risk").click()
    page.get_by_text("Three attackers").wait_for()
    camera.shoot("risk-dark", (NARROW,))


def runs(page: Any, step: Any, camera: Camera) -> None:
    """One run while it goes on, two compared, and the frontier."""
    step.get_by_text("Run", exact=True).click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_label("Name", exact=True).fill("k 10 alone")
    page.get_by_role("button", name="Start the run").click()
    page.get_by_role("figure").filter(has_text="lower bound").locator("circle.f1").nth(7).wait_for()
    camera.shoot("running", (WIDE,))
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    page.get_by_role("button", name="Redo").click()
    page.get_by_role("combobox", name="Effort").select_option("low")
    page.get_by_label("Name", exact=True).fill("With l-diversity")
    page.get_by_role("button", name="Start the run").click()
    page.get_by_role("button", name="Cancel").wait_for()
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    page.get_by_label("k", exact=True).fill("2, 5, 25, 50")
    page.get_by_role("button", name="Fill the frontier").click()
    page.get_by_role("button", name="of 8 done").wait_for()
    page.get_by_role("button", name="Fill the frontier").wait_for()
    page.get_by_text("all 15 done").wait_for()
    for box in page.get_by_role("checkbox", name="Compare").all():
        box.check()
    page.get_by_text("Loss by column and run").first.wait_for()
    camera.shoot("run")


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    command = [sys.executable, "-m", "shoal.cli.main", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        link = next(found.group() for line in server.stdout if (found := re.search(r"http://\S+", line)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            page, empty = browser.new_page(), browser.new_page()
            page.set_viewport_size({"width": WIDE, "height": 900})
            page.set_default_timeout(PATIENCE)
            go_through(page, link, Camera(page, empty, folder))
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
    return 0


if __name__ == "__main__":
    sys.exit(main())
