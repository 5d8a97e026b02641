"""The greedy search: refine the best value that may be refined, until there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.algorithms.base import Context
from shoal.algorithms.tdr.class_counts import ClassCounts
from shoal.algorithms.tdr.conditions import Conditions
from shoal.algorithms.tdr.cut_values import CutValues
from shoal.algorithms.tdr.model_check import ModelCheck
from shoal.algorithms.tdr.qid_groups import QidGroups
from shoal.encode.encoded_table import EncodedTable

TIE = 1e-9  # scores closer than this, relatively, are equal
REPORT_EVERY = 16


@dataclass(frozen=True)
class Step:
    """One refinement: of which value, with which score, and how many records it touched."""

    attribute: int
    value: int
    score: float
    gain: float
    anonymity_loss: float
    records: int


@dataclass(frozen=True)
class Refined:
    """Where the search ended."""

    values: CutValues
    groups: tuple[QidGroups, ...]
    steps: tuple[Step, ...]


@dataclass
class _Ranking:
    """The candidates that are still valid, with what decides between them."""

    live: NDArray[np.int64]
    scores: NDArray[np.float64]
    losses: NDArray[np.float64]

    def best(self, values: CutValues) -> int:
        """The place of the highest score; of equal scores the one that touches most records, then the oldest."""
        top = self.scores.max()
        tied = np.flatnonzero(self.scores >= top - TIE * abs(top))
        records = values.records[self.live[tied]]
        most = tied[records == records.max()]
        return int(most[np.argmin(self.live[most])])


def refine(
    table: EncodedTable,
    counts: list[ClassCounts],
    conditions: Conditions,
    context: Context,
    *,
    distort: bool,
    possible_splits: bool,
) -> Refined:
    """Refine from the most masked state until no refinement is valid."""
    attributes = range(table.width)
    halves = [conditions.threshold_of(number) if possible_splits else 1 for number in attributes]
    values = CutValues(table, counts, halves)
    groups = tuple(QidGroups(table, qid, values) for qid in conditions.qids)
    member = np.zeros((len(groups), table.width), dtype=np.bool_)
    for number, qid in enumerate(conditions.qids):
        member[number, list(qid.attributes)] = True
    check = None
    if conditions.models:
        check = ModelCheck.of(table, conditions.models)
        check.check_whole_table()
    steps: list[Step] = []
    live = values.take_candidates()
    while True:
        ranking = _rank(live, values, groups, member, distort)
        live = ranking.live
        values.close_roots_without(live)
        if live.shape[0] == 0:
            break
        place = ranking.best(values)
        candidate = int(live[place])
        live = np.delete(live, place)
        if check is not None and not check.allows(candidate, values, groups[conditions.whole]):
            values.close(np.array([candidate]))
            continue
        steps.append(_step(candidate, values, ranking, place))
        _perform(candidate, values, groups, member)
        live = np.concatenate([live, values.take_candidates()])
        if len(steps) % REPORT_EVERY == 1:
            context.report(_progress(groups, table.records))
    return Refined(values, groups, tuple(steps))


def _rank(
    live: NDArray[np.int64], values: CutValues, groups: tuple[QidGroups, ...], member: NDArray[np.bool_], distort: bool
) -> _Ranking:
    """Drop the candidates that some QID does not allow any more, and score the others. Reads no records."""
    concerned = member[:, values.attribute[live]]
    floors = np.stack([one.floors[live] for one in groups])
    thresholds = np.array([one.qid.threshold for one in groups])[:, None]
    valid = ((floors >= thresholds) | ~concerned).all(axis=0)
    values.close(live[~valid])
    live, concerned, floors = live[valid], concerned[:, valid], floors[:, valid]
    smallest = np.array([one.smallest for one in groups])[:, None]
    drops = np.where(concerned, smallest - np.minimum(smallest, floors), 0)
    losses = drops.sum(axis=0) / concerned.sum(axis=0)
    if distort:
        scores = values.records[live].astype(np.float64)
    else:
        scores = values.gain[live] / (losses + 1)
    return _Ranking(live, scores, losses)


def _step(candidate: int, values: CutValues, ranking: _Ranking, place: int) -> Step:
    return Step(
        attribute=int(values.attribute[candidate]),
        value=candidate,
        score=float(ranking.scores[place]),
        gain=float(values.gain[candidate]),
        anonymity_loss=float(ranking.losses[place]),
        records=int(values.records[candidate]),
    )


def _perform(candidate: int, values: CutValues, groups: tuple[QidGroups, ...], member: NDArray[np.bool_]) -> None:
    """Refine a value in the QIDs that hold its attribute. Reads the records that have this value, no others."""
    attribute = int(values.attribute[candidate])
    refined, children, slots = values.children(candidate)
    concerned = [one for number, one in enumerate(groups) if member[number, attribute]]
    for one in groups:
        one.make_room(values.capacity)
    for one in concerned:
        one.split(attribute, refined, children, slots, values)
    values.settle(candidate, children)
    for one in concerned:
        one.measure(values, attribute)


def _progress(groups: tuple[QidGroups, ...], records: int) -> float:
    """The groups multiply until they are about as small as they may be: their number tells how far we are."""
    fractions = [np.log1p(one.count) / np.log1p(max(2, records / one.qid.threshold)) for one in groups]
    return float(min(0.99, np.mean(fractions)))
