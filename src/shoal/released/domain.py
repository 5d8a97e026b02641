"""What the original column of an attribute holds: the yardstick that released cells are measured against."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.released.ranges import parse_numbers
from shoal.tables.distinct import CodedColumn
from shoal.tables.distinct import as_text as as_text
from shoal.tables.distinct import text_codes as text_codes
from shoal.tables.scales import EXACT_BELOW, TEXT_LIKE, is_missing
from shoal.tables.schema import Attribute, Scale
from shoal.tables.threads import on_threads

FloatArray = NDArray[np.float64]
CodeArray = NDArray[np.int32]
CountArray = NDArray[np.int64]


class DomainKind(StrEnum):
    """How the width of a cell is measured."""

    NUMBER = "number"  # by distance: integers, decimals, dates
    ORDER = "order"  # by rank: ordered categories
    TREE = "tree"  # by leaves: categories with a hierarchy
    FLAT = "flat"  # by the number of values: other categories


@dataclass(frozen=True, eq=False)
class Domain:
    """The distinct values of one original column, in the order of their positions.

    A position is the number itself (dates: days), the rank of an ordered category, the leaf number in the hierarchy,
    or the place in sorted order. The code of a value is its place in `values`; missing values have the next code.
    """

    name: str
    scale: Scale
    values: tuple[str, ...]
    positions: FloatArray
    counts: CountArray  # how many records have each value
    missing_count: int = 0
    hierarchy: Hierarchy | None = None
    missing_texts: frozenset[str] = frozenset()
    order: tuple[str, ...] | None = None
    source: tuple[pl.Series, CodeArray] | None = field(default=None, repr=False)  # the column, and its codes

    @property
    def kind(self) -> DomainKind:
        if self.scale.is_numeric:
            return DomainKind.NUMBER
        if self.scale is Scale.ORDERED:
            return DomainKind.ORDER
        return DomainKind.TREE if self.hierarchy is not None else DomainKind.FLAT

    @property
    def missing_code(self) -> int:
        return len(self.values)

    @property
    def size(self) -> int:
        """Number of distinct values; missing is one of them if it occurs."""
        return len(self.values) + (1 if self.missing_count else 0)

    @property
    def span(self) -> float:
        """Distance of the largest and the smallest position, or the largest float where it is beyond."""
        if not len(self.values):
            return 0.0
        return min(float(self.positions[-1]) - float(self.positions[0]), sys.float_info.max)

    @cached_property
    def code_of(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def distinct_positions(self) -> FloatArray:
        return np.unique(self.positions)

    @cached_property
    def value_of_code(self) -> CodeArray:
        """(codes,) a number for each value, missing last: equal numbers that are spelled differently have the same."""
        number = np.unique(self.positions, return_inverse=True)[1].reshape(-1)
        large = np.flatnonzero(np.abs(self.positions) >= EXACT_BELOW)  # floats do not tell them apart
        number[large] = len(self.values) + large
        return np.append(number, 2 * len(self.values)).astype(np.int32)

    def encode(self, column: pl.Series) -> CodeArray:
        """The code of every cell of an original column; -1 for a value that this domain does not know."""
        if self.source is not None and column.dtype == self.source[0].dtype and column.equals(self.source[0]):
            return self.source[1]
        texts, codes = text_codes(column)
        return self._code_of_texts(texts)[codes]

    def _code_of_texts(self, texts: pl.Series) -> CodeArray:
        values = pl.Series(self.values, dtype=pl.String)
        numbers = pl.Series(np.arange(len(values), dtype=np.int32))
        coded = texts.replace_strict(values, numbers, default=-1, return_dtype=pl.Int32).to_numpy()
        missing = is_missing_text(texts, self.missing_texts, self.scale).to_numpy()
        return np.where(missing, self.missing_code, coded).astype(np.int32)


def is_missing_text(texts: pl.Series, missing: Collection[str], scale: Scale) -> pl.Series:
    """True where a text stands for a missing value: as in the tables that are read, and any `nan` among numbers."""
    absent = is_missing(texts, missing)
    if scale.is_numeric:
        absent = absent | texts.str.contains(r"(?i)^\s*[+-]?nan\s*$").fill_null(value=False)
    return absent


def make_domains(
    original: pl.DataFrame,
    attributes: Sequence[Attribute],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    missing: Collection[str] = (),
    coded: Mapping[str, CodedColumn] | None = None,
    weights: CountArray | None = None,
) -> dict[str, Domain]:
    """The domains of the given attributes. Raises InputError with the problems of all columns.

    `coded` are columns of the original as numbers, where the caller has them already. With `weights` each row of the
    original stands for so many records.
    """

    def make(attribute: Attribute) -> Domain | InputError:
        name = attribute.name
        if name not in original.columns:
            return InputError(Problem("unknown-column", "the original has no such column", name))
        try:
            return make_domain(
                original[name], attribute, (hierarchies or {}).get(name), missing, (coded or {}).get(name), weights
            )
        except InputError as error:
            return error

    made = on_threads(make, attributes)
    problems = [problem for one in made if isinstance(one, InputError) for problem in one.problems]
    if problems:
        raise InputError(problems)
    return {one.name: one for one in made if isinstance(one, Domain)}


def make_domain(
    column: pl.Series,
    attribute: Attribute,
    hierarchy: Hierarchy | None = None,
    missing: Collection[str] = (),
    coded: CodedColumn | None = None,
    weights: CountArray | None = None,
) -> Domain:
    """The domain of one original column; with `weights` each of its rows stands for so many records."""
    if coded is not None and column.dtype == pl.String:
        texts, codes = coded.values, coded.codes
    else:
        texts, codes = text_codes(column)
    if not isinstance(column.dtype, TEXT_LIKE):
        missing = ()  # a column with a type says by a null what is missing
    counts = np.bincount(codes, weights=weights, minlength=len(texts)).astype(np.int64)
    absent = is_missing_text(texts, missing, attribute.scale).to_numpy()
    present = texts.filter(pl.Series(~absent))
    positions = _positions(present, attribute, hierarchy)
    order = np.lexsort((present.rank("ordinal").to_numpy(), positions)) if len(present) else np.zeros(0, dtype=np.int64)
    return Domain(
        name=attribute.name,
        scale=attribute.scale,
        values=tuple(present.gather(order).to_list()),
        positions=positions[order],
        counts=counts[~absent][order].astype(np.int64),
        missing_count=int(counts[absent].sum()),
        hierarchy=hierarchy,
        missing_texts=frozenset(missing),
        order=attribute.order,
        source=(column, _codes_in_order(absent, order)[codes]),
    )


def _codes_in_order(absent: NDArray[np.bool_], order: NDArray[np.int64]) -> CodeArray:
    """(texts,) the place of each present text in the order; the code behind all for missing ones."""
    code_of_text = np.full(absent.shape[0], order.shape[0], dtype=np.int32)
    code_of_text[np.flatnonzero(~absent)[order]] = np.arange(order.shape[0], dtype=np.int32)
    return code_of_text


def _positions(present: pl.Series, attribute: Attribute, hierarchy: Hierarchy | None) -> FloatArray:
    if attribute.scale.is_numeric:
        return _numbers(present, attribute)
    if attribute.scale is Scale.ORDERED:
        known = {value: rank for rank, value in enumerate(attribute.order or ())}
        reason, what = "not-in-order", "the given order"
    elif hierarchy is not None:
        known = hierarchy.leaf_index
        reason, what = "uncovered-values", "its hierarchy"
    else:
        return np.argsort(np.argsort(present.to_numpy())).astype(np.float64) if len(present) else np.zeros(0)
    positions = np.array([known.get(text, -1) for text in present.to_list()], dtype=np.float64)
    unknown = int((positions < 0).sum())
    if unknown:
        message = f"{unknown} of {len(present)} distinct values are not in {what}"
        raise InputError(Problem(reason, message, attribute.name, "add them"))
    return positions


def _numbers(present: pl.Series, attribute: Attribute) -> FloatArray:
    numbers = parse_numbers(present, attribute.scale)
    bad = int(np.isnan(numbers).sum())
    if bad:
        message = f"{bad} of {len(present)} distinct values cannot be read as {attribute.scale.value}"
        raise InputError(Problem("not-a-number", message, attribute.name, "give it the scale 'category'"))
    return numbers
