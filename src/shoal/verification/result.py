"""What a verification says: numbers and settings, never a value of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Model
from shoal.verification.classes import Classes

TOLERANCE = 1e-9  # for sums of shares; no model is looser than this


@dataclass(frozen=True)
class ModelCheck:
    """One model on one release. `measured` is the worst value of `measure` over all classes."""

    model: str  # as on the command line; a named value of the data is a digest
    passed: bool
    measure: str  # what was measured, e.g. "smallest class"
    measured: float | None  # None: there is nothing to measure, or it has no bound
    offending_classes: int
    offending_records: int
    smallest_offending_class: int | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "passed": self.passed,
            "measure": self.measure,
            "measured": self.measured,
            "offending_classes": self.offending_classes,
            "offending_records": self.offending_records,
            "smallest_offending_class": self.smallest_offending_class,
        }

    def __str__(self) -> str:
        measured = "unbounded" if self.measured is None else f"{self.measured:.6g}"
        if self.passed:
            return f"{self.model} holds ({self.measure}: {measured})"
        return (
            f"{self.model} fails: {self.offending_classes} classes with {self.offending_records} records, "
            f"the smallest of {self.smallest_offending_class} ({self.measure}: {measured})"
        )


@dataclass(frozen=True)
class Verification:
    """What was found on the released values."""

    passed: bool
    records: int
    classes: int
    smallest_class: int | None  # None: the release is empty
    suppressed_records: int  # records whose quasi-identifiers are all `*`
    suppressed_exempt: bool  # True: within the suppression limit, so not counted as a class
    checks: tuple[ModelCheck, ...]
    candidates: int | None = None  # without classes: the fewest candidates of any record, counted up to k
    together: dict[str, Any] | None = None  # what several releases tell together, if that was asked

    def as_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "records": self.records,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "suppressed_records": self.suppressed_records,
            "suppressed_exempt": self.suppressed_exempt,
            "checks": [check.as_dict() for check in self.checks],
            **({"together": self.together} if self.together is not None else {}),
        }

    @property
    def hidden_among(self) -> int | None:
        """Among how many records the most exposed one hides: its class or, without classes, its candidates."""
        return self.smallest_class if self.candidates is None else self.candidates

    def failures(self) -> tuple[ModelCheck, ...]:
        return tuple(check for check in self.checks if not check.passed)


def _told(value: float) -> float:
    """A measured value without the last digits of a sum, which depend on the order of its parts."""
    return value if value.is_integer() else float(f"{value:.9g}")


def judge(
    model: Model,
    classes: Classes,
    measure: str,
    measured: NDArray[np.floating[Any]],
    safe: NDArray[np.bool_],
    *,
    worst: str,
) -> ModelCheck:
    """A check from the measured value and the verdict of every class; `worst` says which end is bad."""
    bad = ~safe
    sizes = classes.sizes[bad]
    value: float | None = None
    if measured.shape[0]:
        value = float(measured.min() if worst == "min" else measured.max())
        value = _told(value) if math.isfinite(value) else None
    return ModelCheck(
        model=model.public_spec(),
        passed=not bool(bad.any()),
        measure=measure,
        measured=value,
        offending_classes=int(bad.sum()),
        offending_records=int(sizes.sum()),
        smallest_offending_class=int(sizes.min()) if sizes.shape[0] else None,
    )
