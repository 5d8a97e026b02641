"""Models inside the score: how much of the room that they leave a refinement would use up.

The paper names l-diversity and confidence bounding as what the framework can also be used for, and says that the score
has to be changed for it, not how. Here every rule about the values of a column has a risk (`kernels.risks`): what is
known of the values of the least safe group. A refinement raises it from where it is towards what the rule allows; the
share of that way is its privacy loss, from 0 to 1, and the mean of it over the rules divides the score:

    Score = InfoGain / ((AnonyLoss + 1) * (PrivacyLoss + 1))

Every rule on the values of a column has such a risk: l-diversity in all forms, alpha, bounds of confidence, closeness
to the table (t-closeness), bounds of likeness and disclosure, categories and weights of values. Models that are no such
rules only forbid.

Cost. A step reads the records of the groups that it made once per attribute, as the counting of their sizes does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.tdr.cut_values import CutValues
from shoal.algorithms.tdr.kernels import risks as kernels
from shoal.algorithms.tdr.qid_groups import QidGroups
from shoal.encode.encoded_table import EncodedTable
from shoal.kernels.safety import CAP, LEVELS, Safety
from shoal.models.base import Model
from shoal.models.rules import HistogramRule, RuleKind
from shoal.models.safety import bind_rules

KINDS = {
    RuleKind.FREQUENCY: kernels.SHARE,
    RuleKind.ONE_VALUE: kernels.VALUE,
    RuleKind.DISTINCT: kernels.DISTINCT,
    RuleKind.ENTROPY: kernels.ENTROPY,
    RuleKind.RECURSIVE: kernels.RECURSIVE,
    RuleKind.CLOSE_EQUAL: kernels.CLOSE_EQUAL,
    RuleKind.CLOSE_ORDERED: kernels.CLOSE_ORDERED,
    RuleKind.CLOSE_HIERARCHICAL: kernels.CLOSE_HIERARCHICAL,
    RuleKind.BETA: kernels.GAIN,
    RuleKind.DELTA: kernels.RATIO,
    RuleKind.CATEGORIES: kernels.CATEGORIES,
    RuleKind.WEIGHT: kernels.WEIGHT,
}
ROUNDING = 1e-12


@dataclass(eq=False)
class RuleRisk:
    """One rule: the risk of the least safe group now, and the one that every refinement would leave."""

    kind: int
    bound: float  # the highest risk that the rule allows
    named: int  # these three as `kernels.risk_of_counts` takes them
    scale: NDArray[np.float64]
    nodes: NDArray[np.int32]
    first_pair: NDArray[np.int64]  # (rows + 1,) where the sensitive values of a row begin
    pair_code: NDArray[np.int32]
    pair_count: NDArray[np.int64]
    now: float = 0.0
    after: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))  # (values,)

    @classmethod
    def of(cls, rule: HistogramRule, table: EncodedTable) -> RuleRisk | None:
        """None if the rule has no risk that is known here."""
        if rule.kind not in KINDS or rule.column is None:
            return None
        bound = bind_rules([rule], table)
        codes, size = bound.codes[0], int(bound.starts[1])
        found = cls(
            KINDS[rule.kind],
            _highest_risk(rule),
            _named(rule, table, bound),
            _scale(rule, bound, size),
            _nodes(bound, size),
            *_values_of_rows(table, codes, size),
        )
        found.now = found._risk_of_all(codes)
        return found

    @property
    def codes(self) -> int:
        return int(self.scale.shape[0])

    def _risk_of_all(self, codes: NDArray[np.int32]) -> float:
        counts = np.bincount(codes, minlength=self.codes)
        present = np.arange(self.codes, dtype=np.int32)
        how = (self.kind, self.named, self.scale, self.nodes)
        return float(kernels.risk_of_counts(*how, counts, present, self.codes))

    def used_room(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """The share of what is left up to the bound that each candidate would use up."""
        rise = np.maximum(0.0, self.after[candidates] - self.now)
        room = self.bound - self.now
        if room <= ROUNDING:
            return (rise > ROUNDING).astype(np.float64)
        return np.minimum(1.0, rise / room)


class ModelRisks:
    """The rules of all models, measured on the groups over all attributes."""

    def __init__(self, table: EncodedTable, models: Sequence[Model], groups: QidGroups, values: CutValues) -> None:
        rules = dict.fromkeys(rule for model in models for rule in model.rules() or ())
        self.groups = groups
        self.rules = [risk for rule in rules if (risk := RuleRisk.of(rule, table)) is not None]
        widest, codes = max(one.size for one in table.attributes), max([1, *(one.codes for one in self.rules)])
        self._counts = np.zeros(codes, dtype=np.int64), np.zeros(codes, dtype=np.int64)
        self._present = np.empty(codes, dtype=np.int32), np.empty(codes, dtype=np.int32)
        self._places = np.empty(widest + 2, dtype=np.int32), np.empty(table.rows, dtype=np.int32)
        self._own_codes = np.arange(widest, dtype=np.int32)
        self.measure(values, refined=-1)

    def privacy_losses(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """(candidates,) the mean over the rules of the room that each would use up; 0 without rules."""
        if not self.rules:
            return np.zeros(candidates.shape[0])
        return np.asarray(np.mean([rule.used_room(candidates) for rule in self.rules], axis=0))

    def refined(self, candidate: int, values: CutValues) -> None:
        """After a refinement was done and its groups were split."""
        for rule in self.rules:
            rule.now = max(rule.now, float(rule.after[candidate]))
        self.measure(values, int(values.attribute[candidate]))

    def measure(self, values: CutValues, refined: int) -> None:
        """Raise the risks by the groups that the last split touched."""
        groups = self.groups
        for rule in self.rules:
            missing = values.capacity - rule.after.shape[0]
            if missing > 0:
                rule.after = np.concatenate([rule.after, np.zeros(missing)])
            kernels.measure_risks(
                groups.order,
                groups.codes,
                groups.qid.attributes.index(refined) if refined >= 0 else -1,
                values.offsets[groups.attributes],
                values.value_of_code,
                values.slot_of_code,
                values.slot_counts,
                values.open_values,
                *groups.touched_groups,
                *(rule.kind, rule.named, rule.scale, rule.nodes),
                *(rule.first_pair, rule.pair_code, rule.pair_count),
                *self._counts,
                *self._present,
                *self._places,
                self._own_codes,
                rule.after,
            )


def _named(rule: HistogramRule, table: EncodedTable, bound: Safety) -> int:
    """The one whole number that some risks need."""
    if rule.kind is RuleKind.ONE_VALUE and rule.column is not None:
        return table.columns[rule.column].value_codes.get(rule.value or "", 0)
    if rule.kind is RuleKind.RECURSIVE:
        return int(rule.numbers[1])
    return int((bound.shares > 0).sum()) if rule.kind is RuleKind.DELTA else 0


def _scale(rule: HistogramRule, bound: Safety, size: int) -> NDArray[np.float64]:
    """(codes,) highest shares or weights where the rule bounds them, else the shares in the table."""
    if rule.kind in (RuleKind.BETA, RuleKind.WEIGHT):
        return np.ascontiguousarray(bound.bounds[CAP, 0, :size])
    return np.ascontiguousarray(bound.shares[:size])


def _nodes(bound: Safety, size: int) -> NDArray[np.int32]:
    """(levels, codes) the nodes of the codes, where the rule looks at them."""
    if bound.nodes.shape[2] < size:
        return np.zeros((1, size), dtype=np.int32)
    return np.ascontiguousarray(bound.nodes[0, : max(1, int(bound.rules[0, LEVELS])), :size])


def _highest_risk(rule: HistogramRule) -> float:
    """The bound of a rule in the unit of its risk."""
    number = rule.numbers[0]
    if rule.kind in (RuleKind.DISTINCT, RuleKind.CATEGORIES, RuleKind.WEIGHT):
        return 1.0 / number if number > 0 else float("inf")
    if rule.kind is RuleKind.ENTROPY:
        return float(np.exp(-number))
    return 1.0 if rule.kind is RuleKind.BETA else number


def _values_of_rows(
    table: EncodedTable, codes: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """How often each value of a column occurs in each row: the pairs of row r are those from first_pair[r] on."""
    keys = table.row_of_record.astype(np.int64) * size + codes
    pairs, counts = np.unique(keys, return_counts=True)
    first_pair = np.searchsorted(pairs, np.arange(table.rows + 1, dtype=np.int64) * size)
    return first_pair.astype(np.int64), (pairs % size).astype(np.int32), counts.astype(np.int64)
