"""One column to codes: which codes there are, in which order, and what each of them means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import ColumnCodebook
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, Kind
from shoal.encode.levels import flat_levels, interval_levels, nodes_are_ranges, tree_levels
from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.tables.distinct import CodedColumn
from shoal.tables.exact import exact_order
from shoal.tables.rounding import OuterEnds, outer_ends, outer_places, with_missing
from shoal.tables.scales import is_missing, parse_values
from shoal.tables.schema import Attribute, Scale


@dataclass(frozen=True)
class _Coded:
    """A column as codes: the value and text of each code, and the code of missing values (-1: none)."""

    codes: NDArray[np.int32]
    values: pl.Series
    texts: pl.Series
    missing_code: int
    missing_count: int


class _Ordered(NamedTuple):
    """Distinct values in rising order."""

    numbers: NDArray[np.float64]
    ranks: NDArray[np.int64]  # equal where two values are exactly one number
    values: pl.Series


_NO_NUMBERS, _NO_RANKS = np.empty(0), np.empty(0, dtype=np.int64)


class _LaidOut(NamedTuple):
    """The values of a column as codes, and what each level of generalization makes of them."""

    kind: Kind
    coded: _Coded
    positions: NDArray[np.float64]  # (codes,) 0 to 1, a missing value at 2
    ancestors: NDArray[np.int32]  # (levels, codes)
    cost: NDArray[np.float64]
    numbers: NDArray[np.float64] = _NO_NUMBERS  # (codes,) of an INTERVAL
    ranks: NDArray[np.int64] = _NO_RANKS
    ends: OuterEnds | None = None  # of ranges that are rounded
    halvings: bool = False

    def encoded(self, name: str, weight: float, at_most: int | None) -> EncodedAttribute:
        coded = self.coded
        return EncodedAttribute(
            name,
            self.kind,
            len(coded.texts),
            self.positions,
            self.ancestors,
            self.cost,
            weight,
            coded.missing_code,
            at_most,
            self.halvings,
        )

    def book(self, attribute: Attribute, hierarchy: Hierarchy | None) -> ColumnCodebook:
        coded = self.coded
        return ColumnCodebook(
            attribute.name,
            self.kind,
            attribute.scale,
            coded.values,
            coded.texts,
            self.numbers,
            self.ranks,
            coded.missing_code,
            hierarchy,
            self.ends,
        )


def _as_tree(
    column: CodedColumn, distinct: pl.Series, absent: int, hierarchy: Hierarchy, attribute: Attribute
) -> _LaidOut:
    coded = _code_leaves(column, distinct, absent, hierarchy, attribute.name)
    places = _leaf_positions(hierarchy, distinct, attribute)
    ancestors, cost = tree_levels(hierarchy, coded.missing_code >= 0, places)
    return _LaidOut(Kind.TREE, coded, _even_positions(len(coded.texts)), ancestors, cost)


def _as_set(column: CodedColumn, distinct: pl.Series, absent: int) -> _LaidOut:
    coded = _code_in_order(column, distinct.sort(), absent)
    ancestors, cost = flat_levels(len(coded.texts))
    return _LaidOut(Kind.FLAT, coded, _even_positions(len(coded.texts)), ancestors, cost)


def _as_interval(
    column: CodedColumn,
    distinct: pl.Series,
    absent: int,
    hierarchy: Hierarchy | None,
    attribute: Attribute,
    rounding: str | None,
) -> _LaidOut:
    numbers, ranks, ordered = _ordered_numbers(distinct, attribute)
    coded = _code_in_order(column, ordered, absent)
    ends, places = (None, numbers) if rounding is None else _rounded(ordered, numbers, attribute, rounding)
    positions = scaled_positions(places, coded.missing_code >= 0)
    if coded.missing_code >= 0:
        ends = with_missing(ends)
        numbers, ranks = np.append(numbers, np.nan), np.append(ranks, len(ranks))
    nodes = _hierarchy_nodes(coded.texts, hierarchy)
    ancestors, cost = interval_levels(positions, nodes)
    return _LaidOut(Kind.INTERVAL, coded, positions, ancestors, cost, numbers, ranks, ends, nodes is None)


def encode_attribute(
    column: CodedColumn,
    attribute: Attribute,
    hierarchy: Hierarchy | None,
    *,
    as_nodes: bool,
    weight: float,
    missing: Sequence[str],
    at_most: int | None = None,
    rounding: str | None = None,
) -> tuple[EncodedAttribute, ColumnCodebook, NDArray[np.int32], int]:
    """A quasi-identifier as codes. Raises InputError with every problem of this column.

    Numbers, dates and ordered categories become INTERVAL (unless they have a hierarchy and `as_nodes` asks for its
    nodes), categories with a hierarchy TREE, other categories FLAT. With `rounding` (a unit) the values of an INTERVAL
    stand where their units begin. Also returns the number of missing cells.
    """
    distinct, absent = _distinct(column, missing)
    if hierarchy is not None and (as_nodes or attribute.scale is Scale.CATEGORY):
        laid = _as_tree(column, distinct, absent, hierarchy, attribute)
    elif attribute.scale is Scale.CATEGORY:
        laid, hierarchy = _as_set(column, distinct, absent), None
    else:
        laid = _as_interval(column, distinct, absent, hierarchy, attribute, rounding)
    _check_cap(attribute.name, at_most, len(laid.ancestors), laid.halvings)
    book = laid.book(attribute, hierarchy)
    return laid.encoded(attribute.name, weight, at_most), book, laid.coded.codes, laid.coded.missing_count


def encode_model_column(
    column: CodedColumn,
    attribute: Attribute,
    hierarchy: Hierarchy | None,
    missing: Sequence[str],
    named_values: Sequence[str] = (),
) -> EncodedColumn:
    """A column that is kept as it is but that a model or an algorithm looks at.

    Values with an order and a hierarchy are there with both: in tree order, with the position of each.
    """
    distinct, absent = _distinct(column, missing)
    positions = ancestors = None
    if attribute.scale is not Scale.CATEGORY:
        ordered, positions, ancestors = _in_order_and_tree(distinct, absent, attribute, hierarchy)
        coded = _code_in_order(column, ordered, absent)
    elif hierarchy is not None:
        coded = _code_leaves(column, distinct, absent, hierarchy, attribute.name)
        ancestors, _ = tree_levels(hierarchy, coded.missing_code >= 0)
    else:
        coded = _code_in_order(column, distinct.sort(), absent)
    categories, weights = (None, None) if hierarchy is None else _categories(coded.texts, hierarchy)
    wanted = set(named_values)
    value_codes = {text: code for code, text in enumerate(coded.texts.to_list()) if text in wanted} if wanted else {}
    return EncodedColumn(
        attribute.name, coded.codes, len(coded.texts), positions, ancestors, value_codes, categories, weights
    )


def _in_order_and_tree(
    distinct: pl.Series, absent: int, attribute: Attribute, hierarchy: Hierarchy | None
) -> tuple[pl.Series, NDArray[np.float64], NDArray[np.int32] | None]:
    """Values with an order: rising or, with a hierarchy, as its leaves stand; the position of each, and its nodes."""
    numbers, _, ordered = _ordered_numbers(distinct, attribute)
    positions = scaled_positions(numbers, absent > 0)
    if hierarchy is None:
        return ordered, positions, None
    leaves = _leaf_numbers(ordered, hierarchy, attribute.name)
    in_tree_order = np.argsort(leaves, kind="stable")
    positions[: len(leaves)] = _apart(positions[: len(leaves)])[in_tree_order]
    return ordered.gather(in_tree_order), positions, _ancestors_of(leaves[in_tree_order], hierarchy, absent > 0)


def _apart(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions of values in order, even ones where floats do not tell all of them apart: the order is kept."""
    return positions if (np.diff(positions) > 0).all() else _even_positions(positions.shape[0])


def _categories(texts: pl.Series, hierarchy: Hierarchy) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The place of each code's group right below the root, and its weight: 0 for the first group, 1 for the last."""
    nodes = hierarchy.ancestors[max(0, hierarchy.levels - 2)]
    count = int(nodes.max()) - int(nodes.min()) + 1
    leaves = [None if text is None else hierarchy.leaf_index[text] for text in texts.to_list()]
    places = np.array([count if leaf is None else int(nodes[leaf] - nodes.min()) for leaf in leaves], dtype=np.int32)
    weights = np.where(places < count, places / max(1, count - 1) if count > 1 else 1.0, 0.0)
    return places, weights


def scaled_positions(numbers: NDArray[np.float64], missing: bool) -> NDArray[np.float64]:
    """Numbers in rising order scaled to 0..1; a missing value comes last, at 2."""
    if numbers.shape[0] == 0:
        positions = np.zeros(0)
    else:
        if numbers[-1] / 2 - numbers[0] / 2 > np.finfo(np.float64).max / 2:  # the span is no float: halves have one
            numbers = numbers / 2
        span = numbers[-1] - numbers[0]
        positions = (numbers - numbers[0]) / span if span > 0 else np.zeros(numbers.shape[0])
    return np.append(positions, 2.0) if missing else positions


def _even_positions(size: int) -> NDArray[np.float64]:
    return np.arange(size, dtype=np.float64) / max(1, size - 1)


def _distinct(column: CodedColumn, missing: Sequence[str]) -> tuple[pl.Series, int]:
    """The distinct present values, and how many records lack one."""
    absent = is_missing(column.values, missing)
    if not absent.any():
        return column.values, 0
    counts = np.bincount(column.codes, minlength=len(column.values))
    return column.values.filter(~absent), int(counts[absent.to_numpy()].sum())


def _code_in_order(column: CodedColumn, ordered: pl.Series, absent: int) -> _Coded:
    """Codes in the given order of the distinct values; missing values get the code after the last."""
    size = len(ordered)
    code_numbers = pl.Series(np.arange(size, dtype=np.int32))
    missing_code = -1
    default = 0
    if absent:
        missing_code = default = size  # whatever is not among the distinct present values is missing
    if size:
        code_of_value = column.values.replace_strict(ordered, code_numbers, default=default, return_dtype=pl.Int32)
        codes = code_of_value.to_numpy()[column.codes]
    else:
        codes = np.full(column.codes.shape[0], default, dtype=np.int32)
    texts = ordered.cast(pl.String)
    if absent:
        ordered = pl.concat([ordered, pl.Series([None], dtype=ordered.dtype)])
        texts = pl.concat([texts, pl.Series([None], dtype=pl.String)])
    return _Coded(codes, ordered, texts, missing_code, absent)


def _code_leaves(column: CodedColumn, distinct: pl.Series, absent: int, hierarchy: Hierarchy, name: str) -> _Coded:
    """Codes are the leaves of the hierarchy, in its tree order, whether they occur or not."""
    _leaf_numbers(distinct, hierarchy, name)
    leaves = pl.Series(hierarchy.leaves, dtype=pl.String)
    return _code_in_order(replace(column, values=column.values.cast(pl.String)), leaves, absent)


def _leaf_numbers(distinct: pl.Series, hierarchy: Hierarchy, name: str) -> NDArray[np.int64]:
    """(values,) the leaf of each value. Raises InputError if the hierarchy lacks some."""
    found = [hierarchy.leaf_index.get(text, -1) for text in distinct.cast(pl.String).to_list()]
    leaves = np.array(found, dtype=np.int64)
    uncovered = int(np.count_nonzero(leaves < 0))
    if uncovered:
        message = f"{uncovered} of {len(leaves)} distinct values are not in its hierarchy"
        hint = "add them as leaves, or name the texts that mean 'missing'"
        raise InputError(Problem("uncovered-values", message, name, hint))
    return leaves


def _ancestors_of(leaves: NDArray[np.int64], hierarchy: Hierarchy, missing: bool) -> NDArray[np.int32]:
    """(levels, codes) the nodes above these leaves, and above a missing value, which comes last."""
    ancestors, _ = tree_levels(hierarchy, missing)
    shown = np.append(leaves, len(hierarchy.leaves)) if missing else leaves
    return np.ascontiguousarray(ancestors[:, shown])


def _ordered_numbers(distinct: pl.Series, attribute: Attribute) -> _Ordered:
    """The distinct values in rising order with their numbers. Equal numbers spelled differently stay apart."""
    if attribute.scale is Scale.ORDERED:
        return _given_order(distinct, attribute)
    numbers, problems = parse_values(distinct, attribute.scale, attribute.name)
    if problems:
        raise InputError(problems)
    if distinct.is_empty():
        return _Ordered(numbers, np.empty(0, dtype=np.int64), distinct)
    order, ranks = exact_order(distinct, numbers, attribute.scale)
    return _Ordered(numbers[order], ranks, distinct.gather(order))


def _rounded(
    ordered: pl.Series, numbers: NDArray[np.float64], attribute: Attribute, unit: str
) -> tuple[OuterEnds, NDArray[np.float64]]:
    """The ends of the units of values in rising order, and where these stand: what a range costs counts from there."""
    try:
        ends = outer_ends(ordered, attribute.scale, unit)
    except ValueError as error:
        raise InputError(Problem("bad-rounding", str(error), attribute.name, "take a wider one")) from None
    return ends, outer_places(ends.begins, numbers)


def _leaf_positions(hierarchy: Hierarchy, distinct: pl.Series, attribute: Attribute) -> NDArray[np.float64] | None:
    """Where the leaves of a hierarchy of numbers lie in the range of the values that occur; None for categories."""
    if attribute.scale is Scale.CATEGORY or distinct.is_empty():
        return None
    present = _ordered_numbers(distinct, attribute).numbers
    if attribute.scale is Scale.ORDERED:
        rank = {text: float(place) for place, text in enumerate(attribute.order or ())}
        leaves = np.array([rank.get(text, np.nan) for text in hierarchy.leaves])
    else:
        leaves, _ = parse_values(pl.Series(hierarchy.leaves, dtype=pl.String), attribute.scale, attribute.name)
    span = present[-1] - present[0]
    return (leaves - present[0]) / span if span > 0 else np.zeros(leaves.shape[0])


def _given_order(distinct: pl.Series, attribute: Attribute) -> _Ordered:
    order = pl.Series(attribute.order or (), dtype=pl.String)
    texts = distinct.cast(pl.String)
    problems = repeated_in_order(attribute.name, attribute.order or ())
    unknown = int((~texts.is_in(order.implode())).sum())
    if unknown:
        message = f"{unknown} of {len(texts)} distinct values are not in the given order"
        problems.append(Problem("not-in-order", message, attribute.name, "list every value, from low to high"))
    if problems:
        raise InputError(problems)
    rank = texts.replace_strict(order, pl.Series(np.arange(len(order), dtype=np.float64)), return_dtype=pl.Float64)
    by_rank = rank.arg_sort()
    return _Ordered(rank.gather(by_rank).to_numpy(), np.arange(len(texts), dtype=np.int64), distinct.gather(by_rank))


def repeated_in_order(name: str, order: Sequence[str]) -> list[Problem]:
    """A problem if an order names a value twice: it cannot be told where that value belongs."""
    repeated = len(order) - len(set(order))
    if not repeated:
        return []
    message = f"the order names a value twice ({repeated} of its {len(order)} entries repeat another)"
    return [Problem("repeated-in-order", message, name, "list every value once, from low to high")]


def _hierarchy_nodes(texts: pl.Series, hierarchy: Hierarchy | None) -> NDArray[np.int32] | None:
    """(levels, codes) the nodes of the user's hierarchy; None if it lacks a value (numbers do not need it), or if a
    node is no range of the codes."""
    if hierarchy is None:
        return None
    leaf = [hierarchy.leaf_index.get(text, -1) if text is not None else -2 for text in texts.to_list()]
    index = np.array(leaf, dtype=np.int64)
    if (index == -1).any():
        return None
    nodes = np.where(index >= 0, hierarchy.ancestors[:, np.maximum(index, 0)], -1).astype(np.int32)
    return nodes if nodes_are_ranges(nodes) else None


def _check_cap(name: str, at_most: int | None, levels: int, halvings: bool) -> None:
    if at_most is None or at_most == 0:
        return
    if halvings:
        message = "to be generalized up to a level, a number needs a hierarchy whose groups are ranges"
        raise InputError(Problem("no-levels", message, name, "give it a hierarchy, or level 0: not at all"))
    if at_most > levels - 1:
        message = f"it has the levels 0 to {levels - 1}, there is no level {at_most}"
        raise InputError(Problem("no-such-level", message, name))
