"""What the check of several releases says: numbers and settings, never a value of the data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from shoal.released.domain import CodeArray, CountArray


class Attack(StrEnum):
    """How the releases are used together; the letters are those of BCF-anonymity."""

    FORWARD = "F"  # an old person, looked for in the earlier release
    CROSS = "C"  # an old person, looked for in the later release
    BACKWARD = "B"  # a newcomer, looked for in the later release
    SAME_ORDER = "same order"  # row i of every release is the same person


class Setting(StrEnum):
    """How the tables behind the releases belong together."""

    GROWING = "growing"  # every table holds the people of the one before it, and maybe newcomers
    SAME = "same"  # versions of one table: the same people in all


@dataclass(frozen=True)
class AttackCheck:
    """One attack on two releases, or on all of them in the same order. Releases are numbered from 1."""

    attack: Attack
    releases: tuple[int, ...]
    passed: bool
    smallest_anonymity: int | None  # None: there can be no victim of this attack
    classes_below: int  # classes in which a victim can have fewer than k candidates left
    persons_below: int  # records of these classes; where the rows are known, the persons with fewer than k candidates
    by_closed_form: int | None  # the smallest anonymity by the closed forms, to compare; promises nothing

    def as_dict(self) -> dict[str, Any]:
        return {
            "attack": self.attack.value,
            "releases": list(self.releases),
            "passed": self.passed,
            "smallest_anonymity": self.smallest_anonymity,
            "classes_below": self.classes_below,
            "persons_below": self.persons_below,
            "by_closed_form": self.by_closed_form,
        }

    def __str__(self) -> str:
        which = ", ".join(str(number) for number in self.releases)
        if self.smallest_anonymity is None:
            return f"{self.attack} attack on releases {which}: there can be no victim"
        if self.passed:
            return f"{self.attack} attack on releases {which} holds (smallest anonymity: {self.smallest_anonymity})"
        return (
            f"{self.attack} attack on releases {which} fails: {self.classes_below} classes with {self.persons_below} "
            f"persons are below (smallest anonymity: {self.smallest_anonymity})"
        )


@dataclass(frozen=True)
class TogetherVerdict:
    """Whether several releases hold together. `exact` says whether all of them were looked at jointly."""

    k: int
    setting: Setting
    checks: tuple[AttackCheck, ...]
    exact: bool  # False: more than two releases, looked at in pairs; an attacker who joins all may learn more
    unreadable_cells: int  # taken to cover everything, which can hide a crack

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def worst(self) -> AttackCheck | None:
        """The check with the smallest anonymity; the first of several."""
        measured = [check for check in self.checks if check.smallest_anonymity is not None]
        return min(measured, key=lambda check: check.smallest_anonymity or 0) if measured else None

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
            "exact": self.exact,
            "unreadable_cells": self.unreadable_cells,
            "checks": [check.as_dict() for check in self.checks],
        }

    def __str__(self) -> str:
        head = f"{self.k}-anonymity of the releases together {'holds' if self.passed else 'fails'}"
        scope = "all worlds" if self.exact else "every two releases; all together may give away more"
        return "\n".join([f"{head} ({scope})", *(f"  {check}" for check in self.checks)])


def judge(
    attack: Attack,
    releases: tuple[int, ...],
    k: int,
    anonymity: CountArray,
    sizes: CountArray,
    closed: CountArray | None = None,
) -> AttackCheck:
    """A check from the anonymity of every class; 0 stands for a class where no victim can be."""
    possible = anonymity > 0
    below = possible & (anonymity < k)
    found = anonymity[possible]
    by_form = closed[possible] if closed is not None else np.zeros(0, dtype=np.int64)
    return AttackCheck(
        attack=attack,
        releases=releases,
        passed=not bool(below.any()),
        smallest_anonymity=int(found.min()) if found.shape[0] else None,
        classes_below=int(below.sum()),
        persons_below=int(sizes[below].sum()),
        by_closed_form=int(by_form.min()) if by_form.shape[0] else None,
    )


def judge_persons(
    attack: Attack, releases: tuple[int, ...], k: int, anonymity: CountArray, class_of: CodeArray, closed: CountArray
) -> AttackCheck:
    """A check from the anonymity of every person, and the class in which the attack looks for that person."""
    below = anonymity < k
    return AttackCheck(
        attack=attack,
        releases=releases,
        passed=not bool(below.any()),
        smallest_anonymity=int(anonymity.min()) if anonymity.shape[0] else None,
        classes_below=int(np.unique(class_of[below]).shape[0]),
        persons_below=int(below.sum()),
        by_closed_form=int(closed.min()) if closed.shape[0] else None,
    )
