"""Do several records belong to one person? A column of numbers of persons that repeat says so."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.inspection.facts import ColumnFacts
from shoal.inspection.judge import Judgement
from shoal.inspection.names import kinds_of_name, parts_of_name, words
from shoal.tables.schema import Role

FEWEST_PERSONS = 20
MOST_RECORDS_OF_ONE = 200.0  # on average
LEAST_RECORDS_OF_ONE = 1.01
LEAST_RECORDS_OF_A_NAME = 1.2  # fewer are people who happen to have the same name


NO_PERSONS = {"an address", "a text that people wrote"}  # many may share one, and one person may have many


def _is_of_no_person(fact: ColumnFacts) -> bool:
    kinds = kinds_of_name(fact.name)
    named = bool(kinds) and kinds[0].what in NO_PERSONS
    return named or (fact.format is not None and fact.format.name == "free-text")


def suggest_person(facts: Mapping[str, ColumnFacts], judged: Mapping[str, Judgement]) -> dict[str, object] | None:
    """The column that probably tells persons apart, with the records per person; None if no value repeats."""
    candidates = []
    for name, fact in facts.items():
        if judged[name].role != Role.IDENTIFYING or fact.distinct < FEWEST_PERSONS or not fact.records:
            continue
        if _is_of_no_person(fact):
            continue
        each = fact.records / fact.distinct
        says_so = any(part in words().persons for part in parts_of_name(name))
        least = LEAST_RECORDS_OF_ONE if says_so else LEAST_RECORDS_OF_A_NAME
        if least <= each <= MOST_RECORDS_OF_ONE:
            candidates.append((not says_so, fact.missing, list(facts).index(name), name, each))
    if not candidates:
        return None
    *_, name, each = min(candidates)
    why = f"{facts[name].distinct:,} values for {facts[name].records:,} records: {each:.1f} records each"
    return {"column": name, "records_each": each, "why": why}
