"""Top-down refinement against a plain implementation that computes everything anew in every step."""

from __future__ import annotations

from collections import Counter
from math import exp, inf, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms.base import Context
from shoal.algorithms.tdr.conditions import Qid, without_covered
from shoal.algorithms.tdr.tdr import Tdr
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable, Kind
from shoal.errors import RequirementError
from shoal.models.base import Requirement
from shoal.models.l_diversity import DistinctLDiversity, EntropyLDiversity, LDiversity, RecursiveCLDiversity
from shoal.models.likeness import BetaLikeness, DeltaDisclosure
from shoal.models.p_alpha import PAlpha
from shoal.models.t_closeness import TCloseness

TREE_LEVELS = np.array([[0, 1, 2, 3, 4, 5], [6, 6, 7, 8, 8, 8], [9, 9, 9, 10, 10, 10], [11] * 6], dtype=np.int32)
EMPTY = Requirement(())


def attribute(name: str, kind: Kind, size: int) -> EncodedAttribute:
    if kind is Kind.TREE:
        ancestors = TREE_LEVELS[:, :size]
    else:
        ancestors = np.vstack([np.arange(size), np.full(size, size)]).astype(np.int32)
    return EncodedAttribute(name, kind, size, np.linspace(0, 1, size), ancestors, np.zeros(ancestors.shape))


def encoded(columns: dict[str, tuple[Kind, int, list[int]]], labels: list[int], classes: int = 3) -> EncodedTable:
    records = np.array([codes for _, _, codes in columns.values()], dtype=np.int32)
    rows, inverse, weights = np.unique(records, axis=1, return_inverse=True, return_counts=True)
    return EncodedTable(
        tuple(attribute(name, kind, size) for name, (kind, size, _) in columns.items()),
        np.ascontiguousarray(rows),
        weights.astype(np.int64),
        inverse.astype(np.int32).ravel(),
        {"class": EncodedColumn("class", np.array(labels, dtype=np.int32), classes)},
    )


class PlainRefinement:
    """The definition, without any book-keeping: a cut is a list of (number, set of codes) per attribute."""

    def __init__(
        self,
        table: EncodedTable,
        labels: list[int],
        qids: list[tuple[tuple[int, ...], int]],
        distort: bool,
        possible_splits: bool,
    ):
        self.table, self.labels, self.qids, self.distort = table, labels, qids, distort
        self.possible_splits = possible_splits
        self.records = [tuple(record) for record in table.record_codes.T.tolist()]
        self.next_number = 0
        self.cut: list[list[tuple[int, frozenset[int]]]] = []
        self.disclosures: dict[tuple[int, int], int] = {}
        for position, one in enumerate(table.attributes):
            self.cut.append([(self.number(), frozenset(range(one.size)))])
            if one.kind is Kind.FLAT:
                for code in range(one.size):
                    self.disclosures[position, code] = self.number()

    def number(self) -> int:
        self.next_number += 1
        return self.next_number - 1

    def entropy(self, position: int, codes: frozenset[int]) -> float:
        counts = Counter(
            label for record, label in zip(self.records, self.labels, strict=True) if record[position] in codes
        )
        total = sum(counts.values())
        return -sum(count / total * log2(count / total) for count in counts.values())

    def size(self, position: int, codes: frozenset[int]) -> int:
        return sum(record[position] in codes for record in self.records)

    def gain(self, position: int, parts: list[frozenset[int]]) -> float:
        whole = frozenset().union(*parts)
        total = self.size(position, whole)
        rest = sum(
            self.size(position, part) / total * self.entropy(position, part)
            for part in parts
            if self.size(position, part)
        )
        gain = self.entropy(position, whole) - rest
        return gain if gain > 1e-12 else 0.0

    def groups(self, cut, attributes: tuple[int, ...]) -> Counter[tuple[int, ...]]:
        names = [{code: number for number, codes in cut[position] for code in codes} for position in range(len(cut))]
        return Counter(tuple(names[position][record[position]] for position in attributes) for record in self.records)

    def candidates(self):
        """(number, attribute, index of the value in the cut, parts, records)"""
        for position, one in enumerate(self.table.attributes):
            for index, (number, codes) in enumerate(self.cut[position]):
                if one.kind is Kind.FLAT:
                    if number in self.disclosures.values():
                        continue
                    for code in sorted(codes):
                        if self.size(position, frozenset([code])):
                            parts = [codes - {code}, frozenset([code])]
                            yield (
                                self.disclosures[position, code],
                                position,
                                index,
                                parts,
                                self.size(position, parts[1]),
                            )
                    continue
                if len(codes) == 1 or self.size(position, codes) == 0:
                    continue
                parts = self.tree_parts(one, codes) if one.kind is Kind.TREE else self.interval_parts(position, codes)
                if parts:
                    yield number, position, index, parts, self.size(position, codes)

    @staticmethod
    def tree_parts(one: EncodedAttribute, codes: frozenset[int]) -> list[frozenset[int]]:
        for level in range(one.levels - 1, -1, -1):
            nodes = sorted({int(one.ancestors[level, code]) for code in codes})
            if len(nodes) > 1:
                return [frozenset(code for code in codes if one.ancestors[level, code] == node) for node in nodes]
        raise AssertionError("two codes differ at level 0")

    def interval_parts(self, position: int, codes: frozenset[int]) -> list[frozenset[int]] | None:
        found = []
        for split in sorted(codes)[1:]:
            left = frozenset(code for code in codes if code < split)
            sizes = self.size(position, left), self.size(position, codes - left)
            needed = max(h for attributes, h in self.qids if position in attributes) if self.possible_splits else 1
            if min(sizes) >= needed:
                found.append((self.gain(position, [left, codes - left]), min(sizes), -split, left))
        if not found:
            return None
        best = max(gain for gain, *_ in found)
        left = max((item for item in found if item[0] >= best - 1e-9), key=lambda item: item[1:3])[3]
        return [left, codes - left]

    def replaced(self, position: int, index: int, parts, numbers):
        cut = [list(values) for values in self.cut]
        cut[position][index : index + 1] = list(zip(numbers, parts, strict=True))
        return cut

    def step(self) -> tuple[int, int, float] | None:
        best = None
        for number, position, index, parts, records in self.candidates():
            trial = self.replaced(position, index, parts, range(-1, -1 - len(parts), -1))
            losses, valid = [], True
            for attributes, threshold in self.qids:
                if position in attributes:
                    after = min(self.groups(trial, attributes).values())
                    valid &= after >= threshold
                    losses.append(min(self.groups(self.cut, attributes).values()) - after)
            if valid:
                score = records if self.distort else self.gain(position, parts) / (sum(losses) / len(losses) + 1)
                better = best is None or score > best[0] * (1 + 1e-9)
                tied = best is not None and abs(score - best[0]) <= 1e-9 * best[0]
                if better or (tied and (records, -number) > best[1:3]):
                    best = (score, records, -number, position, index, parts)
        if best is None:
            return None
        score, _, number, position, index, parts = best
        if self.table.attributes[position].kind is Kind.FLAT:
            numbers = [self.cut[position][index][0], -number]
        else:
            numbers = [self.number() for _ in parts]
        self.cut = self.replaced(position, index, parts, numbers)
        self.cut[position] = [value for value in self.cut[position] if value[1]]
        return position, -number, score


@st.composite
def problems(draw):
    records = draw(st.integers(4, 24))
    columns = {}
    for position in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(list(Kind)))
        size = draw(st.integers(1, 6))
        codes = draw(st.lists(st.integers(0, size - 1), min_size=records, max_size=records))
        columns[f"a{position}"] = (kind, size, codes)
    labels = draw(st.lists(st.integers(0, 2), min_size=records, max_size=records))
    names = list(columns)
    sets = draw(st.lists(st.sets(st.sampled_from(names), min_size=1), min_size=1, max_size=3))
    sets[0] |= set(names) - set().union(*sets)
    qids = tuple((tuple(sorted(one)), draw(st.integers(1, max(1, records // 3)))) for one in sets)
    return columns, labels, qids


@given(problems(), st.booleans(), st.booleans())
@settings(max_examples=120, deadline=None)
def test_same_steps_as_the_definition(problem, distort, possible):
    columns, labels, qids = problem
    table = encoded(columns, labels)
    mode = "distort" if distort else "information"
    algorithm = Tdr(class_column="class", mode=mode, qids=qids, possible_splits=possible)
    clustering = algorithm.cluster(table, EMPTY, Context())
    names = list(columns)
    kept = without_covered([Qid(tuple(sorted(names.index(name) for name in one)), h) for one, h in qids])
    plain = PlainRefinement(table, labels, [(qid.attributes, qid.threshold) for qid in kept], distort, possible)
    for step in clustering.details["steps"]:
        position, number, score = plain.step()
        assert (names[position], number) == (step["attribute"], step["node"])
        assert score == pytest.approx(step["score"], rel=1e-9)
    assert plain.step() is None, "a valid refinement was left"
    assert len(plain.groups(plain.cut, tuple(range(len(names))))) == len(np.unique(clustering.groups))
    for one, threshold in qids:
        assert min(plain.groups(plain.cut, tuple(names.index(name) for name in one)).values()) >= threshold


@given(problems())
@settings(max_examples=60, deadline=None)
def test_every_qid_is_kept_and_boxes_cover_their_records(problem):
    columns, labels, qids = problem
    table = encoded(columns, labels)
    clustering = Tdr(class_column="class", qids=qids).cluster(table, EMPTY, Context())
    boxes = clustering.boxes
    low, high = boxes.low[:, boxes.box_of_record], boxes.high[:, boxes.box_of_record]
    assert (low <= table.record_codes).all()
    assert (table.record_codes <= high).all()
    names = list(columns)
    for one, threshold in qids:
        places = [names.index(name) for name in one]
        released = np.vstack([low[places], high[places]])
        assert np.unique(released, axis=1, return_counts=True)[1].min() >= threshold
    all_released = np.vstack([low, high])
    assert np.unique(all_released, axis=1).shape[1] == len(np.unique(clustering.groups))


SECRET_TREE = np.array([[0, 1, 2, 3], [4, 4, 5, 5], [6, 6, 6, 6]], dtype=np.int32)


def secret_column(secrets: list[int]) -> EncodedColumn:
    """Four values with an order, a hierarchy of two pairs, and the pairs as categories of weight 0 and 1."""
    return EncodedColumn(
        "s",
        np.array(secrets, dtype=np.int32),
        4,
        positions=np.linspace(0, 1, 4),
        ancestors=SECRET_TREE,
        categories=np.array([0, 0, 1, 1], dtype=np.int32),
        category_weights=np.array([0.0, 0.0, 1.0, 1.0]),
    )


def risk(model, values: list[int], table: list[int]) -> float:
    """How surely a sensitive value of a group can be guessed, in the measure of the model."""
    if isinstance(model, TCloseness | BetaLikeness | DeltaDisclosure):
        return distance(model, values, table)
    counts = sorted(Counter(values).values(), reverse=True)
    if isinstance(model, LDiversity):
        return counts[0] / len(values)
    if isinstance(model, DistinctLDiversity):
        return 1 / len(counts)
    if isinstance(model, EntropyLDiversity):
        return exp(sum(count / len(values) * log(count / len(values)) for count in counts))
    tail = sum(counts[model.l - 1 :])
    return counts[0] / tail if tail else inf


def distance(model, values: list[int], table: list[int]) -> float:
    """How far the values of a group are from those of the table."""
    present = sorted(set(table))
    here = {value: values.count(value) / len(values) for value in present}
    there = {value: table.count(value) / len(table) for value in present}
    over = {value: here[value] - there[value] for value in present}
    if isinstance(model, BetaLikeness):
        return max(here[value] / (there[value] * (1 + model.beta)) for value in present)
    if isinstance(model, DeltaDisclosure):
        return max(abs(log(here[value] / there[value])) if here[value] else inf for value in present)
    if model.distance == "equal":
        return sum(abs(one) for one in over.values()) / 2
    if model.distance == "ordered":
        ahead = [sum(over[value] for value in present[: place + 1]) for place in range(len(present))]
        return sum(map(abs, ahead)) / max(1, len(present) - 1)
    pairs = [sum(over[value] for value in present if value // 2 == pair) for pair in (0, 1)]
    return (sum(map(abs, over.values())) + sum(map(abs, pairs))) / 4  # an edge of the tree is worth 1 / (2 * height)


def bound(model) -> float:
    if isinstance(model, TCloseness):
        return model.t
    if isinstance(model, DeltaDisclosure):
        return model.delta
    if isinstance(model, BetaLikeness):
        return 1.0
    return model.c if isinstance(model, RecursiveCLDiversity) else 1 / model.l


class PlainScoring(PlainRefinement):
    """The same with a model in the score: every step looks at all groups anew."""

    def __init__(self, table, labels, qids, model, secrets: list[int]):
        super().__init__(table, labels, qids, distort=False, possible_splits=True)
        self.model, self.secrets = model, secrets

    def highest_risk(self, cut) -> float:
        groups: dict[tuple[int, ...], list[int]] = {}
        names = [{code: number for number, codes in values for code in codes} for values in cut]
        for record, secret in zip(self.records, self.secrets, strict=True):
            key = tuple(one[code] for one, code in zip(names, record, strict=True))
            groups.setdefault(key, []).append(secret)
        return max(risk(self.model, values, self.secrets) for values in groups.values())

    def privacy_loss(self, position: int, index: int, parts) -> float:
        now = self.highest_risk(self.cut)
        rise = self.highest_risk(self.replaced(position, index, parts, range(-1, -1 - len(parts), -1))) - now
        room = bound(self.model) - now
        if room <= 1e-12:
            return float(rise > 1e-12)
        return min(1.0, rise / room)


@given(problems(), st.data())
@settings(max_examples=80, deadline=None)
def test_models_in_the_score_divide_it_by_the_room_that_a_step_uses(problem, data):
    columns, labels, qids = problem
    table = encoded(columns, labels)
    secrets = data.draw(st.lists(st.integers(0, 3), min_size=len(labels), max_size=len(labels)))
    model = data.draw(
        st.sampled_from([
            LDiversity(1.2, "s"), LDiversity(2, "s"), DistinctLDiversity(2, "s"), EntropyLDiversity(1.5, "s"),
            RecursiveCLDiversity(3, 2, "s"), TCloseness(0.4, "s"), TCloseness(0.3, "s", "ordered"),
            TCloseness(0.4, "s", "hierarchical"), BetaLikeness(1.0, "s"), DeltaDisclosure(1.5, "s"),
        ])
    )  # fmt: skip
    table.columns["s"] = secret_column(secrets)
    algorithm = Tdr(class_column="class", qids=qids, score_models=True)
    if not model.deficits(table, np.zeros(table.records, dtype=np.int32), 1)[0] <= 0:
        with pytest.raises(RequirementError):
            algorithm.cluster(table, Requirement((model,)), Context())
        return
    clustering = algorithm.cluster(table, Requirement((model,)), Context())
    assert (model.deficits(table, clustering.groups, int(clustering.groups.max()) + 1) <= 0).all()
    names = list(columns)
    whole = Qid(tuple(range(len(names))), model.minimal_size())
    kept = without_covered([whole, *(Qid(tuple(sorted(names.index(name) for name in one)), h) for one, h in qids)])
    plain = PlainScoring(table, labels, [(qid.attributes, qid.threshold) for qid in kept], model, secrets)
    for step in clustering.details["steps"]:
        candidates = {number: (position, index, parts) for number, position, index, parts, _ in plain.candidates()}
        position, index, parts = candidates[step["node"]]
        loss = plain.privacy_loss(position, index, parts)
        assert step["privacy_loss"] == pytest.approx(loss, abs=1e-9)
        gain = plain.gain(position, parts)
        assert step["score"] == pytest.approx(gain / ((step["anonymity_loss"] + 1) * (loss + 1)), rel=1e-9)
        if table.attributes[position].kind is Kind.FLAT:
            numbers = [plain.cut[position][index][0], step["node"]]
        else:
            numbers = [plain.number() for _ in parts]
        plain.cut = plain.replaced(position, index, parts, numbers)
        plain.cut[position] = [value for value in plain.cut[position] if value[1]]


def test_categories_and_weights_of_values_are_scored_as_well():
    """(p+, alpha) has two rules: at least two categories, and weights that add up to 2; a step uses room of both."""
    secrets = [0, 1, 2, 3, 0, 2, 2, 3]
    table = encoded({"a": (Kind.INTERVAL, 2, [0, 0, 0, 0, 1, 1, 1, 1])}, [0, 0, 0, 0, 1, 1, 1, 1])
    table.columns["s"] = secret_column(secrets)
    algorithm = Tdr(class_column="class", score_models=True)
    (step,) = algorithm.cluster(table, Requirement((PAlpha(2, 2, "s"),)), Context()).details["steps"]
    # Categories: both halves have two, as the table has: nothing is used up. Weights: 5 in the table, 2 in the first
    # half, which is all that is allowed: the whole room from 1/5 to 1/2 is used.
    assert step["privacy_loss"] == pytest.approx((0 + 1) / 2)
