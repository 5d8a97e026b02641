"""What a safe group is: models, and the requirement that joins them.

A model is a frozen dataclass. It declares whether it is monotone (merging two safe groups gives a safe group), the
smallest group it can ever accept, which columns it looks at, and how far given groups are from safe. Algorithms ask
these questions and never test for names. The independent check of released tables lives in `shoal.verify`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable


@dataclass(frozen=True)
class Model(ABC):
    """One condition on groups."""

    name: ClassVar[str]  # as on the command line: "l-diversity"
    title: ClassVar[str]  # one line for `shoal models`
    citation: ClassVar[str]
    monotone: ClassVar[bool] = True

    @abstractmethod
    def spec(self) -> str:
        """The command-line form, e.g. `l-diversity:disease:3`; parsing it gives the model back."""

    def columns(self) -> tuple[str, ...]:
        """The columns, other than quasi-identifiers, that the model looks at."""
        return ()

    def minimal_size(self) -> int:
        """No group with fewer records than this is ever safe."""
        return 1

    @abstractmethod
    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        """(count,) how far each group is from safe: 0 is safe, larger is farther."""


@dataclass(frozen=True)
class Requirement:
    """All models together: a group is safe when it is safe for every one of them."""

    models: tuple[Model, ...]

    @classmethod
    def of(cls, models: Sequence[Model]) -> Requirement:
        return cls(tuple(models))

    @property
    def k(self) -> int:
        """The smallest group size that any safe group can have."""
        return max([1, *(model.minimal_size() for model in self.models)])

    @property
    def size_only(self) -> bool:
        """True when a group of at least `k` records is always safe: only k-anonymity was asked for."""
        return all(model.name == "k-anonymity" for model in self.models)

    @property
    def monotone(self) -> bool:
        return all(model.monotone for model in self.models)

    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column for model in self.models for column in model.columns()))

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        """(count,) the sum over the models of how far each group is from safe; 0 exactly where it is safe."""
        total = np.zeros(count, dtype=np.float64)
        for model in self.models:
            total += model.deficits(table, groups, count)
        return total
