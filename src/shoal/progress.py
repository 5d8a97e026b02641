"""How far a run is: one kind of event, sent to one callback. And the wish to end a search early."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """`fraction` of `stage` is done; `loss` is the loss reached so far, where the stage knows it."""

    stage: str
    fraction: float
    loss: float | None = None
    note: str | None = None


ProgressCallback = Callable[[Progress], None]


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
