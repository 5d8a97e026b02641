"""Hierarchies of numeric ranges: equal ones that double from level to level, or given boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.building import MOST_LEVELS, Level, distinct_texts, is_whole, unusable_values, with_root
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.scaled_numbers import ScaledNumbers, parse_numbers, scale_numbers

Number = int | float | str | Decimal
_WIDEST = 2**60


def ranges(
    values: Sequence[str | None],
    *,
    width: Number | None = None,
    levels: int | None = None,
    factor: int = 2,
    edges: Sequence[Number] | Sequence[Sequence[Number]] | None = None,
    column: str | None = None,
) -> Hierarchy:
    """Numbers in ranges: `[20, 29]` with both ends for whole numbers, `[20, 30)` without the upper one for decimals.

    Equal ranges: `width` is that of the lowest level (found out if not given, so that about 16 ranges cover the
    values), each further level is `factor` times as wide, all start at multiples of their width, and `levels` says
    how many there are (if not given: as long as they are narrower than the span of the values).

    Given ranges: `edges` lists boundaries, one list per level from fine to coarse, each a part of the one before. A
    range starts at its boundary and ends before the next; values outside fall into `<first` and `>=last`.
    """
    texts = distinct_texts(values, column)
    numbers, unusable = parse_numbers(texts)
    problems = _check_settings(width, levels, factor, edges, column)
    if unusable:
        problems.append(unusable_values("not-a-number", unusable, len(texts), "numbers", column))
    if problems:
        raise InputError(problems)
    order = np.argsort(numbers, kind="stable")
    texts, numbers = [texts[leaf] for leaf in order], numbers[order]
    if edges is not None:
        return with_root(texts, _given_levels(texts, numbers, edges))
    pieces = factor**levels if levels is not None else 16
    lowest = _suggested_width(numbers, pieces) if width is None else Decimal(str(width))
    scaled = scale_numbers(texts, numbers, [lowest])
    return with_root(texts, _equal_ranges(scaled, max(1, scaled.scale(lowest)), levels, factor))


def _equal_ranges(scaled: ScaledNumbers, width: int, levels: int | None, factor: int) -> list[Level]:
    span = int(scaled.values[-1] - scaled.values[0])
    built: list[Level] = []
    while len(built) < (levels or MOST_LEVELS) and width < _WIDEST:
        if levels is None and built and width > span:
            break
        starts, codes = np.unique(scaled.values // width, return_inverse=True)
        labels = [_range_label(scaled, int(start) * width, int(start) * width + width) for start in starts]
        built.append((codes.astype(np.int64), labels))
        width *= factor
    return built


def _given_levels(texts: list[str], numbers: NDArray[np.float64], edges: object) -> list[Level]:
    boundaries = [_decimals(level) for level in _edge_lists(edges)]
    scaled = scale_numbers(texts, numbers, boundaries[0])
    return [_given_ranges(scaled, [scaled.scale(edge) for edge in level]) for level in boundaries]


def _given_ranges(scaled: ScaledNumbers, boundaries: list[int]) -> Level:
    bins, codes = np.unique(np.searchsorted(boundaries, scaled.values, side="right"), return_inverse=True)
    labels = []
    for position in bins:
        if position == 0:
            labels.append("<" + scaled.text(boundaries[0]))
        elif position == len(boundaries):
            labels.append(">=" + scaled.text(boundaries[-1]))
        else:
            labels.append(_range_label(scaled, boundaries[position - 1], boundaries[position]))
    return codes.astype(np.int64), labels


def _range_label(scaled: ScaledNumbers, start: int, end: int) -> str:
    if scaled.digits != 0:
        return f"[{scaled.text(start)}, {scaled.text(end)})"
    return str(start) if end - start == 1 else f"[{start}, {end - 1}]"


def _suggested_width(numbers: NDArray[np.float64], pieces: int) -> Decimal:
    """The next of 1, 2, 5, 10, ... (times a power of ten) that covers the span in this many pieces."""
    span = float(numbers[-1] - numbers[0])
    whole = bool(np.all(numbers == np.floor(numbers)))
    if span == 0:
        return Decimal(1)
    wanted = Decimal(span) / pieces
    power = Decimal(1).scaleb(wanted.adjusted())
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= wanted)
    return max(width.to_integral_value(), Decimal(2)) if whole else width


def _check_settings(width: object, levels: object, factor: object, edges: object, column: str | None) -> list[Problem]:
    messages = []
    if levels is not None and not is_whole(levels, 1, MOST_LEVELS):
        messages.append(f"levels must be a whole number from 1 to {MOST_LEVELS}")
    if not is_whole(factor, 2, 1000):
        messages.append("factor must be a whole number from 2 to 1000")
    if width is not None and (not _are_numbers([width]) or _decimals([width])[0] <= 0):
        messages.append("width must be a number above 0")
    if edges is not None:
        if width is not None or levels is not None:
            messages.append("give either edges, or width and levels")
        messages += _check_edges(edges)
    return [Problem("bad-builder", message, column, "see the builder 'ranges'") for message in messages]


def _check_edges(edges: object) -> list[str]:
    lists = _edge_lists(edges)
    if not lists or not all(level and _are_numbers(level) for level in lists):
        return ["edges must be a list of numbers, or one such list per level"]
    exact = [_decimals(level) for level in lists]
    messages = []
    if any(low >= high for level in exact for low, high in pairwise(level)):
        messages.append("the edges of a level must grow")
    if any(not set(coarse) <= set(fine) for fine, coarse in pairwise(exact)):
        messages.append("the edges of a level must be among those of the level before, from fine to coarse")
    return messages


def _edge_lists(edges: object) -> list[list[object]]:
    if not isinstance(edges, (list, tuple)):
        return []
    if all(isinstance(level, (list, tuple)) for level in edges):
        return [list(level) for level in edges]
    return [list(edges)]


def _are_numbers(settings: Sequence[object]) -> bool:
    try:
        return all(not isinstance(setting, bool) and Decimal(str(setting)).is_finite() for setting in settings)
    except InvalidOperation:
        return False


def _decimals(settings: Sequence[object]) -> list[Decimal]:
    return [Decimal(str(setting)) for setting in settings]
