from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import Kind
from shoal.models.base import Requirement
from shoal.models.registry import parse_models
from shoal.safe_groups.several_sets import applies, cluster_sets, plan
from shoal.testing.tables import encode_simple

RANDOM = np.random.default_rng(8)
TABLE = encode_simple(
    {
        "age": RANDOM.integers(20, 80, 400).tolist(),
        "town": RANDOM.choice(["Ahl", "Berg", "Cott", "Dorf"], 400).tolist(),
        "colour": RANDOM.choice(list("rgbwyk"), 400).tolist(),
        "height": RANDOM.integers(150, 200, 400).tolist(),
        "shoe": RANDOM.integers(35, 48, 400).tolist(),
    },
    hierarchies={"town": {"*": {"north": ["Ahl", "Berg"], "south": ["Cott", "Dorf"]}}},
)
NAMES = [attribute.name for attribute in TABLE.attributes]


def released(number: int, groups: np.ndarray) -> list[tuple]:
    """The released value of every record, found the slow way: low and high code, common node, or set of codes."""
    attribute = TABLE.attributes[number]
    codes = TABLE.record_codes[number]
    values = {}
    for group in np.unique(groups):
        found = np.unique(codes[groups == group])
        value = (int(found[0]), int(found[-1]))
        if attribute.kind is Kind.FLAT:
            value = tuple(found.tolist())
        elif attribute.kind is Kind.TREE:
            level = next(line for line in attribute.ancestors if line[value[0]] == line[value[1]])
            value = (int(level[value[0]]),)
        values[group] = value
    return [values[group] for group in groups]


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member"])
@pytest.mark.parametrize(
    "specs",
    [
        ["qid:age+town:10", "qid:colour+height:5"],
        ["qid:age+town+colour:10", "qid:town+height:8", "qid:height+shoe:3"],
        ["qid:age+town:5", "qid:town+colour:5", "qid:colour+age:5"],
    ],
)
def test_every_set_is_safe_on_the_released_values(specs: list[str], algorithm: str) -> None:
    models = parse_models(specs)
    found = cluster_sets(TABLE, Requirement.of(models), make_algorithm(algorithm), Context())
    assert found.attribute_groups is not None
    values = [released(number, found.attribute_groups[number]) for number in range(TABLE.width)]
    for model in models:
        numbers = [NAMES.index(name) for name in model.quasi]
        classes: dict[tuple, int] = {}
        for record in range(TABLE.records):
            key = tuple(values[number][record] for number in numbers)
            classes[key] = classes.get(key, 0) + 1
        assert min(classes.values()) >= model.k


def test_attributes_of_no_set_stay_exact() -> None:
    requirement = Requirement.of(parse_models(["qid:age+town:10"]))
    found = cluster_sets(TABLE, requirement, make_algorithm("mondrian"), Context())
    assert found.attribute_groups is not None
    assert (found.attribute_groups[4] == TABLE.record_codes[4]).all()


def test_leaves_that_do_not_occur_get_no_group() -> None:
    """An attribute in no set keeps its values; its hierarchy may know more of them than the table has."""
    table = encode_simple(
        {"age": [20, 21, 22, 23] * 3, "town": ["Ahl", "Cott", "Dorf", "Cott"] * 3},
        hierarchies={"town": {"*": {"north": ["Ahl", "Berg"], "south": ["Cott", "Dorf", "East"]}}},
    )
    found = cluster_sets(table, Requirement.of(parse_models(["qid:age:3"])), make_algorithm("mondrian"), Context())
    assert found.attribute_groups is not None
    for groups in found.attribute_groups:
        assert (np.bincount(groups) > 0).all()
    assert found.attribute_groups[1].tolist() == [0, 1, 2, 1] * 3


def test_covered_sets_are_said_to_be_redundant() -> None:
    requirement = Requirement.of(parse_models(["qid:age+town:10", "qid:age:5"]))
    found = cluster_sets(TABLE, requirement, make_algorithm("mondrian"), Context())
    assert found.details["notes"] == ("qid:age:5 is redundant: qid:age+town:10 covers it",)


def test_sets_are_joined_only_where_they_must_be() -> None:
    chain = plan([(frozenset({0, 1}), 10), (frozenset({1, 2}), 8), (frozenset({2, 3}), 5)])
    assert [sorted(part.attributes) for part in chain] == [[0, 1], [1, 2], [2, 3]]
    assert [sorted(part.released) for part in chain] == [[], [1], [2]]
    triangle = plan([(frozenset({0, 1}), 10), (frozenset({1, 2}), 8), (frozenset({2, 0}), 5)])
    assert len(triangle) == 2


def test_it_applies_to_sets_alone() -> None:
    assert applies(Requirement.of(parse_models(["qid:age:5", "qid:town:5"])))
    assert not applies(Requirement.of(parse_models(["qid:age:5", "k-anonymity:3"])))
    assert applies(Requirement.of(parse_models(["qid:age:5:patient", "qid:town:5:patient"])))
    assert not applies(Requirement.of(parse_models(["qid:age:5:patient", "qid:town:5"])))  # persons and records
