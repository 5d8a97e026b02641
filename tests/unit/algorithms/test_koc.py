from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.greedy.koc import Koc, closest_rows, distortion_table
from shoal.algorithms.registry import make_algorithm
from shoal.errors import InputError
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.tables import encode_simple

TREE = {"*": {"ab": ["a", "b"], "cd": ["c", "d"]}}


def groups_of(table, k, **parameters):
    return Koc(**parameters).cluster(table, Requirement.of([KAnonymity(k)]), Context()).groups


def test_parameters_are_checked() -> None:
    with pytest.raises(InputError):
        make_algorithm("koc", weights="heigth")
    with pytest.raises(InputError):
        make_algorithm("koc", beta=0.0)


def test_what_is_left_over_goes_where_it_distorts_least() -> None:
    table = encode_simple({"number": [0, 1, 2, 50, 51, 52, 100]})
    groups = groups_of(table, 3)
    sizes = np.bincount(groups)
    assert sorted(sizes.tolist()) == [3, 4]
    assert groups[6] == groups[5]


def test_fewer_than_k_records_are_one_group() -> None:
    assert groups_of(encode_simple({"number": [1, 2, 3]}), 5).tolist() == [0, 0, 0]


def test_centres_repeat_for_equal_records_and_are_in_order() -> None:
    table = encode_simple({"number": [5, 5, 5, 0, 10]})
    assert closest_rows(table, 4).tolist() == [1, 1, 1, 0]


def test_level_weights_change_costs_of_trees_only() -> None:
    table = encode_simple({"letter": list("abcd"), "number": [1, 2, 3, 4]}, hierarchies={"letter": TREE})
    tree, number = distortion_table(table, "height", 1.0, False).attributes
    assert tree.level_cost[:, 0].tolist() == pytest.approx([0, 1 / 3, 1])
    assert (number.level_cost == table.attributes[1].level_cost).all()


def test_priorities_steer_which_attribute_is_kept() -> None:
    """The same cells with the weight on one or the other attribute: what weighs more is generalized less."""
    random = np.random.default_rng(5)
    cells = {"one": random.integers(0, 50, 200).tolist(), "two": random.integers(0, 50, 200).tolist()}
    widths = []
    for weights in ({"two": 0.01}, {"one": 0.01}):
        table = encode_simple(cells, weights=weights)
        groups = groups_of(table, 5)
        ranges = [np.ptp(np.array(cells["one"])[groups == number]) for number in range(groups.max() + 1)]
        widths.append(float(np.mean(ranges)))
    assert widths[0] < 0.7 * widths[1]
