"""Requirements that no partition of a table can meet, found before any work.

For monotone models the question is easy and the answer exact: if some partition into safe groups exists, merging all
its groups gives the whole table as one safe group. So a requirement can be met if and only if the whole table, as a
single group, meets it.
"""

from __future__ import annotations

import numpy as np

from shoal.encode.encoded_table import EncodedTable
from shoal.errors import InputError, Problem, RequirementError
from shoal.models.base import Model, Requirement
from shoal.models.histograms import histogram_deficits
from shoal.models.rules import HistogramRule, RuleKind


def impossible(requirement: Requirement, table: EncodedTable) -> list[Problem]:
    """A problem for every model that the whole table does not meet, with the nearest setting that it can meet.

    Raises InputError with everything that models lack: an order, a hierarchy, a named value.
    """
    if table.records == 0:
        return [Problem("too-few-records", "the table has no records")]
    problems: list[Problem] = []
    lacking: list[Problem] = []
    for model in requirement.models:
        try:
            if model.monotone and not _meets(model, table):
                problems.append(_explain(model, table))
        except InputError as error:
            lacking.extend(error.problems)
    if lacking:
        raise InputError(dict.fromkeys(lacking))
    return problems


def _meets(model: Model, table: EncodedTable) -> bool:
    """Whether the whole table is one safe group; where only its size matters, no record is looked at."""
    if model.size_only:
        return table.records >= model.minimal_size()
    return bool(model.deficits(table, np.zeros(table.records, dtype=np.int32), 1)[0] <= 0)


def raise_if_impossible(requirement: Requirement, table: EncodedTable) -> None:
    problems = impossible(requirement, table)
    if problems:
        raise RequirementError(problems)


def _explain(model: Model, table: EncodedTable) -> Problem:
    rules = model.rules()
    if not rules:
        message = "no group of this table is safe, not even all records together"
        hint = model.nearest_possible(table)
        return Problem("requirement-impossible", f"{model.public_spec()} cannot be met: {message}", hint=hint)
    rule = next((one for one in rules if _broken(one, table)), rules[0])
    explain = _EXPLANATIONS[rule.kind]
    reason, message, hint = explain(rule, _counts(rule, table), table.records)
    return Problem(reason, f"{model.public_spec()} cannot be met: {message}", rule.column, hint)


def _broken(rule: HistogramRule, table: EncodedTable) -> bool:
    return bool(histogram_deficits(rule, table, np.zeros(table.records, dtype=np.int32), 1)[0] > 0)


def _counts(rule: HistogramRule, table: EncodedTable) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How often each value occurs in the table, the commonest first; values that do not occur are left out."""
    if rule.column is None:
        return np.zeros(0, dtype=np.int64)
    column = table.columns[rule.column]
    if rule.kind is RuleKind.CATEGORIES:
        assert column.categories is not None
        return np.unique(column.categories[column.codes]).astype(np.int64)  # one entry for each that occurs
    if rule.kind is RuleKind.WEIGHT:
        assert column.category_weights is not None
        return np.array([np.floor(column.category_weights[column.codes].sum() + 1e-9)], dtype=np.int64)
    if rule.kind is RuleKind.ONE_VALUE:
        code = column.value_codes.get(rule.value or "", -1)
        return np.array([int((column.codes == code).sum())], dtype=np.int64)
    counts = np.bincount(column.codes, minlength=column.size)
    return np.sort(counts[counts > 0])[::-1].astype(np.int64)


Explanation = tuple[str, str, str]
Counts = np.ndarray[tuple[int], np.dtype[np.int64]]


def _size(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    message = f"the table has {records} records, a group needs {rule.numbers[0]:.0f}"
    return "too-few-records", message, f"the largest k that can be met is {records}"


def _distinct(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    found = counts.shape[0]
    message = f"the whole table has {found} different values, a group needs {rule.numbers[0]:.0f}"
    return "too-few-values", message, f"the largest number that can be met is {found}"


def _frequency(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    most = int(counts[0])
    message = f"the commonest value has {most} of {records} records, more than a share of {rule.numbers[0]:.4g}"
    largest, smallest = _rounded_down(records / most), _rounded_up(most / records)
    return "too-frequent-value", message, f"the largest l that can be met is {largest}, the smallest alpha {smallest}"


def _one_value(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    message = f"the named value has {counts[0]} of {records} records, more than a share of {rule.numbers[0]:.4g}"
    return "too-frequent-value", message, f"the smallest share that can be met is {_rounded_up(counts[0] / records)}"


def _entropy(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    share = counts / records
    reachable = float(np.exp(-(share * np.log(share)).sum()))
    wanted = float(np.exp(rule.numbers[0]))
    message = f"the whole table has an entropy of log {_rounded_down(reachable)}, a group needs log {wanted:.4g}"
    return "too-little-entropy", message, f"the largest l that can be met is {_rounded_down(reachable)}"


def _recursive(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    """The tail shrinks as l grows, so the largest l is the last one whose tail is long enough for this c."""
    c, least = rule.numbers[0], int(rule.numbers[1])
    tails = np.cumsum(counts[::-1])[::-1]  # of l = 1, 2, ...
    tail = int(tails[least - 1]) if least <= counts.shape[0] else 0
    message = f"the commonest value has {counts[0]} records, those from rank {least} on have {tail} together"
    largest = int(np.count_nonzero(counts[0] < c * tails - 1e-9))
    hints = [
        f"the largest l that can be met with this c is {largest}" if largest > 1 else "no l can be met with this c"
    ]
    if tail:
        hints.append(f"with this l, c must be more than {_rounded_up(counts[0] / tail)}")
    return "too-few-values" if tail == 0 else "too-frequent-value", message, "; ".join(hints)


def _categories(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    found = counts.shape[0]
    message = f"the whole table has values of {found} categories, a group needs {rule.numbers[0]:.0f}"
    return "too-few-values", message, f"the largest p that can be met is {found}"


def _weight(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    message = f"the values of all {records} records together weigh {counts[0]}, a group needs {rule.numbers[0]:.4g}"
    return "too-little-weight", message, f"the largest whole alpha that can be met is {counts[0]}"


def _needed(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    message = "earlier releases ask for more records of a value than the whole table has"
    return "too-few-records", message, "the classes of then can be kept: --strategy keep"


def _compared(rule: HistogramRule, counts: Counts, records: int) -> Explanation:
    message = "the whole table differs from itself by more than that"
    return "requirement-impossible", message, "any setting above 0 can be met"


_EXPLANATIONS = {
    RuleKind.SIZE: _size,
    RuleKind.DISTINCT: _distinct,
    RuleKind.FREQUENCY: _frequency,
    RuleKind.ONE_VALUE: _one_value,
    RuleKind.ENTROPY: _entropy,
    RuleKind.RECURSIVE: _recursive,
    RuleKind.CLOSE_EQUAL: _compared,
    RuleKind.CLOSE_ORDERED: _compared,
    RuleKind.CLOSE_HIERARCHICAL: _compared,
    RuleKind.BETA: _compared,
    RuleKind.DELTA: _compared,
    RuleKind.CATEGORIES: _categories,
    RuleKind.WEIGHT: _weight,
    RuleKind.NEEDED: _needed,
}


def _rounded_down(number: float) -> str:
    return f"{np.floor(number * 10_000) / 10_000:.4f}".rstrip("0").rstrip(".")


def _rounded_up(number: float) -> str:
    return f"{np.ceil(number * 10_000) / 10_000:.4f}".rstrip("0").rstrip(".")
