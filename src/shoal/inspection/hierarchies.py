"""Which hierarchy fits a column: one that its own values carry (codes, postcodes, dates, countries), or ranges.

A suggestion is a builder, as a job file writes it. Numbers and dates are released as tight ranges without one, so
theirs are optional; a category without one is released as a set of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchies.countries import region_of
from shoal.inspection.facts import ColumnFacts
from shoal.inspection.names import kinds_of_name, parts_of_name
from shoal.tables.scales import is_missing, parse_numbers
from shoal.tables.schema import Scale

COUNTRIES_SHARE = 0.7  # of the values must be countries
FEWEST_COUNTRIES = 3
MOST_VALUES = 100_000  # for which a hierarchy is made at all
_POSTCODES = ("zip", "plz", "postcode", "postal", "postleitzahl", "post")
_SYSTEMS = {"icd": "icd10", "atc": "atc"}  # by the form of the values
_OCCUPATIONS = ("isco", "soc", "nace", "noga", "isic", "kldb")
SKEWED = 9.0  # mean of the upper half over that of the lower: from there on equal widths leave ranges empty


@dataclass(frozen=True, slots=True)
class HierarchySuggestion:
    """A builder for a column and why; `needed` unless the column is a number or date, which needs none."""

    builder: Mapping[str, Any]
    why: str
    needed: bool
    as_category: bool = False  # numbers that are codes: the scale must be said


def suggest_hierarchy(
    fact: ColumnFacts, column: pl.Series, missing: tuple[str, ...] = ()
) -> HierarchySuggestion | None:
    """What fits the values of a column; None if nothing is known that does."""
    if fact.distinct < 2 or fact.distinct > MOST_VALUES or not fact.has_text:
        return None
    ignored = (*missing, *fact.missing_texts)
    values = column.unique(maintain_order=True)
    values = values.filter(~is_missing(values, ignored))
    scale = fact.scale_without_texts
    if scale is Scale.DATE:
        levels = ["day", "month", "quarter", "year"] if fact.to_the_second else ["month", "quarter", "year"]
        return HierarchySuggestion({"builder": "dates", "levels": levels}, "dates by month, quarter and year", False)
    texts = values.cast(pl.String)
    found = _of_codes(fact, texts)
    if found is not None:
        return found
    if scale.is_numeric:
        return _of_numbers(fact, column, values)
    return _of_countries(texts)


def _of_codes(fact: ColumnFacts, texts: pl.Series) -> HierarchySuggestion | None:
    """Codes whose beginning is the coarser code."""
    form = fact.format.name if fact.format is not None else None
    if form in _SYSTEMS:
        return HierarchySuggestion({"builder": "codes", "system": _SYSTEMS[form]}, f"codes of {form.upper()}", True)
    length = _length_of_digits(texts)
    as_category = fact.scale_without_texts is not Scale.CATEGORY
    if form == "postcode" or (length and _says(fact.name, _POSTCODES)):
        why = "postcodes, a place less from level to level"
        return HierarchySuggestion({"builder": "prefix"}, why, True, as_category)
    if length == 4 and _says(fact.name, _OCCUPATIONS):
        builder = {"builder": "codes", "system": "isco"}
        return HierarchySuggestion(builder, "occupations, a digit less from level to level", True, as_category)
    if length >= 4 and not as_category:
        return HierarchySuggestion({"builder": "prefix"}, "codes of one length", True)
    return None


def _length_of_digits(texts: pl.Series) -> int:
    """How long the texts are, if all are figures and equally long; else 0."""
    stripped = texts.str.strip_chars()
    lengths = stripped.str.len_chars().unique()
    if texts.is_empty() or lengths.len() > 1 or not stripped.str.contains(r"^[0-9]+$").all():
        return 0
    return int(lengths[0])


def _says(name: str, words: tuple[str, ...]) -> bool:
    parts = parts_of_name(name)
    joined = "".join(parts)
    return any(word in (*parts, joined) or joined.startswith(word) for word in words)


def _of_numbers(fact: ColumnFacts, column: pl.Series, values: pl.Series) -> HierarchySuggestion | None:
    """Ages by five years; other numbers by equal ranges, or by quantiles where they are skewed."""
    numbers = np.sort(parse_numbers(values).positions)
    numbers = numbers[~np.isnan(numbers)]
    is_age = any(kind.what == "birth or age" for kind in kinds_of_name(fact.name)[:1])
    if is_age and fact.scale_without_texts is Scale.INTEGER and numbers[0] >= 0 and numbers[-1] <= 130:
        return HierarchySuggestion({"builder": "ranges", "width": 5, "levels": 3}, "ages by 5, 10 and 20 years", False)
    if numbers.size <= 16:
        return None
    if _is_skewed(numbers):
        edges = _quantiles(column, fact.scale_without_texts is Scale.INTEGER)
        if len(edges) >= 3:
            builder = {"builder": "ranges", "edges": [edges, edges[1::2]] if len(edges) >= 5 else [edges]}
            return HierarchySuggestion(builder, "skewed numbers, about as many records in each range", False)
    return HierarchySuggestion({"builder": "ranges"}, "numbers in ranges of equal width", False)


def _is_skewed(numbers: NDArray[np.float64]) -> bool:
    middle = numbers.size // 2
    lower, upper = numbers[:middle] - numbers[0], numbers[middle:] - numbers[0]
    return bool(upper.mean() > SKEWED * max(float(lower.mean()), 1e-300))


def _quantiles(column: pl.Series, whole: bool) -> list[float]:
    """Boundaries between eight parts of the records, rounded to two digits, each once."""
    numbers = parse_numbers(column).positions
    numbers = numbers[~np.isnan(numbers)]
    cuts = [float(f"{cut:.2g}") for cut in np.quantile(numbers, np.arange(1, 8) / 8)]
    return sorted({int(cut) if whole else cut for cut in cuts})


def _of_countries(texts: pl.Series) -> HierarchySuggestion | None:
    known = sum(region_of(text) is not None for text in texts.to_list()) if texts.len() <= 400 else 0
    if known < FEWEST_COUNTRIES or known < COUNTRIES_SHARE * texts.len():
        return None
    rest = texts.len() - known
    others = f"; {rest} values are not in the table and go below 'other'" if rest else ""
    return HierarchySuggestion({"builder": "regions"}, f"countries by region{others}", True)
