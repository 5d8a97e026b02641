"""Attacks that are really carried out: link a table of known people to the release, and count the hits.

*Linkage.* The attacker knows the quasi-identifiers of people (a copy of the original, or any external table) and looks
for the released records whose cells contain them. With `m` candidates a guess is right with chance 1/m; the attack
also draws one candidate per target and counts how often it is the right one. A target is pinned down if exactly one
released record contains it.

*Inference.* The attacker guesses the sensitive value that is commonest among the candidates; the baseline is the
commonest value of the whole table. A control, people who are not in the release, shows how much of the success comes
from being in it and how much from what holds for people in general.

Linkability and singling out have modules of their own. A released mean is taken as the range of its class, which is
more than the attacker knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluation.attacks.matching import Matches, match, sampled_rows, target_positions
from shoal.evaluation.attacks.rates import rate_words, success_rate
from shoal.released.domain import text_codes
from shoal.released.reading import ReadTable

LARGEST_LABELS = 200  # sensitive columns with more values are not guessed


@dataclass(frozen=True)
class LinkageAttack:
    """What linking brought. Chances are means over the targets."""

    targets: int
    sampled: bool  # True: a random sample of the attacker's table was linked, not all of it
    attributes: int  # quasi-identifiers that the attacker knows
    pinned: int  # targets that exactly one released record contains
    unmatched: int  # targets that no released record contains
    fewest_candidates: int
    median_candidates: float
    expected_success: float  # mean chance that a random candidate is the right one
    highest_success: float
    drawn_success: float | None  # share of right guesses when one candidate was really drawn; needs equal rows
    promised: float | None  # 1 / k

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def linkage_attack(
    table: ReadTable,
    external: pl.DataFrame,
    *,
    same_rows: bool,
    k: int | None = None,
    sensitive: pl.Series | None = None,
    control: pl.DataFrame | None = None,
    seed: int = 0,
) -> tuple[LinkageAttack, dict[str, Any] | None, NDArray[np.int64] | None]:
    """Link `external` to the release.

    `same_rows` says that row i of both tables is the same person, so that hits can be counted; `sensitive` is the
    released sensitive column, for the inference attack, and `control` holds people who are not in the release. Also
    returns the result of that attack, and the number of external records that fit each class (None if the targets
    were sampled).
    """
    random = np.random.default_rng([seed, 11])
    labels = _Labels.of(table, sensitive)
    linked = _linked(table, external, labels, random)
    told = same_rows and table.aligned  # who each target really is, is known
    chance = linked.chances(table, told)
    drawn = float((random.random(chance.shape[0]) < chance).mean()) if told else None
    attack = linked.attack(chance, drawn, k)
    inference = None
    if labels is not None and told:
        inference = _inference(table, labels, linked.found, labels.codes[linked.rows], control, random)
    return attack, inference, None if linked.sampled else linked.found.fitting


@dataclass(frozen=True, eq=False)
class _Linked:
    """The rows of a table (a sample, if all would take too long) with the released records that fit each."""

    names: list[str]
    rows: NDArray[np.int64]
    sampled: bool
    positions: NDArray[np.float64]
    found: Matches

    def chances(self, table: ReadTable, told: bool) -> NDArray[np.float64]:
        """(rows,) that a random candidate is the right one; 0 where it is told that the own record does not fit."""
        records = self.found.records
        chance = np.where(records > 0, 1.0 / np.maximum(records, 1), 0.0)
        if not told:
            return chance
        return np.where(_own_class_fits(table, self.names, self.positions, self.rows), chance, 0.0)

    def attack(self, chance: NDArray[np.float64], drawn: float | None, k: int | None) -> LinkageAttack:
        return LinkageAttack(
            **_candidate_counts(self.found),
            sampled=self.sampled,
            attributes=len(self.names),
            expected_success=float(chance.mean()),
            highest_success=float(chance.max()),
            drawn_success=drawn,
            promised=1.0 / k if k else None,
        )


def _linked(table: ReadTable, frame: pl.DataFrame, labels: _Labels | None, random: np.random.Generator) -> _Linked:
    names = [name for name in table.columns if name in frame.columns]
    rows = sampled_rows(table, frame, names, random)
    chosen = frame if rows is None else frame[rows]
    domains = {name: table.columns[name].domain for name in names}
    positions = target_positions(chosen.select(names), names, domains)
    found = match(table, names, positions, labels.counts if labels is not None else None)
    return _Linked(names, np.arange(frame.height) if rows is None else rows, rows is not None, positions, found)


def _candidate_counts(found: Matches) -> dict[str, Any]:
    """How many released records fit the targets."""
    records = found.records
    matched = records > 0
    return {
        "targets": int(records.shape[0]),
        "pinned": int(np.count_nonzero(records == 1)),
        "unmatched": int(np.count_nonzero(~matched)),
        "fewest_candidates": int(records[matched].min()) if matched.any() else 0,
        "median_candidates": float(np.median(records[matched])) if matched.any() else 0.0,
    }


def candidates(table: ReadTable, original: pl.DataFrame, seed: int) -> tuple[NDArray[np.int64], bool]:
    """How many released records fit each original record (of a sample, if all would take too long); at least 1."""
    linked = _linked(table, original, None, np.random.default_rng([seed, 13]))
    return np.maximum(1, linked.found.records), linked.sampled


def _own_class_fits(
    table: ReadTable, names: Sequence[str], positions: NDArray[np.float64], rows: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the record that really is the target contains it: otherwise no guess can be right."""
    fits = np.ones(rows.shape[0], dtype=np.bool_)
    for name in names:
        column = table.columns[name]
        if column.original is None or column.not_covering == 0:
            continue
        covered = column.cells.covers(column.domain, column.codes[rows], column.original[rows])
        if column.aggregated:
            covered = covered | ~np.isnan(column.cells.number[column.codes[rows]])
        fits &= covered
    return fits


@dataclass(frozen=True, eq=False)
class _Labels:
    """The sensitive column: its values, their codes per released row, and how often each class has each value."""

    texts: pl.Series
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, table: ReadTable, sensitive: pl.Series | None) -> _Labels | None:
        if sensitive is None:
            return None
        texts, codes = text_codes(sensitive)
        values = int(codes.max()) + 1
        if values > LARGEST_LABELS:
            return None
        keys = table.class_of_row.astype(np.int64) * values + codes
        counts = np.bincount(keys, minlength=table.classes * values).reshape(table.classes, values)
        return cls(texts, codes, np.ascontiguousarray(counts.astype(np.int64)))

    def codes_of(self, column: pl.Series) -> NDArray[np.int32]:
        """The codes of another table's values; -1 for a value that the release does not have."""
        known = {text: code for code, text in enumerate(self.texts.to_list())}
        texts, codes = text_codes(column)
        return np.array([known.get(text, -1) for text in texts.to_list()], dtype=np.int32)[codes]


def _inference(
    table: ReadTable,
    labels: _Labels,
    found: Matches,
    truth: NDArray[np.int32],
    control: pl.DataFrame | None,
    random: np.random.Generator,
) -> dict[str, Any]:
    attack = success_rate(_right(found, truth), truth.shape[0])
    others, size = None, 0
    if control is not None and labels.texts.name in control.columns:
        guessed = _linked(table, control, labels, random)
        size = guessed.rows.shape[0]
        others = success_rate(_right(guessed.found, labels.codes_of(control[guessed.rows][labels.texts.name])), size)
    return {
        **rate_words(attack, truth.shape[0], others, size),
        "baseline": float(np.bincount(labels.codes).max() / labels.codes.shape[0]),
        "certain": int(np.count_nonzero(found.best_share >= 1.0)),
    }


def _right(found: Matches, truth: NDArray[np.int32]) -> int:
    """Targets whose commonest sensitive value among the candidates is their own."""
    return int(np.count_nonzero((found.best_label == truth) & (found.records > 0)))
