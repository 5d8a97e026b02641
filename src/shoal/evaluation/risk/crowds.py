"""How many hide together: the classes of a table counted in records or in persons, or the candidates of its records.

The run, its report and every evaluation count with these functions, so that a risk is one number wherever it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluation.risk.risk import THRESHOLD, RiskProfile, risk_profile
from shoal.released.cells import BoolArray
from shoal.released.domain import CountArray
from shoal.verification.classes import Classes, count_values, value_numbers


@dataclass(frozen=True, eq=False)
class Crowds:
    """How many hide together, on one side: the original or the release."""

    sizes: CountArray  # how many of those who are counted (records, persons, candidates) are in each class
    members: CountArray  # how many records each entry stands for
    alone: int | None = None  # persons who stand alone, where persons are counted
    exempt: BoolArray | None = None  # the classes that fit everybody

    @classmethod
    def of_records(cls, class_sizes: CountArray, exempt: BoolArray | None = None) -> Crowds:
        return cls(class_sizes, class_sizes, exempt=exempt)

    @classmethod
    def of_persons(
        cls, classes: Classes, persons: pl.Series, missing: Sequence[str] = (), exempt: BoolArray | None = None
    ) -> Crowds:
        """A class hides as many as it has persons. `persons` tells them apart, record by record."""
        alone = _alone(classes, persons, missing, exempt)
        return cls(_persons_per_class(classes, persons, missing), classes.sizes, alone, exempt)

    def profile(self, threshold: float = THRESHOLD) -> RiskProfile:
        return risk_profile(self.sizes, self.exempt, threshold, self.members, self.alone)

    def in_short(self) -> dict[str, float]:
        """The chance of recognising a person who is known to be in the table, in three numbers.

        `highest` is that of the most exposed record, `average` the mean over all records (the marketer's risk),
        `unique` how many stand alone.
        """
        found = self.profile()
        return {"highest": found.highest, "average": found.average, "unique": float(found.unique)}


def _persons_per_class(classes: Classes, persons: pl.Series, missing: Sequence[str]) -> NDArray[np.int64]:
    """(classes,) how many different persons each class has; records without one count together as one person."""
    numbers, distinct = value_numbers(persons, missing)
    return np.bincount(count_values(classes, numbers, len(distinct)).classes, minlength=classes.count)


def _alone(classes: Classes, persons: pl.Series, missing: Sequence[str], exempt: BoolArray | None) -> int:
    """How many persons have a class to themselves; who has several is one person all the same."""
    if exempt is not None and not exempt.all():
        shown = ~exempt[classes.of_record]
        number = np.cumsum(~exempt) - 1
        classes = Classes(number[classes.of_record[shown]], classes.sizes[~exempt])
        persons = persons.filter(pl.Series(shown))
    numbers, distinct = value_numbers(persons, missing)
    found = count_values(classes, numbers, len(distinct))
    alone = np.bincount(found.classes, minlength=classes.count) == 1
    return int(np.unique(found.values[alone[found.classes]]).shape[0])
