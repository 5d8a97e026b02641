"""In which language a report speaks. The English texts stand in the code; a language is one file that maps them.

    with speaking("de"):
        tell("{count} records", count=3)

Without a word about it, the language is that of the variable SHOAL_LANGUAGE, or English.

A file `languages/<code>.toml` has `[texts]` with the English text as key. What it lacks stays English, and a test lists
it. Placeholders in braces are filled after the translation.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any

from shoal.errors import InputError, Problem, did_you_mean

ENGLISH = "en"
UNTOLD: set[str] = set()  # texts that were asked for in a language that lacks them
_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


def languages() -> tuple[str, ...]:
    """The codes of all languages there are."""
    found = [entry.name for entry in files("shoal.reports.languages").iterdir() if entry.name.endswith(".toml")]
    return (ENGLISH, *sorted(name.removesuffix(".toml") for name in found))


def preferred() -> str:
    """The language that SHOAL_LANGUAGE names, or English; a wish that cannot be met is no reason to fail."""
    wanted = os.environ.get("SHOAL_LANGUAGE", ENGLISH).lower()[:2]
    return wanted if wanted in languages() else ENGLISH


@contextmanager
def speaking(code: str | None) -> Iterator[None]:
    """Speak a language while a report is made; None is the preferred one. Raises InputError if there is no such one."""
    code = preferred() if code is None else code
    if code not in languages():
        hint = did_you_mean(code, languages())
        raise InputError(Problem("unknown-language", f"there is no language '{code}'", hint=hint))
    before = _spoken.set(code)
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken() -> str:
    return _spoken.get()


def tell(text: str, **values: Any) -> str:
    """A text in the language that is spoken, with its placeholders filled."""
    code = _spoken.get()
    told = text
    if code != ENGLISH:
        texts = _catalogue(code)["texts"]
        if text not in texts:
            UNTOLD.add(text)
        told = texts.get(text, text)
    return str(told.format(**values)) if values else str(told)


def digits(number: str) -> str:
    """A number written in English, as the language writes it: 1,234.5 or 1.234,5."""
    code = _spoken.get()
    if code == ENGLISH or not _catalogue(code).get("decimal_comma"):
        return number
    return number.translate(str.maketrans(",.", ".,"))


@cache
def _catalogue(code: str) -> dict[str, Any]:
    return tomllib.loads(files("shoal.reports.languages").joinpath(f"{code}.toml").read_text(encoding="utf-8"))
