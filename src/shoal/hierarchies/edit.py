"""Changing a hierarchy: values added, moved and removed, groups renamed. The old one stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import from_paths

Path = tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """What to change, applied in this order: renamed labels, removed values, moved values, added values."""

    rename: Mapping[str, str] = field(default_factory=dict)  # label -> its new text, on every level
    remove: Sequence[str] = ()
    move: Mapping[str, str] = field(default_factory=dict)  # value -> the group it goes to
    add: Mapping[str, str] = field(default_factory=dict)  # new value -> the group it goes to


def edit_hierarchy(hierarchy: Hierarchy, changes: Changes, column: str) -> Hierarchy:
    """The hierarchy with the changes. Raises InputError with everything that does not fit."""
    problems: list[Problem] = []
    rows = [hierarchy.path(leaf) for leaf in range(len(hierarchy.leaves))]
    labels = {label for row in rows for label in row}
    problems += _unknown(changes.rename, labels, "label", column)
    rows = [tuple(changes.rename.get(label, label) for label in row) for row in rows]
    problems += _unknown_values(changes, [row[0] for row in rows], column)
    moved = {**changes.move, **changes.add}
    groups = {label: row[level:] for row in rows for level, label in enumerate(row) if level > 0}
    problems += _unknown(moved.values(), list(groups), "group", column)
    if problems:
        raise InputError(problems)
    rows = [row for row in rows if row[0] not in {*changes.remove, *moved}]
    levels = hierarchy.levels
    rows += [_below(value, groups[group], levels) for value, group in moved.items()]
    return from_paths(column, rows)


def _unknown_values(changes: Changes, values: Sequence[str], column: str) -> list[Problem]:
    """What cannot be removed or moved, since it is not there, and what cannot be added, since it is."""
    problems = _unknown([*changes.remove, *changes.move], values, "value", column)
    taken = sum(value in set(values) for value in changes.add)
    if taken:
        message = f"{taken} of the values to be added are there already"
        problems.append(Problem("duplicate-leaf", message, column, "move them instead"))
    return problems


def _below(value: str, group: Path, levels: int) -> Path:
    """A value right below a group: where the group is high up, it is repeated on the levels between."""
    return (value, *[group[0]] * (levels - 1 - len(group)), *group)


def _unknown(wanted: Iterable[str], known: Iterable[str], what: str, column: str) -> list[Problem]:
    names = list(known)
    return [
        Problem(f"unknown-{what}", f"the hierarchy has no {what} '{name}'", column, did_you_mean(name, names))
        for name in wanted
        if name not in set(names)
    ]


def nearest_group(hierarchy: Hierarchy, value: str) -> str | None:
    """Where a value that the hierarchy lacks would go: to the group of the value that is most like it, or none."""
    if hierarchy.levels < 3:
        return None
    like = _nearest_number(hierarchy.leaves, value)
    if like is None:
        spellings = {leaf.lower(): leaf for leaf in hierarchy.leaves}
        close = get_close_matches(value.lower(), list(spellings), n=1, cutoff=0.6)
        like = spellings[close[0]] if close else None
    return hierarchy.path(hierarchy.leaf_index[like])[1] if like is not None else None


def _nearest_number(leaves: Sequence[str], value: str) -> str | None:
    try:
        wanted = float(value)
        return min(leaves, key=lambda leaf: abs(float(leaf) - wanted))
    except ValueError:
        return None
