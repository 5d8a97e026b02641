"""Released sets `{A, "B, C"}` and ranges of words `[low, high]` taken apart, one text at a time."""

from __future__ import annotations

import re
from collections.abc import Container

_QUOTED = re.compile(r'"((?:[^"]|"")*)"(?:, |\Z)')


def split_set(text: str, known: Container[str] = ()) -> list[str] | None:
    """The elements of a set in braces; None if the text is none.

    Our own form is `{A, B}` with elements quoted as in CSV; `{A,B}` and `{A;B}` are read where that gives known words.
    """
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    inner = text[1:-1]
    if not inner.strip():
        return None
    elements = _split_quoted(inner) if '"' in inner else inner.split(", ")
    if len(elements) == 1 and elements[0] not in known:
        elements = [element.strip() for element in re.split("[,;]", inner)]
    return elements


def _split_quoted(inner: str) -> list[str]:
    """Elements separated by a comma and a space, some of them in double quotes."""
    elements: list[str] = []
    place = 0
    while place <= len(inner):
        quoted = _QUOTED.match(inner, place)
        if quoted:
            elements.append(quoted.group(1).replace('""', '"'))
            if not quoted.group().endswith(", "):
                break
            place = quoted.end()
            continue
        end = inner.find(", ", place)
        end = len(inner) if end < 0 else end
        elements.append(inner[place:end])
        place = end + 2
    return elements


def split_range(text: str, known: Container[str]) -> tuple[str, str] | None:
    """The two ends of `[low, high]` whose ends are known words; words may hold commas themselves."""
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        return None
    inner = text[1:-1]
    for separator in (", ", ",", " - ", "-", "~"):
        start = inner.find(separator)
        while start >= 0:
            low, high = inner[:start], inner[start + len(separator) :]
            if low in known and high in known:
                return low, high
            start = inner.find(separator, start + 1)
    return None
