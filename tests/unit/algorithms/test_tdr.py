"""Top-down refinement: what it keeps, what it refuses, and what it reads. Its steps: see tests/property."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.registry import make_algorithm
from shoal.algorithms.tdr.class_counts import count_classes
from shoal.algorithms.tdr.conditions import Qid, without_covered
from shoal.algorithms.tdr.cut_values import CutValues
from shoal.algorithms.tdr.kernels.groups import _reorder, measure_groups, split_groups
from shoal.algorithms.tdr.qid_groups import QidGroups
from shoal.algorithms.tdr.tdr import Tdr
from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable, Kind
from shoal.errors import InputError, RequirementError
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

    def __getitem__(self, number):
        if isinstance(number, tuple):
            self.places.add(int(number[1]))
            return self.codes[number]
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
        patch.setattr("shoal.algorithms.tdr.kernels.groups._reorder", _reorder.py_func)
        patch.setattr("shoal.algorithms.tdr.qid_groups.split_groups", split_groups.py_func)
        patch.setattr("shoal.algorithms.tdr.qid_groups.measure_groups", measure_groups.py_func)
        _, quarters, slots = values.children(left)
        groups.make_room(values.capacity)
        groups.split(0, left, quarters, slots, values)
        values.settle(left, quarters)
        groups.measure(values, 0)
    assert recorder.places == having_it
    assert (recorder.codes == table.codes[:, groups.order]).all()
    assert (groups.weights == table.weights[groups.order]).all()
