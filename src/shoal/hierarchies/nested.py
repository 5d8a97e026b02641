"""Hierarchies written as dicts, as in a YAML job: nested from the root down, or each label with its parent.

Nested, lists hold values and dicts hold groups:

    {"*": {"Technical": ["Tech-support", "Craft-repair"], "Other": ["Sales", {"Farm": ["Fishing"]}]}}

By parent, every label but the root names the one above it:

    {"Tech-support": "Technical", "Craft-repair": "Technical", "Technical": "*"}

Branches may differ in depth: a value of a shorter branch is repeated upwards until all have the same number of
levels. Numbers, booleans and dates, which YAML makes of unquoted words, become the text they are usually written as.
A null is a missing value and never a leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import from_paths

Path = tuple[str, ...]


def from_dict(column: str, source: Mapping[object, object]) -> Hierarchy:
    """The hierarchy of a nested dict or of a dict of parents, told apart by what the values are."""
    if any(isinstance(value, (Mapping, list, tuple, set, frozenset)) for value in source.values()):
        return from_nested(column, source)
    return from_parents(column, source)


def from_nested(column: str, source: Mapping[object, object]) -> Hierarchy:
    """The hierarchy of a dict from the root down: `{root: {group: [value, ...], ...}}`."""
    problems = []
    if len(source) > 1:
        problems.append(_two_roots(column, len(source)))
    paths, cyclic = _walk(source)
    if cyclic:
        problems.append(_cycle(column, "a group contains itself"))
    return _build(column, paths, problems)


def from_parents(column: str, source: Mapping[object, object]) -> Hierarchy:
    """The hierarchy of a dict that leads from each label to the one above it; the root has none, or null."""
    parents = {label_text(child): label_text(parent) for child, parent in source.items() if parent is not None}
    named = {label_text(label) for label, parent in source.items() if parent is None}
    inner = dict.fromkeys(parents.values())
    roots = named.union(inner).difference(parents)
    problems = [_two_roots(column, len(roots))] if len(roots) > 1 else []
    on_cycles = _labels_on_cycles(parents)
    if on_cycles:
        problems.append(_cycle(column, f"{len(on_cycles)} labels are above themselves"))
        raise InputError(problems)
    paths = [_climb(leaf, parents) for leaf in parents if leaf not in inner]
    return _build(column, paths, problems)


def label_text(value: object) -> str:
    """The text of a label that a YAML or Python dict holds as something else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return "" if value is None else str(value)


def _walk(source: Mapping[object, object]) -> tuple[list[Path], bool]:
    """All paths of a nested dict, leaf first, and whether some part contains itself. No recursion: depth is free."""
    paths: list[Path] = []
    cyclic = False
    above: list[str] = []
    open_parts = [id(source)]
    pending = [_children(source)]
    while pending:
        entry = next(pending[-1], None)
        if entry is None:
            pending.pop()
            open_parts.pop()
            if above:
                above.pop()
            continue
        label, below = entry
        if below is None:
            paths.append((label, *reversed(above)))
        elif id(below) in open_parts:
            cyclic = True
        else:
            above.append(label)
            open_parts.append(id(below))
            pending.append(_children(below))
    return paths, cyclic


def _children(part: object) -> Iterator[tuple[str, object]]:
    """The labels in a part with what is below them, None below a leaf."""
    if isinstance(part, Mapping):
        for label, below in part.items():
            yield label_text(label), below
    elif isinstance(part, (list, tuple, set, frozenset)):
        for entry in sorted(part, key=label_text) if isinstance(part, (set, frozenset)) else part:
            if isinstance(entry, Mapping):
                yield from ((label_text(label), below) for label, below in entry.items())
            elif isinstance(entry, (list, tuple)):
                yield "", entry  # a group without a name, which the checks report
            elif entry is not None:
                yield label_text(entry), None
    else:
        yield label_text(part), None


def _climb(leaf: str, parents: Mapping[str, str]) -> Path:
    path = [leaf]
    while path[-1] in parents:
        path.append(parents[path[-1]])
    return tuple(path)


def _labels_on_cycles(parents: Mapping[str, str]) -> set[str]:
    done: set[str] = set()
    on_cycles: set[str] = set()
    for start in parents:
        trail: dict[str, None] = {}
        label = start
        while label in parents and label not in done and label not in trail:
            trail[label] = None
            label = parents[label]
        if label in trail:
            steps = list(trail)
            on_cycles.update(steps[steps.index(label) :])
        done.update(trail)
    return on_cycles


def _build(column: str, paths: list[Path], problems: list[Problem]) -> Hierarchy:
    """Pads the paths to one length, checks them, and raises everything that was found together."""
    depth = max((len(path) for path in paths), default=0)
    padded = [(path[0],) * (depth - len(path)) + path for path in paths]
    try:
        hierarchy = from_paths(column, padded)
    except InputError as error:
        reasons = {problem.reason for problem in problems}
        raise InputError([*problems, *(p for p in error.problems if p.reason not in reasons)]) from None
    if problems:
        raise InputError(problems)
    return hierarchy


def _two_roots(column: str, count: int) -> Problem:
    return Problem("two-roots", f"the hierarchy has {count} roots", column, "put everything under one root, e.g. '*'")


def _cycle(column: str, what: str) -> Problem:
    return Problem("cycle", f"the hierarchy goes in a circle: {what}", column, "every label must lead to the root")
