"""Who watches a run: how far it is, what every step passed on, and the wish to end a search early, in one object."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Passed:
    """How much of a table has gone by: its share, and rows and bytes where they are known."""

    share: float
    rows: int | None = None
    of_rows: int | None = None
    bytes: int | None = None
    of_bytes: int | None = None

    def __str__(self) -> str:
        parts = [_amount(self.rows, self.of_rows, 1, "records"), _amount(self.bytes, self.of_bytes, 10**6, "MB")]
        return ", ".join(part for part in parts if part)


def _amount(done: int | None, whole: int | None, unit: int, word: str) -> str:
    if done is None:
        return ""
    of = f" of {whole / unit:,.0f}" if whole is not None else ""
    return f"{done / unit:,.0f}{of} {word}"


@dataclass(frozen=True, slots=True)
class Progress:
    """`fraction` of `stage` is done; `loss` is the loss reached so far, where the stage knows it.

    `passed` tells of stages that pass over a table piece by piece how many rows and bytes have gone by.

    An event with a `bound` tells that no release can lose less, and nothing else: it may come from another thread.
    """

    stage: str
    fraction: float
    loss: float | None = None
    note: str | None = None
    bound: float | None = None
    passed: Passed | None = None


STAGES = {  # in the words of whoever watches
    "read": "Reading",
    "encode": "Encoding",
    "cluster": "Clustering",
    "recode": "Recoding",
    "write": "Writing",
    "verify": "Verifying",
    "evaluate": "Evaluating",
    "report": "Reporting",
    "compare": "Comparing",
}
ProgressCallback = Callable[[Progress], None]
Trace = Callable[[str, Any], None]  # the name of a step and the value that it passes on


def silent(progress: Progress) -> None:
    """The callback of a run that reports to nobody."""


class StopRequest:
    """The wish that a search ends now, with the best it has found so far.

    A search that can do that listens while it runs. When it has ended early, `keep` is asked once whether what it
    found is to be released; if not, the run ends as if it had been interrupted, and nothing is written.
    """

    def __init__(self, keep: Callable[[], bool] = lambda: True) -> None:
        self.keep = keep
        self.asked = False
        self.refused = False
        self._listening = False

    def ask(self) -> bool:
        """Ask the search to end. False if nobody listens, or it was asked before: then it has to be interrupted."""
        if self.asked or not self._listening:
            return False
        self.asked = True
        return True

    def refuse(self) -> None:
        """End the run without a release. Whoever calls this raises KeyboardInterrupt too; but an exception that is
        raised while compiled code calls back into Python is lost, so the run looks here before each of its stages.
        """
        self.asked = self.refused = True

    @contextmanager
    def listening(self) -> Iterator[None]:
        self._listening = True
        try:
            yield
        finally:
            self._listening = False


@dataclass
class Watch:
    """Who watches one run: progress and intermediate values go out, the wish to stop comes in, time is taken."""

    progress: ProgressCallback = silent
    trace: Trace | None = None
    stop: StopRequest = field(default_factory=StopRequest)
    seconds: dict[str, float] = field(default_factory=dict)  # per stage

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.end_if_refused()
        self.progress(Progress(name, 0.0))
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self.progress(Progress(name, 1.0))

    def passing(self, stage: str) -> Callable[[Passed], None]:
        """Who is told how much of a table has gone by in a stage."""
        return lambda passed: self.progress(Progress(stage, passed.share, passed=passed))

    def end_if_refused(self) -> None:
        if self.stop.refused:
            raise KeyboardInterrupt

    def end_unless_kept(self) -> None:
        """After a search: one that ended early is released only if whoever stopped it wants that."""
        self.end_if_refused()
        if self.stop.asked and not self.stop.keep():
            raise KeyboardInterrupt

    def show(self, name: str, value: Any) -> None:
        if self.trace is not None:
            self.trace(name, value)
