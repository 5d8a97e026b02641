"""A table with its schema and hierarchies to an EncodedTable, and the codebook that leads back.

Cost: per column one pass to find the distinct values (unless the caller has done that) and one to replace their numbers
by codes, then one sort of n integers to collapse equal rows. No Python loop over records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import Codebook, ColumnCodebook
from shoal.encode.collapse import collapse_rows
from shoal.encode.columns import encode_attribute, encode_model_column
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable
from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.tables.distinct import CodedColumn, code_columns
from shoal.tables.schema import Attribute, Role


@dataclass(frozen=True)
class EncodeOptions:
    """How to encode: which texts mean missing, the weight of each attribute, which numbers use hierarchy nodes."""

    missing: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    as_nodes: frozenset[str] = frozenset()
    model_columns: tuple[str, ...] = ()  # columns that models look at, besides the sensitive ones
    named_values: tuple[tuple[str, str], ...] = ()  # (column, text) of values that models name
    at_most: Mapping[str, int] = field(default_factory=dict)  # the highest level of each capped quasi-identifier
    roundings: Mapping[str, str] = field(default_factory=dict)  # the unit of each quasi-identifier that has one


def encode_table(
    frame: pl.DataFrame,
    attributes: Sequence[Attribute],
    hierarchies: Mapping[str, Hierarchy],
    options: EncodeOptions = EncodeOptions(),
    coded: Mapping[str, CodedColumn] | None = None,
) -> tuple[EncodedTable, Codebook]:
    """Encode the quasi-identifiers of a frame; every problem of every column is raised together.

    `coded` are columns of the frame as numbers, where the caller has them already.
    """
    found = encode_columns(_numbered(frame, attributes, options, coded or {}), attributes, hierarchies, options)
    rows, weights, row_of_record = collapse_rows(found.codes, [attribute.size for attribute in found.attributes])
    table = EncodedTable(found.attributes, rows, weights, row_of_record, found.columns)
    return table, Codebook(found.books, found.missing_cells)


@dataclass(frozen=True)
class EncodedColumns:
    """All columns that matter, each on its own: equal rows are not yet joined."""

    attributes: tuple[EncodedAttribute, ...]
    books: tuple[ColumnCodebook, ...]
    codes: tuple[NDArray[np.int32], ...]  # (records,) per quasi-identifier
    missing_cells: Mapping[str, int]
    columns: Mapping[str, EncodedColumn]  # those that models look at


def encode_columns(
    numbered: Mapping[str, CodedColumn],
    attributes: Sequence[Attribute],
    hierarchies: Mapping[str, Hierarchy],
    options: EncodeOptions,
) -> EncodedColumns:
    """Every column as codes; every problem of every column is raised together."""
    problems: list[Problem] = []
    quasi: list[tuple[EncodedAttribute, ColumnCodebook, NDArray[np.int32], int]] = []
    columns: dict[str, EncodedColumn] = {}
    for attribute in attributes:
        column, tree = numbered.get(attribute.name), hierarchies.get(attribute.name)
        try:
            if column is not None and attribute.role is Role.QUASI_IDENTIFYING:
                quasi.append(_encode_quasi(column, attribute, tree, options))
            if column is not None and (attribute.role is Role.SENSITIVE or attribute.name in options.model_columns):
                columns[attribute.name] = _encode_for_models(column, attribute, tree, options)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return EncodedColumns(
        attributes=tuple(encoded for encoded, *_ in quasi),
        books=tuple(book for _, book, *_ in quasi),
        codes=tuple(codes for _, _, codes, _ in quasi),
        missing_cells={encoded.name: absent for encoded, *_, absent in quasi},
        columns=columns,
    )


def _encode_quasi(
    column: CodedColumn, attribute: Attribute, hierarchy: Hierarchy | None, options: EncodeOptions
) -> tuple[EncodedAttribute, ColumnCodebook, NDArray[np.int32], int]:
    name = attribute.name
    return encode_attribute(
        column,
        attribute,
        hierarchy,
        as_nodes=name in options.as_nodes,
        weight=options.weights.get(name, 1.0),
        missing=options.missing,
        at_most=options.at_most.get(name),
        rounding=options.roundings.get(name),
    )


def _encode_for_models(
    column: CodedColumn, attribute: Attribute, hierarchy: Hierarchy | None, options: EncodeOptions
) -> EncodedColumn:
    named = [text for name, text in options.named_values if name == attribute.name]
    return encode_model_column(column, attribute, hierarchy, options.missing, named)


def _numbered(
    frame: pl.DataFrame, attributes: Sequence[Attribute], options: EncodeOptions, known: Mapping[str, CodedColumn]
) -> dict[str, CodedColumn]:
    """All columns that are encoded, as numbers."""
    encoded = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
    wanted = [item.name for item in attributes if item.role in encoded or item.name in options.model_columns]
    return {**known, **code_columns(frame, (name for name in wanted if name not in known))}
