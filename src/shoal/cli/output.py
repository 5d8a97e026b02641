"""All printing of the command line: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import ShoalError
from shoal.progress import STAGES, ProgressCallback, silent
from shoal.progress import Progress as Event

if TYPE_CHECKING:  # rich takes a while to load, and a run that is quiet does not need it
    from rich.console import Console
    from rich.progress import Progress

PIPE_WIDTH = 200
SECONDS_BETWEEN_LINES = 10.0


def screen() -> Console:
    """Tables that go to a file or a pipe are not folded."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def error_screen() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def print_json(content: Any) -> None:
    """One JSON object on standard output."""
    json.dump(content, sys.stdout, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    """numpy numbers and tuples inside details."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


def print_error(error: ShoalError, as_json: bool = False) -> None:
    """Every problem on its own line; with --json also as an object on standard output."""
    from rich.markup import escape

    console = error_screen()
    for problem in error.problems:
        where = f"[bold]{escape(problem.column)}[/bold]: " if problem.column is not None else ""
        console.print(f"[red]error[/red] {where}{escape(problem.message)}")
        if problem.hint:
            console.print(f"      {escape(problem.hint)}")
    if as_json:
        problems = [problem.as_dict() for problem in error.problems]
        print_json({"ok": False, "exit_code": error.exit_code, "problems": problems})


def print_note(text: str) -> None:
    from rich.markup import escape

    error_screen().print(escape(text))


def print_text(text: str) -> None:
    from rich.markup import escape

    screen().print(escape(text))


def in_words(names: Sequence[str]) -> str:
    """Names in quotes as one says them: 'a', 'b' and 'c'."""
    quoted = [f"'{name}'" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def print_table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Sequence[int] = (),
    whole: Sequence[int] = (),
) -> None:
    """A table; `right` lists the columns to be set flush right, `whole` those that are not folded on narrow screens."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=escape(title),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        show_header=any(headings),
    )
    for number, heading in enumerate(headings):
        side: Literal["left", "right"] = "right" if number in right else "left"
        table.add_column(escape(heading), justify=side, overflow="fold", no_wrap=number in whole)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console = screen()
    console.print(table)
    console.print()


def _must_compile() -> bool:
    from shoal.kernels.cache import must_compile

    return must_compile()


def _make_bar() -> Progress:
    """A bar with one task; it is shown once it is started."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description:<11}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
        console=error_screen(),
        transient=True,
    )
    bar.add_task("", total=1.0, loss="")
    return bar


class ProgressLines:
    """A line on standard error when a stage begins, and every so often while it goes on: for logs and pipes."""

    def __init__(self) -> None:
        self._stage = ""
        self._started = self._told = time.monotonic()

    def show(self, event: Event) -> None:
        now = time.monotonic()
        if event.bound is not None:  # told at the end
            return
        if event.stage == self._stage and (now - self._told < SECONDS_BETWEEN_LINES or event.fraction >= 1.0):
            return
        loss = f", loss {event.loss:.4f}" if event.loss is not None else ""
        done = f" {event.fraction:.0%}" if event.stage == self._stage else ""
        if event.passed is not None and str(event.passed):
            done += f" ({event.passed})"
        seconds = now - self._started
        self._stage, self._told = event.stage, now
        sys.stderr.write(f"[{seconds:7.1f} s] {STAGES.get(event.stage, event.stage)}{done}{loss}\n")
        sys.stderr.flush()


class ProgressBar:
    """A bar on standard error while a run goes on, or lines where that is no terminal; nothing if it is to be quiet."""

    def __init__(self, quiet: bool) -> None:
        self._wanted = not quiet
        self._bar = _make_bar() if self._wanted and sys.stderr.isatty() else None
        self._lines = ProgressLines() if self._wanted and self._bar is None else None

    def __enter__(self) -> ProgressCallback:
        if self._wanted and _must_compile():
            print_note("The first run on a machine compiles its kernels, which takes some seconds; later runs do not.")
        if self._bar is None:
            return silent if self._lines is None else self._lines.show
        self._bar.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def pause(self) -> None:
        """Free the line for a question; the bar comes back with the next event."""
        if self._bar is not None:
            self._bar.stop()

    def _show(self, event: Event) -> None:
        assert self._bar is not None
        if event.bound is not None:  # told at the end
            return
        if not self._bar.live.is_started:
            self._bar.start()
        loss = f"loss {event.loss:.4f}" if event.loss is not None else (event.note or str(event.passed or ""))
        self._bar.update(
            self._bar.task_ids[0], description=STAGES.get(event.stage, event.stage), completed=event.fraction, loss=loss
        )
