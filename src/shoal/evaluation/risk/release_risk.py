"""The risk of a release beside that of its original: of its records, or of persons, by classes or by candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem, did_you_mean
from shoal.evaluation.options import Compared
from shoal.evaluation.risk.crowds import Crowds
from shoal.evaluation.risk.risk import (
    attribute_disclosure,
    journalist_risk,
    risk_curve,
    size_distribution,
)
from shoal.released.domain import CountArray
from shoal.released.reading import ReadTable, group_rows
from shoal.verification.classes import Classes, find_classes


@dataclass(frozen=True, eq=False)
class Persons:
    """What tells persons apart: texts that are no person, and the records that were released (None: all of them)."""

    missing: tuple[str, ...] = ()
    kept: NDArray[np.bool_] | None = None


EVERY_RECORD = Persons()


def release_risk(
    compared: Compared, population: pl.DataFrame | None, persons: Persons, samples: list[str]
) -> dict[str, Any]:
    """Prosecutor, journalist and marketer before and after, and what classes give away of sensitive values."""
    table, options = compared.table, compared.options
    before, after = crowds_before(compared, persons), crowds_after(compared, persons, samples)
    fitting = None if population is None else _fitting(table, population)
    return {
        "threshold": options.threshold,
        "basis": "classes" if options.class_based else "candidates",
        "before": before.profile(options.threshold).as_dict(),
        "after": after.profile(options.threshold).as_dict(),
        "curve_before": risk_curve(before.sizes, None, before.members),
        "curve_after": risk_curve(after.sizes, after.exempt, after.members),
        "sizes_before": size_distribution(before.sizes, before.members),
        "sizes_after": size_distribution(after.sizes, after.members),
        "journalist": journalist_risk(table, fraction=options.sampling_fraction, population=fitting),
        "disclosure": {name: attribute_disclosure(table, compared.release[name]) for name in options.sensitive},
    }


def crowds_before(compared: Compared, persons: Persons) -> Crowds:
    """The classes of the original, of records or, if a column tells persons apart, of persons."""
    quasi, column = list(compared.table.columns), compared.options.person
    if column is None:
        return Crowds.of_records(_original_class_sizes(compared))
    _check_persons(compared, column, persons.kept)
    return Crowds.of_persons(find_classes(compared.original, quasi), compared.original[column], persons.missing)


def _original_class_sizes(compared: Compared) -> CountArray:
    """Sizes of the groups of equal records in the original; it matters what numbers are, not how they are spelled."""
    domains = {name: column.domain for name, column in compared.table.columns.items()}
    codes = [domain.value_of_code[domain.encode(compared.original[name])] for name, domain in domains.items()]
    return group_rows(codes, compared.original.height)[1]


def crowds_after(compared: Compared, persons: Persons, samples: list[str]) -> Crowds:
    """The same of the release; where it has no classes, the candidates of each record. `samples` are added to."""
    table, column = compared.table, compared.options.person
    if not compared.options.class_based:
        return _by_candidates(compared, samples)
    if column is None:
        return Crowds.of_records(table.class_sizes, compared.exempt)
    _check_persons(compared, column, persons.kept)
    classes = Classes(table.class_of_row.astype(np.int64), table.class_sizes.astype(np.int64))
    everybody = compared.original[column]
    released = everybody if persons.kept is None else everybody.filter(pl.Series(persons.kept))
    return Crowds.of_persons(classes, released, persons.missing, compared.exempt)


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


def _by_candidates(compared: Compared, samples: list[str]) -> Crowds:
    """Where every record has cells of its own, the released records that fit it take the place of its class."""
    from shoal.evaluation.attacks.linkage import candidates

    sizes, sampled = candidates(compared.table, compared.original, compared.options.seed)
    if sampled:
        samples.append(f"the risk of {sizes.shape[0]} of {compared.original.height} records")
    return Crowds(sizes, np.ones(sizes.shape[0], dtype=np.int64))


def _fitting(table: ReadTable, population: pl.DataFrame) -> CountArray:
    """(classes,) how many people of the population fit each class."""
    from shoal.evaluation.attacks.matching import match, target_positions

    names = [name for name in table.columns if name in population.columns]
    places = target_positions(population.select(names), names, {name: table.columns[name].domain for name in names})
    return match(table, names, places).fitting
