"""What the values of a column look like: e-mail addresses, numbers of persons, codes of diagnoses, free text.

Only distinct values are looked at, and of many only some that are spread over all: a format is told where nearly all
of them have it. A false alarm costs a look; a miss may cost a person, so formats that identify come first.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

LOOKED_AT = 2_000  # distinct values
SHARE = 0.95  # of them must have the form
FREE_TEXT_WORDS = 4.0  # words per value from which a text is free
FREE_TEXT_LENGTH = 60  # or letters
FREE_TEXT_VALUES = 0.1  # distinct values per record; labels of a list repeat more often


@dataclass(frozen=True, slots=True)
class Format:
    """A form of values, and the role that it suggests (None: none by itself)."""

    name: str
    what: str
    role: str | None
    pattern: str = ""
    least_values: int = 1  # below so many distinct values the form proves nothing
    least_letters: int = 1  # nor if the values begin with fewer different letters


def _any(*forms: str) -> str:
    return "^(?:" + "|".join(forms) + ")$"


_HEX = "[0-9a-fA-F]"
_DEGREES = r"-?[0-9]{1,3}\.[0-9]{3,}"
FORMATS = (
    Format("email", "e-mail addresses", "identifying", r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"),
    Format("url", "addresses of web pages", "identifying", r"^(?:https?://|www\.)\S+$"),
    Format("uuid", "numbers made to be unique", "identifying", rf"^{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}$"),
    Format("hash", "hashes: they identify like what they were made of", "identifying", rf"^{_HEX}{{32,128}}$"),
    Format("iban", "bank accounts", "identifying", r"^[A-Z]{2}[0-9]{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}$"),
    Format("ip", "addresses of computers", "identifying", r"^(?:[0-9]{1,3}\.){3}[0-9]{1,3}$"),
    Format("social-security", "social security numbers", "identifying", r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$"),
    Format(
        "insurance-number",
        "insurance numbers",
        "identifying",
        _any(
            "[A-Z][0-9]{9}",  # German health insurance
            "[0-9]{2} ?[0-9]{6} ?[A-Z] ?[0-9]{3}",  # German pension insurance
            r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}",  # Switzerland
            "[0-9]{3} [0-9]{3} [0-9]{4}",  # NHS
        ),
        20,
    ),
    Format("card", "numbers of cards", "identifying", r"^(?:[0-9]{4}[ -]){3}[0-9]{3,4}$"),
    Format(
        "phone",
        "phone numbers",
        "identifying",
        _any(
            r"\+[0-9][0-9 ()/.-]{6,}",
            "0[0-9]{2,5}[ /-][0-9 -]{4,}",
            r"\(?[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}",
        ),
        10,
    ),
    Format("coordinates", "places on the map", "quasi-identifying", rf"^{_DEGREES}[,; ]+{_DEGREES}$"),
    Format(
        "postcode",
        "postcodes",
        "quasi-identifying",
        _any(
            "[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}",  # United Kingdom
            "[0-9]{4} ?[A-Z]{2}",  # Netherlands
            "[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]",  # Canada
            "[0-9]{5}-[0-9]{4}",  # United States
            "[A-Z]{1,2}-[0-9]{4,5}",  # with the country in front
        ),
        10,
    ),
    Format("atc", "ATC codes of drugs", "sensitive", r"^[A-DGHJLMNPRSV][0-9]{2}[A-Z](?:[A-Z](?:[0-9]{2})?)?$", 10, 3),
    Format("icd", "ICD-10 codes", "sensitive", r"^[A-TV-Z][0-9][0-9AB](?:\.?[0-9A-Z]{1,4}|\.-)?[*+!]?$", 10, 3),
    Format("ops", "codes of procedures", "sensitive", r"^[135689]-[0-9a-z]{3}(?:\.[0-9a-z]{1,3})?$", 10),
)
FREE_TEXT = Format("free-text", "free text", "identifying")


def find_format(distinct: pl.Series, records: int) -> Format | None:
    """The form that nearly all distinct texts of a column have; None if there is none, or it holds no texts.

    Missing values must be gone already; `records` is how many of the column are left.
    """
    if not isinstance(distinct.dtype, pl.String) or distinct.is_empty():
        return None
    total = distinct.len()
    some = distinct.gather_every(-(-total // LOOKED_AT)) if total > LOOKED_AT else distinct
    texts = some.str.strip_chars()
    for form in FORMATS:
        if total >= form.least_values and _have_form(texts, form):
            return form
    return FREE_TEXT if total >= FREE_TEXT_VALUES * records and _is_long(texts) else None


def _have_form(texts: pl.Series, form: Format) -> bool:
    if int(texts.str.contains(form.pattern).sum()) < SHARE * texts.len():
        return False
    return form.least_letters == 1 or texts.str.head(1).n_unique() >= form.least_letters


def _is_long(texts: pl.Series) -> bool:
    """Texts of several words, or long ones: where they hardly repeat, nobody can list what stands in them."""
    words, letters = int(texts.str.count_matches(r"\S+").sum()), int(texts.str.len_chars().sum())
    return texts.len() >= 10 and (words >= FREE_TEXT_WORDS * texts.len() or letters >= FREE_TEXT_LENGTH * texts.len())
