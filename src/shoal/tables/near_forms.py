"""Columns of texts that are nearly numbers or dates: as categories they would be listed value by value."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.tables.dates import parse_moments
from shoal.tables.scales import is_missing, parse_numbers

_COMMA_NUMBER = r"^\s*[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?\s*$"
_SLASHED = r"^\s*[0-9]{1,2}[/-][0-9]{1,2}[/-][0-9]{4}(?:[ T].*)?\s*$"
_DOTTED_TIME = r"^\s*[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}[ T].+$"
_MONTH = r"(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*\.?"
_NAMED_MONTH = rf"(?i)^\s*[0-9]{{1,2}}[- .]{{1,2}}{_MONTH}[- ,]{{1,2}}[0-9]{{4}}\s*$"
MOSTLY = 0.9  # of the distinct values have a form, so that the others are taken for exceptions
FEW = 20  # with fewer values nothing is concluded


@dataclass(frozen=True)
class NearForm:
    """What values nearly are. `kind` is for programs, the others are words: what they are, and what to say about it."""

    kind: str
    what: str
    hint: str


_NAME_THE_OTHERS = "name the other texts with --missing if they mean 'missing', and correct them if not"
OTHER_DATES = NearForm(
    "other-dates", "dates in another form than yyyy-mm-dd", "say which: --date-format COLUMN=%m/%d/%Y"
)
DATES = NearForm("dates", "dates", _NAME_THE_OTHERS)
COMMA_NUMBERS = NearForm("comma-numbers", "numbers with a decimal comma", "say so: --decimal-comma")
NUMBERS = NearForm("numbers", "numbers", _NAME_THE_OTHERS)


def near_form(distinct: pl.Series, missing: tuple[str, ...]) -> NearForm | None:
    """What the distinct values of a category nearly are; None if it is a category.

    Told without a value of the data.
    """
    texts = distinct.filter(~is_missing(distinct, missing)).cast(pl.String)
    count = len(texts)
    if count < FEW:
        return None
    if _mostly(texts.str.contains(f"{_SLASHED}|{_DOTTED_TIME}|{_NAMED_MONTH}"), count):
        return OTHER_DATES
    if _mostly(pl.Series(parse_moments(texts)).is_not_nan(), count):
        return DATES
    if _mostly(texts.str.contains(_COMMA_NUMBER), count) and texts.str.contains(",", literal=True).any():
        return COMMA_NUMBERS
    numbers = pl.Series(parse_numbers(texts).positions).is_not_nan()
    if _mostly(numbers, count) and not numbers.all() and not texts.str.contains(r"^\s*0[0-9]").any():
        return NUMBERS
    return None


def _mostly(has_form: pl.Series, count: int) -> bool:
    return int(has_form.sum()) >= MOSTLY * count
