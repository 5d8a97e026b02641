"""A smaller case with the same finding: fewer rows, columns and settings, one after the other, as long as it stays."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from fuzzing.cases import Case
from fuzzing.values import Column


def shrink(case: Case, fails: Callable[[Case], bool], tries: int = 300) -> Case:
    """The smallest case found within so many tries; `fails` says whether the finding is still there."""
    left = tries
    found = True
    while found and left > 0:
        found = False
        for smaller in _smaller(case):
            left -= 1
            if left < 0:
                break
            if fails(smaller):
                case, found = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    rows = len(next(iter(case["columns"].values()))["values"])
    size = rows // 2
    while size >= 1:
        for start in range(0, rows, size):
            kept = [row for row in range(rows) if not start <= row < start + size]
            if kept:
                yield with_rows(case, kept)
        size //= 2
    for name in case["columns"]:
        if name != "s" and case["settings"]["quasi"] != [name]:
            yield _without_column(case, name)
    yield from _fewer_settings(case)
    if case["way"] != {"kind": "frame", "frame": "polars"}:
        yield {**case, "way": {"kind": "frame", "frame": "polars"}}


def with_rows(case: Case, kept: list[int]) -> Case:
    """The same case with these rows of its table only."""
    columns: dict[str, Column] = {
        name: {**column, "values": [column["values"][row] for row in kept]} for name, column in case["columns"].items()
    }
    return {**case, "columns": columns}


def _without_column(case: Case, name: str) -> Case:
    smaller = copy.deepcopy(case)
    del smaller["columns"][name]
    smaller.get("population", {}).pop(name, None)
    settings = smaller["settings"]
    for key in ("quasi", "identifiers"):
        settings[key] = [other for other in settings.get(key, []) if other != name]
    for key in ("hierarchies", "orders", "scales", "recodings", "at_most", "round", "date_formats"):
        settings.get(key, {}).pop(name, None)
    for key in ("person", "class"):
        if settings.get(key) == name:
            del settings[key]
    priorities = settings.get("priorities")
    if isinstance(priorities, dict):
        priorities.pop(name, None)
    elif priorities:
        settings["priorities"] = [other for other in priorities if other != name]
    settings["models"] = [model for model in settings.get("models", []) if name not in model]
    return smaller


def _fewer_settings(case: Case) -> Iterator[Case]:
    settings = case["settings"]
    for key, value in settings.items():
        if key in ("quasi", "sensitive", "algorithm"):
            continue
        yield {**case, "settings": {other: kept for other, kept in settings.items() if other != key}}
        if isinstance(value, dict):
            for name in value:
                less = {other: kept for other, kept in value.items() if other != name}
                yield {**case, "settings": {**settings, key: less}}
        if isinstance(value, list) and len(value) > 1:
            for place in range(len(value)):
                yield {**case, "settings": {**settings, key: value[:place] + value[place + 1 :]}}
