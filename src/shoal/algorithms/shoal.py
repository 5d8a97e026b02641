"""Shoal: groups by greedy growth, refined by annealing and by rebuilding neighbouring groups.

Steps
1. Equal rows are one; every record is an item that can move on its own.
2. A first grouping is grown record by record in blocks of the table.
3. Rounds: the groups are cut into blocks of neighbours, each time differently; inside a block single records move
   and change places while the temperature falls, and small sets of neighbouring groups are dissolved and rebuilt.

Effort counts steps, not seconds: the same table, parameters and seed give the same groups on any machine and with
any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.flagship.construct import grown_groups
from shoal.algorithms.flagship.problem import make_problem, record_groups
from shoal.algorithms.flagship.refine import Round, refine
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import Problem, RequirementError
from shoal.models.base import Requirement

_EFFORTS = {"low": 0.25, "default": 1.0, "high": 15.0}


@dataclass(frozen=True, kw_only=True)
class Shoal(Algorithm):
    """The flagship. `effort` is low, default, high or a positive number (1 is default)."""

    effort: str | float | int = "default"
    objective: str = "gcp"
    name: ClassVar[str] = "shoal"
    title: ClassVar[str] = "greedy growth, then annealing and rebuilding: the least loss"
    citation: ClassVar[str] = "this project"

    def __post_init__(self) -> None:
        if isinstance(self.effort, str) and self.effort not in _EFFORTS:
            raise ValueError("effort must be low, default, high or a positive number")
        if not isinstance(self.effort, str) and not self.effort > 0:
            raise ValueError("effort must be low, default, high or a positive number")
        if self.objective != "gcp":
            raise ValueError("objective must be gcp")

    @property
    def steps(self) -> float:
        """The effort as a number."""
        return _EFFORTS[self.effort] if isinstance(self.effort, str) else float(self.effort)

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        if table.records < requirement.k:
            message = f"the table has {table.records} records, fewer than a group needs ({requirement.k})"
            raise RequirementError(Problem("too-few-records", message))
        problem = make_problem(table, requirement.k)
        group = grown_groups(problem, context, 8000)
        rounds = 4
        for number in range(rounds):
            plan = Round(2000, 0, 0.02, 0.01, 0.0, 20 * self.steps, 0.0)
            group, energy = refine(problem, group, plan, context, number)
            context.report((number + 1) / rounds, loss=energy / problem.scale)
        return Clustering(record_groups(problem, group, table.row_of_record))
