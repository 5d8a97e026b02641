"""Bounds on how sure one may be of a sensitive value: (alpha, k)-anonymity and confidence bounding.

R. Wong, J. Li, A. Fu, K. Wang, (alpha, k)-anonymity, KDD 2006. K. Wang, B. Fung, P. Yu, Handicapping attacker's
confidence: an alternative to k-anonymization, Knowledge and Information Systems 11(3), 2007.

The k of (alpha, k) is the k of the job; the model adds the alpha. A value that a model names is data: certificates
carry a digest of it instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shoal.models.forms import (
    escape,
    join_names,
    number_text,
    optional_names,
    read_number,
    split_arrows,
    split_value,
    value_digest,
)
from shoal.models.histograms import HistogramModel
from shoal.models.rules import HistogramRule, RuleKind


def _check_share(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise ValueError(f"{name} must be above 0 and below 1, not {number_text(share)}")


@dataclass(frozen=True)
class AlphaK(HistogramModel):
    """No sensitive value (or only the named one) has more than a share alpha of its group."""

    alpha: float
    column: str
    value: str | None = None
    name: ClassVar[str] = "alpha-k"
    title: ClassVar[str] = "no sensitive value, or not a given one, is more frequent in a group than alpha"
    citation: ClassVar[str] = "Wong, Li, Fu, Wang 2006"
    form: ClassVar[str] = "alpha-k:COLUMN:ALPHA or alpha-k:COLUMN=VALUE:ALPHA"
    meaning: ClassVar[str] = (
        "No sensitive value has more than a share alpha of its class, or only a named value is bounded. The k "
        "comes from k-anonymity."
    )
    stops: ClassVar[str] = (
        "Guessing the sensitive value of a person who is known to be in a class, or guessing that the person has "
        "the named value."
    )
    does_not_stop: ClassVar[str] = (
        "Values that are rare in the table but common in a class: the guess got better all the same, if it stays "
        "below alpha; values that are not named."
    )

    def __post_init__(self) -> None:
        _check_share("alpha", self.alpha)

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> AlphaK:
        column, alpha = parts
        name, value = split_value(column)
        return cls(read_number(alpha, "alpha", spec), name, value)

    def _spec(self, value: str | None) -> str:
        named = "" if value is None else f"={escape(value)}"
        return f"{self.name}:{escape(self.column)}{named}:{number_text(self.alpha)}"

    def spec(self) -> str:
        return self._spec(self.value)

    def public_spec(self) -> str:
        return self._spec(None if self.value is None else value_digest(self.column, self.value))

    def named_values(self) -> tuple[tuple[str, str], ...]:
        return () if self.value is None else ((self.column, self.value),)

    def minimal_size(self) -> int:
        return 1 if self.value is not None else math.ceil(1 / self.alpha - 1e-9)

    def rule(self) -> HistogramRule:
        if self.value is None:
            return HistogramRule(RuleKind.FREQUENCY, self.column, (self.alpha,))
        return HistogramRule(RuleKind.ONE_VALUE, self.column, (self.alpha,), self.value)


@dataclass(frozen=True)
class ConfidenceBound(HistogramModel):
    """Who knows the values of a set of quasi-identifiers infers the named value with at most this confidence.

    The set is all quasi-identifiers unless `quasi` names some of them. Groups are bounded as a whole, and every
    class over fewer quasi-identifiers is a union of groups, so it is bounded as well.
    """

    bound: float
    column: str
    value: str
    quasi: tuple[str, ...] = ()
    name: ClassVar[str] = "confidence"
    title: ClassVar[str] = "quasi-identifiers imply a given sensitive value with at most a given confidence"
    citation: ClassVar[str] = "Wang, Fung, Yu 2007"
    form: ClassVar[str] = "confidence:COLUMN=VALUE:BOUND or confidence:QUASI+QUASI:COLUMN=VALUE:BOUND"
    meaning: ClassVar[str] = (
        "Whoever knows some quasi-identifiers of a person infers a named value with at most the given confidence."
    )
    stops: ClassVar[str] = "The inference of one embarrassing value, without protecting values that nobody minds."
    does_not_stop: ClassVar[str] = "Inferring that a person does not have the value; values that are not named."

    def __post_init__(self) -> None:
        _check_share("the confidence", self.bound)

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> ConfidenceBound:
        *quasi, column, bound = split_arrows(parts)
        name, value = split_value(column)
        if value is None:
            raise ValueError("it names no value")
        return cls(read_number(bound, "the confidence", spec), name, value, optional_names(quasi))

    def _spec(self, value: str) -> str:
        quasi = f"{join_names(self.quasi)}:" if self.quasi else ""
        return f"{self.name}:{quasi}{escape(self.column)}={escape(value)}:{number_text(self.bound)}"

    def spec(self) -> str:
        return self._spec(self.value)

    def public_spec(self) -> str:
        return self._spec(value_digest(self.column, self.value))

    def class_columns(self) -> tuple[str, ...]:
        return self.quasi

    def named_values(self) -> tuple[tuple[str, str], ...]:
        return ((self.column, self.value),)

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.ONE_VALUE, self.column, (self.bound,), self.value)
