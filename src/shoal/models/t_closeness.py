"""t-closeness: the sensitive values of a group are distributed nearly as in the whole table.

N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007. The distance
of two distributions is the earth mover's distance, computed exactly, over one of three ground distances:

- `equal`: any two values are at distance 1;
- `ordered`: values are ranked, neighbours are 1 / (m - 1) apart (m values in the table);
- `hierarchical`: the level at which two values meet in the column's hierarchy, over the height of the hierarchy.

A missing sensitive value is a value of its own; in the order it comes last, in the hierarchy right below the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.forms import at_most_one, escape, number_text, read_number, unescape
from shoal.models.histograms import HistogramModel
from shoal.models.rules import HistogramRule, RuleKind

DISTANCES = ("equal", "ordered", "hierarchical")
_KINDS = {
    "equal": RuleKind.CLOSE_EQUAL,
    "ordered": RuleKind.CLOSE_ORDERED,
    "hierarchical": RuleKind.CLOSE_HIERARCHICAL,
}


@dataclass(frozen=True)
class TCloseness(HistogramModel):
    """The earth mover's distance between a group's sensitive values and the table's is at most t."""

    t: float
    column: str
    distance: str = "equal"
    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "a group's sensitive values are distributed nearly as in the whole table"
    citation: ClassVar[str] = "Li, Li, Venkatasubramanian 2007"
    form: ClassVar[str] = "t-closeness:COLUMN:T, with :ordered or :hierarchical for other distances"
    meaning: ClassVar[str] = (
        "The sensitive values of every class are distributed nearly as in the whole table: the earth mover's "
        "distance is at most t. Values may be equally far apart, ordered, or in a hierarchy."
    )
    stops: ClassVar[str] = (
        "Learning much from knowing somebody's class, beyond what the whole table tells; values that mean the "
        "same, with the ordered or hierarchical distance."
    )
    does_not_stop: ClassVar[str] = (
        "Singling out a record (add k-anonymity); a rare value that becomes several times likelier, since the "
        "distance adds up shares and not ratios."
    )
    compares_with_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.t < 1:
            raise ValueError(f"t must be at least 0 and below 1, not {number_text(self.t)}")
        if self.distance not in DISTANCES:
            raise ValueError(f"the distance must be one of {', '.join(DISTANCES)}, not '{self.distance}'")

    @classmethod
    def parse(cls, parts: list[str], spec: str) -> TCloseness:
        column, t, *distance = parts
        if distance and distance[0] not in DISTANCES:
            hint = did_you_mean(distance[0], DISTANCES)
            raise InputError(Problem("bad-model", f"model '{spec}': there is no such distance", hint=hint))
        return cls(read_number(t, "t", spec), unescape(column), *at_most_one(distance))

    def spec(self) -> str:
        distance = "" if self.distance == "equal" else f":{self.distance}"
        return f"{self.name}:{escape(self.column)}:{number_text(self.t)}{distance}"

    def rule(self) -> HistogramRule:
        return HistogramRule(_KINDS[self.distance], self.column, (self.t,))
