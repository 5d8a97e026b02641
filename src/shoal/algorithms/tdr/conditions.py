"""The conditions of a run: QIDs with their thresholds, and models that look at more than the size of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem, RequirementError, did_you_mean
from shoal.models.base import Model, Requirement


@dataclass(frozen=True)
class Qid:
    """Every combination of released values on these attributes (by number) belongs to at least `threshold` records."""

    attributes: tuple[int, ...]
    threshold: int

    def covers(self, other: Qid) -> bool:
        """True if whatever meets this condition meets the other one."""
        return set(other.attributes) <= set(self.attributes) and other.threshold <= self.threshold


@dataclass(frozen=True)
class Conditions:
    """What every refinement has to keep."""

    qids: tuple[Qid, ...]
    models: tuple[Model, ...]  # checked on the groups of all attributes, which are then among the QIDs

    @property
    def whole(self) -> int:
        """The number of the QID that holds all attributes, -1 if there is none."""
        widths = [len(qid.attributes) for qid in self.qids]
        widest = max(range(len(widths)), key=widths.__getitem__)
        union = {attribute for qid in self.qids for attribute in qid.attributes}
        return widest if widths[widest] == len(union) else -1

    def threshold_of(self, attribute: int) -> int:
        """The strictest threshold of the QIDs that hold an attribute: no released value of it has fewer records."""
        return max(qid.threshold for qid in self.qids if attribute in qid.attributes)


def find_conditions(
    table: EncodedTable, requirement: Requirement, given: Sequence[tuple[Sequence[str], int]] | None
) -> Conditions:
    """The QIDs of the requirement and of the parameters, without those that another one covers.

    Everything that the requirement asks for is kept; the `qids` of the parameters come on top of it.
    """
    names = [attribute.name for attribute in table.attributes]
    everything = tuple(range(table.width))
    named = [model for model in requirement.models if model.size_only and model.class_columns()]
    sets = [(tuple(columns), threshold) for columns, threshold in given or ()]
    sets += [(model.class_columns(), model.minimal_size()) for model in named]
    _raise_unknown(names, sets)
    qids = [Qid(everything, model.minimal_size()) for model in requirement.models if model not in named]
    qids += [Qid(tuple(sorted({names.index(column) for column in columns})), k) for columns, k in sets]
    others = tuple(model for model in requirement.models if not model.size_only)
    conditions = Conditions(without_covered(qids), others)
    _raise_impossible(table, conditions)
    return conditions


def without_covered(qids: Sequence[Qid]) -> tuple[Qid, ...]:
    """The conditions without those that another one covers; of two equal ones the first stays."""
    kept = []
    for number, qid in enumerate(qids):
        covered = any(
            other.covers(qid) and (other_number < number or not qid.covers(other))
            for other_number, other in enumerate(qids)
            if other_number != number
        )
        if not covered:
            kept.append(qid)
    return tuple(kept)


def _raise_unknown(names: Sequence[str], sets: Sequence[tuple[Sequence[str], int]]) -> None:
    problems = [
        Problem("unknown-column", "is named in a QID but is not quasi-identifying", column, did_you_mean(column, names))
        for columns, _ in sets
        for column in columns
        if column not in names
    ]
    if problems:
        raise InputError(problems)


def _raise_impossible(table: EncodedTable, conditions: Conditions) -> None:
    if not conditions.qids:
        raise InputError(Problem("no-requirement", "nothing is required of the release", hint="give k or QIDs"))
    covered = {attribute for qid in conditions.qids for attribute in qid.attributes}
    uncovered = [
        Problem(
            "attribute-in-no-qid",
            "is quasi-identifying but in no QID, so it would be released as it is",
            attribute.name,
            "add it to a QID, or declare it insensitive",
        )
        for number, attribute in enumerate(table.attributes)
        if number not in covered
    ]
    if uncovered:
        raise InputError(uncovered)
    largest = max(qid.threshold for qid in conditions.qids)
    if table.records < largest:
        message = f"a group needs {largest} records, the table has {table.records}"
        raise RequirementError(Problem("too-few-records", message))
