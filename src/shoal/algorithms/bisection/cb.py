"""CB: clustering by repeated bisection, with its l-diversity.

X. He, H. Chen, Y. Chen, Y. Dong, P. Wang, Z. Huang, Clustering-based k-anonymity, PAKDD 2012.

Steps. Start with all records in one group. A group of 2k records or more is split in two, `rounds` times: two centres
(first two random records, later the means of the last halves), the records in random order, each to the half where it
raises the loss less, to the smaller one on a tie; then the smaller half is topped up to k records. The split of least
loss is kept. Without further models every group ends with k to 2k - 1 records.

The paper can be read in three ways.
- `join="total"`, the paper's text: the centres are put into the halves, each record joins the half that loses less in
  total once it has the record, and the centres are taken out at the end.
- `join="centres"`, the paper's pseudo-code: by the loss of the record with either centre alone; ten times faster, with
  twice the loss on Adult.
- `join="increase"`, ours and the default (also called "groups"): as the text, but the half whose total loss the record
  raises less. It loses least of the three.

l-diversity (the commonest sensitive value has at most 1/l of its group): a split counts only if both halves are
diverse; what cannot be split so is ordered by sensitive value and dealt in turn to as many groups as stay diverse
with at least k records. A table whose commonest value is more frequent than 1/l is refused: nothing can be done.

Cost. O(rounds n m log n) expected. Memory is linear. Large groups are split one after another, the parts below them
on all threads; every node has its own random stream.

Deviations and choices. Means are over a global order of the values, as in the paper: numbers by size, categories in
the order of their hierarchy, else in that of the text; so are distances with `join="centres"`. Otherwise the loss is
that of what is released: ranges for numbers, the common ancestor for categories with a hierarchy, the set for others
(the paper releases ranges throughout). The half that is too small gets the records that lose least by the move. Rounds
that can only repeat the last one are skipped. Groups of more than 16,384 records are shuffled once, and each round
begins at another place of that order. The paper deals into floor(|G| / l) groups; with k above l groups of l
records would be too small, so fewer are made, as many as keep k records and l-diversity. Several l-diverse columns
are all kept; models of other kinds are left to the repair that follows every algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.bisection.kernels.cb import CENTRES, INCREASE, TOTAL, bisect_groups, deal_round_robin
from shoal.algorithms.bisection.kernels.split_score import TINY
from shoal.algorithms.bisection.kernels.split_work import Diversity, make_work
from shoal.algorithms.bisection.repeated_splits import split_records
from shoal.encode.encoded_table import EncodedTable
from shoal.encode.geometry import table_geometry
from shoal.errors import Problem, RequirementError
from shoal.models.base import Requirement
from shoal.models.rules import HistogramRule, RuleKind

JOINS = {"increase": INCREASE, "groups": INCREASE, "total": TOTAL, "centres": CENTRES}


@dataclass(frozen=True, kw_only=True)
class Cb(Algorithm):
    """Repeated bisection around two centres."""

    rounds: int = 15
    join: str = "increase"  # a record joins by the increase of a half's loss, by its total, or by the centres alone
    name: ClassVar[str] = "cb"
    title: ClassVar[str] = "repeated bisection around two centres, with l-diversity"
    citation: ClassVar[str] = "He, Chen, Chen, Dong, Wang, Huang 2012"

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, not {self.rounds}")
        if self.join not in JOINS:
            raise ValueError(f"join must be increase, total or centres, not '{self.join}'")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        rules = frequency_rules(requirement)
        check_possible(table, rules)
        diversity = make_diversity(table, rules)
        order, starts = self._split(table, requirement.k, diversity, context)
        groups = np.empty(table.records, dtype=np.int32)
        if rules:
            order = _by_sensitive_value(order, starts, diversity)
            deal_round_robin(diversity, order, starts, requirement.k, int(diversity.sizes.max()), groups)
        else:
            groups[order] = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
        return Clustering(groups)

    def _split(
        self, table: EncodedTable, k: int, diversity: Diversity, context: Context
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The records group by group, and where each group starts."""
        geometry, codes = table_geometry(table), table.record_codes
        largest = int(max(np.diff(geometry.code_offsets).max(), diversity.sizes.max(initial=1)))

        def bisect(order: Any, begin: int, end: int, seed: np.uint64, once: bool, last: Any, seeds: Any) -> int:
            work = make_work(geometry, end - begin, k, largest)
            how = (k, self.rounds, JOINS[self.join], once, diversity, work, last, seeds)
            return int(bisect_groups(geometry, codes, order, begin, end, seed, *how))

        return split_records(table.records, int(context.random().integers(2**63)), bisect, context)


def frequency_rules(requirement: Requirement) -> list[HistogramRule]:
    """The rules of the models that bound the share of the commonest value."""
    found = [rule for model in requirement.models for rule in model.rules() or ()]
    return [rule for rule in dict.fromkeys(found) if rule.kind is RuleKind.FREQUENCY]


def check_possible(table: EncodedTable, rules: list[HistogramRule]) -> None:
    """A RequirementError naming every column whose commonest value is too frequent in the whole table."""
    problems = []
    for rule in rules:
        column = table.columns[str(rule.column)]
        commonest = int(np.bincount(column.codes).max(initial=0))
        if commonest > rule.numbers[0] * table.records + TINY:
            message = (
                f"its commonest value has {commonest} of {table.records} records, more than the share "
                f"{rule.numbers[0]:.6g} that l-diversity allows: no grouping of this table can be l-diverse"
            )
            problems.append(Problem("not-diverse", message, column.name, "lower l, or leave records out"))
    if problems:
        raise RequirementError(problems)


def make_diversity(table: EncodedTable, rules: list[HistogramRule]) -> Diversity:
    """The rules as arrays for the kernels."""
    columns = [table.columns[str(rule.column)] for rule in rules]
    codes = np.empty((len(columns), table.records), dtype=np.int32)
    for number, column in enumerate(columns):
        codes[number] = column.codes
    return Diversity(
        codes=codes,
        shares=np.array([rule.numbers[0] for rule in rules], dtype=np.float64),
        sizes=np.array([column.size for column in columns], dtype=np.int64),
    )


def _by_sensitive_value(order: NDArray[np.int64], starts: NDArray[np.int64], diversity: Diversity) -> NDArray[np.int64]:
    """The records by group, and inside each group by the value of the first sensitive column."""
    group = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return order[np.lexsort((diversity.codes[0][order], group))]
