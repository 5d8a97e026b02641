"""Ctrl-C while a search refines its groups: the best release so far, or nothing, as the user chose."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from types import FrameType

import typer

from shoal.cli.output import ProgressBar, print_note
from shoal.progress import StopRequest


class OnInterrupt(StrEnum):
    ASK = "ask"
    BEST = "best"
    NOTHING = "nothing"


@contextmanager
def stop_on_interrupt(choice: OnInterrupt, bar: ProgressBar) -> Iterator[StopRequest]:
    """While this is open, the first Ctrl-C ends a search that can end early; any other one, or a kill, ends the run.

    Without a terminal nobody can be asked, and nothing is written.
    """

    def keep() -> bool:
        if choice is not OnInterrupt.ASK:
            return choice is OnInterrupt.BEST
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        bar.pause()
        return typer.confirm("Release the best groups found so far, after the usual checks?", err=True)

    stop = StopRequest(keep)

    def heard(number: int, frame: FrameType | None) -> None:
        if choice is OnInterrupt.NOTHING or not stop.ask():
            stop.refuse()
            raise KeyboardInterrupt
        print_note("Ending the search; Ctrl-C again ends everything.")

    def ended(number: int, frame: FrameType | None) -> None:
        stop.refuse()
        raise KeyboardInterrupt

    before = {signal.SIGINT: signal.signal(signal.SIGINT, heard), signal.SIGTERM: signal.signal(signal.SIGTERM, ended)}
    try:
        yield stop
    except Exception:
        if stop.refused:  # an interrupt in the midst of foreign code, such as the compiler, may come out as its error
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
