"""What the verdicts work on: the released table, its classes, and the extra knowledge that some models need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.forms import DIGEST_MARK, value_digest
from shoal.verification.classes import Classes, ValueCounts, count_values, find_classes, total_counts, value_numbers
from shoal.verification.reading import NOTHING_KNOWN, Knowledge


@dataclass(frozen=True)
class Evidence:
    """A released table, its classes, and what is known besides it.

    `checked` says which records the classes are made of; the others are exempt, but distributions of the whole table
    include them. With `weights` the release is counted: each of its rows stands for so many records.
    """

    release: pl.DataFrame
    quasi: tuple[str, ...]
    classes: Classes
    checked: NDArray[np.bool_]
    known: Knowledge = NOTHING_KNOWN
    weights: NDArray[np.int64] | None = None
    _numbers: dict[str, tuple[NDArray[np.int64], pl.Series]] = field(default_factory=dict)  # several models may
    _counts: dict[str, ValueCounts] = field(default_factory=dict)  # look at one column: what was found is kept

    def column(self, name: str) -> pl.Series:
        hidden = self.known.hidden
        if name in self.release.columns:
            return self.release[name]
        if hidden is not None and name in hidden.columns:
            return hidden[name]
        raise InputError(Problem("missing-column", "the model needs this column", name))

    def numbers(self, name: str) -> tuple[NDArray[np.int64], pl.Series]:
        """A number for the value of every record (all records of the release), and the distinct values.

        Missing is one value, the last, a null.
        """
        if name not in self._numbers:
            self._numbers[name] = value_numbers(self.column(name), self.known.missing)
        return self._numbers[name]

    def classes_over(self, names: Sequence[str]) -> Classes:
        """The classes over some of the quasi-identifiers."""
        if set(names) == set(self.quasi):
            return self.classes
        return find_classes(self.release.filter(pl.Series(self.checked)), names, self._checked_weights)

    @property
    def _checked_weights(self) -> NDArray[np.int64] | None:
        return None if self.weights is None else self.weights[self.checked]

    def counts(self, name: str, classes: Classes | None = None) -> ValueCounts:
        """The histogram of a column in every class; its totals are over all records of the release."""
        if classes is None or classes is self.classes:
            if name not in self._counts:
                self._counts[name] = self._count(name, self.classes)
            return self._counts[name]
        return self._count(name, classes)

    def _count(self, name: str, classes: Classes) -> ValueCounts:
        numbers, distinct = self.numbers(name)
        found = count_values(classes, numbers[self.checked], len(distinct), self._checked_weights)
        return replace(found, totals=total_counts(numbers, len(distinct), self.weights))

    def number_of_value(self, name: str, value: str) -> int:
        """The number of a named value, given as its text or as a digest. Raises InputError if the release lacks it."""
        number = find_value(name, self.numbers(name)[1], value)
        if number < 0:
            message = "the value that a model names does not occur in this column, so nothing can be told about it"
            hint = "values are compared as text, letter by letter; if it is absent indeed, leave the model out"
            raise InputError(Problem("unknown-value", message, name, hint))
        return number


def find_value(column: str, distinct: pl.Series, value: str) -> int:
    """The number of a value among the distinct ones, given as its text or as a digest; -1 if it is not there."""
    texts = distinct.cast(pl.String)
    number = _place(column, texts, value)
    return number if number >= 0 else _place(column, _spelled_as_typed(texts), value)


def _place(column: str, texts: pl.Series, value: str) -> int:
    by_digest = value.startswith(DIGEST_MARK)
    for number, text in enumerate(texts.to_list()):
        if text is not None and value == (value_digest(column, text) if by_digest else text):
            return number
    return -1


def _spelled_as_typed(texts: pl.Series) -> pl.Series:
    """Moments and times of day as a typed column spells them, and so the model; CSV files spell them otherwise."""
    moment = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)"
    texts = texts.str.replace(moment + r"([+-][0-9]{2})([0-9]{2})$", "${1} ${2}${3}:${4}")
    return texts.str.replace(moment + "$", "${1} ${2}").str.replace(r"^([0-9]{2}:[0-9]{2}:[0-9]{2})\.0{9}$", "${1}")


def check_columns(release: pl.DataFrame, hidden: pl.DataFrame | None, needed: Sequence[str]) -> list[Problem]:
    """A problem for every needed column that is neither released nor given besides."""
    known = list(release.columns) + (list(hidden.columns) if hidden is not None else [])
    return [
        Problem("missing-column", "there is no such column in the release", name, did_you_mean(name, known))
        for name in dict.fromkeys(needed)
        if name not in known
    ]
