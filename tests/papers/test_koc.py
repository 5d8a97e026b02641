"""The worked numbers of Pramanik, Lau and Zhang, K-anonymity through the enhanced clustering method (2016)."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.greedy.koc import Koc, closest_rows, distortion_table, total_distances
from shoal.encode.encoded_table import EncodedTable
from shoal.hierarchies.weights import whd, wid
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

ZIP = ["34678", "34678", "34678", "34671", "32781", "32781", "32781", "34675", "34679"]
RACE = ["White", "White", "White", "White", "Black", "Black", "Black", "White", "White"]
AGE = [22, 22, 22, 23, 32, 32, 32, 25, 26]


@pytest.fixture(scope="module")
def private_table() -> EncodedTable:
    """The nine records; ZIP codes climb digit by digit, race in one step, age by decades."""
    masks = [
        [code, code[:4] + "*", code[:3] + "**", code[:2] + "***", code[:1] + "****", "*"] for code in sorted(set(ZIP))
    ]
    decades = [[str(age), f"{(age - 1) // 10 * 10 + 1}-{(age - 1) // 10 * 10 + 10}", "*"] for age in sorted(set(AGE))]
    return encode_simple(
        {"zip": ZIP, "race": RACE, "age": AGE},
        hierarchies={"zip": masks, "race": [["Black", "*"], ["White", "*"]], "age": decades},
        as_nodes=["zip"],
    )


def test_lifting_a_suburb_to_its_state() -> None:
    assert whd(4, "uniform")[3] == 0.75
    assert whd(4, "height-koc")[3] == pytest.approx((1 / 5 + 1 / 4 + 1 / 3) / 4, rel=1e-12)
    assert whd(4, "height-koc")[3] == pytest.approx(0.1958, abs=5e-5)
    assert whd(4, "height")[3] == pytest.approx((1 / 4 + 1 / 3 + 1 / 2) / (1 / 4 + 1 / 3 + 1 / 2 + 1))


def test_weights_of_race_zip_and_birth_date() -> None:
    assert wid([1, 4, 3]) == pytest.approx([0.9891, 0.3043, 0.7065], abs=5e-5)


def test_wid_multiplies_the_weights_of_the_attributes(private_table: EncodedTable) -> None:
    steps = [attribute.levels - 1 for attribute in private_table.attributes]
    assert steps == [5, 1, 2]
    plain = distortion_table(private_table, "uniform", 1.0, False)
    weighed = distortion_table(private_table, "uniform", 1.0, True)
    assert plain.attribute_weights.tolist() == [1.0, 1.0, 1.0]
    assert weighed.attribute_weights == pytest.approx(wid(steps))


def test_age_distance_of_records_7_and_8(private_table: EncodedTable) -> None:
    age, codes = private_table.attributes[2], private_table.record_codes[2]
    assert abs(age.positions[codes[6]] - age.positions[codes[7]]) == pytest.approx(0.7)


def test_the_generalized_table_has_classes_of_six_and_three(private_table: EncodedTable) -> None:
    levels = (1, 0, 1)  # ZIP to four digits, race as it is, age to decades
    classes = np.stack(
        [
            attribute.ancestors[level][codes]
            for attribute, level, codes in zip(
                private_table.attributes, levels, private_table.record_codes, strict=True
            )
        ]
    )
    _, sizes = np.unique(classes, axis=1, return_counts=True)
    assert sorted(sizes.tolist()) == [3, 6]


def test_closeness_is_one_over_the_mean_distance(private_table: EncodedTable) -> None:
    """Record 8 (ZIP 34675, White, 25) to all others, by hand: uniform WHD, 5 steps of ZIP, age over 10 years."""
    measured = distortion_table(private_table, "uniform", 1.0, False)
    near = 1 / 5  # another ZIP of 3467*
    far = 4 / 5  # only the first digit in common
    by_hand = 3 * (near + 0.3) + (near + 0.2) + 3 * (far + 1 + 0.7) + (near + 0.1)
    total = total_distances(measured)[private_table.row_of_record[7]]
    assert total == pytest.approx(by_hand)
    assert 1 / (total / 8) == pytest.approx(8 / by_hand)


def test_clusters_of_three_step_by_step(private_table: EncodedTable) -> None:
    """Sums of distances by hand: record 8 has 9.7, the equal records 1 to 3 have 9.8, all others more.

    So records 8, 1 and 2 are the centres. From the last: record 2 takes 3 (no distortion) and 4 (0.3 against 0.5, 0.6
    and more); record 1 takes 9 (0.6), then a black one, since nobody else is left; record 8 gets the other two.
    """
    measured = distortion_table(private_table, "uniform", 1.0, False)
    rows = private_table.row_of_record
    assert total_distances(measured)[rows[[7, 0]]] == pytest.approx([9.7, 9.8])
    assert closest_rows(measured, 3).tolist() == rows[[7, 0, 1]].tolist()
    groups = Koc().cluster(private_table, Requirement.of([KAnonymity(3)]), Context()).groups
    assert groups.tolist() == [1, 2, 2, 2, 1, 0, 0, 0, 1]
