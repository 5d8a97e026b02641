"""TDR: top-down refinement, masking a table for cluster analysis or classification.

B. C. M. Fung, K. Wang, L. Wang, P. C. K. Hung, Privacy-preserving data publishing for cluster analysis, Data and
Knowledge Engineering 68(6), 2009.

Everything starts fully masked: taxonomies at their root, values without a taxonomy suppressed, numbers as one
interval. A refinement cuts one masked value everywhere in the table:

1. a taxonomy node gives way to its children;
2. one value is disclosed out of the suppressed ones;
3. an interval is split in two where that tells most about the class.

It is valid if afterwards every QID still has its threshold: each combination of released values on the attributes of
the QID belongs to that many records. The valid refinement of the highest score is done, until there is none.

- `information` mode: score = information gain about the class / (anonymity loss + 1), the loss being the mean drop
  of the smallest group over the QIDs that hold the attribute.
- `distort` mode: score = number of records refined.

The class is a label per record: clusters found in the raw table, or a class column given by the user.

Cost. Gains depend on one attribute and the class, so they come from counts taken once. A step reads only the records
that have the refined value, once to split their groups and once per attribute that can still be refined; whether a
refinement is valid and what anonymity it costs is kept as one number per candidate and QID. With at most L refinements
of one record's values and m attributes this is O(n L m), linear in n. Memory per QID: 4 bytes per record and
attribute, and 32 bytes per record.

Where this differs from the paper. A split of numbers that leaves one side with fewer records than a QID asks for can
never be valid, now or later, so it is not considered; the paper takes the split of highest gain, and when that is
such a one, often at an end of the range, the interval stays whole. Equal scores, unspecified there: the refinement
that touches most records, then the oldest. Equal gains of two splits: the more even one; so without a class numbers
are split at their medians. A missing number is a value above all others: an interval that holds it together with
numbers is released as `*`. Models other than group sizes (l-diversity, confidence bounds) are asked about the groups
over all attributes before a refinement is done; they forbid, and with `score_models` they enter the score as well, in
a way that the paper leaves open (`model_risks`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.algorithms.tdr.class_counts import count_classes
from shoal.algorithms.tdr.conditions import find_conditions
from shoal.algorithms.tdr.outcome import outcome
from shoal.algorithms.tdr.search import refine
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.base import Requirement

MODES = ("auto", "information", "distort")


@dataclass(frozen=True, kw_only=True)
class Tdr(Algorithm):
    """`mode` auto means information if there is a class, else distort.

    `qids` adds conditions ((columns, threshold), ...) to those of the requirement, which always hold as well.
    `possible_splits` considers only splits of numbers that leave each half as many records as the QIDs ask for;
    False takes the split of highest gain as the paper does, even if it can never be done.
    `score_models` lets models on sensitive values lower the score of a refinement, besides forbidding it.
    """

    class_column: str | None = None
    mode: str = "auto"
    qids: tuple[tuple[tuple[str, ...], int], ...] | None = None
    possible_splits: bool = True
    score_models: bool = False
    name: ClassVar[str] = "tdr"
    title: ClassVar[str] = "top-down refinement: taxonomy cuts, suppression and grown intervals, guided by a class"
    citation: ClassVar[str] = "Fung, Wang, Wang, Hung 2009"
    takes_sets: ClassVar[bool] = True
    takes_priorities: ClassVar[bool] = False
    own_values: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, not '{self.mode}'")
        if self.mode == "information" and self.class_column is None:
            raise ValueError("mode 'information' needs a class_column: gains are about the class")
        if self.qids is not None:
            qids = tuple((tuple(columns), int(threshold)) for columns, threshold in self.qids)
            if not all(columns for columns, _ in qids):
                raise ValueError("a QID needs at least one column")
            if any(threshold < 1 for _, threshold in qids):
                raise ValueError("the threshold of a QID must be at least 1")
            object.__setattr__(self, "qids", qids)

    def cluster(self, table: EncodedTable, requirement: Requirement, context: Context) -> Clustering:
        conditions = find_conditions(table, requirement, self.qids)
        labels, classes = self._labels(table)
        mode = self.mode if self.mode != "auto" else ("distort" if labels is None else "information")
        counts = count_classes(table, labels, classes)
        how = {"possible_splits": self.possible_splits, "score_models": self.score_models}
        refined = refine(table, counts, conditions, context, distort=mode == "distort", **how)
        return outcome(table, conditions, refined, mode)

    def _labels(self, table: EncodedTable) -> tuple[NDArray[np.int32] | None, int]:
        """The class of every record, and the number of classes."""
        if self.class_column is None:
            return None, 1
        column = table.columns.get(self.class_column)
        if column is None:
            hint = did_you_mean(self.class_column, tuple(table.columns))
            raise InputError(
                Problem("unknown-class-column", "the class column was not encoded", self.class_column, hint)
            )
        return column.codes, max(1, column.size)
