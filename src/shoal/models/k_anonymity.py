"""k-anonymity: every record shares its released quasi-identifiers with at least k - 1 others.

L. Sweeney, k-anonymity: a model for protecting privacy, Int. J. Uncertainty, Fuzziness and Knowledge-Based
Systems 10(5), 2002. P. Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001.

When a person can have several records, k records may be one person: with `person` the model counts the distinct
values of that column instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Model
from shoal.models.forms import escape, optional_name, read_count
from shoal.models.histograms import histogram_deficits
from shoal.models.rules import HistogramRule, RuleKind


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every group has at least k records, or k persons if a person column is named."""

    k: int
    person: str | None = None
    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "every record shares its quasi-identifiers with at least k - 1 others"
    citation: ClassVar[str] = "Samarati 2001; Sweeney 2002"
    form: ClassVar[str] = "k-anonymity:K"
    meaning: ClassVar[str] = (
        "Every record has the same released quasi-identifiers as at least k - 1 others. With a person column, as "
        "the records of at least k - 1 other persons."
    )
    stops: ClassVar[str] = (
        "Somebody who knows a person's quasi-identifiers and looks for the one record that fits: at least k fit."
    )
    does_not_stop: ClassVar[str] = (
        "Learning the sensitive value when all k have the same one; several releases of the same table compared "
        "with each other; several records of one person, unless persons are counted."
    )

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError(f"k must be at least 2, not {self.k}: with k = 1 nobody is hidden")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> KAnonymity:
        k, *person = parts
        return cls(read_count(k, "k", spec), optional_name(person))

    def spec(self) -> str:
        return f"k-anonymity:{self.k}" + (f":{escape(self.person)}" if self.person is not None else "")

    @property
    def size_only(self) -> bool:
        return self.person is None

    @property
    def counts_only(self) -> bool:
        return True

    def columns(self) -> tuple[str, ...]:
        return () if self.person is None else (self.person,)

    def count_persons(self, person: str) -> KAnonymity:
        return replace(self, person=person)

    def minimal_size(self) -> int:
        return self.k

    def rules(self) -> tuple[HistogramRule, ...]:
        kind = RuleKind.SIZE if self.person is None else RuleKind.DISTINCT
        return (HistogramRule(kind, self.person, (float(self.k),)),)

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        if self.person is not None:
            return histogram_deficits(self.rules()[0], table, groups, count)
        sizes = np.bincount(groups, minlength=count)
        # as decimals: a k may be larger than any integer of numpy
        return np.maximum(0.0, float(self.k) - sizes.astype(np.float64))


def asked_k(models: Iterable[Model]) -> int | None:
    """The k that was asked for: the largest of all k-anonymity; None if there is none."""
    return max((model.k for model in models if isinstance(model, KAnonymity)), default=None)
