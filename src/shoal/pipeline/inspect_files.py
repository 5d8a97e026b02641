"""What is in a table: scales, suggested roles, and which combinations of columns single people out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.encode.population import person_numbers
from shoal.errors import InputError, Problem, did_you_mean
from shoal.tables.scales import find_scale, is_missing
from shoal.tables.schema import Role, Scale

MOST_COMBINATIONS = 400  # group-bys that one look may cost
SHOWN_COMBINATIONS = 15

IDENTIFYING_WORDS = frozenset({"name", "ssn", "email", "phone", "passport", "id", "address", "patient", "mrn", "iban"})
QUASI_WORDS = (
    *("age", "birth", "dob", "sex", "gender", "zip", "post", "city", "town", "region", "country", "nation", "race"),
    *("ethnic", "marital", "education", "occupation", "job", "work", "religion", "language", "admission", "date"),
)
SENSITIVE_WORDS = (
    *("diagnos", "disease", "illness", "treatment", "drug", "salary", "income", "wage", "debt", "crime", "vote"),
    *("result", "cost"),
)


def inspect_table(
    frame: pl.DataFrame,
    quasi: Sequence[str] = (),
    missing: tuple[str, ...] = (),
    largest: int = 3,
    person: str | None = None,
) -> dict[str, Any]:
    """Columns with suggested roles, and the combinations of likely quasi-identifiers with the most unique records.

    With `person`, a column that tells persons apart, a record stands alone when nobody else has its values: other
    records of the same person do not hide it.
    """
    unknown = [name for name in (*quasi, *([person] if person is not None else [])) if name not in frame.columns]
    if unknown:
        hints = [(name, did_you_mean(name, frame.columns)) for name in unknown]
        raise InputError(
            [Problem("unknown-column", "the table has no such column", name, hint) for name, hint in hints]
        )
    columns = [_column(frame[name], missing) for name in frame.columns]
    chosen = list(quasi) or [c["name"] for c in columns if c["role"] == Role.QUASI_IDENTIFYING and c["name"] != person]
    return {
        "records": frame.height,
        "columns": columns,
        "combinations": _risky_combinations(frame, chosen, largest, person, missing),
    }


def _column(column: pl.Series, missing: tuple[str, ...]) -> dict[str, Any]:
    absent = is_missing(column, missing)
    present = column.filter(~absent) if absent.any() else column
    distinct = present.n_unique()
    scale = find_scale(column, missing)
    role, why = _suggest(column.name, scale, distinct, len(present))
    return {
        "name": column.name,
        "scale": str(scale),
        "distinct": distinct,
        "missing": int(absent.sum()),
        "role": str(role),
        "why": why,
    }


def _suggest(name: str, scale: Scale, distinct: int, records: int) -> tuple[Role, str]:
    """A guess from the name and from how many records share a value."""
    words = name.lower()
    if any(word in words for word in SENSITIVE_WORDS):
        return Role.SENSITIVE, "by its name"
    if any(word in words for word in QUASI_WORDS):
        return Role.QUASI_IDENTIFYING, "by its name"
    parts = words.replace("-", "_").replace(" ", "_").split("_")
    if any(word in parts for word in IDENTIFYING_WORDS):
        return Role.IDENTIFYING, "by its name"
    if scale in (Scale.CATEGORY, Scale.INTEGER) and records > 20 and distinct > 0.95 * records:
        return Role.IDENTIFYING, "nearly every record has its own value"
    if scale is Scale.CATEGORY and 1 < distinct <= 100:
        return Role.QUASI_IDENTIFYING, "few values, which others may know"
    return Role.INSENSITIVE, "nothing speaks against keeping it"


def _risky_combinations(
    frame: pl.DataFrame, names: list[str], largest: int, person: str | None, missing: Sequence[str]
) -> list[dict[str, Any]]:
    """Unique records per combination, small combinations first, until the budget of group-bys is spent."""
    codes = {name: frame[name].rank("dense").fill_null(0).to_numpy().astype(np.int64) for name in names}
    persons = None
    if person is not None:
        persons = person_numbers(frame[person], missing)
    found: list[dict[str, Any]] = []
    for size in range(1, max(1, largest) + 1):
        for combination in combinations(names, size):
            if len(found) >= MOST_COMBINATIONS:
                break
            unique = _unique_records([codes[name] for name in combination], persons)
            share = unique / frame.height
            found.append({"columns": list(combination), "unique": unique, "unique_share": share})
    found.sort(key=lambda entry: (-entry["unique"], len(entry["columns"])))
    return found[:SHOWN_COMBINATIONS]


def _unique_records(columns: list[NDArray[np.int64]], persons: NDArray[np.int64] | None) -> int:
    """Records whose values no other record has, or no other person."""
    key = np.zeros(columns[0].shape[0], dtype=np.int64)
    for codes in columns:
        key = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    if persons is None:
        return int(np.count_nonzero(np.bincount(key) == 1))
    pairs = np.unique(key * (int(persons.max()) + 1) + persons) // (int(persons.max()) + 1)
    return int((np.bincount(key)[np.bincount(pairs, minlength=int(key.max()) + 1) == 1]).sum())
