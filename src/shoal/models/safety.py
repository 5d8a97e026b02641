"""The rules of a requirement as arrays for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedColumn, EncodedTable
from shoal.errors import InputError, Problem
from shoal.kernels import safety as kernels
from shoal.kernels.safety import Safety
from shoal.models.base import Requirement
from shoal.models.forms import value_digest
from shoal.models.rules import HistogramRule, RuleKind

_FEW_VALUES = 64  # columns with no more values are counted by a histogram

_KERNEL_KINDS = {
    RuleKind.SIZE: kernels.SIZE,
    RuleKind.DISTINCT: kernels.DISTINCT,
    RuleKind.FREQUENCY: kernels.CAPPED,
    RuleKind.ONE_VALUE: kernels.CAPPED,
    RuleKind.BETA: kernels.CAPPED,
    RuleKind.DELTA: kernels.BETWEEN,
    RuleKind.ENTROPY: kernels.ENTROPY,
    RuleKind.RECURSIVE: kernels.RECURSIVE,
    RuleKind.CLOSE_EQUAL: kernels.CLOSE_EQUAL,
    RuleKind.CLOSE_ORDERED: kernels.CLOSE_ORDERED,
    RuleKind.CLOSE_HIERARCHICAL: kernels.CLOSE_HIERARCHICAL,
    RuleKind.CATEGORIES: kernels.CATEGORIES,
    RuleKind.WEIGHT: kernels.WEIGHT,
    RuleKind.NEEDED: kernels.NEEDED,
}


class DistinctValues(NamedTuple):
    """Columns of which only the different values in a group count, such as persons, apart from the other rules."""

    codes: NDArray[np.int32]  # (columns, records)
    wanted: NDArray[np.float64]  # (columns,) how many different ones a group needs


def bind_search_rules(requirement: Requirement, table: EncodedTable, widest: int) -> tuple[Safety, DistinctValues]:
    """The rules for a search that knows the members of its groups: it counts persons without a histogram of them."""
    rules = [rule for model in requirement.models for rule in model.rules() or ()]
    wanted: dict[str, float] = {}
    for rule in rules:
        if rule.kind is RuleKind.DISTINCT and rule.column is not None:
            column = _column(table, rule.column)
            if column.size > _FEW_VALUES and _counted_only(column, rules):
                wanted[rule.column] = max(rule.numbers[0], wanted.get(rule.column, 0.0))
    codes = [_column(table, name).codes for name in wanted]
    stacked = np.stack(codes) if codes else np.zeros((0, table.records))
    apart = DistinctValues(np.ascontiguousarray(stacked, dtype=np.int32), np.array(list(wanted.values())))
    return bind_safety(requirement, table, widest=widest, apart=frozenset(wanted)), apart


def bind_safety(
    requirement: Requirement, table: EncodedTable, *, widest: int | None = None, apart: frozenset[str] = frozenset()
) -> Safety:
    """All models of a requirement as rules on histograms.

    Columns with more than `widest` different values are left out (a row per group would not fit in memory), as are
    models that are no rules on histograms; `complete` is then False, and `shoal.safe_groups.repair` has to follow.
    Rules on columns that are counted `apart` are not among them.
    """
    rules: list[HistogramRule] = []
    complete = True
    for model in requirement.models:
        found = model.rules()
        if found is None:
            complete = False
            continue
        for rule in found:
            if rule.column in apart:
                continue
            if widest is not None and rule.column is not None and _column(table, rule.column).size > widest:
                complete = False
            elif rule not in rules:
                rules.append(rule)
    smallest = HistogramRule(RuleKind.SIZE, None, (float(requirement.k),))
    rules = [smallest, *(rule for rule in rules if rule.kind is not RuleKind.SIZE)]
    return bind_rules(rules, table)._replace(complete=complete)


def bind_rules(rules: Sequence[HistogramRule], table: EncodedTable) -> Safety:
    """These rules as arrays. Raises InputError when a column lacks an order, a hierarchy or a named value."""
    columns, place_of_rule, place_of_counted = _looked_at(rules, table)
    starts = np.concatenate([[0], np.cumsum([column.size for column in columns])]).astype(np.int64)
    shares = [_shares(column) for column in columns]
    bounds, nodes, levels = _bounds_and_nodes(rules, columns, shares, place_of_rule)
    kinds = [_KERNEL_KINDS[rule.kind] for rule in rules]
    codes = np.stack([column.codes for column in columns]) if columns else np.zeros((0, table.records))
    return Safety(
        rules=np.array([kinds, place_of_rule, levels], dtype=np.int64).T.copy(),
        numbers=_numbers(rules, starts, place_of_counted),
        bounds=bounds,
        nodes=nodes,
        starts=starts,
        shares=np.concatenate([*shares, np.zeros(len(columns))]),
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        complete=True,
    )


def _bounds_and_nodes(
    rules: Sequence[HistogramRule],
    columns: Sequence[EncodedColumn],
    shares: Sequence[NDArray[np.float64]],
    place_of_rule: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """What each rule asks of every value of its column, and the nodes that it joins them to.

    OUT  (2, rules, values) smallest and largest shares; (rules, levels, values) nodes; (rules,) levels of them
    """
    widest = max([1, *(column.size for column in columns if not _counted_only(column, rules))])
    depth = max([1, *(column.ancestors.shape[0] for column in columns if column.ancestors is not None)])
    bounds = np.zeros((2, len(rules), widest))
    nodes = np.zeros((len(rules), depth, widest if depth > 1 else 1), dtype=np.int32)
    levels = np.zeros(len(rules), dtype=np.int64)
    for number, rule in enumerate(rules):
        if rule.column is None or rule.kind in (RuleKind.DISTINCT, RuleKind.NEEDED):
            continue
        column = columns[place_of_rule[number]]
        bounds[:, number, : column.size] = _bounds(rule, column, shares[place_of_rule[number]])
        if rule.kind is RuleKind.CLOSE_HIERARCHICAL:
            below_root = _ancestors(column)[:-1]
            levels[number] = below_root.shape[0]
            nodes[number, : levels[number], : column.size] = below_root
        if rule.kind is RuleKind.CATEGORIES:
            nodes[number, 0, : column.size] = _grouped(column).categories
    return bounds, nodes, levels


def _numbers(
    rules: Sequence[HistogramRule], starts: NDArray[np.int64], place_of_counted: Sequence[int]
) -> NDArray[np.float64]:
    """(rules, 2) the numbers of each rule; where another column is counted, also the slot of the value there."""
    numbers = np.array([(*rule.numbers, 0.0)[:2] for rule in rules], dtype=np.float64).reshape(len(rules), 2)
    for number, place in enumerate(place_of_counted):
        if place >= 0:
            numbers[number, 1] = starts[place] + numbers[number, 0]
    return numbers


def _looked_at(rules: Sequence[HistogramRule], table: EncodedTable) -> tuple[list[EncodedColumn], list[int], list[int]]:
    """The columns that rules look at, once each, and the numbers of each rule's column and counted one (-1: none).

    A column is there twice if one rule needs its codes in order and another one does not.
    """
    keys = [None if rule.column is None else (rule.column, rule.kind is RuleKind.CLOSE_ORDERED) for rule in rules]
    counted = [None if rule.counted is None else (rule.counted, False) for rule in rules]
    known = [key for key in dict.fromkeys([*keys, *counted]) if key is not None]
    columns = [_ranked(_column(table, name)) if ordered else _column(table, name) for name, ordered in known]
    places = [[-1 if key is None else known.index(key) for key in of_rules] for of_rules in (keys, counted)]
    return columns, places[0], places[1]


def _ranked(column: EncodedColumn) -> EncodedColumn:
    """The column with codes that follow the order of its values."""
    if column.positions is None:
        message = "the ordered distance needs values with an order"
        hint = "give the order of its values, from low to high, or use the equal distance"
        raise InputError(Problem("unordered-column", message, column.name, hint))
    rank = np.empty(column.size, dtype=np.int32)
    order = np.argsort(column.positions, kind="stable")
    rank[order] = np.arange(column.size, dtype=np.int32)
    shares = None if column.shares is None else column.shares[order]
    return replace(column, codes=rank[column.codes], ancestors=None, shares=shares)


def deficits_of_groups(safety: Safety, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
    """(count,) the deficit of every group. One pass over the records and one row of counts."""
    order = np.argsort(groups, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=count))]).astype(np.int64)
    deficits = np.zeros(count, dtype=np.float64)
    kernels.all_deficits(safety, starts, order, empty_row(safety), deficits)
    return deficits


def empty_row(safety: Safety) -> NDArray[np.int32]:
    """A row of counts for one group, all zero."""
    return np.zeros(int(safety.starts[-1]) + int(safety.codes.shape[0]), dtype=np.int32)


def find_value_codes(column: str, texts: Sequence[str | None], named: Sequence[str]) -> dict[str, int]:
    """For `EncodedColumn.value_codes`: the code of each named value (or of its digest), -1 if no code has that text."""
    codes = dict.fromkeys(named, -1)
    for code, text in enumerate(texts):
        if text is not None:
            for known in (text, value_digest(column, text)):
                if known in codes:
                    codes[known] = code
    return codes


def _column(table: EncodedTable, name: str) -> EncodedColumn:
    if name not in table.columns:
        raise InputError(Problem("missing-column", "a model looks at this column, but it was not encoded", name))
    return table.columns[name]


def _counted_only(column: EncodedColumn, rules: Sequence[HistogramRule]) -> bool:
    """True if all rules only count the different values (persons): no bounds per value are kept then."""
    return all(rule.kind is RuleKind.DISTINCT for rule in rules if rule.column == column.name)


def _shares(column: EncodedColumn) -> NDArray[np.float64]:
    if column.shares is not None:
        return column.shares
    counts = np.bincount(column.codes, minlength=column.size)
    return np.asarray(counts / max(1, column.codes.shape[0]), dtype=np.float64)


def _bounds(
    rule: HistogramRule, column: EncodedColumn, shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest share that each code may have in a group."""
    caps, floors = np.ones(column.size), np.zeros(column.size)
    number = rule.numbers[0]
    if rule.kind is RuleKind.FREQUENCY:
        caps[:] = number
    elif rule.kind is RuleKind.ONE_VALUE:
        caps[_code_of_value(rule, column)] = number
    elif rule.kind is RuleKind.BETA:
        present = np.maximum(shares, 1e-300)
        gain = np.minimum(number, -np.log(present)) if rule.numbers[1] else number
        caps = shares * (1.0 + gain)
    elif rule.kind is RuleKind.DELTA:
        strict = number - 1e-8  # the definition says "less than"
        caps, floors = shares * np.exp(strict), shares * np.exp(-strict)
    elif rule.kind is RuleKind.WEIGHT:
        weights = _grouped(column).category_weights
        assert weights is not None
        caps = weights
    return floors, caps


def _code_of_value(rule: HistogramRule, column: EncodedColumn) -> int:
    """The code of a named value. A value that does not occur is more likely a slip than a wish, so it is an error."""
    code = column.value_codes.get(rule.value or "", -1)
    if code < 0:
        message = "the value that a model names does not occur in this column"
        raise InputError(
            Problem("unknown-value", message, column.name, "values are compared as text, letter by letter")
        )
    return code


def _grouped(column: EncodedColumn) -> EncodedColumn:
    """The column, if its values are in groups of rising harmlessness."""
    if column.categories is None:
        message = "categories of sensitive values need a hierarchy of this column"
        hint = "its groups right below the root, the most sensitive one first"
        raise InputError(Problem("missing-hierarchy", message, column.name, hint))
    return column


def _ancestors(column: EncodedColumn) -> NDArray[np.int32]:
    if column.ancestors is None:
        message = "the hierarchical distance needs a hierarchy of this column"
        raise InputError(Problem("missing-hierarchy", message, column.name))
    return column.ancestors
