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
from shoal.models.rules import HistogramRule


@dataclass(frozen=True)
class Model(ABC):
    """One condition on groups."""

    name: ClassVar[str]  # as on the command line: "l-diversity"
    title: ClassVar[str]  # one line for `shoal models`
    citation: ClassVar[str]
    form: ClassVar[str]  # how it is written on the command line
    meaning: ClassVar[str]  # for people who are no privacy experts, in full sentences
    stops: ClassVar[str]  # the attack it is against
    does_not_stop: ClassVar[str]
    monotone: ClassVar[bool] = True
    compares_with_table: ClassVar[bool] = False  # True: a group is held against the distribution of the whole table

    @classmethod
    @abstractmethod
    def parse(cls, parts: list[str], spec: str) -> Model:
        """The model of the parts after its name; ValueError or InputError if they are wrong.

        `spec` is the whole form as messages may show it.
        """

    @abstractmethod
    def spec(self) -> str:
        """The command-line form, e.g. `l-diversity:disease:3`; parsing it gives the model back."""

    def public_spec(self) -> str:
        """The form for certificates and reports: a value of the data that the model names is only a digest."""
        return self.spec()

    @property
    def size_only(self) -> bool:
        """True when a group of `minimal_size` records is always safe, whoever is in it."""
        return False

    def named_values(self) -> tuple[tuple[str, str], ...]:
        """(column, value as text) of every value of the data that the model names."""
        return ()

    def count_persons(self, person: str) -> Model:
        """The same model with its k counting distinct persons instead of records; most models have no k."""
        return self

    def class_columns(self) -> tuple[str, ...]:
        """The quasi-identifiers over whose classes the model judges; none means all of them."""
        return ()

    @property
    def counts_only(self) -> bool:
        """True when a class is safe exactly if it has `minimal_size` records, or persons of the one column it names."""
        return self.size_only

    def columns(self) -> tuple[str, ...]:
        """The columns, other than quasi-identifiers, that the model looks at."""
        return ()

    def rules(self) -> tuple[HistogramRule, ...] | None:
        """What the model demands of histograms, for the kernels; None if it cannot be said that way."""
        return None

    def minimal_size(self) -> int:
        """No group with fewer records than this is ever safe."""
        return 1

    def nearest_possible(self, table: EncodedTable) -> str | None:
        """If the whole table does not meet the model: the nearest setting that it meets, as a sentence.

        Models that are rules on histograms need none: `shoal.models.feasible` tells it from the rule.
        """
        return None

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

    def smallest_class(self, quasi: Sequence[str]) -> int:
        """The fewest records that a class over all quasi-identifiers can have.

        That is less than `k` where a model judges classes over some of them only: they are unions of such classes.
        """
        over_all = [model for model in self.models if not model.class_columns() or {*model.class_columns()} >= {*quasi}]
        return max([1, *(model.minimal_size() for model in over_all)])

    @property
    def size_only(self) -> bool:
        """True when a group of at least `k` records is always safe: only k-anonymity was asked for."""
        return all(model.size_only for model in self.models)

    def count_persons(self, person: str | None) -> Requirement:
        """k counts the distinct values of this column everywhere; None leaves the requirement as it is."""
        if person is None:
            return self
        return Requirement(tuple(model.count_persons(person) for model in self.models))

    def named_values(self) -> tuple[tuple[str, str], ...]:
        return tuple(dict.fromkeys(pair for model in self.models for pair in model.named_values()))

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
