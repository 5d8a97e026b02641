"""The verdict of k-map: how many records of the population fit each class of the release.

A released text is read back by the rules of the release: `*` fits everything, `[20, 29]` the numbers or dates in
between, `{A, B}` these values (`(missing)` among them a null), a label of a hierarchy the leaves below it, anything
else only itself; a null only a null. Every released text of a column becomes a set of population rows, one bit each;
a class is the intersection of its sets. Cost: classes x columns x population / 64 words of work; the memory is that of
the sets, one for each released text.
"""

from __future__ import annotations

import csv

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.k_map import KMap
from shoal.verify.classes import SUPPRESSED, value_numbers
from shoal.verify.evidence import Evidence
from shoal.verify.result import ModelCheck, judge

MISSING_IN_SET = "(missing)"  # how a released set writes a missing value


def check_k_map(model: KMap, evidence: Evidence) -> ModelCheck:
    if evidence.population is None:
        raise InputError(Problem("missing-population", "k-map needs a population table"))
    known = evidence.population.columns
    problems = [
        Problem("missing-column", "the population table has no such column", name, did_you_mean(name, known))
        for name in evidence.quasi
        if name not in known
    ]
    if problems:
        raise InputError(problems)
    first_records = np.zeros(evidence.classes.count, dtype=np.int64)
    checked = np.flatnonzero(evidence.checked)
    first_records[evidence.classes.of_record[::-1]] = checked[::-1]
    varied = {name: evidence.population[name].n_unique() for name in evidence.quasi}
    quasi = sorted(evidence.quasi, key=lambda name: varied[name], reverse=True)
    counted = model.person if model.person in known else None
    if counted is None:  # a row of the population is a person
        persons = evidence.population.group_by(quasi).len("persons").sort(quasi[0])
        weights = persons["persons"].to_numpy().astype(np.int64)
    else:
        persons = evidence.population.select(*quasi, counted).unique().sort(quasi[0])
        owners = value_numbers(persons[counted])[0]
    sets, numbers = [], []
    for name in quasi:
        released = evidence.release[name].gather(first_records)
        of_class, texts = value_numbers(released.cast(pl.String))
        sets.append(_fitting_rows(texts, persons[name], evidence.hierarchies.get(name)))
        numbers.append(of_class)
    counts = np.empty(evidence.classes.count, dtype=np.int64)
    for number, lines in enumerate(zip(*numbers, strict=True)):
        rows = _rows_in_all([one[line] for one, line in zip(sets, lines, strict=True)])
        counts[number] = weights[rows].sum() if counted is None else np.unique(owners[rows]).shape[0]
    return judge(
        model, evidence.classes, "fewest fitting persons", counts.astype(np.float64), counts >= model.k, worst="min"
    )


def _fitting_rows(released: pl.Series, population: pl.Series, hierarchy: Hierarchy | None) -> NDArray[np.uint64]:
    """(released texts, words) which rows of the population fit each released text, one bit per row."""
    numbers, distinct = value_numbers(population)
    texts = distinct.cast(pl.String).to_list()
    keys = _sort_keys(distinct)
    leaves = _leaves_by_label(hierarchy) if hierarchy is not None else {}
    bits = np.zeros((len(released), -(-len(population) // 64) * 8), dtype=np.uint8)  # whole words, the rest 0
    for line, text, low, high in zip(bits, released.to_list(), *_ends(released), strict=True):
        packed = np.packbits(_fits(text, (low, high), texts, keys, leaves)[numbers])
        line[: packed.shape[0]] = packed
    return bits.view(np.uint64)


def _rows_in_all(sets: list[NDArray[np.uint64]]) -> NDArray[np.int64]:
    """The rows that are in all of these sets.

    Only the stretch in which the first set has rows is looked at: the rows are sorted by its column, so it is short.
    """
    occupied = np.flatnonzero(sets[0])
    if occupied.size == 0:
        return occupied
    stretch = slice(int(occupied[0]), int(occupied[-1]) + 1)
    common = sets[0][stretch].copy()
    for other in sets[1:]:
        common &= other[stretch]
    words = np.flatnonzero(common)
    places = np.flatnonzero(np.unpackbits(common[words].view(np.uint8)))
    rows: NDArray[np.int64] = (words[places >> 6] + stretch.start) * 64 + (places & 63)
    return rows


def _ends(released: pl.Series) -> tuple[list[float], list[float]]:
    """The lowest and the highest number or day that each released text stands for; NaN if it is neither."""
    lows, highs = [], []
    for text in released.to_list():
        inside = (text or "")[1:-1].split(", ")
        in_range = text is not None and text.startswith("[") and text.endswith("]") and len(inside) == 2
        lows.append(inside[0] if in_range else text)
        highs.append(inside[1] if in_range else text)
    low, high = (_sort_keys(pl.Series(ends, dtype=pl.String)).tolist() for ends in (lows, highs))
    return low, high


def _fits(
    released: str | None,
    ends: tuple[float, float],
    texts: list[str | None],
    keys: NDArray[np.float64],
    leaves: dict[str, set[str]],
) -> NDArray[np.bool_]:
    """(values,) which distinct values of the population a released text stands for."""
    if released == SUPPRESSED:
        return np.ones(len(texts), dtype=np.bool_)
    if released is None:
        return np.array([text is None for text in texts], dtype=np.bool_)
    exact = np.array([text == released for text in texts], dtype=np.bool_)
    if exact.any():
        return exact
    if released in leaves:
        return np.array([text in leaves[released] for text in texts], dtype=np.bool_)
    if released.startswith("{") and released.endswith("}"):
        values = next(csv.reader([released[1:-1]], skipinitialspace=True))  # a value with a comma stands in quotes
        return np.array([(MISSING_IN_SET if text is None else text) in values for text in texts], dtype=np.bool_)
    return np.asarray((keys >= ends[0]) & (keys <= ends[1]), dtype=np.bool_)


def _sort_keys(values: pl.Series) -> NDArray[np.float64]:
    """Numbers as they are, dates as days; NaN for what has no place on a line (NaN fits nothing)."""
    if values.dtype.is_temporal():
        return values.cast(pl.Date).to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    texts = values.cast(pl.String)
    days = texts.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)
    return texts.cast(pl.Float64, strict=False).fill_null(days).fill_null(float("nan")).to_numpy()


def _leaves_by_label(hierarchy: Hierarchy) -> dict[str, set[str]]:
    leaves: dict[str, set[str]] = {}
    for level in range(1, hierarchy.levels):
        for leaf, node in zip(hierarchy.leaves, hierarchy.ancestors[level].tolist(), strict=True):
            leaves.setdefault(hierarchy.labels[node], set()).add(leaf)
    return leaves
