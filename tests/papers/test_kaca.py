"""Worked examples for KACA and top-down: distances, the six records of both papers, (alpha, k)."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Algorithm, Context
from shoal.algorithms.kaca.distance import make_ladders, table_distortion
from shoal.algorithms.kaca.kaca import Kaca
from shoal.algorithms.kaca.topdown import TopDown
from shoal.algorithms.kaca.topdown_kaca import TopDownKaca
from shoal.algorithms.kaca.two_level import TwoLevel
from shoal.encode.encoded_table import EncodedTable
from shoal.models.alpha_k import AlphaK
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

POSTCODES = [[f"435{digit}", "435*", "43**", "4***", "*"] for digit in range(4)]


def six_records() -> EncodedTable:
    """Table 1 (a) of the priority paper: gender, age, postcode."""
    return encode_simple(
        {
            "gender": ["male", "male", "male", "female", "female", "female"],
            "age": ["middle", "middle", "young", "young", "old", "old"],
            "postcode": ["4350", "4350", "4351", "4352", "4353", "4353"],
        },
        hierarchies={"postcode": POSTCODES},
    )


def illness_records() -> EncodedTable:
    """Table 1.1 of the thesis: job, birth, postcode and the illness."""
    codes = ["4350", "5432", "5433"]
    postcodes = [[code, code[:3] + "*", code[:2] + "**", code[:1] + "***", "*"] for code in codes]
    return encode_simple(
        {
            "job": ["Cat1", "Cat1", "Cat1", "Cat1", "Cat2", "Cat2"],
            "birth": ["y1975", "y1955", "y1955", "y1955", "y1975", "y1975"],
            "postcode": ["4350", "4350", "5432", "5433", "4350", "4350"],
        },
        hierarchies={"postcode": postcodes},
        sensitive={"illness": ["HIV", "HIV", "flu", "flu", "flu", "fever"]},
    )


def pairs(groups: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(groups == number).tolist()) for number in dict.fromkeys(groups.tolist())]


def test_distance_of_records_3_and_4_is_two_and_a_half() -> None:
    table = six_records()
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)[table.row_of_record]
    assert ladders.record_distance(codes[2], codes[3]) == pytest.approx(1.25 + 1.25)
    assert ladders.record_distance(codes[0], codes[1]) == 0.0


@pytest.mark.parametrize("algorithm", [Kaca(), TwoLevel(), TopDownKaca()], ids=lambda one: one.name)
@pytest.mark.parametrize("seed", range(5))
def test_the_six_records_are_recoded_as_in_table_1b(algorithm: Algorithm, seed: int) -> None:
    table = six_records()
    groups = algorithm.cluster(table, Requirement.of([KAnonymity(2)]), Context(seed=seed)).groups
    assert pairs(groups) == [{0, 1}, {2, 3}, {4, 5}]
    assert table_distortion(table, groups) == pytest.approx(2.5)


def test_table_1_2_of_the_thesis_loses_what_its_stars_say() -> None:
    """Birth of two records to * (two steps of one), postcode of two records by one of four steps."""
    assert table_distortion(illness_records(), np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(2 + 2 * 0.25)


def test_kaca_reaches_table_1_2_from_some_start() -> None:
    table = illness_records()
    runs = [Kaca().cluster(table, Requirement.of([KAnonymity(2)]), Context(seed=seed)).groups for seed in range(8)]
    assert min(table_distortion(table, groups) for groups in runs) == pytest.approx(2.5)
    assert all(groups[4] == groups[5] for groups in runs)


def test_the_first_class_of_table_1_2_breaks_alpha_one_half_and_topdown_avoids_it() -> None:
    table = illness_records()
    groups = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    model = AlphaK(0.5, "illness")
    assert list(model.deficits(table, groups, 3) > 0) == [True, True, False]
    requirement = Requirement.of([KAnonymity(2), model])
    found = TopDown().cluster(table, requirement, Context()).groups
    assert (requirement.deficits(table, found, int(found.max()) + 1) == 0).all()
    assert found.max() >= 1


def test_topdown_lifts_back_as_many_records_as_the_parent_needs() -> None:
    """Branch a2 (1 record) goes back to a, which takes one record of a1; b1 can spare none, so b stays whole."""
    values = ["a1", "a1", "a1", "a2", "b1", "b1", "b2"]
    table = encode_simple(
        {"place": values}, hierarchies={"place": [[value, value[0], "*"] for value in ("a1", "a2", "b1", "b2")]}
    )
    groups = TopDown().cluster(table, Requirement.of([KAnonymity(2)]), Context()).groups
    assert pairs(groups) == [{0, 3}, {1, 2}, {4, 5, 6}]


def test_topdown_prefers_the_attribute_that_specializes_more_records_then_fewer_branches() -> None:
    """Colour can keep 4 of 6 records apart, size all 6: size is chosen, and then nothing else can be specialized."""
    table = encode_simple(
        {"colour": ["r", "r", "g", "g", "b", "y"], "size": ["s", "l", "s", "l", "s", "l"]},
    )
    groups = TopDown().cluster(table, Requirement.of([KAnonymity(2)]), Context()).groups
    assert pairs(groups) == [{0, 2, 4}, {1, 3, 5}]
    tie = encode_simple({"three": ["x", "x", "y", "y", "z", "z"], "two": ["p", "q", "p", "p", "q", "q"]})
    groups = TopDown().cluster(tie, Requirement.of([KAnonymity(2)]), Context()).groups
    # both specialize all six; `two` has fewer branches and goes first, then {2, 3} and {4, 5} can be told apart
    assert all(len(set(np.array(["p", "q", "p", "p", "q", "q"])[list(group)])) == 1 for group in pairs(groups))
