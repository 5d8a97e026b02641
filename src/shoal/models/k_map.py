"""k-map: every released record could be any of at least k records of a population table.

L. Sweeney, k-anonymity: a model for protecting privacy, 2002. The release may have classes below k, as long as the
population that it was drawn from has at least k persons whose values fit the released ones. The population table has
the same quasi-identifiers and stays unpublished; it is an assumption about what an attacker can know. A row of it is
a person, unless it has the person column of the job: then the different persons are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.errors import InputError, Problem
from shoal.models.base import Model
from shoal.models.forms import escape, optional_name, read_count


@dataclass(frozen=True)
class KMap(Model):
    """The released values of every group fit at least k records of the population."""

    k: int
    person: str | None = None  # a column of the population table: different persons are counted, not rows
    name: ClassVar[str] = "k-map"
    title: ClassVar[str] = "every record fits at least k records of a population table"
    citation: ClassVar[str] = "Sweeney 2002"
    form: ClassVar[str] = "k-map:K"
    meaning: ClassVar[str] = (
        "Every released record fits at least k records of a population table, which stays unpublished."
    )
    stops: ClassVar[str] = (
        "Linking a record to one person of the population, when the attacker does not know who is in the table."
    )
    does_not_stop: ClassVar[str] = (
        "Attackers who know that a person is in the table; attackers with a better population table."
    )

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError(f"k must be at least 2, not {self.k}: with k = 1 nobody is hidden")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> KMap:
        k, *person = parts
        return cls(read_count(k, "k", spec), optional_name(person))

    def spec(self) -> str:
        return f"{self.name}:{self.k}" + (f":{escape(self.person)}" if self.person is not None else "")

    def count_persons(self, person: str) -> KMap:
        return replace(self, person=person)

    def nearest_possible(self, table: EncodedTable) -> str:
        people = table.population.shape[1] if table.population is not None else 0
        near = replace(self, k=max(2, min(self.k, people + 1)))  # a k beyond all people would be rounded
        missing = int(near.deficits(table, np.zeros(table.records, dtype=np.int32), 1)[0])
        return f"the largest k that can be met is {near.k - missing}"

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        """Counting stops at k for every group; groups that fit nearly everybody stop at once."""
        from shoal.models.kernels.population import count_fitting  # the compiler loads only when it is needed

        if table.population is None:
            raise InputError(Problem("missing-population", "k-map needs a population table"))
        owners = np.arange(table.population.shape[1], dtype=np.int32)
        if self.person is not None and table.population_owners is not None:
            owners = table.population_owners
        starts, members = _members(groups, count)
        found = np.zeros(count, dtype=np.int64)
        count_fitting(
            table.population,
            owners,
            table.record_codes,
            starts,
            members,
            *_released_ranges(table, groups, count),
            np.array([int(attribute.kind) for attribute in table.attributes], dtype=np.int32),
            int(Kind.FLAT),
            np.cumsum([0, *(attribute.size for attribute in table.attributes)], dtype=np.int64),
            min(self.k, owners.shape[0] + 1),  # more than all are never found, and a kernel takes no larger number
            found,
        )
        missing = np.maximum(0.0, float(self.k) - found.astype(np.float64))
        missing[np.diff(starts) == 0] = 0.0
        return missing


def _released_ranges(
    table: EncodedTable, groups: NDArray[np.int32], count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The first and last code that fits each group: of a tree, all leaves under the common ancestor."""
    low = np.full((table.width, count), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full((table.width, count), -1, dtype=np.int32)
    for number, attribute in enumerate(table.attributes):
        np.minimum.at(low[number], groups, table.record_codes[number])
        np.maximum.at(high[number], groups, table.record_codes[number])
        empty = high[number] < 0
        low[number, empty], high[number, empty] = 0, 0  # a number that no record has; it is told to be safe
        low[number], high[number] = _fitting_codes(attribute, low[number], high[number])
    return low, high


def _fitting_codes(
    attribute: EncodedAttribute, low: NDArray[np.int32], high: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(groups,) the ends of what fits the released value of groups with these lowest and highest codes."""
    if attribute.kind is Kind.TREE:
        return _leaves_under(attribute.ancestors, low, high)
    if attribute.missing_code >= 0 and attribute.kind is Kind.INTERVAL:
        mixed = (high == attribute.missing_code) & (low != attribute.missing_code)
        return np.where(mixed, np.int32(0), low), high  # missing and present together are released as suppressed
    return low, high


def _leaves_under(
    ancestors: NDArray[np.int32], low: NDArray[np.int32], high: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    lowest, highest = low.copy(), high.copy()
    open_sets = np.ones(low.shape[0], dtype=np.bool_)
    for level in range(ancestors.shape[0]):
        line = ancestors[level]
        meet = open_sets & (line[low] == line[high])
        changes = np.flatnonzero(line[1:] != line[:-1]) + 1
        begins = np.concatenate([[0], changes])
        ends = np.concatenate([changes, [line.shape[0]]]) - 1
        run = np.searchsorted(begins, low[meet], side="right") - 1
        lowest[meet], highest[meet] = begins[run], ends[run]
        open_sets &= ~meet
    return lowest, highest


def _members(groups: NDArray[np.int32], count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    order = np.argsort(groups, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=count))]).astype(np.int64)
    return starts, order
