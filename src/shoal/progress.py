"""How far a run is: one kind of event, sent to one callback."""

from __future__ import annotations

from collections.abc import Callable
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
