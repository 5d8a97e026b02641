from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.kaca.kernels.two_level import find_first
from shoal.algorithms.kaca.numbering import MixedRadix, equal_numbers


def digits_of(radices: tuple[int, ...]) -> np.ndarray:
    return np.array(np.meshgrid(*[np.arange(radix) for radix in radices], indexing="ij")).reshape(len(radices), -1)


def test_one_word_counts_all_classes_in_order() -> None:
    radices = (3, 1, 4, 2)
    assert list(MixedRadix.of(radices).numbers(digits_of(radices))[:, 0]) == list(range(24))


def test_several_words_keep_the_order_of_one() -> None:
    radices = (3, 2, 4, 2)
    split = MixedRadix.of(radices, largest=8)
    assert split.word_count == 2
    numbers = [tuple(line) for line in split.numbers(digits_of(radices))]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 48


def test_huge_radices_do_not_overflow() -> None:
    radices = (1_000_000,) * 8
    radix = MixedRadix.of(radices)
    largest = radix.numbers(np.full((8, 1), 999_999))
    assert (largest >= 0).all()
    assert radix.word_count == 3
    for position in range(8):
        base = radix.base(largest, position)
        assert radix.progression(largest[0], position)[-1].tolist() == largest[0].tolist()
        assert (largest - base)[0, radix.words[position]] == 999_999 * radix.strides[position]


@pytest.mark.parametrize("largest", [4, 2**62])
def test_progressions_are_the_classes_that_agree_in_all_other_digits(largest: int) -> None:
    radices = (2, 3, 2)
    radix = MixedRadix.of(radices, largest=largest)
    digits = digits_of(radices)
    numbers = radix.numbers(digits)
    for position in range(3):
        others = np.delete(digits, position, axis=0)
        for one in range(digits.shape[1]):
            agree = (others == others[:, [one]]).all(axis=0)
            expected = {tuple(line) for line in numbers[agree]}
            assert {tuple(line) for line in radix.progression(numbers[one], position)} == expected


def test_equal_numbers_sorts_by_the_first_column_first() -> None:
    inverse, first = equal_numbers([np.array([2, 1, 2, 1]), np.array([5, 9, 5, 3])])
    assert inverse.tolist() == [2, 1, 2, 0]
    assert first.tolist() == [3, 1, 0]


def test_binary_search_finds_the_first_number_not_below() -> None:
    numbers = np.array([[0, 3], [0, 7], [2, 1], [2, 1], [5, 0]], dtype=np.int64)
    lines = [tuple(line) for line in numbers.tolist()]
    for wanted in [(0, 0), (0, 3), (0, 4), (1, 9), (2, 1), (2, 2), (5, 0), (6, 0)]:
        expected = sum(line < wanted for line in lines)
        assert find_first(numbers, np.array(wanted, dtype=np.int64)) == expected
