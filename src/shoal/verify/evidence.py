"""What the verdicts work on: the released table, its classes, and the extra knowledge that some models need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.forms import DIGEST_MARK, value_digest
from shoal.verify.classes import Classes, ValueCounts, count_values, find_classes, value_numbers


@dataclass(frozen=True)
class Evidence:
    """A released table, its classes, and what is known besides it.

    `hidden` holds columns that the release does not show but that a model counts (persons); same rows as the
    release. `orders` and `hierarchies` are for the distances of sensitive values. `checked` says which records the
    classes are made of; the others are exempt, but distributions of the whole table include them.
    """

    release: pl.DataFrame
    quasi: tuple[str, ...]
    classes: Classes
    checked: NDArray[np.bool_]
    hidden: pl.DataFrame | None = None
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: pl.DataFrame | None = None
    _numbers: dict[str, tuple[NDArray[np.int64], pl.Series]] = field(default_factory=dict)  # several models may
    _counts: dict[str, ValueCounts] = field(default_factory=dict)  # look at one column: what was found is kept

    def column(self, name: str) -> pl.Series:
        if name in self.release.columns:
            return self.release[name]
        if self.hidden is not None and name in self.hidden.columns:
            return self.hidden[name]
        raise InputError(Problem("missing-column", "the model needs this column", name))

    def numbers(self, name: str) -> tuple[NDArray[np.int64], pl.Series]:
        """A number for the value of every record (all records of the release), and the distinct values."""
        if name not in self._numbers:
            self._numbers[name] = value_numbers(self.column(name))
        return self._numbers[name]

    def classes_over(self, names: Sequence[str]) -> Classes:
        """The classes over some of the quasi-identifiers."""
        if set(names) == set(self.quasi):
            return self.classes
        return find_classes(self.release.filter(pl.Series(self.checked)), names)

    def counts(self, name: str, classes: Classes | None = None) -> ValueCounts:
        """The histogram of a column in every class; its totals are over all records of the release."""
        if classes is None or classes is self.classes:
            if name not in self._counts:
                self._counts[name] = self._count(name, self.classes)
            return self._counts[name]
        return self._count(name, classes)

    def _count(self, name: str, classes: Classes) -> ValueCounts:
        numbers, distinct = self.numbers(name)
        found = count_values(classes, numbers[self.checked], len(distinct))
        return replace(found, totals=np.bincount(numbers, minlength=len(distinct)))

    def number_of_value(self, name: str, value: str) -> int:
        """The number of a named value, given as its text or as a digest; -1 if the release does not have it."""
        _, distinct = self.numbers(name)
        for number, text in enumerate(distinct.cast(pl.String).to_list()):
            known = text if not value.startswith(DIGEST_MARK) or text is None else value_digest(name, text)
            if known == value:
                return number
        return -1


def check_columns(release: pl.DataFrame, hidden: pl.DataFrame | None, needed: Sequence[str]) -> list[Problem]:
    """A problem for every needed column that is neither released nor given besides."""
    known = list(release.columns) + (list(hidden.columns) if hidden is not None else [])
    return [
        Problem("missing-column", "there is no such column in the release", name, did_you_mean(name, known))
        for name in dict.fromkeys(needed)
        if name not in known
    ]
