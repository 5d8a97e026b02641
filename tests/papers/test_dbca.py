"""Worked examples of X. Sun, H. Wang, J. Li, Priority driven k-anonymisation for privacy protection, 2008."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.dbca.dbca import Dbca, prioritized
from shoal.algorithms.kaca.distance import make_ladders
from shoal.encode.encoded_table import EncodedTable
from shoal.hierarchies.weights import priority_weights, whd_matrix
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

POSTCODES = [[f"435{digit}", "435*", "43**", "4***", "*"] for digit in range(4)]
ORDER = ("age", "postcode", "gender")  # most important first


@pytest.fixture
def table() -> EncodedTable:
    return encode_simple(
        {
            "gender": ["male", "male", "male", "female", "female", "female"],
            "age": ["middle", "middle", "young", "young", "old", "old"],
            "postcode": ["4350", "4350", "4351", "4352", "4353", "4353"],
        },
        hierarchies={"postcode": POSTCODES},
    )


def test_whd_of_a_date_lifted_to_the_year_is_two_of_five_steps() -> None:
    assert whd_matrix(5, "uniform")[0, 2] == pytest.approx(0.4)


def test_height_weights_make_the_first_step_of_a_date_cheap() -> None:
    found = whd_matrix(5, "height", 1.0)[0, 1]
    assert found == pytest.approx((1 / 5) / (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1))
    assert found == pytest.approx(0.0876, abs=5e-5)
    assert 11 * found < 1.0 < 12 * found  # one gender lifted costs more than eleven dates


@pytest.mark.parametrize("scheme", ["uniform", "height"])
def test_lifting_gender_costs_everything(scheme: str) -> None:
    assert whd_matrix(1, scheme)[0, 1] == 1.0


def test_equally_scaled_priorities(table: EncodedTable) -> None:
    assert list(priority_weights(3)) == [1.0, 0.5, 0.0]
    weights = {attribute.name: attribute.weight for attribute in prioritized(table, ORDER)}
    assert weights == {"gender": 0.0, "postcode": 0.5, "age": 1.0}


def test_distortion_of_record_3_and_of_the_table(table: EncodedTable) -> None:
    ladders = make_ladders(prioritized(table, ORDER))
    codes = ladders.flat_codes(table.codes)[table.row_of_record]
    cover = ladders.cover_costs(np.minimum(codes[2:3], codes[3:4]), np.maximum(codes[2:3], codes[3:4]))
    assert cover.sum() == pytest.approx(0.125)
    assert 2 * cover.sum() == pytest.approx(0.25)  # records 3 and 4; the other four stay exact


def test_distance_of_records_3_and_4(table: EncodedTable) -> None:
    ladders = make_ladders(prioritized(table, ORDER))
    codes = ladders.flat_codes(table.codes)[table.row_of_record]
    assert ladders.record_distance(codes[2], codes[3]) == pytest.approx(0.25)


def test_priorities_given_as_an_order_and_as_weights_agree(table: EncodedTable) -> None:
    requirement = Requirement.of([KAnonymity(2)])
    by_order = Dbca(priority=ORDER).cluster(table, requirement, Context()).groups
    weighted = EncodedTable(prioritized(table, ORDER), table.codes, table.weights, table.row_of_record, table.columns)
    by_weight = Dbca().cluster(weighted, requirement, Context()).groups
    assert np.array_equal(by_order, by_weight)
    assert by_order[0] == by_order[1] != by_order[2] == by_order[3] != by_order[4] == by_order[5]
