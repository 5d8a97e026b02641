"""A bar that shows how far a run is, where Python is used by hand: in a cell of Jupyter, VS Code or marimo, or as a
line on a terminal. Plain HTML that is replaced in its place: no script, no widget, no connection.

    shoal.anonymize(frame, quasi=["age"], k=10, progress=shoal.ProgressBar())
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from importlib import import_module

from shoal.progress import STAGES, Progress

SECONDS_BETWEEN = 0.2  # two pictures of the same stage
TRACK = "display:inline-block;width:260px;height:9px;border-radius:5px;background:#e3e6eb;vertical-align:middle"
TEXT = "font:13px system-ui,sans-serif;color:#5c6675"

Show = Callable[[str, str], None]  # the bar as HTML and as a line of text


class ProgressBar:
    """Shows how far a run is: give it as `progress=` to `anonymize`, `evaluate`, `compare`, `result.frontier` or
    `result.report`. One bar watches one run."""

    def __init__(self) -> None:
        self._show: Show | None = None
        self._stage = ""
        self._started = self._shown = 0.0

    def __call__(self, event: Progress) -> None:
        if event.bound is not None:  # may come from another thread, and tells nothing about how far the run is
            return
        now = time.monotonic()
        if self._show is None:
            self._show, self._started = _in_jupyter() or _in_marimo() or _on_terminal, now
        done = event.fraction >= 1.0
        if event.stage == self._stage and not done and now - self._shown < SECONDS_BETWEEN:
            return
        self._stage, self._shown = event.stage, now
        self._show(_picture(event, now - self._started), _line(event, now - self._started))


def _words(event: Progress, seconds: float) -> tuple[str, str]:
    """What stands before the bar, and what behind it."""
    loss = f", loss {event.loss:.4f}" if event.loss is not None else ""
    note = f", {event.note or event.passed}" if event.note or str(event.passed or "") else ""
    return STAGES.get(event.stage, event.stage), f"{event.fraction:.0%}, {seconds:.0f} s{loss}{note}"


def _picture(event: Progress, seconds: float) -> str:
    before, behind = _words(event, seconds)
    width = round(100 * min(1.0, max(0.0, event.fraction)))
    full = f"display:block;width:{width}%;height:9px;border-radius:5px;background:#2563a8"
    return (
        f'<div style="{TEXT}"><span style="display:inline-block;width:86px">{escape(before)}</span>'
        f'<span style="{TRACK}"><span style="{full}"></span></span> {escape(behind)}</div>'
    )


def _line(event: Progress, seconds: float) -> str:
    before, behind = _words(event, seconds)
    filled = round(24 * min(1.0, max(0.0, event.fraction)))
    return f"{before:<11} [{'#' * filled}{'.' * (24 - filled)}] {behind}"


def _in_jupyter() -> Show | None:
    """Jupyter and VS Code: an output that is changed in its place."""
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None
    display = import_module("IPython.display")
    handle = display.display(display.HTML(""), display_id=True)
    return lambda html, _: handle.update(display.HTML(html))


def _in_marimo() -> Show | None:
    marimo = sys.modules.get("marimo")
    if marimo is None or not marimo.running_in_notebook():
        return None
    return lambda html, _: marimo.output.replace(marimo.Html(html))


def _on_terminal(_: str, line: str) -> None:
    """One line that is written over; one below the other where the output is no terminal."""
    sys.stderr.write(f"\r\x1b[K{line}" if sys.stderr.isatty() else f"{line}\n")
    sys.stderr.flush()
