"""The notebooks of the documentation, executed by real kernels and looked at in a real browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
LONG = 120_000  # milliseconds; nothing waits longer, so nothing can hang
SAYS = "Every promise holds."


def look_at(chromium: Any, address: str, words: str) -> dict[str, Any]:
    """What a browser without a network shows of a page, once these words stand on it."""
    page = chromium.new_page(viewport={"width": 1100, "height": 1000})
    own = ("file:", "data:", "blob:", "http://127.0.0.1", "ws://127.0.0.1")
    page.route("**/*", lambda route: route.continue_() if route.request.url.startswith(own) else route.abort())
    try:
        page.goto(address, wait_until="domcontentloaded")
        page.get_by_text(words).first.wait_for(timeout=LONG)
        page.get_by_text(SAYS).first.wait_for(timeout=LONG)
        pictures = page.locator("figure svg[role=img]")
        boxes = [pictures.nth(number).bounding_box() for number in range(pictures.count())]
        titles = page.locator("svg circle title").all_text_contents()
        fits = page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        return {"boxes": boxes, "titles": titles, "fits": fits}
    finally:
        page.close()


def home(folder: Path) -> dict[str, str]:
    """Surroundings in which notebooks keep their files in a folder of the test."""
    names = ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    return {**os.environ, **dict.fromkeys(names, str(folder)), "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", "")}


def test_jupyter_shows_results_as_pictures(tmp_path: Path, chromium: Any) -> None:
    pytest.importorskip("nbconvert", reason="notebooks are executed by nbconvert: pip install nbconvert ipykernel")
    pytest.importorskip("ipykernel", reason="notebooks need a kernel: pip install ipykernel")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "--output-dir", str(tmp_path)]
    notebook = tmp_path / "hospital.ipynb"
    notebook.write_bytes((NOTEBOOKS / "hospital.ipynb").read_bytes())
    done = subprocess.run([*command, str(notebook)], env=home(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "report.html").stat().st_size > 100_000
    seen = look_at(chromium, (tmp_path / "hospital.html").as_uri(), "Each square is a hundredth")
    assert len(seen["boxes"]) == 6  # two of the result, the frontier, three of the evaluation
    assert all(box and box["width"] > 150 and box["height"] > 60 for box in seen["boxes"])
    assert [title.partition(":")[0] for title in seen["titles"]] == [f"mondrian, k = {k}" for k in (2, 5, 10, 20, 50)]
    assert seen["fits"]


def test_marimo_shows_results_as_pictures(tmp_path: Path, chromium: Any) -> None:
    pytest.importorskip("marimo", reason="this notebook is run by marimo: pip install marimo")
    notebook = tmp_path / "hospital_marimo.py"
    notebook.write_bytes((NOTEBOOKS / "hospital_marimo.py").read_bytes())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "marimo", "run", "--headless", "--no-token", "--host", "127.0.0.1"]
    with (tmp_path / "said.txt").open("w") as said:
        server = subprocess.Popen(
            [*command, "--port", str(port), str(notebook)], env=home(tmp_path), stdout=said, stderr=said
        )
        try:
            wait_for(server, port)
            seen = look_at(chromium, f"http://127.0.0.1:{port}/", "What protection costs")
        finally:
            server.terminate()
            server.wait(timeout=30)
    assert len(seen["boxes"]) == 3
    assert len(seen["titles"]) == 5


def wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    """Until the server takes connections."""
    for _ in range(600):
        assert server.poll() is None
        with socket.socket() as asking:
            asking.settimeout(0.1)
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            server.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("the server does not answer")
