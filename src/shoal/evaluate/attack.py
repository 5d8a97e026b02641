"""Attacks that are really carried out: link a table of known people to the release, and count the hits.

*Linkage.* The attacker knows the quasi-identifiers of people (a copy of the original, or any external table) and looks
for the released records whose cells contain them. With `m` candidates a guess is right with chance 1/m; the attack
also draws one candidate per target and counts how often it is the right one. A target is pinned down if exactly one
released record contains it.

*Inference.* The attacker guesses the sensitive value that is commonest among the candidates; the baseline is the
commonest value of the whole table.

*Singling out.* The attacker makes conditions from released cells of random attributes and hopes that exactly one
person of the original meets one of them. The baseline draws the conditions from random values of the domain.

These are the questions that anonymeter asks of synthetic data, asked of generalized data. A released mean is taken as
the range of its class, which is more than the attacker knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluate.matching import Covers, class_covers, match, target_positions
from shoal.metrics.domain import text_codes
from shoal.metrics.reading import ReadTable, group_rows

LARGEST_WORK = 6_000_000_000  # comparisons of a target with a class before targets are sampled
LARGEST_LABELS = 200  # sensitive columns with more values are not guessed
FEWEST_TARGETS = 2_000


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
    seed: int = 0,
) -> tuple[LinkageAttack, dict[str, Any] | None, NDArray[np.int64] | None]:
    """Link `external` to the release.

    `same_rows` says that row i of both tables is the same person, so that hits can be counted; `sensitive` is the
    released sensitive column, for the inference attack. Also returns the result of that attack, and the number of
    external records that fit each class (None if the targets were sampled).
    """
    names = [name for name in table.columns if name in external.columns]
    random = np.random.default_rng([seed, 11])
    rows = _choose(table, external, names, random)
    chosen = external if rows is None else external[rows]
    domains = {name: table.columns[name].domain for name in names}
    positions = target_positions(chosen.select(names), names, domains)
    labels, counts = _label_counts(table, sensitive)
    found = match(table, names, positions, counts)
    matched = found.records > 0
    chance = np.where(matched, 1.0 / np.maximum(found.records, 1), 0.0)
    place = np.arange(external.height) if rows is None else rows
    right = chance
    if same_rows and table.aligned:
        right = np.where(_own_class_fits(table, names, positions, place), chance, 0.0)
    attack = LinkageAttack(
        targets=int(positions.shape[1]),
        sampled=rows is not None,
        attributes=len(names),
        pinned=int(np.count_nonzero(found.records == 1)),
        unmatched=int(np.count_nonzero(~matched)),
        fewest_candidates=int(found.records[matched].min()) if matched.any() else 0,
        median_candidates=float(np.median(found.records[matched])) if matched.any() else 0.0,
        expected_success=float(right.mean()),
        highest_success=float(right.max()),
        drawn_success=float((random.random(right.shape[0]) < right).mean()) if same_rows and table.aligned else None,
        promised=1.0 / k if k else None,
    )
    inference = None
    if labels is not None and same_rows and table.aligned:
        inference = _inference(labels, found.best_label, found.best_share, place, matched)
    return attack, inference, None if rows is not None else found.fitting


def _choose(
    table: ReadTable, external: pl.DataFrame, names: Sequence[str], random: np.random.Generator
) -> NDArray[np.int64] | None:
    """All targets, or a random sample where matching all would take too long, judged by a first few."""
    targets = external.height
    if targets * table.classes <= LARGEST_WORK // 10:
        return None
    first = np.sort(random.choice(targets, size=min(targets, FEWEST_TARGETS), replace=False)).astype(np.int64)
    domains = {name: table.columns[name].domain for name in names}
    found = match(table, names, target_positions(external[first].select(names), names, domains))
    allowed = max(FEWEST_TARGETS, int(LARGEST_WORK / max(1.0, found.work / first.shape[0])))
    if allowed >= targets:
        return None
    return np.sort(random.choice(targets, size=allowed, replace=False)).astype(np.int64)


def candidates(table: ReadTable, original: pl.DataFrame, seed: int) -> tuple[NDArray[np.int64], bool]:
    """How many released records fit each original record (of a sample, if all would take too long); at least 1."""
    names = list(table.columns)
    rows = _choose(table, original, names, np.random.default_rng([seed, 13]))
    chosen = original if rows is None else original[rows]
    domains = {name: table.columns[name].domain for name in names}
    found = match(table, names, target_positions(chosen.select(names), names, domains))
    return np.maximum(1, found.records), rows is not None


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


def _label_counts(
    table: ReadTable, sensitive: pl.Series | None
) -> tuple[NDArray[np.int32] | None, NDArray[np.int64] | None]:
    if sensitive is None:
        return None, None
    labels = text_codes(sensitive)[1]
    values = int(labels.max()) + 1
    if values > LARGEST_LABELS:
        return None, None
    keys = table.class_of_row.astype(np.int64) * values + labels
    counts = np.bincount(keys, minlength=table.classes * values).reshape(table.classes, values)
    return labels, np.ascontiguousarray(counts.astype(np.int64))


def _inference(
    labels: NDArray[np.int32],
    guess: NDArray[np.int32],
    belief: NDArray[np.float64],
    rows: NDArray[np.int64],
    matched: NDArray[np.bool_],
) -> dict[str, Any]:
    truth = labels[rows]
    baseline = np.bincount(labels).max() / labels.shape[0]
    return {
        "targets": int(rows.shape[0]),
        "success": float(((guess == truth) & matched).mean()),
        "baseline": float(baseline),
        "certain": int(np.count_nonzero(belief >= 1.0)),
    }


def singling_out_attack(
    table: ReadTable, original: pl.DataFrame, *, conditions: int = 500, seed: int = 0
) -> dict[str, Any]:
    """Random conditions from released cells; how many of them does exactly one original record meet?"""
    random = np.random.default_rng([seed, 12])
    names = list(table.columns)
    domains = {name: table.columns[name].domain for name in names}
    codes = [domains[name].encode(original[name]) for name in names]
    _, weights, first = group_rows(codes, original.height)  # equal people are looked at once
    positions = target_positions(original.select(names)[first], names, domains)
    everybody = np.arange(positions.shape[1])
    covers = class_covers(table, names)
    single, control = 0, 0
    for _ in range(conditions):
        chosen = random.choice(len(names), size=int(random.integers(1, len(names) + 1)), replace=False).tolist()
        one = int(random.integers(table.classes))
        met, met_by_chance = everybody, everybody
        for attribute in chosen:
            drawn = random.choice(domains[names[attribute]].positions) if domains[names[attribute]].values else 0.0
            met = met[_inside(covers, attribute, one, positions[attribute, met])]
            met_by_chance = met_by_chance[positions[attribute, met_by_chance] == drawn]
        single += int(weights[met].sum() == 1)
        control += int(weights[met_by_chance].sum() == 1)
    return {
        "conditions": conditions,
        "single": single,
        "success": single / conditions,
        "baseline": control / conditions,
    }


def _inside(covers: Covers, attribute: int, one: int, line: NDArray[np.float64]) -> NDArray[np.bool_]:
    absent = np.isnan(line)
    start = covers.set_start[attribute, one]
    if start >= 0:
        inside = np.isin(line, covers.members[start : covers.set_end[attribute, one]])
    else:
        inside = (line >= covers.low[attribute, one]) & (line <= covers.high[attribute, one])
    return np.where(absent, covers.missing[attribute, one] == 1, inside)
