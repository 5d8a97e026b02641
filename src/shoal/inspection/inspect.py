"""`inspect_table`: everything that is found out about a table, as one value. A million records take 1 to 2 seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.encode.population import person_numbers
from shoal.errors import InputError, Problem, did_you_mean
from shoal.inspection.combinations import risky_combinations
from shoal.inspection.dependence import Dependence, find_dependence
from shoal.inspection.facts import ColumnFacts, find_facts
from shoal.inspection.judge import Judgement, is_nearly_unique, judge_columns
from shoal.inspection.persons import suggest_person
from shoal.tables.schema import Role, Scale


@dataclass(frozen=True, eq=False)
class Inspection:
    """What is in a table: facts and judgements per column, what depends on what, and who stands alone."""

    records: int
    facts: Mapping[str, ColumnFacts]
    judged: Mapping[str, Judgement]
    dependence: Dependence
    person: Mapping[str, object] | None  # the column that probably tells persons apart
    risk: Mapping[str, Any]

    def with_role(self, role: str) -> list[str]:
        return [name for name, verdict in self.judged.items() if verdict.role == role]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values; no value of the data but the texts of the common list of missing ones."""
        return {
            "records": self.records,
            "columns": [self._column(fact) for fact in self.facts.values()],
            "same": [list(pair) for pair in self.dependence.same],
            "same_groups": self.dependence.same_groups(),
            "settled": [{"column": column, "by": by} for by, column in self.dependence.settled],
            "person": dict(self.person) if self.person is not None else None,
            **self.risk,
        }

    def _column(self, fact: ColumnFacts) -> dict[str, Any]:
        verdict = self.judged[fact.name]
        return {
            "name": fact.name,
            "scale": str(fact.scale),
            "distinct": fact.distinct,
            "missing": fact.missing,
            "role": verdict.role,
            "why": verdict.why,
            "safe_role": str(verdict.safe_role),
            "alone": fact.alone,
            "nearly_unique": is_nearly_unique(fact),
            "format": fact.format.name if fact.format is not None else None,
            "missing_texts": list(fact.missing_texts),
            "missing_numbers": list(fact.missing_numbers),
            "decimal_comma": fact.decimal_comma,
        }


def inspect_table(
    frame: pl.DataFrame,
    quasi: Sequence[str] = (),
    missing: tuple[str, ...] = (),
    largest: int = 3,
    person: str | None = None,
    scales: Mapping[str, Scale] | None = None,
    roles: Mapping[str, Role] | None = None,
) -> Inspection:
    """Look at a table. `quasi`, `person`, `scales` and `roles` are what the user has decided already.

    With `person`, a column that tells persons apart, a record stands alone when nobody else has its values: other
    records of the same person do not hide it.
    """
    given = {**dict.fromkeys(quasi, Role.QUASI_IDENTIFYING), **(roles or {})}
    _check_names(frame, [*given, *(scales or {}), *([person] if person is not None else [])])
    facts = find_facts(frame, missing, scales)
    dependence = find_dependence(facts)
    judged = {**judge_columns(facts, dependence), **_decided(given, person)}
    chosen = [name for name, role in given.items() if role is Role.QUASI_IDENTIFYING]
    chosen = chosen or [name for name, verdict in judged.items() if verdict.is_quasi]
    persons = person_numbers(frame[person], missing) if person is not None else None
    return Inspection(
        records=frame.height,
        facts=facts,
        judged=judged,
        dependence=dependence,
        person=None if person is not None else suggest_person(facts, judged),
        risk=risky_combinations({name: facts[name].hashes for name in chosen}, largest, persons),
    )


def _decided(given: Mapping[str, Role], person: str | None) -> dict[str, Judgement]:
    """What the user has decided already."""
    judged = {name: Judgement(str(role), "you said so", role) for name, role in given.items()}
    if person is not None:
        judged[person] = Judgement(str(Role.IDENTIFYING), "you said that it tells persons apart", Role.IDENTIFYING)
    return judged


def _check_names(frame: pl.DataFrame, named: Sequence[str]) -> None:
    problems = [
        Problem("unknown-column", "the table has no such column", name, did_you_mean(name, frame.columns))
        for name in dict.fromkeys(named)
        if name not in frame.columns
    ]
    if problems:
        raise InputError(problems)
