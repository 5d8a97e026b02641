"""Top-down specialization with local recoding, for k-anonymity and (alpha, k)-anonymity.

R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang, (alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving
data publishing, KDD 2006; described in M. Verma, k-Anonymity using two level clustering, NIT Rourkela, 2013.

1. Start with one class, fully generalized.
2. Try each quasi-identifier one level down. Branches that break the model go back to the parent. If the parent then
   breaks it, records of other branches go back too: as many as the parent needs and the branches can spare, else
   the smallest branch as a whole.
3. Keep the quasi-identifier that specializes the most records; of equals the one of fewer branches; of equals the
   first. Go on with every branch, and with what stayed at the parent, until nothing can be specialized.

(alpha, k): at least k records, and no sensitive value above a share alpha of its class. Alpha is that of the job's
`alpha-k` model, or the parameters `alpha` and `column`.

Cost: every record is looked at m times per level that it descends: O(n m sum of levels), linear in n.

Deviations: the choice is made anew in each class, not once for the table. Records that stayed behind are tried again.
Models other than (alpha, k) are left to the shared repair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.kaca.distance import IntegerArray, Ladders, make_ladders
from shoal.algorithms.kaca.kernels.topdown import SLACK, Rule, Scratch, top_down
from shoal.algorithms.kaca.merging import check_feasible
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem, RequirementError, did_you_mean
from shoal.models.base import Requirement
from shoal.models.rules import RuleKind


@dataclass(frozen=True, kw_only=True)
class TopDown(Algorithm):
    """Specialize from the top, lifting back what would break (alpha, k)."""

    alpha: float | None = None  # largest share of a sensitive value; None: that of the job's alpha-k model
    column: str | None = None  # the sensitive column that alpha is about

    name: ClassVar[str] = "topdown"
    title: ClassVar[str] = "specialize from the top, lifting back what breaks (alpha, k)"
    citation: ClassVar[str] = "Wong, Li, Fu, Wang 2006"
    takes_priorities: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if (self.alpha is None) != (self.column is None):
            raise ValueError("alpha and column belong together: give both or neither")
        if self.alpha is not None and not 0 < self.alpha <= 1:
            raise ValueError(f"alpha must be above 0 and at most 1, not {self.alpha}")

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        check_feasible(table, requirement)
        ladders = make_ladders(table.attributes)
        alpha, column = self._bound(requirement)
        values, count = np.zeros(table.records, dtype=np.int32), 1
        if column is not None:
            values, count = _sensitive(table, column, alpha)
        groups = specialize_table(table, ladders, Rule(requirement.k, alpha, False), values, count)
        context.report(0.9)
        return Clustering(groups)

    def _bound(self, requirement: Requirement) -> tuple[float, str | None]:
        """Alpha and its column: the parameters, else the tightest bound on the share of every value, else no bound."""
        if self.alpha is not None:
            return self.alpha, self.column
        rules = [rule for model in requirement.models for rule in model.rules() or ()]
        bounds = [rule for rule in rules if rule.kind is RuleKind.FREQUENCY]
        if not bounds:
            return 1.0, None
        tightest = min(bounds, key=lambda rule: rule.numbers[0])
        return tightest.numbers[0], tightest.column


def _sensitive(table: EncodedTable, column: str, alpha: float) -> tuple[IntegerArray, int]:
    """The values of the sensitive column, or an error if it is not there or no release can keep to alpha."""
    if column not in table.columns:
        hint = did_you_mean(column, list(table.columns))
        raise InputError(Problem("unknown-column", "topdown needs this column for alpha", column, hint))
    found = table.columns[column]
    if np.bincount(found.codes).max(initial=0) > alpha * table.records + SLACK:
        message = f"its commonest value has more than a share {alpha:g} of all records"
        raise RequirementError(Problem("unreachable", message, column, "raise alpha"))
    return found.codes.copy(), found.size  # a copy is writable, so the kernel is compiled for one kind of array only


def specialize_table(
    table: EncodedTable, ladders: Ladders, rule: Rule, values: IntegerArray, value_count: int
) -> IntegerArray:
    """A group number per record: the classes that top-down specialization ends with."""
    codes = np.ascontiguousarray(table.record_codes + ladders.starts[:-1, np.newaxis], dtype=np.int32)
    widest = int(ladders.nodes.max()) + 1
    groups, branch, spare = (np.empty(table.records, dtype=np.int32) for _ in range(3))
    sizes, ends, most = (np.zeros(widest, dtype=np.int64) for _ in range(3))
    counts, kept = np.zeros((widest, value_count), dtype=np.int64), np.zeros(value_count, dtype=np.int64)
    scratch = Scratch(branch, sizes, ends, most, counts, kept, spare)
    stack = np.empty((table.records // rule.k + 2, 2 + table.width), dtype=np.int64)
    order = np.arange(table.records, dtype=np.int32)
    top_down(codes, ladders.nodes, ladders.tops.astype(np.int64), values, rule, scratch, stack, order, groups)
    return groups
