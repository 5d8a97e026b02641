"""The population table of k-map in the codes of the table to be released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.codebook import Codebook
from shoal.errors import InputError, Problem, did_you_mean
from shoal.tables.scales import is_missing
from shoal.tables.types import has_text


def encode_population(
    frame: pl.DataFrame, codebook: Codebook, missing: Sequence[str], person: str | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """(attributes, rows) codes, and a number for the person of each row if the frame has the person column.

    Rows with a value that the table does not have are left out.

    Leaving them out can only lower the count of persons that fit a group, so the search errs on the safe side; the
    check of the released values reads the whole population.
    """
    problems = [
        Problem("missing-column", "the population table has no such column", book.name, hint)
        for book in codebook.columns
        if book.name not in frame.columns
        for hint in [did_you_mean(book.name, frame.columns)]
    ]
    looked_at = [*(book.name for book in codebook.columns), *([person] if person is not None else [])]
    problems += [
        Problem("unknown-type", f"the population has values of type {type(dtype).__name__}, which have no text", name)
        for name, dtype in frame.schema.items()
        if name in looked_at and not has_text(dtype)
    ]
    if problems:
        raise InputError(problems)
    codes = np.empty((len(codebook.columns), frame.height), dtype=np.int32)
    for number, book in enumerate(codebook.columns):
        column = frame[book.name]
        known = book.texts.drop_nulls()
        places = pl.Series(np.flatnonzero(~book.texts.is_null().to_numpy()).astype(np.int32))
        found = (
            column.cast(pl.String).replace_strict(known, places, default=-1, return_dtype=pl.Int32).to_numpy().copy()
        )
        found[is_missing(column, missing).to_numpy()] = book.missing_code
        codes[number] = found
    known_rows = (codes >= 0).all(axis=0)
    owners = None
    if person is not None and person in frame.columns:
        owners = np.unique(person_numbers(frame[person])[known_rows], return_inverse=True)[1].astype(np.int32)
    return np.ascontiguousarray(codes[:, known_rows]), owners


def person_numbers(persons: pl.Series) -> NDArray[np.int64]:
    """Equal numbers for equal persons; all rows without one are taken for the same person."""
    return persons.cast(pl.String).rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
