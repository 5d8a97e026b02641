"""A table that was counted, not kept: its distinct keys with counts become an EncodedTable by rows.

A key is what a job can tell records apart by: the quasi-identifiers and the columns that models, persons and the
algorithm look at. Whoever counted them numbers the values of each column (a dictionary) and gives the distinct
combinations of numbers with their counts. The dictionaries are encoded like the columns of a table of their own, so
every value gets the code that it has when the whole table is encoded at once.

Keys are sorted by the codes of the quasi-identifiers, then by those of the other columns: the canonical order, in which
every engine hands records to algorithms that take rows. Cost: one sort of the distinct keys; memory: 4 bytes per key
and column, and nothing per record (`with_records` costs 4 bytes per record and column that models look at).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import Codebook
from shoal.encode.collapse import collapse_rows
from shoal.encode.encode import EncodedColumns, EncodeOptions, encode_columns
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable, IntegerArray
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.tables.distinct import CodedColumn
from shoal.tables.schema import Attribute, Role


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Distinct combinations of values of some columns, by the numbers of the values, and how often each occurs."""

    values: Mapping[str, pl.Series]  # per column its distinct values; a null is a value like others
    numbers: IntegerArray  # (columns, rows) the number of each value among the values of its column
    counts: NDArray[np.int64]  # (rows,)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    def of(self, name: str) -> IntegerArray:
        return np.asarray(self.numbers[self.names.index(name)])

    def value_counts(self, name: str) -> NDArray[np.int64]:
        """(values,) how many records have each value of a column."""
        return np.bincount(self.of(name), weights=self.counts, minlength=len(self.values[name])).astype(np.int64)

    def frame(self, names: Sequence[str]) -> pl.DataFrame:
        """The values themselves: one line per distinct combination."""
        return pl.DataFrame({name: self.values[name].gather(self.of(name)) for name in names})


@dataclass(frozen=True, eq=False)
class KeyPart:
    """One column of the key: the code of every value that was counted."""

    name: str
    code_of_value: IntegerArray  # (values,)
    size: int


@dataclass(frozen=True, eq=False)
class CountedTable:
    """The encoded table by rows, and its keys in canonical order."""

    table: EncodedTable  # knows no records and no columns of models
    codebook: Codebook
    parts: tuple[KeyPart, ...]  # quasi-identifiers first
    key_codes: IntegerArray  # (parts, keys)
    key_counts: NDArray[np.int64]  # (keys,)
    key_row: IntegerArray  # (keys,) the row of the table, rising
    columns: Mapping[str, EncodedColumn]  # of models; codes are per value, not per record

    def with_records(self) -> EncodedTable:
        """The table with its records in canonical order, for models and algorithms that look at them one by one."""
        places = {part.name: place for place, part in enumerate(self.parts) if place >= self.table.width}
        columns = {
            name: replace(column, codes=np.repeat(self.key_codes[places[name]], self.key_counts))
            for name, column in self.columns.items()
        }
        return replace(self.table, columns=columns)


def encode_counted(
    counted: CountedRows,
    attributes: Sequence[Attribute],
    hierarchies: Mapping[str, Hierarchy],
    options: EncodeOptions,
) -> CountedTable:
    """Encode counted rows; `options.model_columns` are the columns of the key besides the quasi-identifiers, in order.

    Every problem of every column is raised together.
    """
    found = _encode_dictionaries(counted, attributes, hierarchies, options)
    quasi = [KeyPart(one.name, codes, one.size) for one, codes in zip(found.attributes, found.codes, strict=True)]
    others = [KeyPart(name, found.columns[name].codes, found.columns[name].size) for name in options.model_columns]
    parts = (*quasi, *others)
    codes = [part.code_of_value[counted.of(part.name)] for part in parts]
    key_codes, key_counts, _ = collapse_rows(codes, [part.size for part in parts], counted.counts)
    table, key_row = _rows_of_keys(found.attributes, key_codes[: len(quasi)], key_counts)
    missing = {
        one.name: int(counted.value_counts(one.name)[codes == one.missing_code].sum())
        for one, codes in zip(found.attributes, found.codes, strict=True)
    }
    book = Codebook(found.books, missing)
    return CountedTable(table, book, parts, key_codes, key_counts, key_row, found.columns)


def _encode_dictionaries(
    counted: CountedRows,
    attributes: Sequence[Attribute],
    hierarchies: Mapping[str, Hierarchy],
    options: EncodeOptions,
) -> EncodedColumns:
    """The distinct values of every column, as if they were its records."""
    wanted = [_only_looked_at(item, options) for item in attributes if item.name in counted.values]
    dictionaries = {
        name: CodedColumn(values, np.arange(len(values), dtype=np.int32)) for name, values in counted.values.items()
    }
    return encode_columns(dictionaries, wanted, hierarchies, options)


def _rows_of_keys(
    attributes: tuple[EncodedAttribute, ...], codes: IntegerArray, counts: NDArray[np.int64]
) -> tuple[EncodedTable, IntegerArray]:
    """The table of the quasi-identifiers, and the row of each key; keys with equal codes follow each other.

    IN  codes   (quasi-identifiers, keys)
    IN  counts  (keys,) records
    """
    begins = np.ones(counts.shape[0], dtype=np.bool_)
    begins[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
    starts = np.flatnonzero(begins)
    table = EncodedTable(attributes, np.ascontiguousarray(codes[:, starts]), np.add.reduceat(counts, starts))
    return table, (np.cumsum(begins) - 1).astype(np.int32)


def _only_looked_at(attribute: Attribute, options: EncodeOptions) -> Attribute:
    """Sensitive columns that nobody looks at are no part of the key."""
    if attribute.role is Role.SENSITIVE and attribute.name not in options.model_columns:
        return replace(attribute, role=Role.INSENSITIVE)
    return attribute
