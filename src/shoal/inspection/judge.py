"""Which role a column should have, and why: by its name, its format, how unique its values are, and what it settles.

Errs on the safe side. A column is called insensitive only if it says nothing; where nothing is known about it, the
answer is "decide yourself", with the role that is safe until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shoal.inspection.dependence import Dependence
from shoal.inspection.facts import ColumnFacts
from shoal.inspection.names import Kind, kinds_of_name, parts_of_name
from shoal.tables.schema import Role, Scale

UNDECIDED = "decide yourself"
NEARLY_UNIQUE = 0.9  # share of distinct values, or of records that stand alone
FEW_RECORDS = 20  # a table so small says nothing by how often values repeat
FEW_VALUES = 100  # of a category: others may know them
FEW_NUMBERS = 10  # so few whole numbers are codes or counts: as telling as so few texts
MOST_VALUES_OF_A_LIST = 20  # so few texts were chosen from a list, whatever the name says
MANY_VALUES = 20  # so many, and a share of them, are needed to stand for persons or cases
MANY_VALUES_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Judgement:
    """A suggested role (one of the four, or UNDECIDED), why, and the role that is safe until somebody decides."""

    role: str
    why: str
    safe_role: Role

    @property
    def is_quasi(self) -> bool:
        return self.role == Role.QUASI_IDENTIFYING


def judge_columns(facts: Mapping[str, ColumnFacts], dependence: Dependence) -> dict[str, Judgement]:
    """A judgement for every column; columns that tell another one are judged like it."""
    judged = {name: _judge(fact) for name, fact in facts.items()}
    for name, verdict in judged.items():
        judged[name] = _with_partners(name, verdict, judged, dependence)
    return judged


def _judge(fact: ColumnFacts) -> Judgement:
    if fact.distinct <= 1:
        return _firm(Role.INSENSITIVE, "it says the same about everybody")
    if not fact.has_text:
        why = "values of a type that cannot be generalized, only kept or dropped"
        return Judgement(UNDECIDED, why, Role.IDENTIFYING)
    form = fact.format
    if form is not None and form.role == Role.IDENTIFYING:
        return _firm(Role.IDENTIFYING, f"it looks like {form.what}")
    if fact.scale_without_texts is Scale.DATE:
        exact = ", to the second" if fact.to_the_second else ""
        return _firm(Role.QUASI_IDENTIFYING, f"dates{exact}, which others may know{_and_alone(fact)}")
    kinds = kinds_of_name(fact.name)
    if form is not None and form.role is not None:
        named = kinds[0] if kinds and not kinds[0].many_values else None
        if named is not None and named.role == Role.IDENTIFYING:
            return _firm(Role.IDENTIFYING, f"its name says {named.what}")
        return _firm(Role(form.role), f"it looks like {form.what}")
    by_name = (_by_name(kind, fact) for kind in kinds)
    return next((verdict for verdict in by_name if verdict is not None), None) or _by_values(fact)


def _by_name(kind: Kind, fact: ColumnFacts) -> Judgement | None:
    why = f"its name says {kind.what}"
    if kind.many_values:
        stands_for_cases = fact.distinct >= MANY_VALUES and fact.distinct_share >= MANY_VALUES_SHARE
        counted = "of" in parts_of_name(fact.name) or fact.scale_without_texts is Scale.DECIMAL  # number of children
        return _firm(Role.IDENTIFYING, why) if stands_for_cases and not counted else None
    if kind.of_free_text and fact.distinct <= MOST_VALUES_OF_A_LIST:  # credit_history with five codes
        return None
    if kind.role == UNDECIDED:
        return Judgement(UNDECIDED, f"{why}{_and_alone(fact)}", Role.IDENTIFYING)
    if kind.role == Role.SENSITIVE:
        return _firm(Role.SENSITIVE, f"{why}{_and_alone(fact)}")
    if kind.role == Role.IDENTIFYING and fact.distinct <= 2:  # has_phone: yes, no
        return _firm(Role.QUASI_IDENTIFYING, f"{why}, but it has two values: others may know which")
    return _firm(Role(kind.role), f"{why}{_and_alone(fact)}" if kind.role == Role.QUASI_IDENTIFYING else why)


def _by_values(fact: ColumnFacts) -> Judgement:
    if is_nearly_unique(fact):
        if fact.scale_without_texts is Scale.DECIMAL:
            why = "nearly every record has its own value: whoever knows it from elsewhere finds the record"
            return Judgement(UNDECIDED, why, Role.IDENTIFYING)
        return _firm(Role.IDENTIFYING, "nearly every record has its own value")
    if fact.scale_without_texts is Scale.CATEGORY and fact.distinct <= FEW_VALUES:
        return _firm(Role.QUASI_IDENTIFYING, "few values, which others may know")
    if fact.scale_without_texts is Scale.CATEGORY:
        why = f"{fact.distinct:,} different texts, and nothing tells what they are{_and_alone(fact)}"
        return Judgement(UNDECIDED, why, Role.IDENTIFYING)
    if fact.distinct <= 2:
        return _firm(Role.QUASI_IDENTIFYING, "two values, which others may know")
    if fact.scale_without_texts is Scale.INTEGER and fact.distinct <= FEW_NUMBERS and fact.records > FEW_RECORDS:
        return _firm(Role.QUASI_IDENTIFYING, "few values, which others may know")
    why = f"numbers, and nothing tells whether others may know them{_and_alone(fact)}"
    return Judgement(UNDECIDED, why, Role.IDENTIFYING)


def is_nearly_unique(fact: ColumnFacts) -> bool:
    """Nearly every record has a value of its own: the column identifies, whatever its name."""
    if fact.records <= FEW_RECORDS:
        return False
    return fact.distinct_share >= NEARLY_UNIQUE or fact.alone_share >= NEARLY_UNIQUE


def _firm(role: Role, why: str) -> Judgement:
    return Judgement(str(role), why, role)


def _and_alone(fact: ColumnFacts) -> str:
    """A word about records that a single value singles out; nothing where they are few."""
    share = fact.alone_share
    if fact.records <= FEW_RECORDS or share < 0.01:
        return ""
    return f"; {share:.0%} of the records are the only ones with their value"


def _with_partners(name: str, verdict: Judgement, judged: Mapping[str, Judgement], dependence: Dependence) -> Judgement:
    """What tells an identifying or quasi-identifying column is no safer than that one."""
    for partner in dependence.partners(name):
        other = judged[partner]
        if other.role == Role.IDENTIFYING and verdict.role != Role.IDENTIFYING:
            return _firm(Role.IDENTIFYING, f"it says the same as '{partner}', which identifies")
        if other.is_quasi and verdict.role in (UNDECIDED, Role.SENSITIVE):
            return _firm(Role.QUASI_IDENTIFYING, f"it says the same as '{partner}'")
    settled = [column for by, column in dependence.settled if by == name and judged[column].is_quasi]
    if settled and verdict.role == UNDECIDED:
        return _firm(Role.QUASI_IDENTIFYING, f"each of its values tells that of '{settled[0]}'")
    if settled and verdict.role == Role.SENSITIVE:
        return replace(verdict, why=f"{verdict.why}; but each of its values tells that of '{settled[0]}'")
    return verdict
