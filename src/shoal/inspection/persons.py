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
    candidates = [fact for name, fact in facts.items() if judged[name].role == Role.IDENTIFYING and _may_repeat(fact)]
    if not candidates:
        return None
    fact = min(candidates, key=lambda fact: (not _says_person(fact), fact.missing))  # the first of equal ones
    each = fact.records / fact.distinct
    why = f"{fact.distinct:,} values for {fact.records:,} records: {each:.1f} records each"
    return {"column": fact.name, "records_each": each, "why": why}


def _may_repeat(fact: ColumnFacts) -> bool:
    """Whether the values may be persons of whom some have several records."""
    if fact.distinct < FEWEST_PERSONS or _is_of_no_person(fact):
        return False
    least = LEAST_RECORDS_OF_ONE if _says_person(fact) else LEAST_RECORDS_OF_A_NAME
    return least <= fact.records / fact.distinct <= MOST_RECORDS_OF_ONE


def _says_person(fact: ColumnFacts) -> bool:
    return any(part in words().persons for part in parts_of_name(fact.name))
