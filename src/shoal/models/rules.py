"""The rules that histogram models are made of: a demand on how often each value of one column occurs in a group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class RuleKind(IntEnum):
    """What a rule demands of a histogram."""

    SIZE = 0  # at least a number of records
    DISTINCT = 1  # at least a number of different values
    FREQUENCY = 2  # no value above a share
    ONE_VALUE = 3  # one value not above a share
    ENTROPY = 4  # at least an entropy
    RECURSIVE = 5  # the commonest below c times the tail from the l-th on
    CLOSE_EQUAL = 6  # earth mover's distance to the table, values equally far apart
    CLOSE_ORDERED = 7  # ... values ranked
    CLOSE_HIERARCHICAL = 8  # ... values in a hierarchy
    BETA = 9  # relative gain of every value bounded
    DELTA = 10  # log ratio of every value bounded
    CATEGORIES = 11  # at least a number of different groups of values
    WEIGHT = 12  # at least a sum of weights of values
    NEEDED = 13  # of one value of another column as many records as the largest code among the records says


@dataclass(frozen=True)
class HistogramRule:
    """A demand on the histogram of one column (None: on the size alone)."""

    kind: RuleKind
    column: str | None
    numbers: tuple[float, ...]
    value: str | None = None  # ONE_VALUE: the text of the value
    counted: str | None = None  # NEEDED: the other column; numbers[0] is the code of the value
