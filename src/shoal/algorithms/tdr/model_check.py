"""Models that look at sensitive values: would a refinement leave every group safe?

Sizes are kept by counting; any other model (l-diversity, confidence bounds, closeness) is asked itself, about the
groups that the best refinement would make, just before it is done. A model for which the union of safe groups is
safe never allows later what it refused once: an unsafe group cannot be cut into safe ones. So a refused refinement is
dropped for good. With other models this only means that less is refined than could be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.tdr.cut_values import CutValues
from shoal.algorithms.tdr.qid_groups import QidGroups
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import Problem, RequirementError
from shoal.models.base import Model, Requirement


@dataclass(frozen=True)
class ModelCheck:
    """Asks the models about the groups over all attributes."""

    table: EncodedTable
    requirement: Requirement

    @classmethod
    def of(cls, table: EncodedTable, models: tuple[Model, ...]) -> ModelCheck:
        return cls(table, Requirement(models))

    def check_whole_table(self) -> None:
        """The most masked release is one group: if it is not safe, nothing is."""
        one_group = np.zeros(self.table.records, dtype=np.int32)
        problems = [
            Problem("cannot-be-met", f"{model.public_spec()} does not even hold for the table as a whole")
            for model in self.requirement.models
            if model.deficits(self.table, one_group, 1)[0] > 0
        ]
        if problems:
            raise RequirementError(problems)

    def allows(self, candidate: int, values: CutValues, groups: QidGroups) -> bool:
        """True if every group that the refinement makes is safe. Reads every record once."""
        attribute = int(values.attribute[candidate])
        refined, slots, slot_count = _parts(candidate, values)
        column = self.table.codes[attribute]
        touched = (values.value_of_code[values.codes_of(attribute)] == refined)[column]
        keys = groups.group_of_row().astype(np.int64) * slot_count + slots[column]
        used = np.bincount(keys[touched], minlength=groups.count * slot_count) > 0
        numbers = np.cumsum(used) - 1
        count = int(used.sum())
        new_groups = np.where(touched, numbers[np.where(touched, keys, 0)], count).astype(np.int32)
        deficits = self.requirement.deficits(self.table, new_groups[self.table.row_of_record], count + 1)
        return not bool((deficits[:count] > 0).any())


def _parts(candidate: int, values: CutValues) -> tuple[int, NDArray[np.int64], int]:
    """The cut value that a candidate refines, the part that each code goes to, and how many parts there are."""
    attribute = int(values.attribute[candidate])
    codes = values.codes_of(attribute)
    if not values.flat[attribute]:
        return candidate, values.slot_of_code[codes].astype(np.int64), int(values.slot_counts[candidate])
    slots = np.zeros(codes.stop - codes.start, dtype=np.int64)
    slots[values.low[candidate]] = 1
    return int(values.roots[attribute]), slots, 2
