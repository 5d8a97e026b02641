"""What all builders share: distinct values in, levels of nodes together with the root `*` out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.tree import assemble

ROOT = "*"
MOST_LEVELS = 32
Level = tuple[NDArray[np.int64], Sequence[str]]  # node of each leaf, label of each node


def distinct_texts(values: Sequence[str | None], column: str | None) -> list[str]:
    """The values without missing ones, each once, in the order they came."""
    texts = list(dict.fromkeys(value for value in values if value is not None))
    if not texts:
        raise InputError(Problem("empty-hierarchy", "there are no values to build a hierarchy from", column))
    return texts


def with_root(leaves: list[str], levels: Sequence[Level]) -> Hierarchy:
    codes = [level[0] for level in levels] + [np.zeros(len(leaves), dtype=np.int64)]
    labels = [level[1] for level in levels] + [[ROOT]]
    return assemble(leaves, codes, labels)


def unusable_values(reason: str, count: int, total: int, what: str, column: str | None) -> Problem:
    hint = "clean the values, or leave the builder out for this column"
    return Problem(reason, f"{count} of {total} distinct values are not {what}", column, hint)


def is_whole(value: object, low: int, high: int | None = None) -> bool:
    """Whether a setting is a whole number between these bounds."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= low and (high is None or value <= high)
