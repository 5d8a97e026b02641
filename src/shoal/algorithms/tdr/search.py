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
from shoal.algorithms.tdr.model_risks import ModelRisks
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
    privacy_loss: float  # of the room that the models leave, the share that it used; 0 where they are not scored
    records: int


@dataclass(frozen=True)
class Refined:
    """Where the search ended."""

    values: CutValues
    groups: tuple[QidGroups, ...]
    steps: tuple[Step, ...]
    scored_models: bool = False


@dataclass
class _Ranking:
    """The candidates that are still valid, with what decides between them."""

    live: NDArray[np.int64]
    scores: NDArray[np.float64]
    losses: NDArray[np.float64]
    privacy: NDArray[np.float64]

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
    score_models: bool = False,
) -> Refined:
    """Refine from the most masked state until no refinement is valid."""
    smallest = [conditions.threshold_of(number) if possible_splits else 1 for number in range(table.width)]
    search = _Search.of(table, CutValues(table, counts, smallest), conditions, distort, score_models)
    steps: list[Step] = []
    live = search.values.take_candidates()
    while True:
        ranking = search.rank(live)
        search.values.close_roots_without(ranking.live)
        if ranking.live.shape[0] == 0:
            break
        place = ranking.best(search.values)
        live = np.delete(ranking.live, place)
        step = _step(int(ranking.live[place]), search.values, ranking, place)
        if not search.allows(step.value):
            search.values.close(np.array([step.value]))
            continue
        steps.append(step)
        search.perform(step.value)
        live = np.concatenate([live, search.values.take_candidates()])
        if len(steps) % REPORT_EVERY == 1:
            context.report(_progress(search.groups, table.records))
    return Refined(search.values, search.groups, tuple(steps), search.risks is not None)


@dataclass(frozen=True, eq=False)
class _Search:
    """The state that refinements change: cut values, the groups of every QID, and what models say about them."""

    values: CutValues
    groups: tuple[QidGroups, ...]
    member: NDArray[np.bool_]  # (QIDs, attributes) which QID holds which attribute
    whole: int  # the QID of all attributes, which models are asked about
    check: ModelCheck | None
    risks: ModelRisks | None
    distort: bool

    @classmethod
    def of(
        cls, table: EncodedTable, values: CutValues, conditions: Conditions, distort: bool, score_models: bool
    ) -> _Search:
        groups = tuple(QidGroups(table, qid, values) for qid in conditions.qids)
        member = np.zeros((len(groups), table.width), dtype=np.bool_)
        for number, qid in enumerate(conditions.qids):
            member[number, list(qid.attributes)] = True
        check = risks = None
        if conditions.models:
            check = ModelCheck.of(table, conditions.models)
            check.check_whole_table()
            if score_models and not distort:
                risks = ModelRisks(table, conditions.models, groups[conditions.whole], values)
        return cls(values, groups, member, conditions.whole, check, risks, distort)

    def rank(self, live: NDArray[np.int64]) -> _Ranking:
        """Drop the candidates that some QID does not allow any more, and score the others. Reads no records."""
        live, losses = self._valid(live)
        privacy = np.zeros(live.shape[0]) if self.risks is None else self.risks.privacy_losses(live)
        if self.distort:
            scores = self.values.records[live].astype(np.float64)
        else:
            scores = self.values.gain[live] / (losses + 1)
        return _Ranking(live, scores if self.risks is None else scores / (privacy + 1), losses, privacy)

    def _valid(self, live: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The candidates after which every QID still has its threshold, and the anonymity that each would cost."""
        concerned = self.member[:, self.values.attribute[live]]
        floors = np.stack([one.floors[live] for one in self.groups])
        thresholds = np.array([one.qid.threshold for one in self.groups])[:, None]
        valid = ((floors >= thresholds) | ~concerned).all(axis=0)
        self.values.close(live[~valid])
        concerned, floors = concerned[:, valid], floors[:, valid]
        smallest = np.array([one.smallest for one in self.groups])[:, None]
        drops = np.where(concerned, smallest - np.minimum(smallest, floors), 0)
        return live[valid], drops.sum(axis=0) / concerned.sum(axis=0)

    def allows(self, candidate: int) -> bool:
        """Whether models other than sizes would hold after a refinement."""
        return self.check is None or self.check.allows(candidate, self.values, self.groups[self.whole])

    def perform(self, candidate: int) -> None:
        """Refine a value in the QIDs that hold its attribute. Reads the records that have this value, no others."""
        values = self.values
        attribute = int(values.attribute[candidate])
        refined, children, slots = values.children(candidate)
        concerned = [one for number, one in enumerate(self.groups) if self.member[number, attribute]]
        for one in self.groups:
            one.make_room(values.capacity)
        for one in concerned:
            one.split(attribute, refined, children, slots, values)
        values.settle(candidate, children)
        for one in concerned:
            one.measure(values, attribute)
        if self.risks is not None:
            self.risks.refined(candidate, values)


def _step(candidate: int, values: CutValues, ranking: _Ranking, place: int) -> Step:
    return Step(
        attribute=int(values.attribute[candidate]),
        value=candidate,
        score=float(ranking.scores[place]),
        gain=float(values.gain[candidate]),
        anonymity_loss=float(ranking.losses[place]),
        privacy_loss=float(ranking.privacy[place]),
        records=int(values.records[candidate]),
    )


def _progress(groups: tuple[QidGroups, ...], records: int) -> float:
    """The groups multiply until they are about as small as they may be: their number tells how far we are."""
    fractions = [np.log1p(one.count) / np.log1p(max(2, records / one.qid.threshold)) for one in groups]
    return float(min(0.99, np.mean(fractions)))
