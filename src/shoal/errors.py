"""What can go wrong, and with which exit code.

    ShoalError                 every error this package raises on purpose
    ├── InputError             bad data, job, hierarchy or call        exit code 2
    ├── RequirementError       no release of this table can meet it    exit code 3
    ├── VerificationError      a released table does not hold          exit code 3
    └── InternalError          our fault: nothing was written          exit code 1

An error carries *all* problems that were found, each a `Problem` with a reason code, a message, the column it
is about and a hint. No message ever holds a cell value of the data: only column names, counts and settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: a stable reason code, what it is, where, and what to do about it."""

    reason: str
    message: str
    column: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        where = f"column '{self.column}': " if self.column is not None else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.message}{hint}"

    def as_dict(self) -> dict[str, str | None]:
        return {"reason": self.reason, "column": self.column, "message": self.message, "hint": self.hint}


class ShoalError(Exception):
    """The base of every error raised on purpose."""

    exit_code: ClassVar[int] = 1

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(problem.reason for problem in self.problems)


class InputError(ShoalError):
    """The data, the job, a hierarchy or the call is wrong."""

    exit_code = 2


class RequirementError(ShoalError):
    """No release of this table can meet the requirement."""

    exit_code = 3


class VerificationError(ShoalError):
    """A released table does not hold what was asked of it."""

    exit_code = 3


class InternalError(ShoalError):
    """A promise of this package was broken; nothing was written."""

    exit_code = 1


def did_you_mean(name: str, known: Sequence[str]) -> str | None:
    """A hint with the nearest known name, or the known names when there are few."""
    lowered = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    if close:
        return f"did you mean '{lowered[close[0]]}'?"
    if 0 < len(known) <= 20:
        return "known: " + ", ".join(known)
    return None
