"""A condition for the search: everybody finds enough company among the records that could be from the class before.

Somebody was in class g of an earlier release and is in class h of the next one. By the closed form (`together.py`) at
most as many records of a value can go from g to h as both have. So h must have, of every value that links records, as
many records as each class of before asks for that has a record in h: all of its records where it has exactly k, and k
of them, the commonest values first, where it has more. A record carries what its own classes of before ask for, per
value, as a *need*; a group is safe if of every value it has as many records as the largest need says.

The closed form is only an upper bound of what any world sends, and classes that merely could hold a record of h count
too. So what is found is checked exactly, and needs are raised where that fails (`pipeline/search_release.py`).
The condition is monotone: of two safe groups together each value is as frequent as in either, and the needs are those
of one of them. The compiled search knows it as one rule per value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedColumn, EncodedTable
from shoal.models.base import Model
from shoal.models.histograms import histogram_deficits
from shoal.models.rules import HistogramRule, RuleKind

LINK_COLUMN = "what links records"
NEED_COLUMN = "need of value {}"


@dataclass(frozen=True)
class Company(Model):
    """As many records of each of the values as the neediest record of the group asks for."""

    values: int
    name: ClassVar[str] = "company"
    title: ClassVar[str] = "enough records that could be those of the class before"
    citation: ClassVar[str] = "see docs/several_releases.md"
    form: ClassVar[str] = "made by runs with earlier releases"
    meaning: ClassVar[str] = "A class has as many records of each linking value as earlier classes of its records ask."
    stops: ClassVar[str] = "Joining two releases whose records are told apart by what is published unchanged."
    does_not_stop: ClassVar[str] = "What one release alone gives away; that is for the other models."

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> Company:
        raise ValueError("it has no form of its own")

    def spec(self) -> str:
        return self.name

    def rules(self) -> tuple[HistogramRule, ...]:
        return tuple(
            HistogramRule(RuleKind.NEEDED, NEED_COLUMN.format(value), (float(value),), counted=LINK_COLUMN)
            for value in range(self.values)
        )

    def columns(self) -> tuple[str, ...]:
        return (LINK_COLUMN, *(NEED_COLUMN.format(value) for value in range(self.values)))

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        total = np.zeros(count)
        for rule in self.rules():
            total += histogram_deficits(rule, table, groups, count)
        return total


def needs_of_classes(histogram: NDArray[np.int64], k: int) -> NDArray[np.int32]:
    """(classes, values) what every class asks for, from how often it has each value: k records, commonest first."""
    order = np.argsort(-histogram, axis=1, kind="stable")
    ranked = np.take_along_axis(histogram, order, axis=1)
    before = np.cumsum(ranked, axis=1) - ranked
    asked = np.clip(k - before, 0, ranked)
    needs = np.empty(asked.shape, dtype=np.int32)
    np.put_along_axis(needs, order, asked.astype(np.int32), axis=1)
    return needs


def with_needs(table: EncodedTable, links: NDArray[np.int32], needs: NDArray[np.int32]) -> EncodedTable:
    """The table with the columns that the condition looks at; `needs` is (records, values)."""
    columns: dict[str, EncodedColumn] = {LINK_COLUMN: EncodedColumn(LINK_COLUMN, links, needs.shape[1])}
    for value in range(needs.shape[1]):
        name, most = NEED_COLUMN.format(value), int(needs[:, value].max(initial=0))
        columns[name] = EncodedColumn(name, np.ascontiguousarray(needs[:, value]), most + 1)
    both: Mapping[str, EncodedColumn] = {**table.columns, **columns}
    return replace(table, columns=both)
