"""Relative bounds on what a group teaches about its sensitive values: beta-likeness and delta-disclosure privacy.

J. Cao, P. Karras, Publishing microdata with a robust privacy guarantee, VLDB 2012 (beta-likeness). J. Brickell,
V. Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized data publishing, KDD 2008
(delta-disclosure).

With p the share of a value in the table and q its share in a group: beta-likeness bounds the relative gain
(q - p) / p of every value that became more frequent, the enhanced form by min(beta, -ln p); delta-disclosure wants
|ln(q / p)| < delta for every value of the table, so every value must occur in every group. Checking only the values
that occur in a group, as some tools do, is not monotone and is not the definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.models.forms import escape, number_text, read_number, unescape
from shoal.models.histograms import HistogramModel
from shoal.models.rules import HistogramRule, RuleKind


@dataclass(frozen=True)
class BetaLikeness(HistogramModel):
    """No sensitive value gains more than a factor 1 + beta over its share in the table."""

    beta: float
    column: str
    enhanced: bool = False
    name: ClassVar[str] = "beta-likeness"
    title: ClassVar[str] = "no sensitive value is more than 1 + beta times as frequent in a group as in the table"
    citation: ClassVar[str] = "Cao, Karras 2012"
    form: ClassVar[str] = "beta-likeness:COLUMN:B, with :enhanced for the enhanced form"
    meaning: ClassVar[str] = (
        "No sensitive value is more than 1 + beta times as frequent in a class as in the table; the enhanced form "
        "bounds common values more tightly."
    )
    stops: ClassVar[str] = "Learning that a rare value is much likelier for a person than for others."
    does_not_stop: ClassVar[str] = "Learning that a value is less likely; singling out a record (add k-anonymity)."
    compares_with_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise ValueError(f"beta must be more than 0, not {number_text(self.beta)}")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> BetaLikeness:
        column, beta, *form = parts
        if form not in ([], ["basic"], ["enhanced"]):
            raise ValueError("the form is basic or enhanced")
        return cls(read_number(beta, "beta", spec), unescape(column), form == ["enhanced"])

    def spec(self) -> str:
        enhanced = ":enhanced" if self.enhanced else ""
        return f"{self.name}:{escape(self.column)}:{number_text(self.beta)}{enhanced}"

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.BETA, self.column, (self.beta, float(self.enhanced)))


@dataclass(frozen=True)
class DeltaDisclosure(HistogramModel):
    """Every sensitive value is within a factor exp(delta) as frequent in a group as in the table."""

    delta: float
    column: str
    name: ClassVar[str] = "delta-disclosure"
    title: ClassVar[str] = "every sensitive value is about as frequent in a group as in the table, within exp(delta)"
    citation: ClassVar[str] = "Brickell, Shmatikov 2008"
    form: ClassVar[str] = "delta-disclosure:COLUMN:D"
    meaning: ClassVar[str] = (
        "Every sensitive value of the table occurs in every class, about as often as in the table: the logarithm "
        "of the ratio is below delta."
    )
    stops: ClassVar[str] = (
        "Learning that a value is likelier, or less likely, for the members of a class; every value stays possible."
    )
    does_not_stop: ClassVar[str] = (
        "Singling out a record (add k-anonymity). It costs much: a rare value must be in every class."
    )
    compares_with_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ValueError(f"delta must be more than 0, not {number_text(self.delta)}")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> DeltaDisclosure:
        column, delta = parts
        return cls(read_number(delta, "delta", spec), unescape(column))

    def spec(self) -> str:
        return f"{self.name}:{escape(self.column)}:{number_text(self.delta)}"

    def rule(self) -> HistogramRule:
        return HistogramRule(RuleKind.DELTA, self.column, (self.delta,))
