"""Top-down refinement against a plain implementation that computes everything anew in every step."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.algorithms.base import Context
from shoal.algorithms.registry import make_algorithm
from shoal.algorithms.tdr import Tdr
from shoal.algorithms.tdr_parts.class_counts import count_classes
from shoal.algorithms.tdr_parts.conditions import Qid, without_covered
from shoal.algorithms.tdr_parts.cut_values import CutValues
from shoal.algorithms.tdr_parts.qid_groups import QidGroups
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable, Kind
from shoal.errors import InputError, RequirementError
from shoal.kernels.tdr import _reorder, measure_groups, split_groups
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.linkage import Qid as QidModel

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


def big_table(records: int, seed: int = 5) -> EncodedTable:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, records)
    numbers = np.clip(labels * 9 + random.integers(0, 20, records), 0, 39)
    return encoded(
        {
            "number": (Kind.INTERVAL, 40, numbers.tolist()),
            "tree": (Kind.TREE, 6, ((labels * 2 + random.integers(0, 3, records)) % 6).tolist()),
            "flat": (Kind.FLAT, 5, random.integers(0, 5, records).tolist()),
        },
        labels.tolist(),
    )


def test_same_result_again_and_input_untouched():
    table = big_table(500)
    before = table.codes.copy(), table.weights.copy(), table.row_of_record.copy()
    requirement = Requirement((KAnonymity(7),))
    first = Tdr(class_column="class").cluster(table, requirement, Context(seed=1))
    second = Tdr(class_column="class").cluster(table, requirement, Context(seed=2, threads=2))
    assert (first.groups == second.groups).all()
    assert first.details == second.details
    assert np.bincount(first.groups).min() >= 7
    for array, copy in zip((table.codes, table.weights, table.row_of_record), before, strict=True):
        assert (array == copy).all()


def test_order_of_the_records_does_not_matter():
    table = big_table(400)
    shuffle = np.random.default_rng(0).permutation(table.records)
    columns = {
        one.name: (one.kind, one.size, table.record_codes[number][shuffle].tolist())
        for number, one in enumerate(table.attributes)
    }
    shuffled = encoded(columns, table.columns["class"].codes[shuffle].tolist())
    one = Tdr(class_column="class").cluster(table, Requirement((KAnonymity(5),)), Context())
    other = Tdr(class_column="class").cluster(shuffled, Requirement((KAnonymity(5),)), Context())
    assert one.details == other.details


def test_without_a_class_it_refines_most_records_first_and_splits_at_medians():
    table = encoded({"a": (Kind.INTERVAL, 4, [0, 0, 1, 2, 3, 3, 3, 3])}, [0] * 8)
    clustering = Tdr().cluster(table, Requirement((KAnonymity(4),)), Context())
    assert clustering.details["mode"] == "distort"
    assert sorted((one["low"], one["high"]) for one in clustering.details["cut"]["a"]) == [(0, 2), (3, 3)]


def test_a_split_that_can_never_be_done_does_not_stop_an_interval():
    """One record of another class at the end: the split of highest gain cuts it off alone."""
    table = encoded({"a": (Kind.INTERVAL, 6, [0, 1, 2, 3, 4, 5])}, [1, 0, 0, 0, 0, 0])
    requirement = Requirement((KAnonymity(3),))
    found = {
        possible: Tdr(class_column="class", possible_splits=possible).cluster(table, requirement, Context())
        for possible in (True, False)
    }
    assert np.bincount(found[True].groups).tolist() == [3, 3]
    assert np.bincount(found[False].groups).tolist() == [6]


def test_qid_models_of_the_requirement_are_used():
    table = big_table(300)
    models = (QidModel(("number", "tree"), 20), QidModel(("flat",), 40), QidModel(("number",), 10))
    clustering = Tdr(class_column="class").cluster(table, Requirement(models), Context())
    assert [(one["attributes"], one["threshold"]) for one in clustering.details["qids"]] == [
        (["number", "tree"], 20),
        (["flat"], 40),
    ]
    assert all(one["smallest"] >= one["threshold"] for one in clustering.details["qids"])


def test_k_of_the_requirement_holds_besides_the_given_qids():
    table = big_table(300)
    algorithm = Tdr(class_column="class", qids=((("number",), 30),))
    clustering = algorithm.cluster(table, Requirement((KAnonymity(6),)), Context())
    assert np.bincount(clustering.groups).min() >= 6
    assert {one["threshold"] for one in clustering.details["qids"]} == {6, 30}


def test_l_diversity_joins_the_requirement():
    table = big_table(600, seed=9)
    random = np.random.default_rng(3)
    disease = np.minimum(random.geometric(0.25, 600) - 1, 5).astype(np.int32)
    table = replace(table, columns={**table.columns, "disease": EncodedColumn("disease", disease, 6)})
    plain = Tdr(class_column="class").cluster(table, Requirement((KAnonymity(5),)), Context())
    requirement = Requirement((KAnonymity(5), LDiversity(3, "disease")))
    safe = Tdr(class_column="class").cluster(table, requirement, Context())
    sizes = np.bincount(safe.groups)
    assert sizes.min() >= 5
    assert (requirement.deficits(table, safe.groups, sizes.shape[0]) == 0).all()
    assert 1 < sizes.shape[0] < np.bincount(plain.groups).shape[0]


def test_l_diversity_that_the_table_does_not_have_is_refused():
    table = big_table(60)
    same = EncodedColumn("disease", np.zeros(60, dtype=np.int32), 1)
    table = replace(table, columns={**table.columns, "disease": same})
    with pytest.raises(RequirementError) as caught:
        Tdr(class_column="class").cluster(table, Requirement((KAnonymity(5), LDiversity(2, "disease"))), Context())
    assert caught.value.reasons == ("cannot-be-met",)


def test_missing_numbers_are_one_more_value():
    codes = [0, 1, 2, 3, 4, 4, 4, 4]
    table = encoded({"a": (Kind.INTERVAL, 5, codes)}, [0, 0, 0, 0, 1, 1, 1, 1])
    missing = replace(table.attributes[0], positions=np.array([0, 0.3, 0.6, 1, 2]), missing_code=4)
    clustering = Tdr(class_column="class").cluster(
        replace(table, attributes=(missing,)), Requirement((KAnonymity(4),)), Context()
    )
    assert [(one["low"], one["high"]) for one in clustering.details["cut"]["a"]] == [(0, 3), (4, 4)]


def test_one_number_in_two_spellings_is_never_split():
    table = encoded({"a": (Kind.INTERVAL, 3, [0, 0, 1, 1, 2, 2])}, [0, 0, 1, 1, 1, 1])
    spelled_twice = replace(table.attributes[0], positions=np.array([0.0, 0.0, 1.0]))
    clustering = Tdr(class_column="class").cluster(
        replace(table, attributes=(spelled_twice,)), Requirement((KAnonymity(2),)), Context()
    )
    assert [(one["low"], one["high"]) for one in clustering.details["cut"]["a"]] == [(0, 1), (2, 2)]


@pytest.mark.parametrize(
    ("parameters", "requirement", "error", "reason"),
    [
        ({}, EMPTY, InputError, "no-requirement"),
        ({"qids": ((("number",), 5),)}, EMPTY, InputError, "attribute-in-no-qid"),
        ({"qids": ((("numbr",), 5),)}, EMPTY, InputError, "unknown-column"),
        ({"class_column": "klass"}, Requirement((KAnonymity(5),)), InputError, "unknown-class-column"),
        ({}, Requirement((KAnonymity(500),)), RequirementError, "too-few-records"),
    ],
)
def test_what_cannot_be_done_is_said(parameters, requirement, error, reason):
    with pytest.raises(error) as caught:
        Tdr(**parameters).cluster(big_table(50), requirement, Context())
    assert reason in caught.value.reasons


@pytest.mark.parametrize(
    "parameters", [{"mode": "fast"}, {"mode": "information"}, {"qids": (((), 5),)}, {"qids": ((("a",), 0),)}]
)
def test_bad_parameters_are_input_errors(parameters):
    with pytest.raises(InputError):
        make_algorithm("tdr", **parameters)


def test_a_covered_qid_is_dropped_and_of_equal_ones_the_first_stays():
    wide, narrow, strict = Qid((0, 1, 2), 5), Qid((0, 1), 5), Qid((0, 1), 6)
    assert without_covered([narrow, wide, strict, wide]) == (wide, strict)


class Recorder:
    """Columns of codes that remember which places were asked for or changed."""

    def __init__(self, codes: np.ndarray):
        self.codes, self.places, self.shape = codes, set(), codes.shape

    def __getitem__(self, number: int):
        recorder, column = self, self.codes[number]

        class Column:
            def __getitem__(self, place: int):
                recorder.places.add(int(place))
                return column[place]

            def __setitem__(self, place: int, code: int):
                recorder.places.add(int(place))
                column[place] = code

        return Column()


def test_a_step_reads_only_the_records_that_have_the_refined_value():
    table = big_table(300)
    values = CutValues(table, count_classes(table, table.columns["class"].codes, 3), [1, 1, 1])
    groups = QidGroups(table, Qid((0, 1, 2), 2), values)
    root = int(values.roots[0])
    _, halves, slots = values.children(root)
    groups.split(0, root, halves, slots, values)
    values.settle(root, halves)
    groups.measure(values, 0)
    assert (groups.codes == table.codes[:, groups.order]).all()
    left = int(halves[0])
    having_it = set(np.flatnonzero(values.value_of_code[values.codes_of(0)][groups.codes[0]] == left).tolist())
    assert 0 < len(having_it) < table.rows
    recorder = groups.codes = Recorder(groups.codes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.kernels.tdr._reorder", _reorder.py_func)
        patch.setattr("shoal.algorithms.tdr_parts.qid_groups.split_groups", split_groups.py_func)
        patch.setattr("shoal.algorithms.tdr_parts.qid_groups.measure_groups", measure_groups.py_func)
        _, quarters, slots = values.children(left)
        groups.make_room(values.capacity)
        groups.split(0, left, quarters, slots, values)
        values.settle(left, quarters)
        groups.measure(values, 0)
    assert recorder.places == having_it
    assert (recorder.codes == table.codes[:, groups.order]).all()
    assert (groups.weights == table.weights[groups.order]).all()
