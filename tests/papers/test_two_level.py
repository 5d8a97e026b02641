"""Worked examples of M. Verma, k-Anonymity using two level clustering, 2013: class numbers and progressions."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.kaca.distance import make_ladders
from shoal.algorithms.kaca.kernels.two_level import find_first
from shoal.algorithms.kaca.numbering import MixedRadix
from shoal.algorithms.kaca.two_level import TwoLevel, merge_inside, outer_clusters
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

RADICES = (2, 3, 2, 3)  # attributes L, M, N, O


def number_of(word: str, radix: MixedRadix) -> int:
    """The number of a class written in letters, counted from 1 as in the thesis."""
    digits = np.array([[ord(letter) - ord("A")] for letter in word])
    return int(radix.numbers(digits)[0, 0]) + 1


def progressions(position: int) -> list[list[int]]:
    """All progressions when the attribute at a position is lifted, counted from 1, in order of their first number."""
    radix = MixedRadix.of(RADICES)
    numbers = np.arange(36, dtype=np.int64)[:, np.newaxis]
    found = {tuple(int(one) + 1 for one in radix.progression(number, position)[:, 0]) for number in numbers}
    return sorted(list(members) for members in found)


def test_acab_is_number_14() -> None:
    assert number_of("ACAB", MixedRadix.of(RADICES)) == 14


def test_all_36_classes_are_numbered_in_order() -> None:
    words = [a + b + c + d for a in "AB" for b in "ABC" for c in "AB" for d in "ABC"]
    radix = MixedRadix.of(RADICES)
    assert [number_of(word, radix) for word in words] == list(range(1, 37))
    assert words[18] == "BAAA"
    assert words[35] == "BCBC"


def test_lifting_o_merges_neighbours() -> None:
    assert progressions(3) == [[first, first + 1, first + 2] for first in range(1, 37, 3)]


def test_lifting_n_merges_numbers_three_apart() -> None:
    expected = [[block + first, block + first + 3] for block in range(0, 36, 6) for first in (1, 2, 3)]
    assert progressions(2) == sorted(expected)
    assert len(expected) == 18


def test_lifting_m_merges_numbers_six_apart() -> None:
    expected = [[first, first + 6, first + 12] for first in (*range(1, 7), *range(19, 25))]
    found = progressions(1)
    assert found == expected
    assert found[:2] == [[1, 7, 13], [2, 8, 14]]
    assert [6, 12, 18] in found
    assert [19, 25, 31] in found
    assert [24, 30, 36] in found


def test_lifting_l_merges_the_halves() -> None:
    assert progressions(0) == [[first, first + 18] for first in range(1, 19)]


def test_search_limits_narrow_to_the_classes_with_the_same_beginning() -> None:
    """The second outer cluster of the thesis (sorted): classes that begin with 0B 0C are three neighbours."""
    words = ["ACE", "ACG", "ACH", "ADE", "ADG", "AFI", "BCE", "BCF", "BCH", "BDE", "BDG", "BDI"]
    radix = MixedRadix.of((2, 6, 9))
    digits = np.array([[ord(letter) - ord("A") for letter in word] for word in words]).T
    numbers = radix.numbers(digits)
    beginning = int(radix.numbers(np.array([[1], [2], [0]]))[0, 0])
    after = beginning + int(radix.strides[1])
    first = find_first(numbers, np.array([beginning]))
    last = find_first(numbers, np.array([after]))
    assert words[first:last] == ["BCE", "BCF", "BCH"]


MARITAL = [
    ["married-civ", "partner present", "*"],
    ["married-af-sp", "partner present", "*"],
    ["divorced", "partner absent", "*"],
]
WORK = [["federal-gov", "gov", "*"], ["local-gov", "gov", "*"], ["state-gov", "gov", "*"], ["private", "other", "*"]]


def test_two_records_of_section_3_3_share_their_outer_cluster_only() -> None:
    table = encode_simple(
        {"marital": ["married-civ", "married-af-sp", "divorced"], "work": ["federal-gov", "state-gov", "private"]},
        hierarchies={"marital": MARITAL, "work": WORK},
    )
    ladders = make_ladders(table.attributes)
    outer = outer_clusters(ladders, ladders.flat_codes(table.codes))
    of_record = outer.of_row[table.row_of_record]
    assert table.rows == 3
    assert of_record[0] == of_record[1] != of_record[2]


def test_inside_an_outer_cluster_the_cheapest_attribute_is_lifted_first() -> None:
    """Marital has two steps, sex one: at k = 2 the pairs that differ in marital are merged, not those in sex."""
    table = encode_simple(
        {"sex": ["m", "m", "f", "f"], "marital": ["married-civ", "married-af-sp"] * 2}, hierarchies={"marital": MARITAL}
    )
    ladders = make_ladders(table.attributes)
    codes = ladders.flat_codes(table.codes)
    outer = outer_clusters(ladders, codes)
    classes = merge_inside(ladders, codes, table.weights, outer.of_row, 2)[table.row_of_record]
    assert classes[0] == classes[1] != classes[2] == classes[3]


@pytest.mark.parametrize("k", [2, 3])
def test_a_class_left_over_finds_its_partner_in_another_outer_cluster(k: int) -> None:
    table = encode_simple(
        {
            "marital": ["married-civ"] * k + ["divorced", *["married-af-sp"] * (k - 1)],
            "work": ["local-gov"] * k + ["private", *["private"] * (k - 1)],
        },
        hierarchies={"marital": MARITAL, "work": WORK},
    )
    groups = TwoLevel().cluster(table, Requirement.of([KAnonymity(k)]), Context()).groups
    # the small classes of two outer clusters, which differ in marital only, become one
    assert np.unique(groups).size == 2
    assert np.unique(groups[k:]).size == 1
