"""What the check of several releases says: numbers and settings, never a value of the data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Attack(StrEnum):
    """How the releases are used together; the letters are those of BCF-anonymity."""

    FORWARD = "F"  # an old person, looked for in the earlier release
    CROSS = "C"  # an old person, looked for in the later release
    BACKWARD = "B"  # a newcomer, looked for in the later release
    SAME_ORDER = "same order"  # row i of every release is the same person
    SAME_KEY = "same key"  # rows with the same key are the same person


class Setting(StrEnum):
    """How the tables behind the releases belong together."""

    GROWING = "growing"  # every table holds the people of the one before it, and maybe newcomers
    SAME = "same"  # versions of one table: the same people in all
    MOVING = "moving"  # people come and may leave: a weaker reading, because less can be excluded


class Scope(StrEnum):
    """What was looked at together."""

    ALL = "all releases"  # exactly (two of them, or the same order), or proven for all at once
    PAIRS = "every two releases"  # an attacker who joins all of them may learn more


@dataclass(frozen=True)
class AttackCheck:
    """One attack on two releases, or on all of them in the same order. Releases are numbered from 1."""

    attack: Attack
    releases: tuple[int, ...]
    passed: bool
    smallest_anonymity: int | None  # None: there can be no victim of this attack
    classes_below: int  # classes in which a victim can have fewer than k candidates left
    persons_below: int  # records of these classes; where the rows are known, the persons with fewer than k candidates
    surely_below: int | None = None  # persons below k whichever world is the real one, where that was counted
    classes_alike: int = 0  # classes in which k candidates are left, but their sensitive values are not diverse
    classes_open: int = 0  # of those below: no world was found in which they hold, and not all were looked at
    by_closed_form: int | None = None  # the smallest anonymity by the closed forms, to compare; promises nothing

    def as_dict(self) -> dict[str, Any]:
        return {
            "attack": self.attack.value,
            "releases": list(self.releases),
            "passed": self.passed,
            "smallest_anonymity": self.smallest_anonymity,
            "classes_below": self.classes_below,
            "persons_below": self.persons_below,
            "surely_below": self.surely_below,
            "classes_alike": self.classes_alike,
            "classes_open": self.classes_open,
            "by_closed_form": self.by_closed_form,
        }

    def __str__(self) -> str:
        head = f"{self.attack} attack on releases {', '.join(str(number) for number in self.releases)}"
        if self.smallest_anonymity is None:
            return f"{head}: there can be no victim"
        smallest = f"smallest anonymity: {self.smallest_anonymity}"
        below = f"{self.classes_below} classes with {self.persons_below} persons"
        if self.passed:
            maybe = f"; {below} would be below if a newcomer were there" if self.classes_below else ""
            return f"{head} holds ({smallest}{maybe})"
        alike = f", {self.classes_alike} classes are not diverse" if self.classes_alike else ""
        return f"{head} fails: {below} are below{alike} ({smallest})"


@dataclass(frozen=True)
class TogetherVerdict:
    """Whether several releases hold together."""

    k: int
    setting: Setting
    checks: tuple[AttackCheck, ...]
    scope: Scope
    unreadable_cells: int  # taken to cover everything
    read_alone: bool = False  # without the original, so that cells we cannot read may be clear to others
    diversities: tuple[str, ...] = ()  # models that were judged on what is left
    changing: tuple[str, ...] = ()  # columns that were not used, because their values may change
    taken_as_values: tuple[str, ...] = ()  # columns of words without a hierarchy: a label is a value, not a group
    without_joining: tuple[AttackCheck, ...] = ()  # beside releases joined record by record: what others learn

    @property
    def passed(self) -> bool:
        return not self._hide_something and all(check.passed for check in self.checks)

    @property
    def _hide_something(self) -> bool:
        return self.read_alone and self.unreadable_cells > 0

    @property
    def exact(self) -> bool:
        """False: more than two releases, looked at in pairs; an attacker who joins all may learn more."""
        return self.scope is Scope.ALL

    @property
    def worst(self) -> AttackCheck | None:
        """The check with the smallest anonymity; the first of several, and one that fails before any that holds."""
        measured = [check for check in self.checks if check.smallest_anonymity is not None]
        return min(measured, key=lambda check: (check.passed, check.smallest_anonymity or 0)) if measured else None

    @property
    def attack(self) -> Attack | None:
        return self.worst.attack if self.worst is not None else None

    @property
    def smallest_anonymity(self) -> int | None:
        return self.worst.smallest_anonymity if self.worst is not None else None

    def failures(self) -> tuple[AttackCheck, ...]:
        return tuple(check for check in self.checks if not check.passed)

    def as_dict(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "setting": self.setting.value,
            "passed": self.passed,
            "scope": self.scope.value,
            "exact": self.exact,
            "unreadable_cells": self.unreadable_cells,
            "read_alone": self.read_alone,
            "taken_as_values": list(self.taken_as_values),
            "diversities": list(self.diversities),
            "changing": list(self.changing),
            "checks": [check.as_dict() for check in self.checks],
            "without_joining": [check.as_dict() for check in self.without_joining],
        }

    def __str__(self) -> str:
        head = f"{self.k}-anonymity of the releases together {'holds' if self.passed else 'fails'}"
        scope = "all worlds" if self.exact else "every two releases; all together may give away more"
        unread = [f"  {self.unreadable_cells} cells cannot be read"] if self._hide_something else []
        others = (f"  without joining records: {check}" for check in self.without_joining)
        return "\n".join([f"{head} ({scope})", *unread, *(f"  {check}" for check in self.checks), *others])
