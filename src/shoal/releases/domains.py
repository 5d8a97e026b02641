"""What the columns hold, told by the releases alone: an attacker has no original table.

The values that the cells name are the values there are: ends of ranges, elements of sets, single values, and all
leaves of a hierarchy. Who has the original builds the domains from it instead (`released.domain.make_domains`), and
must do so where numbers are means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.released.cells import MISSING_IN_SET
from shoal.released.domain import Domain, FloatArray, as_text, is_missing_text, make_domain
from shoal.released.ranges import parse_numbers, parse_ranges
from shoal.released.value_sets import split_range, split_set
from shoal.tables.schema import Attribute, Role, Scale

_SUPPRESSED = r"^\s*\*+\s*$"


def domains_of_releases(
    releases: Sequence[pl.DataFrame],
    quasi: Sequence[str],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    scales: Mapping[str, Scale] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    missing: Sequence[str] = (),
) -> dict[str, Domain]:
    """One domain per quasi-identifier, for all releases. A scale that is not given is told by the cells."""
    problems = [
        Problem("unknown-column", f"release {number + 1} has no such column", name, did_you_mean(name, frame.columns))
        for number, frame in enumerate(releases)
        for name in quasi
        if name not in frame.columns
    ]
    if problems:
        raise InputError(problems)
    given, ordered = scales or {}, orders or {}
    return {
        name: _domain(
            name, [frame[name] for frame in releases], (hierarchies or {}).get(name), given.get(name),
            ordered.get(name), missing,
        )
        for name in quasi
    }  # fmt: skip


def _domain(
    name: str,
    columns: Sequence[pl.Series],
    hierarchy: Hierarchy | None,
    scale: Scale | None,
    order: Sequence[str] | None,
    missing: Sequence[str],
) -> Domain:
    texts = pl.concat([as_text(column).unique().alias(name) for column in columns]).unique(maintain_order=True)
    shown = texts.filter(~is_missing_text(texts, missing, scale or Scale.CATEGORY)).drop_nulls()
    shown = shown.filter(~shown.str.contains(_SUPPRESSED))
    if order is not None:
        scale, values = Scale.ORDERED, list(order)
    elif hierarchy is not None:
        scale, values = scale or _scale_of_leaves(hierarchy), list(hierarchy.leaves)
    elif scale is None or scale.is_numeric:
        scale, values = _numbers_or_words(shown, scale)
    else:
        values = _words(shown)
    column = pl.Series(name, [*values, None], dtype=pl.String)  # an empty cell is a missing value
    attribute = Attribute(name, Role.QUASI_IDENTIFYING, scale, tuple(order) if order is not None else None)
    return make_domain(column, attribute, hierarchy, missing)


def _scale_of_leaves(hierarchy: Hierarchy) -> Scale:
    """Numbers with a hierarchy may be released as ranges of numbers, so they must be known to be numbers."""
    leaves = pl.Series(hierarchy.leaves, dtype=pl.String)
    for scale in (Scale.INTEGER, Scale.DECIMAL, Scale.DATE):
        numbers = parse_numbers(leaves, scale)
        if not np.isnan(numbers).any() and _suits(numbers, scale):
            return scale
    return Scale.CATEGORY


def _numbers_or_words(shown: pl.Series, scale: Scale | None) -> tuple[Scale, list[str]]:
    """The scale on which every cell can be read, and the values that the cells name on it."""
    for tried in (Scale.INTEGER, Scale.DECIMAL, Scale.DATE) if scale is None else (scale,):
        low, high = _ends(shown, tried)
        ends = np.concatenate([low, high])
        if len(shown) and scale is None and (np.isnan(ends).any() or not _suits(ends, tried)):
            continue
        named = np.unique(ends[np.isfinite(ends)])
        if tried is Scale.DATE:
            return tried, pl.Series(named.astype(np.int32)).cast(pl.Date).cast(pl.String).to_list()
        return tried, [repr(int(one)) if one == int(one) else repr(one) for one in named.tolist()]
    return Scale.CATEGORY, _words(shown)


def _suits(ends: FloatArray, scale: Scale) -> bool:
    finite = ends[np.isfinite(ends)]
    return scale is not Scale.INTEGER or bool((finite == np.floor(finite)).all())


def _ends(shown: pl.Series, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest number of each text; NaN where it cannot be read."""
    number = parse_numbers(shown, scale)
    ranges = parse_ranges(shown, scale)
    low = np.where(np.isnan(number), ranges.low, number)
    high = np.where(np.isnan(number), ranges.high, number)
    return low, high


def _words(shown: pl.Series) -> list[str]:
    """Single values and the elements of sets, each once."""
    found: dict[str, None] = {}
    for text in shown.to_list():
        elements = split_set(text.strip())
        found.update(dict.fromkeys(elements if elements is not None else [text]))
    found.pop(MISSING_IN_SET, None)
    ranges = [text for text in found if split_range(text, found) is not None]
    return [text for text in found if text not in ranges]
