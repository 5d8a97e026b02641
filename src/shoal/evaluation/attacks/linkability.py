"""Linkability: can two parties who know different things about the same people join their files through the release?

One party knows some of the quasi-identifiers of each person, the other party the others. For a person the first party
draws one of the released records that fit what it knows; the second party offers the people who fit that record, and
one of them is drawn. The success is the chance that it is the same person. Without the release it is 1 / people; in a
k-anonymous release it is at most 1/k, since all people of a class fit its records.

anonymeter asks less: do both parties, each for itself, come to the same record? That is told too (`same_record`), for
parties who agreed which record to take where several fit (the first in some order: shared candidates over all
candidates), and for parties who draw (`independent`). In a table that is fully suppressed all come to the same record
and nobody learns anything: it means something only beside a control, people who are not in the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.evaluation.attacks.matching import match, sampled_rows, target_positions
from shoal.evaluation.attacks.rates import rate_words, success_rate
from shoal.released.domain import FloatArray
from shoal.released.reading import ReadTable

TARGETS = 2_000  # people whose two parts are joined; the interval says how much the sample leaves open
ONE = 1 << 40  # chances are added up as whole numbers of this unit

Parties = tuple[Sequence[str], Sequence[str]]


def two_parties(table: ReadTable, first: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The quasi-identifiers of each party: the named ones and the others.

    By default they are dealt out in turn, those with most values first, so that both know about as much.
    """
    names = list(table.columns)
    if first:
        return list(first), [name for name in names if name not in first]
    ranked = sorted(names, key=lambda name: -len(table.columns[name].domain.values))
    return [name for name in names if name in ranked[::2]], [name for name in names if name in ranked[1::2]]


def linkability_attack(
    table: ReadTable,
    original: pl.DataFrame,
    *,
    first: Sequence[str] = (),
    control: pl.DataFrame | None = None,
    targets: int = TARGETS,
    seed: int = 0,
) -> dict[str, Any] | None:
    """Success of joining two parts of a person's data; None if there are no two parts.

    `first` are the quasi-identifiers that one party knows. `control` are people who are not in the release.
    """
    parties = two_parties(table, first)
    if not all(parties):
        return None
    random = np.random.default_rng([seed, 14])
    offered, counted = offered_people(table, original, parties[1], random)
    people = _sample(original, targets, random)
    others = None if control is None else _sample(control, targets, random)
    return {
        **_success(table, (people, others), parties, offered, original.height),
        "sampled": people.height < original.height,
        "counted": counted,  # people among whom those who fit a class were counted
        "parties": [list(party) for party in parties],
    }


def _success(
    table: ReadTable,
    whose: tuple[pl.DataFrame, pl.DataFrame | None],
    parties: Parties,
    offered: FloatArray,
    records: int,
) -> dict[str, Any]:
    """How often the two parts of people are joined rightly, and those of others who are not in the release."""
    people, others = whose
    right = join_chances(table, people, parties, offered)
    agreed, apart = same_record_chances(table, people, parties)
    right_others = None if others is None else join_chances(table, others, parties, offered)
    agreed_others = None if others is None else same_record_chances(table, others, parties)[0]
    return {
        **_words(right, right_others),
        "baseline": 1.0 / records,
        "highest": float(right.max()),
        "same_record": {**_words(agreed, agreed_others), "independent": float(apart.mean())},
    }


def offered_people(
    table: ReadTable, original: pl.DataFrame, names: Sequence[str], random: np.random.Generator
) -> tuple[FloatArray, int]:
    """(classes,) people who fit what a class tells of these columns, and how many were looked at to count them."""
    rows = sampled_rows(table, original, names, random)
    chosen = original if rows is None else original[rows]
    fitting = match(table, names, _positions(table, chosen, names)).fitting * (original.height / chosen.height)
    return np.maximum(fitting, table.class_sizes).astype(np.float64), chosen.height


def join_chances(table: ReadTable, people: pl.DataFrame, parties: Parties, offered: FloatArray) -> FloatArray:
    """(people,) chance to find the person's other part: the mean of 1 / offered people over the records that fit."""
    names = [*parties[0], *parties[1]]
    shares = np.round(table.class_sizes / offered * ONE).astype(np.int64)
    both = match(table, names, _positions(table, people, names), sizes=shares).records / ONE
    one = match(table, parties[0], _positions(table, people, parties[0])).records
    return both / np.maximum(1, one)


def same_record_chances(table: ReadTable, people: pl.DataFrame, parties: Parties) -> tuple[FloatArray, FloatArray]:
    """(people,) chance that both parties choose the same released record: by an agreed rule, and each for itself."""
    one, other, both = (
        match(table, names, _positions(table, people, names)).records
        for names in (*parties, [*parties[0], *parties[1]])
    )
    return both / np.maximum(1, one + other - both), both / np.maximum(1.0, one.astype(np.float64) * other)


def _positions(table: ReadTable, people: pl.DataFrame, names: Sequence[str]) -> FloatArray:
    return target_positions(people.select(names), names, {name: table.columns[name].domain for name in names})


def _words(chances: FloatArray, others: FloatArray | None) -> dict[str, Any]:
    attack = success_rate(float(chances.sum()), chances.shape[0])
    if others is None:
        return rate_words(attack, chances.shape[0])
    control = success_rate(float(others.sum()), others.shape[0])
    return rate_words(attack, chances.shape[0], control, others.shape[0])


def _sample(people: pl.DataFrame, targets: int, random: np.random.Generator) -> pl.DataFrame:
    if people.height <= targets:
        return people
    return people[np.sort(random.choice(people.height, size=targets, replace=False))]
