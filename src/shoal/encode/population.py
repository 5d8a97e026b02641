"""The population table of k-map in the codes of the table to be released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import Codebook, ColumnCodebook
from shoal.errors import InputError, Problem, did_you_mean
from shoal.tables.distinct import code_column
from shoal.tables.scales import EXACT_BELOW, comparable_positions, is_missing
from shoal.tables.types import has_text


def encode_population(
    frame: pl.DataFrame, codebook: Codebook, missing: Sequence[str], person: str | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """(attributes, rows) codes, and a number for the person of each row if the frame has the person column.

    Texts are compared letter by letter, numbers and dates by what they are, however either table writes them. Rows
    with a value that the table does not have are left out.

    Leaving them out can only lower the count of persons that fit a group, so the search errs on the safe side; the
    check of the released values reads the whole population.
    """
    problems = _population_problems(frame, [book.name for book in codebook.columns], person)
    if problems:
        raise InputError(problems)
    codes = np.empty((len(codebook.columns), frame.height), dtype=np.int32)
    for number, book in enumerate(codebook.columns):
        column = code_column(frame[book.name])
        codes[number] = _codes_of_values(column.values, book, missing)[column.codes]
    known_rows = (codes >= 0).all(axis=0)
    owners = None
    if person is not None and person in frame.columns:
        numbers = person_numbers(frame[person], missing)[known_rows]
        owners = np.unique(numbers, return_inverse=True)[1].astype(np.int32)
    return np.ascontiguousarray(codes[:, known_rows]), owners


def _population_problems(frame: pl.DataFrame, quasi: list[str], person: str | None) -> list[Problem]:
    problems = [
        Problem("missing-column", "the population table has no such column", name, did_you_mean(name, frame.columns))
        for name in quasi
        if name not in frame.columns
    ]
    looked_at = [*quasi, *([person] if person is not None else [])]
    return problems + [
        Problem("unknown-type", f"the population has values of type {type(dtype).__name__}, which have no text", name)
        for name, dtype in frame.schema.items()
        if name in looked_at and not has_text(dtype)
    ]


def _codes_of_values(distinct: pl.Series, book: ColumnCodebook, missing: Sequence[str]) -> NDArray[np.int32]:
    """(distinct values,) the code of each value of the population, -1 if the table does not have it."""
    known = pl.DataFrame({"text": book.texts, "code": np.arange(book.size, dtype=np.int32)})
    known = known.drop_nulls("text").unique("text", keep="first", maintain_order=True)
    texts = distinct.cast(pl.String)
    codes = texts.replace_strict(known["text"], known["code"], default=-1, return_dtype=pl.Int32).to_numpy().copy()
    if book.scale.is_numeric:
        unknown = np.flatnonzero(codes < 0)
        codes[unknown] = _codes_by_position(distinct.gather(unknown), book)
    codes[is_missing(distinct, missing).to_numpy()] = book.missing_code
    return codes


def _codes_by_position(values: pl.Series, book: ColumnCodebook) -> NDArray[np.int32]:
    """The first code with the same number or moment, -1 if there is none."""
    known = comparable_positions(book.values if book.hierarchy is None else book.texts, book.scale)
    order = np.argsort(known, kind="stable")  # NaN, of a missing value, comes last
    wanted = comparable_positions(values, book.scale)
    place = np.minimum(np.searchsorted(known[order], wanted), known.shape[0] - 1)
    found = order[place]
    same = (known[found] == wanted) & (np.abs(wanted) < EXACT_BELOW)
    return np.where(same, found, -1).astype(np.int32)


def person_numbers(persons: pl.Series, missing: Sequence[str] = ()) -> NDArray[np.int64]:
    """Equal numbers for equal persons; all rows without one are taken for the same person."""
    absent = is_missing(persons, missing).to_numpy()
    numbers = persons.cast(pl.String).rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    return np.where(absent, 0, numbers)
