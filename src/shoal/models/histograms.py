"""Models that look only at how often each value of one column occurs in a group.

Such a model is a rule: a kind that the kernels know, a column, and a few numbers. `shoal.models.safety` turns the
rules of a requirement into arrays; `shoal.kernels.safety` says from a histogram how far a group is from safe.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Model
from shoal.models.rules import HistogramRule


@dataclass(frozen=True)
class HistogramModel(Model):
    """A model that is one rule."""

    @abstractmethod
    def rule(self) -> HistogramRule: ...

    def rules(self) -> tuple[HistogramRule, ...]:
        return (self.rule(),)

    def columns(self) -> tuple[str, ...]:
        column = self.rule().column
        return () if column is None else (column,)

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        return histogram_deficits(self.rule(), table, groups, count)


def histogram_deficits(
    rule: HistogramRule, table: EncodedTable, groups: NDArray[np.int32], count: int
) -> NDArray[np.float64]:
    """(count,) how far each group is from what one rule demands."""
    from shoal.models.safety import bind_rules, deficits_of_groups  # that module needs the rules of this one

    return deficits_of_groups(bind_rules((rule,), table), groups, count)
