"""The small language of model specs: parts between colons, with a backslash before a separator that is meant."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from shoal.errors import InputError, Problem

SEPARATORS = ":+=,"
DIGEST_MARK = "sha256~"


def escape(text: str) -> str:
    """A column name or value with a backslash before every separator."""
    return "".join("\\" + letter if letter in SEPARATORS + "\\" else letter for letter in text)


def split(text: str, separator: str) -> list[str]:
    """The parts between separators that have no backslash before them; the parts keep their backslashes."""
    parts = [""]
    position = 0
    while position < len(text):
        letter = text[position]
        if letter == "\\" and position + 1 < len(text):
            parts[-1] += text[position : position + 2]
            position += 2
            continue
        if letter == separator:
            parts.append("")
        else:
            parts[-1] += letter
        position += 1
    return parts


def unescape(text: str) -> str:
    result = ""
    position = 0
    while position < len(text):
        if text[position] == "\\" and position + 1 < len(text):
            position += 1
        result += text[position]
        position += 1
    return result


def join_names(names: Sequence[str]) -> str:
    return "+".join(escape(name) for name in names)


def split_names(text: str) -> tuple[str, ...]:
    return tuple(unescape(part.strip()) for part in split(text, "+") if part.strip())


def number_text(number: float) -> str:
    """`3` for 3.0, `0.2` for 0.2: the shortest text that gives the number back."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def read_number(text: str, what: str, spec: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(Problem("bad-model", f"model '{spec}': {what} must be a number"))
    return number


def read_count(text: str, what: str, spec: str) -> int:
    number = read_number(text, what, spec)
    if not number.is_integer():
        raise InputError(Problem("bad-model", f"model '{spec}': {what} must be a whole number"))
    return int(number)


def value_digest(column: str, value: str) -> str:
    """What a certificate says instead of a named value: a digest that only someone with the value can recognise."""
    if value.startswith(DIGEST_MARK):
        return value
    return DIGEST_MARK + hashlib.sha256(f"{column}\0{value}".encode()).hexdigest()[:16]


def split_value(text: str) -> tuple[str, str | None]:
    """`disease` -> (disease, None); `disease=HIV` -> (disease, HIV)."""
    parts = split(text, "=")
    if len(parts) == 1:
        return unescape(parts[0]), None
    return unescape(parts[0]), unescape("=".join(parts[1:]))


def split_arrows(parts: Sequence[str]) -> list[str]:
    """`age+sex->disease` is the same as `age+sex:disease`."""
    return [piece.strip() for part in parts for piece in part.split("->")]


def at_most_one(parts: Sequence[str]) -> Sequence[str]:
    if len(parts) > 1:
        raise ValueError("a part is missing or too many")
    return parts


def optional_name(parts: Sequence[str]) -> str | None:
    return unescape(parts[0]) if at_most_one(parts) else None


def optional_names(parts: Sequence[str]) -> tuple[str, ...]:
    return split_names(parts[0]) if at_most_one(parts) else ()
