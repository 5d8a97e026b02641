"""l-diversity: a group does not give its members' sensitive value away.

A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, ACM TKDD 1(1),
2007 (distinct, entropy and recursive form). The frequency form (the commonest value has at most a share 1/l of the
group) is X. Xiao and Y. Tao, Anatomy, VLDB 2006, and the one that clustering by bisection uses.

Several sensitive columns: one model for each, all enforced together. Every column is then diverse in every group on
its own; someone who already knows one sensitive value of a person may still narrow down the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shoal.models.forms import escape, number_text, read_count, read_number, split, unescape
from shoal.models.histograms import HistogramModel
from shoal.models.rules import HistogramRule, RuleKind

_MACHANAVAJJHALA = "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007"


def _check_l(l: float) -> None:  # noqa: E741
    if not l > 1:
        raise ValueError(f"l must be more than 1, not {number_text(l)}: with l = 1 every group is diverse")


@dataclass(frozen=True)
class LDiversity(HistogramModel):
    """Frequency form: no sensitive value has more than a share 1/l of its group."""

    l: float  # noqa: E741
    column: str
    name: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "no sensitive value is more frequent in a group than 1/l"
    citation: ClassVar[str] = "Xiao, Tao 2006; Machanavajjhala et al. 2007"
    form: ClassVar[str] = "l-diversity:COLUMN:L"
    meaning: ClassVar[str] = "In every class the commonest sensitive value has at most a share 1/l of the records."
    stops: ClassVar[str] = (
        "Guessing the sensitive value of a person who is known to be in a class: the best guess is right with "
        "probability 1/l at most."
    )
    does_not_stop: ClassVar[str] = (
        "Values that are rare in the table but common in a class: the guess got better all the same; different "
        "values that mean the same (three kinds of cancer)."
    )

    def __post_init__(self) -> None:
        _check_l(self.l)

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> LDiversity:
        column, number = parts
        return cls(read_number(number, "l", spec), unescape(column))

    def spec(self) -> str:
        return f"{self.name}:{escape(self.column)}:{number_text(self.l)}"

    def minimal_size(self) -> int:
        return math.ceil(self.l)

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.FREQUENCY, self.column, (1.0 / self.l,))


@dataclass(frozen=True)
class DistinctLDiversity(HistogramModel):
    """Distinct form: a group has at least l different sensitive values."""

    l: int  # noqa: E741
    column: str
    name: ClassVar[str] = "distinct-l"
    title: ClassVar[str] = "a group has at least l different sensitive values"
    citation: ClassVar[str] = _MACHANAVAJJHALA
    form: ClassVar[str] = "distinct-l:COLUMN:L"
    meaning: ClassVar[str] = "Every class has at least l different sensitive values."
    stops: ClassVar[str] = "Classes in which everybody has the same sensitive value."
    does_not_stop: ClassVar[str] = (
        "A class in which nearly everybody has the same value and a few have others: the guess is nearly certain."
    )

    def __post_init__(self) -> None:
        _check_l(self.l)

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> DistinctLDiversity:
        column, number = parts
        return cls(read_count(number, "l", spec), unescape(column))

    def spec(self) -> str:
        return f"{self.name}:{escape(self.column)}:{self.l}"

    def minimal_size(self) -> int:
        return self.l

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.DISTINCT, self.column, (float(self.l),))


@dataclass(frozen=True)
class EntropyLDiversity(HistogramModel):
    """Entropy form: the entropy of the sensitive values of a group is at least log l."""

    l: float  # noqa: E741
    column: str
    name: ClassVar[str] = "entropy-l"
    title: ClassVar[str] = "the entropy of a group's sensitive values is at least log l"
    citation: ClassVar[str] = _MACHANAVAJJHALA
    form: ClassVar[str] = "entropy-l:COLUMN:L"
    meaning: ClassVar[str] = "The entropy of the sensitive values of every class is at least log l."
    stops: ClassVar[str] = "Classes in which few values dominate: it is stricter than distinct-l."
    does_not_stop: ClassVar[str] = (
        "Values that are rare in the table but common in a class: the guess got better all the same. It cannot be "
        "met where the whole table has a dominating value."
    )

    def __post_init__(self) -> None:
        _check_l(self.l)

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> EntropyLDiversity:
        column, number = parts
        return cls(read_number(number, "l", spec), unescape(column))

    def spec(self) -> str:
        return f"{self.name}:{escape(self.column)}:{number_text(self.l)}"

    def minimal_size(self) -> int:
        return math.ceil(self.l)

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.ENTROPY, self.column, (math.log(self.l),))


@dataclass(frozen=True)
class RecursiveCLDiversity(HistogramModel):
    """Recursive form: the commonest value has fewer records than c times those of the l-th commonest and beyond."""

    c: float
    l: int  # noqa: E741
    column: str
    name: ClassVar[str] = "recursive-cl"
    title: ClassVar[str] = "the commonest value is rarer than c times the l-th commonest and all rarer ones together"
    citation: ClassVar[str] = _MACHANAVAJJHALA
    form: ClassVar[str] = "recursive-cl:COLUMN:C,L"
    meaning: ClassVar[str] = (
        "In every class the commonest value is rarer than c times the sum of the l-th commonest and all rarer ones."
    )
    stops: ClassVar[str] = (
        "The commonest value standing out too much, also after an attacker has ruled out l - 2 values."
    )
    does_not_stop: ClassVar[str] = (
        "Values that are rare in the table but common in a class: the guess got better all the same."
    )

    def __post_init__(self) -> None:
        _check_l(self.l)
        if not self.c > 0:
            raise ValueError(f"c must be more than 0, not {number_text(self.c)}")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> RecursiveCLDiversity:
        column, numbers = parts
        c, l = split(numbers, ",")  # noqa: E741
        return cls(read_number(c, "c", spec), read_count(l, "l", spec), unescape(column))

    def spec(self) -> str:
        return f"{self.name}:{escape(self.column)}:{number_text(self.c)},{self.l}"

    def minimal_size(self) -> int:
        return self.l

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.RECURSIVE, self.column, (self.c, float(self.l)))
