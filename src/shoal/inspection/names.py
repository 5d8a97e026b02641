"""What the name of a column tells: its parts, looked up in the one list of words (`words.toml`)."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_DIGITS_AT_END = re.compile(r"(?<=[a-z])[0-9]+$")
_HEAD_COMES_FIRST = frozenset({"of", "von", "der", "des", "de", "du", "del", "for", "at", "in", "per", "pro"})


@dataclass(frozen=True, slots=True)
class Kind:
    """One entry of the list: what a word stands for and which role that suggests."""

    role: str
    what: str
    pattern: re.Pattern[str]
    whole: frozenset[str]  # the words without a star: what parts may be joined to
    many_values: bool = False  # counts only where a column has many values
    of_free_text: bool = False  # counts only where values were not chosen from a short list


@dataclass(frozen=True, slots=True)
class Words:
    """The list: kinds of columns in the order in which they decide, what often stands for a missing value, and words
    for people."""

    kinds: tuple[Kind, ...]
    missing_texts: frozenset[str]
    missing_numbers: frozenset[float]
    persons: frozenset[str]


@cache
def words() -> Words:
    """The list of words, read once."""
    content = tomllib.loads(files("shoal.inspection").joinpath("words.toml").read_text(encoding="utf-8"))
    missing = content["missing"]
    return Words(
        tuple(_kind(entry) for entry in content["kind"]),
        frozenset(missing["texts"]),
        frozenset(float(number) for number in missing["numbers"]),
        frozenset(content["persons"]["words"]),
    )


def _kind(entry: dict[str, Any]) -> Kind:
    pattern = "|".join(word.replace("*", ".*") for word in entry["words"])
    whole = frozenset(word for word in entry["words"] if "*" not in word)
    only_if = {name: bool(entry.get(name, False)) for name in ("many_values", "of_free_text")}
    return Kind(entry["role"], entry["what"], re.compile(f"(?:{pattern})\\Z"), whole, **only_if)


def parts_of_name(name: str) -> list[str]:
    """`patientId`, `PATIENT_ID` and `patient id` are all [patient, id]; digits at the end of a part are dropped."""
    plain = unicodedata.normalize("NFKD", name.translate(_GERMAN)).encode("ascii", "ignore").decode()
    parts = [part.lower() for part in _BOUNDARY.split(plain) if part]
    return [_DIGITS_AT_END.sub("", part) for part in parts]


def kinds_of_name(name: str) -> list[Kind]:
    """What the parts of a name stand for, the one that decides first."""
    parts = parts_of_name(name)
    head = next((place for place, part in enumerate(parts) if part in _HEAD_COMES_FIRST and place > 0), len(parts))
    in_order = [*reversed(parts[:head]), *parts[head:]]
    joined = "".join(parts)  # post_code, First Name
    found = [kind for kind in words().kinds if joined in kind.whole]
    found += [kind for part in in_order for kind in words().kinds if kind.pattern.match(part)]
    return list(dict.fromkeys(found))
