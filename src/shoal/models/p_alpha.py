"""(p+, alpha)-sensitive k-anonymity: several kinds of sensitive values in a group, and not only the worst kind.

X. Sun, H. Wang, J. Li, T. M. Truta, Enhanced p-sensitive k-anonymity models for privacy preserving data publishing,
Transactions on Data Privacy 1(2), 2008; X. Sun, L. Sun, H. Wang, Extended k-anonymity models against sensitive
attribute disclosure, Computer Communications 34(4), 2011.

Sensitive values belong to categories, from the most to the least sensitive: the groups right below the root of the
column's hierarchy, in its order. The i-th of m categories weighs (i - 1) / (m - 1). A group needs values of p different
categories, and weights that add up to alpha over its records. The k is the k of the job.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Model
from shoal.models.forms import escape, number_text, read_count, read_number, split, unescape
from shoal.models.histograms import histogram_deficits
from shoal.models.rules import HistogramRule, RuleKind


@dataclass(frozen=True)
class PAlpha(Model):
    """A group has values of at least p categories, and their weights add up to at least alpha."""

    p: int
    alpha: float
    column: str
    name: ClassVar[str] = "p-alpha"
    title: ClassVar[str] = "a group has several categories of sensitive values, and not only the most sensitive ones"
    citation: ClassVar[str] = "Sun, Wang, Li, Truta 2008; Sun, Sun, Wang 2011"
    form: ClassVar[str] = "p-alpha:COLUMN:P,ALPHA"
    meaning: ClassVar[str] = (
        "Sensitive values belong to categories, the groups right below the root of the column's hierarchy, the most "
        "sensitive one first. A class has values of at least p categories, and the weights of its values (0 in the "
        "most sensitive category, 1 in the least, evenly in between) add up to at least alpha."
    )
    stops: ClassVar[str] = (
        "Classes in which everybody has something of the same kind, and classes of very sensitive values only."
    )
    does_not_stop: ClassVar[str] = (
        "Values that are rare in the table but common in a class: one record of each of p categories is enough, and "
        "more records always weigh more."
    )

    def __post_init__(self) -> None:
        if self.p < 1:
            raise ValueError(f"p must be at least 1, not {self.p}")
        if not 0 <= self.alpha < math.inf:
            raise ValueError(f"alpha must be a number of at least 0, not {number_text(self.alpha)}")
        if self.p == 1 and self.alpha == 0:
            raise ValueError("with p = 1 and alpha = 0 every group is safe")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> PAlpha:
        column, numbers = parts
        p, alpha = split(numbers, ",")
        return cls(read_count(p, "p", spec), read_number(alpha, "alpha", spec), unescape(column))

    def spec(self) -> str:
        return f"{self.name}:{escape(self.column)}:{self.p},{number_text(self.alpha)}"

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def minimal_size(self) -> int:
        return max(1, self.p, math.ceil(self.alpha - 1e-9))  # no record weighs more than 1

    def rules(self) -> tuple[HistogramRule, ...]:
        return (
            HistogramRule(RuleKind.CATEGORIES, self.column, (float(self.p),)),
            HistogramRule(RuleKind.WEIGHT, self.column, (self.alpha,)),
        )

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        parts = [histogram_deficits(rule, table, groups, count) for rule in self.rules()]
        return np.asarray(parts[0] + parts[1])
