"""The risk of a release beside that of its original: of its records, or of persons, by classes or by candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.evaluation.attacks.linkage import candidates
from shoal.evaluation.attacks.matching import match, target_positions
from shoal.evaluation.options import Compared
from shoal.evaluation.risk.risk import (
    attribute_disclosure,
    journalist_risk,
    original_class_sizes,
    risk_curve,
    risk_profile,
    size_distribution,
)
from shoal.evaluation.summary import persons_alone, persons_per_class
from shoal.released.domain import CountArray
from shoal.released.reading import ReadTable
from shoal.verification.classes import Classes, find_classes


@dataclass(frozen=True, eq=False)
class Persons:
    """What tells persons apart: texts that are no person, and the records that were released (None: all of them)."""

    missing: tuple[str, ...] = ()
    kept: NDArray[np.bool_] | None = None


EVERY_RECORD = Persons()


@dataclass(frozen=True, eq=False)
class _Crowds:
    """How many hide together, on one side: the original or the release."""

    sizes: CountArray  # how many of those who are counted (records, persons, candidates) are in each class
    members: CountArray  # how many records each entry stands for
    alone: int | None = None  # persons who stand alone, where persons are counted
    suppressed: NDArray[np.bool_] | None = None  # the classes that fit everybody

    def profile(self, threshold: float) -> dict[str, Any]:
        return risk_profile(self.sizes, self.suppressed, threshold, self.members, self.alone).as_dict()


def release_risk(
    compared: Compared, population: pl.DataFrame | None, persons: Persons, samples: list[str]
) -> dict[str, Any]:
    """Prosecutor, journalist and marketer before and after, and what classes give away of sensitive values."""
    table, options = compared.table, compared.options
    before, after = _crowds(compared, persons)
    if not options.class_based:
        after = _by_candidates(compared, samples)
    fitting = None if population is None else _fitting(table, population)
    return {
        "threshold": options.threshold,
        "basis": "classes" if options.class_based else "candidates",
        "before": before.profile(options.threshold),
        "after": after.profile(options.threshold),
        "curve_before": risk_curve(before.sizes, None, before.members),
        "curve_after": risk_curve(after.sizes, after.suppressed, after.members),
        "sizes_before": size_distribution(before.sizes, before.members),
        "sizes_after": size_distribution(after.sizes, after.members),
        "journalist": journalist_risk(table, fraction=options.sampling_fraction, population=fitting),
        "disclosure": {name: attribute_disclosure(table, compared.release[name]) for name in options.sensitive},
    }


def _crowds(compared: Compared, persons: Persons) -> tuple[_Crowds, _Crowds]:
    """The classes of the original and of the release, of records or, if a column tells persons apart, of persons."""
    table, options = compared.table, compared.options
    if options.person is not None:
        return _crowds_of_persons(compared, options.person, persons)
    sizes = original_class_sizes(compared.original, list(table.columns))
    return (
        _Crowds(sizes, sizes),
        _Crowds(table.class_sizes, table.class_sizes, suppressed=table.suppressed_classes),
    )


def _crowds_of_persons(compared: Compared, column: str, persons: Persons) -> tuple[_Crowds, _Crowds]:
    _check_persons(compared, column, persons.kept)
    table, everybody, missing = compared.table, compared.original[column], persons.missing
    found = find_classes(compared.original, list(table.columns))
    before = _Crowds(
        persons_per_class(found, everybody, missing), found.sizes, persons_alone(found, everybody, missing)
    )
    sizes, hidden = table.class_sizes, table.suppressed_classes
    if not compared.options.class_based:
        return before, _Crowds(sizes, sizes, None, hidden)
    classes = Classes(table.class_of_row.astype(np.int64), sizes.astype(np.int64))
    released = everybody if persons.kept is None else everybody.filter(pl.Series(persons.kept))
    alone = _alone_after(table, classes, released, missing)
    return before, _Crowds(persons_per_class(classes, released, missing), sizes, alone, hidden)


def _check_persons(compared: Compared, column: str, kept: NDArray[np.bool_] | None) -> None:
    """Persons can be counted where it is known whose record each released row is."""
    if not compared.table.aligned and (kept is None or int(kept.sum()) != compared.release.height):
        message = "persons can be counted only if the release has the rows of the original, in the same order"
        hint = "give the private key of the release with --key"
        raise InputError(Problem("different-rows", message, column, hint))
    known = compared.original.columns
    if column not in known:
        message = "the original has no such column"
        raise InputError(Problem("unknown-column", message, column, did_you_mean(column, known)))


def _alone_after(table: ReadTable, classes: Classes, persons: pl.Series, missing: tuple[str, ...]) -> int:
    """Persons who have a class of the release to themselves; suppressed records fit everybody."""
    if not table.suppressed_classes.any() or table.suppressed_classes.all():
        return persons_alone(classes, persons, missing)
    shown = ~table.suppressed_classes[table.class_of_row]
    number = np.cumsum(~table.suppressed_classes) - 1
    kept = Classes(number[classes.of_record[shown]], classes.sizes[~table.suppressed_classes])
    return persons_alone(kept, persons.filter(pl.Series(shown)), missing)


def _by_candidates(compared: Compared, samples: list[str]) -> _Crowds:
    """Where every record has cells of its own, the released records that fit it take the place of its class."""
    sizes, sampled = candidates(compared.table, compared.original, compared.options.seed)
    if sampled:
        samples.append(f"the risk of {sizes.shape[0]} of {compared.original.height} records")
    return _Crowds(sizes, np.ones(sizes.shape[0], dtype=np.int64))


def _fitting(table: ReadTable, population: pl.DataFrame) -> CountArray:
    """(classes,) how many people of the population fit each class."""
    names = [name for name in table.columns if name in population.columns]
    places = target_positions(population.select(names), names, {name: table.columns[name].domain for name in names})
    return match(table, names, places).fitting
