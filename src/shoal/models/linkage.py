"""Models about who can be linked: several quasi-identifier sets, and (X, Y)-anonymity.

Several sets, each with its own threshold: B. Fung, K. Wang, P. Yu, Anonymizing classification data for privacy
preservation, IEEE TKDE 19(5), 2007. (X, Y)-anonymity: K. Wang, B. Fung, Anonymizing sequential releases, KDD 2006.

Both look at classes over some of the quasi-identifiers. In a release made of groups such a class is a union of
groups, so it is enough that every group is safe; `shoal.safe_groups.several_sets` does better than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Model
from shoal.models.forms import (
    escape,
    join_names,
    optional_name,
    optional_names,
    read_count,
    split_arrows,
    split_names,
    unescape,
)
from shoal.models.histograms import HistogramModel, histogram_deficits
from shoal.models.rules import HistogramRule, RuleKind


@dataclass(frozen=True)
class Qid(Model):
    """Every class over these quasi-identifiers has at least k records (or persons)."""

    quasi: tuple[str, ...]
    k: int
    person: str | None = None
    name: ClassVar[str] = "qid"
    title: ClassVar[str] = "a set of quasi-identifiers with a k of its own; repeat it for several sets"
    citation: ClassVar[str] = "Fung, Wang, Yu 2007"
    form: ClassVar[str] = "qid:COLUMN+COLUMN:K"
    meaning: ClassVar[str] = (
        "The classes over a set of quasi-identifiers have at least k records. Several sets may be given, each "
        "with its own k; a set that another one covers is redundant."
    )
    stops: ClassVar[str] = (
        "Somebody who knows a person's quasi-identifiers and looks for the one record that fits, when no attacker "
        "knows more than one of the sets."
    )
    does_not_stop: ClassVar[str] = "Attackers who know attributes of several sets together."

    def __post_init__(self) -> None:
        object.__setattr__(self, "quasi", tuple(self.quasi))
        if not self.quasi:
            raise ValueError("a set of quasi-identifiers needs at least one column")
        if self.k < 2:
            raise ValueError(f"k must be at least 2, not {self.k}: with k = 1 nobody is hidden")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> Qid:
        names, k, *person = parts
        return cls(split_names(names), read_count(k, "k", spec), optional_name(person))

    def spec(self) -> str:
        person = f":{escape(self.person)}" if self.person is not None else ""
        return f"{self.name}:{join_names(self.quasi)}:{self.k}{person}"

    @property
    def size_only(self) -> bool:
        return self.person is None

    @property
    def counts_only(self) -> bool:
        return True

    def class_columns(self) -> tuple[str, ...]:
        return self.quasi

    def columns(self) -> tuple[str, ...]:
        return () if self.person is None else (self.person,)

    def count_persons(self, person: str) -> Qid:
        return replace(self, person=person)

    def minimal_size(self) -> int:
        return self.k

    def covers(self, other: Qid) -> bool:
        """True if a release that is safe for this set is always safe for the other one."""
        return set(other.quasi) <= set(self.quasi) and other.k <= self.k and other.person == self.person

    def rules(self) -> tuple[HistogramRule, ...]:
        kind = RuleKind.SIZE if self.person is None else RuleKind.DISTINCT
        return (HistogramRule(kind, self.person, (float(self.k),)),)

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        if self.person is not None:
            return histogram_deficits(self.rules()[0], table, groups, count)
        sizes = np.bincount(groups, minlength=count)
        # as decimals: a k may be larger than any integer of numpy
        return np.maximum(0.0, float(self.k) - sizes.astype(np.float64))


def without_covered(models: Sequence[Model]) -> tuple[tuple[Model, ...], tuple[str, ...]]:
    """The models without the `qid` sets that another set covers, and a sentence for each that was left out."""
    kept: list[Model] = []
    said: list[str] = []
    for number, model in enumerate(models):
        by = _covering(model, models, number)
        if by is None:
            kept.append(model)
        else:
            said.append(f"{model.public_spec()} is redundant: {by.public_spec()} covers it")
    return tuple(kept), tuple(said)


def _covering(model: Model, models: Sequence[Model], number: int) -> Model | None:
    if not isinstance(model, Qid):
        return None
    for other_number, other in enumerate(models):
        if other_number == number or not isinstance(other, Qid) or not other.covers(model):
            continue
        if other_number < number or not model.covers(other):  # of two equal sets the first stays
            return other
    return None


@dataclass(frozen=True)
class XYAnonymity(HistogramModel):
    """Every class over X is linked to at least k different values of Y; X is all quasi-identifiers if empty."""

    k: int
    y: str
    x: tuple[str, ...] = ()
    name: ClassVar[str] = "xy-anonymity"
    title: ClassVar[str] = "every group links to at least k different values of a column, e.g. patients"
    citation: ClassVar[str] = "Wang, Fung 2006"
    form: ClassVar[str] = "xy-anonymity:COLUMN:K or xy-anonymity:QUASI+QUASI:COLUMN:K"
    meaning: ClassVar[str] = (
        "Every class over X is linked to at least k different values of Y. With persons as Y, a class has at "
        "least k persons, however many records each has."
    )
    stops: ClassVar[str] = "Singling out a person who has several records in one class."
    does_not_stop: ClassVar[str] = "Learning something that all persons of a class share."

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", tuple(self.x))
        if self.k < 2:
            raise ValueError(f"k must be at least 2, not {self.k}")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> XYAnonymity:
        *x, y, k = split_arrows(parts)
        return cls(read_count(k, "k", spec), unescape(y), optional_names(x))

    def spec(self) -> str:
        x = f"{join_names(self.x)}:" if self.x else ""
        return f"{self.name}:{x}{escape(self.y)}:{self.k}"

    def class_columns(self) -> tuple[str, ...]:
        return self.x

    def columns(self) -> tuple[str, ...]:
        return (self.y,)

    def minimal_size(self) -> int:
        return self.k

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.DISTINCT, self.y, (float(self.k),))
