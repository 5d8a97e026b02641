"""The verdict of k-map: how many records of the population fit each class of the release.

How a released text is read back is told in `reading.py`. Every released text of a column becomes a set of population
rows, one bit each; a class is the intersection of its sets. Cost: classes x columns x population / 64 words of work;
the memory is that of the sets, one for each released text.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.k_map import KMap
from shoal.verification.classes import value_numbers
from shoal.verification.evidence import Evidence
from shoal.verification.reading import Cells, read_cells
from shoal.verification.result import ModelCheck, judge


def check_k_map(model: KMap, evidence: Evidence) -> ModelCheck:
    if evidence.known.population is None:
        raise InputError(Problem("missing-population", "k-map needs a population table"))
    read, owners = _read_with_population(model, evidence, evidence.known.population)
    counts = _fitting_persons(read, owners, evidence.classes.count)
    return judge(
        model, evidence.classes, "fewest fitting persons", counts.astype(np.float64), counts >= model.k, worst="min"
    )


def _read_with_population(
    model: KMap, evidence: Evidence, population: pl.DataFrame
) -> tuple[list[Cells], NDArray[np.int64] | None]:
    """The cells of one record of each class beside the population, column by column, and who owns each of its rows."""
    known = population.columns
    problems = [
        Problem("missing-column", "the population table has no such column", name, did_you_mean(name, known))
        for name in evidence.quasi
        if name not in known
    ]
    if problems:
        raise InputError(problems)
    shown = evidence.release[_a_record_of_each_class(evidence)]
    read = [read_cells(population[name], shown[name], name, evidence.known) for name in evidence.quasi]
    read.sort(key=lambda cells: len(cells.values), reverse=True)  # the most varied first: it rejects most
    if model.person is None or model.person not in known:
        return read, None
    return read, value_numbers(population[model.person], evidence.known.missing)[0]


def _a_record_of_each_class(evidence: Evidence) -> NDArray[np.int64]:
    """(classes,) the first record of each."""
    first = np.zeros(evidence.classes.count, dtype=np.int64)
    first[evidence.classes.of_record[::-1]] = np.flatnonzero(evidence.checked)[::-1]
    return first


def _fitting_persons(read: list[Cells], owners: NDArray[np.int64] | None, class_count: int) -> NDArray[np.int64]:
    """(classes,) how many persons of the population fit the released cells."""
    rows, weights, owners = _distinct_rows(read, owners)
    sets = [_fitting_rows(cells, numbers) for cells, numbers in zip(read, rows, strict=True)]
    counts = np.empty(class_count, dtype=np.int64)
    for number, lines in enumerate(zip(*(cells.text_numbers for cells in read), strict=True)):
        fitting = _rows_in_all([one[line] for one, line in zip(sets, lines, strict=True)])
        counts[number] = weights[fitting].sum() if owners is None else np.unique(owners[fitting]).shape[0]
    return counts


def _distinct_rows(
    read: list[Cells], owners: NDArray[np.int64] | None
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64] | None]:
    """The distinct rows of the population as numbers of values, how often each occurs, and their owners.

    In the order of the first column, so that what fits a range of it is one stretch.
    """
    columns = {f"q{number}": cells.numbers for number, cells in enumerate(read)}
    if owners is not None:
        columns["owner"] = owners
    found = pl.DataFrame(columns).group_by(list(columns)).len("weight").sort("q0")
    found = found[np.argsort(read[0].positions[found["q0"].to_numpy()], kind="stable")]
    rows = [found[f"q{number}"].to_numpy() for number in range(len(read))]
    weights = found["weight"].to_numpy().astype(np.int64)
    return rows, weights, found["owner"].to_numpy() if owners is not None else None


def _fitting_rows(cells: Cells, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """(released texts, words) which rows of the population fit each released text, one bit per row."""
    bits = np.zeros((len(cells.texts), -(-len(numbers) // 64) * 8), dtype=np.uint8)  # whole words, the rest 0
    for line, fits in zip(bits, cells.fitting(), strict=True):
        packed = np.packbits(fits[numbers])
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
