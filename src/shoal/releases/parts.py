"""A condition for the search: whoever looked the same before must find enough of the same people here too.

An attacker who can tell which record of one release is which of another one sees the *parts* of a class: its records
that were in one class before. So every part has to be safe by itself. The column tells where everybody was (one more
value for newcomers); it is never released. Algorithms meet this model like any other one: it says how far groups are
from safe. It is monotone if the models inside are: parts of merged groups are parts, or merged parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Model, Requirement


@dataclass(frozen=True)
class SafeParts(Model):
    """Every part of a group, the records with one value of the column, meets all the models inside."""

    inside: Requirement
    column: str
    name: ClassVar[str] = "safe-parts"
    title: ClassVar[str] = "who was in one class before is safe in every class now"
    citation: ClassVar[str] = "see docs/several_releases.md"
    form: ClassVar[str] = "made by runs with earlier releases"
    meaning: ClassVar[str] = "The records of a class that were in one class of the earlier releases are safe alone."
    stops: ClassVar[str] = "Joining releases whose records can be told to be of the same person."
    does_not_stop: ClassVar[str] = "What one release alone gives away; that is for the other models."

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> SafeParts:
        raise ValueError("it has no form of its own")

    def spec(self) -> str:
        return self.name

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        return self.inside.monotone

    def minimal_size(self) -> int:
        return self.inside.k

    def columns(self) -> tuple[str, ...]:
        return (self.column, *self.inside.columns())

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        column = table.columns[self.column]
        keys = groups.astype(np.int64) * column.size + column.codes
        cells, cell_of_record = np.unique(keys, return_inverse=True)
        missing = self.inside.deficits(table, cell_of_record.astype(np.int32), cells.shape[0])
        return np.bincount(cells // column.size, weights=missing, minlength=count).astype(np.float64)
