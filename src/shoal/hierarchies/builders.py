"""Hierarchies made from the values themselves: ranges, prefix masks, dates, ordered groups, and a flat one.

Every builder takes the distinct values as text and returns a `Hierarchy` whose leaves are these values, ordered by
what they mean (numbers by size, dates by time), with the root `*`. Missing values are left out. Nodes are computed
per level for all values at once; only the labels of the nodes are written one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.building import MOST_LEVELS, Level, distinct_texts, is_whole, unusable_values, with_root
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.ranges import ranges
from shoal.hierarchies.tree import factorize
from shoal.tables.dates import find_date_form

__all__ = ["DATE_LEVELS", "dates", "flat", "ordered_groups", "prefix_masks", "ranges"]

DATE_LEVELS = ("day", "month", "quarter", "year", "decade")


def flat(values: Sequence[str | None], *, column: str | None = None) -> Hierarchy:
    """Every value right below the root."""
    return with_root(distinct_texts(values, column), [])


def prefix_masks(
    values: Sequence[str | None], *, step: int = 1, mask: str = "*", column: str | None = None
) -> Hierarchy:
    """Codes with more and more of their end masked: `1234`, `123*`, `12**`, `1***`, `*`.

    `step` characters are masked per level. Of values of different length the shorter ones stay as they are until a
    level masks characters that they do have; from there on all labels have the length of the longest value.
    """
    texts = distinct_texts(values, column)
    longest = max(len(text) for text in texts)
    problems = _check_masks(step, mask, longest, column)
    if problems:
        raise InputError(problems)
    leaves = pl.Series("value", sorted(texts), dtype=pl.String)
    lengths = leaves.str.len_chars()
    levels = []
    for kept in range(longest - step, 0, -step):
        masked = leaves.str.head(kept) + mask * (longest - kept)
        levels.append(factorize(masked.zip_with(lengths > kept, leaves).to_list()))
    return with_root(leaves.to_list(), levels)


def dates(values: Sequence[str | None], levels: Sequence[str] = DATE_LEVELS, *, column: str | None = None) -> Hierarchy:
    """Dates by `day`, `month`, `quarter`, `year`, `decade`, or some of these: ISO dates (a time of day may follow), or
    all in one of the other forms in which dates are read (`2024/03/01`, `01.03.2024`).

    Labels: `2024-03-01`, `2024-03`, `2024-Q1`, `2024`, `2020s`. The day is left out where the values are days.
    """
    texts = distinct_texts(values, column)
    days = _days(pl.Series("value", texts, dtype=pl.String))
    problems = _check_date_levels(levels, column)
    if days.null_count():
        problems.append(unusable_values("not-a-date", days.null_count(), len(texts), "dates like 2024-03-01", column))
    if problems:
        raise InputError(problems)
    frame = pl.DataFrame({"text": texts, "day": days}).sort("day", "text")
    leaves = frame["text"].to_list()
    built: list[Level] = [factorize(_date_labels(frame["day"], level)) for level in levels]
    return with_root(leaves, [level for level in built if level[1] != leaves])


def _days(texts: pl.Series) -> pl.Series:
    """The day of each text, null for what is none."""
    form = find_date_form(texts)
    if form is not None and not form.has_time:
        return texts.str.strptime(pl.Date, form.date_format, strict=False)
    days = texts.str.extract(r"^(\d{4}-\d{2}-\d{2})(?:$|[ T])")
    return days.str.to_date("%Y-%m-%d", strict=False)


def ordered_groups(
    values_in_order: Sequence[str | None], sizes: int | Sequence[int], *, column: str | None = None
) -> Hierarchy:
    """Values from low to high in groups of neighbours, labelled `[first, last]`.

    `sizes` is how many values a group has, one number per level, each a multiple of the one before; a single number
    makes one level.
    """
    texts = distinct_texts(values_in_order, column)
    wanted = [sizes] if isinstance(sizes, int) else list(sizes)
    growing = all(is_whole(size, 2) for size in wanted) and all(
        high % low == 0 and high > low for low, high in pairwise(wanted)
    )
    if not wanted or not growing:
        message = "group sizes must be whole numbers of at least 2, each a larger multiple of the one before"
        raise InputError(Problem("bad-builder", message, column, "for example sizes: [2, 4]"))
    return with_root(texts, [_neighbours(texts, size) for size in wanted])


def _neighbours(texts: list[str], size: int) -> Level:
    codes = np.arange(len(texts), dtype=np.int64) // size
    labels = []
    for start in range(0, len(texts), size):
        group = texts[start : start + size]
        labels.append(group[0] if len(group) == 1 else f"[{group[0]}, {group[-1]}]")
    return codes, labels


def _check_masks(step: object, mask: object, longest: int, column: str | None) -> list[Problem]:
    problems = []
    if not isinstance(step, int) or not is_whole(step, 1):
        problems.append(Problem("bad-builder", "step must be a whole number of at least 1", column))
    elif longest > step * MOST_LEVELS:
        message = f"masks of step {step} make too many levels: the longest value has {longest} characters"
        hint = f"use a step of {-(-longest // MOST_LEVELS)} or more, or a hierarchy file"
        problems.append(Problem("too-many-levels", message, column, hint))
    if not isinstance(mask, str) or len(mask) != 1:
        problems.append(Problem("bad-builder", "mask must be one character", column))
    return problems


def _check_date_levels(levels: object, column: str | None) -> list[Problem]:
    if not isinstance(levels, (list, tuple)) or not levels:
        return [Problem("bad-builder", "levels must be a list of date levels", column, ", ".join(DATE_LEVELS))]
    unknown = [level for level in levels if level not in DATE_LEVELS]
    if unknown:
        return [
            Problem("bad-builder", f"unknown date level '{level}'", column, did_you_mean(str(level), DATE_LEVELS))
            for level in unknown
        ]
    if list(levels) != [level for level in DATE_LEVELS if level in levels]:
        hint = "the order is " + ", ".join(DATE_LEVELS)
        return [Problem("bad-builder", "date levels must go from fine to coarse, each once", column, hint)]
    return []


def _date_labels(days: pl.Series, level: str) -> list[str]:
    year = days.dt.year().cast(pl.String).str.zfill(4)
    if level == "day":
        labels = days.dt.to_string("%Y-%m-%d")
    elif level == "month":
        labels = days.dt.to_string("%Y-%m")
    elif level == "quarter":
        labels = year + "-Q" + days.dt.quarter().cast(pl.String)
    elif level == "year":
        labels = year
    else:
        labels = year.str.head(3) + "0s"
    return labels.to_list()
