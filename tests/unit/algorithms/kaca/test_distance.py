from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.kaca.blocks import block_order, make_blocks
from shoal.algorithms.kaca.distance import Ladders, group_covers, make_ladders, table_distortion
from shoal.encode.encoded_table import EncodedTable
from shoal.hierarchies.weights import whd
from shoal.testing.random_tables import random_table


def plain_level(table: EncodedTable, attribute: int, codes: list[int]) -> int:
    """The lowest level at which all codes have one ancestor, straight from the definition."""
    ancestors = table.attributes[attribute].ancestors
    return next(
        level for level in range(ancestors.shape[0]) if len({int(ancestors[level, code]) for code in codes}) == 1
    )


def plain_cost(table: EncodedTable, members: np.ndarray, scheme: str) -> float:
    """Cost of lifting one record of a group to the group's closest common generalization."""
    total = 0.0
    for number, attribute in enumerate(table.attributes):
        codes = [int(code) for code in table.codes[number, table.row_of_record[members]]]
        total += attribute.weight * whd(attribute.levels - 1, scheme)[plain_level(table, number, codes)]
    return total


@pytest.mark.parametrize("scheme", ["uniform", "height"])
@pytest.mark.parametrize("seed", range(5))
def test_distance_and_distortion_follow_their_definition(seed: int, scheme: str) -> None:
    table = random_table(seed, 20, attributes=4, values=8, weights=True)
    ladders = make_ladders(table.attributes, scheme)
    codes = ladders.flat_codes(table.codes)[table.row_of_record]
    for first in range(5):
        for second in range(20):
            expected = 2 * plain_cost(table, np.array([first, second]), scheme)
            assert ladders.record_distance(codes[first], codes[second]) == pytest.approx(expected)
    groups = np.random.default_rng(seed).integers(0, 4, 20)
    groups[:4] = np.arange(4)
    expected = sum(
        plain_cost(table, np.flatnonzero(groups == number), scheme) * np.count_nonzero(groups == number)
        for number in range(4)
    )
    assert table_distortion(table, groups.astype(np.int32), scheme) == pytest.approx(expected)


def test_nodes_number_the_nodes_of_each_level_in_tree_order() -> None:
    table = random_table(3, 10, attributes=3, values=8)
    ladders = make_ladders(table.attributes)
    for number, attribute in enumerate(table.attributes):
        own = slice(int(ladders.starts[number]), int(ladders.starts[number + 1]))
        for level in range(attribute.levels):
            expected = np.unique(attribute.ancestors[level], return_inverse=True)[1]
            assert ladders.nodes[level, own].tolist() == expected.tolist()


def test_a_label_is_one_more_attribute_of_two_levels() -> None:
    table = random_table(1, 10)
    ladders = make_ladders(table.attributes, label=(3, 0.5))
    assert ladders.width == table.width + 1
    codes = ladders.flat_codes(np.vstack([table.codes[:, [0, 0]], np.array([[0, 2]], dtype=np.int32)]))
    assert ladders.record_distance(codes[0], codes[1]) == pytest.approx(1.0)
    assert ladders.record_distance(codes[0], codes[0]) == 0.0


def check_blocks(ladders: Ladders, codes: np.ndarray, size: int) -> None:
    order, bounds = block_order(ladders, codes, size)
    assert sorted(order.tolist()) == list(range(codes.shape[0]))
    assert np.diff(bounds).max() <= size
    blocks = make_blocks(codes, order, bounds)
    for block in range(bounds.shape[0] - 1):
        rows = blocks.members[blocks.first[block] : blocks.first[block] + blocks.counts[block]]
        assert (codes[rows] >= blocks.low[block]).all()
        assert (codes[rows] <= blocks.high[block]).all()
        assert (blocks.homes[rows] == block).all()
        assert (blocks.members[blocks.places[rows]] == rows).all()


@pytest.mark.parametrize("size", [1, 3, 32, 1000])
def test_blocks_hold_every_row_once_inside_their_bounds(size: int) -> None:
    table = random_table(2, 300, attributes=4, values=9)
    ladders = make_ladders(table.attributes)
    check_blocks(ladders, ladders.flat_codes(table.codes), size)


def test_group_covers_are_the_lowest_and_highest_codes() -> None:
    codes = np.array([[3, 9], [1, 8], [2, 9]], dtype=np.int32)
    low, high, sizes = group_covers(codes, np.array([1, 0, 1], dtype=np.int32))
    assert low.tolist() == [[1, 8], [2, 9]]
    assert high.tolist() == [[1, 8], [3, 9]]
    assert sizes.tolist() == [1, 2]
