"""What a job says about how far values may be generalized: highest levels, and schemes that are the same everywhere."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fuzzing.cases import SCHEMES, Case
from fuzzing.covering import Reader
from fuzzing.frames import Cells, shown

Finding = tuple[str, str]


def check_limits(case: Case, readers: dict[str, Reader], cells: Cells) -> list[Finding]:
    """Suppressed records are beyond all limits; every other cell keeps those of its column."""
    settings, findings = case["settings"], []
    rows = [row for row in range(len(cells[settings["quasi"][0]])) if not _is_hidden(settings, cells, row)]
    for name, reader in readers.items():
        highest = settings.get("at_most", {}).get(name)
        pairs = [(cells[name][row], reader.text_of(row)) for row in rows]
        if highest is not None and any(_level(reader, *pair) > highest for pair in pairs):
            findings.append(("above the highest level", f"cells of {name} are above level {highest}"))
        if settings.get("recoding") in SCHEMES and settings["algorithm"] != "nonhomogeneous":
            findings += _not_the_same(name, settings["recoding"], reader, pairs)
    return findings


def _is_hidden(settings: dict[str, Any], cells: Cells, row: int) -> bool:
    some = settings.get("suppression_limit", 0.0) > 0
    return some and all(isinstance(cells[name][row], str) and cells[name][row] == "*" for name in settings["quasi"])


def _level(reader: Reader, cell: Any, text: str | None) -> int:
    """How high a cell is above its value; 0 for the value itself and for what the reader has no levels of."""
    if reader.is_value(cell, text):
        return 0
    path = reader.path_of(text)
    return max(1, path.index(cell)) if cell in path else 1  # how high a range is is not known


def _not_the_same(name: str, scheme: str, reader: Reader, pairs: list[tuple[Any, str | None]]) -> list[Finding]:
    """In a scheme a value is released in one way, and with full-domain all values of a column at one level.

    In a column of texts `1` and `1.00` are two values.
    """
    ways = defaultdict(set)
    for cell, text in pairs:
        ways[reader.spelling_of(text)].add(shown(cell))
    findings = []
    if any(len(found) > 1 for found in ways.values()):
        findings.append(("not the same everywhere", f"a value of {name} is released in two ways under {scheme}"))
    paths = [(cell, reader.path_of(text)) for cell, text in pairs]
    if scheme == "full-domain" and paths and all(cell in path for cell, path in paths):  # and no ranges
        height = max((len(path) for _, path in paths), default=0)
        if not any(all(level < len(path) and path[level] == cell for cell, path in paths) for level in range(height)):
            findings.append(("not one level", f"the cells of {name} are not at one level of the hierarchy"))
    return findings
