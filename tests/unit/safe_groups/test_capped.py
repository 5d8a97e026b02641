"""Caps: no algorithm lifts a value above its level, and what cannot be done is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.registry import algorithm_names, make_algorithm
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.engines.local import cluster_table
from shoal.errors import RequirementError
from shoal.models.base import Model, Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import DistinctLDiversity
from shoal.models.t_closeness import TCloseness
from shoal.safe_groups.capped import impossible_with_caps
from shoal.testing.partitions import partitions
from shoal.testing.random_tables import random_table
from shoal.testing.tables import encode_simple


def capped(table: EncodedTable, **levels: int) -> EncodedTable:
    return replace(table, attributes=tuple(replace(one, at_most=levels.get(one.name)) for one in table.attributes))


def released_nodes(table: EncodedTable, found: Clustering, number: int) -> list[set[int]]:
    """For every group (or box) the nodes at the cap's level that its released value covers."""
    attribute = table.attributes[number]
    line = attribute.ancestors[attribute.at_most or 0]
    kept = np.ones(table.records, dtype=bool) if found.suppressed is None else ~found.suppressed
    if found.boxes is not None:
        boxes = set(found.boxes.box_of_record[kept].tolist())
        return [set(line[found.boxes.low[number, box] : found.boxes.high[number, box] + 1].tolist()) for box in boxes]
    codes = table.record_codes[number]
    return [
        set(line[np.unique(codes[(found.groups == group) & kept])].tolist())
        for group in set(found.groups[kept].tolist())
    ]


@pytest.mark.parametrize("name", algorithm_names())
def test_no_algorithm_lifts_a_value_above_its_level(name: str) -> None:
    for seed in range(3):
        table = capped(random_table(seed, 120, attributes=4, values=6), a0=1, a3=0 if seed == 0 else 1)
        table = replace(
            table, attributes=tuple(a if a.name != "a2" else replace(a, at_most=None) for a in table.attributes)
        )
        parameters = {"class_column": "label"} if name == "dbca-cm" else {}
        algorithm = make_algorithm(name, **parameters)
        try:
            found = cluster_table(table, Requirement.of([KAnonymity(3)]), algorithm, Context(), 0.2)
        except RequirementError as error:
            assert error.problems[0].reason in ("caps-too-strict", "levels-too-low")  # noqa: PT017
            continue
        for number, attribute in enumerate(table.attributes):
            if attribute.capped:
                assert all(len(nodes) == 1 for nodes in released_nodes(table, found, number)), attribute.name
        kept = np.ones(table.records, dtype=bool) if found.suppressed is None else ~found.suppressed
        assert (~kept).sum() <= 0.2 * table.records
        if algorithm.class_based:
            sizes = np.bincount(found.groups[kept])
            assert sizes[sizes > 0].min() >= 3


@pytest.mark.parametrize("name", ["shoal", "mondrian", "cb", "tdr", "full-domain"])
@pytest.mark.parametrize("model", [DistinctLDiversity(2, "label"), TCloseness(0.35, "label", "equal")])
def test_models_are_those_of_the_whole_table(name: str, model: Model) -> None:
    requirement = Requirement.of([KAnonymity(4), model])
    random = np.random.default_rng(5)
    table = encode_simple(
        {"sex": random.choice(["m", "f"], 160).tolist(), "age": random.integers(20, 80, 160).tolist()},
        sensitive={"label": random.choice(["x", "y", "z"], 160, p=[0.5, 0.3, 0.2]).tolist()},
    )
    table = capped(table, sex=0)
    found = cluster_table(table, requirement, make_algorithm(name), Context())
    deficits = requirement.deficits(table, found.groups, int(found.groups.max()) + 1)
    assert (deficits == 0).all()
    assert all(len(nodes) == 1 for nodes in released_nodes(table, found, 0))


def test_what_cannot_be_made_safe_is_told_or_suppressed() -> None:
    table = encode_simple({"sex": ["m"] * 9 + ["f"], "age": list(range(20, 30))})
    table = capped(table, sex=0)
    requirement = Requirement.of([KAnonymity(3)])
    with pytest.raises(RequirementError) as caught:
        cluster_table(table, requirement, make_algorithm("shoal"), Context())
    problem = caught.value.problems[0]
    assert problem.reason == "caps-too-strict"
    assert "1 of 10 records" in problem.message
    assert "0.1" in (problem.hint or "")
    found = cluster_table(table, requirement, make_algorithm("shoal"), Context(), 0.1)
    assert found.suppressed is not None
    assert found.suppressed.tolist() == [False] * 9 + [True]
    with pytest.raises(RequirementError, match="cannot be met"):
        cluster_table(capped(table, sex=0), Requirement.of([KAnonymity(11)]), make_algorithm("shoal"), Context())


def test_outliers_leave_within_what_is_left_of_the_limit() -> None:
    ages = [20, 20, 20, 90, 30, 30, 30, 30, 40]
    table = capped(encode_simple({"sex": list("mmmmffffd"), "age": ages}), sex=0)
    found = cluster_table(table, Requirement.of([KAnonymity(3)]), make_algorithm("shoal"), Context(), 0.25)
    assert found.suppressed is not None
    assert np.flatnonzero(found.suppressed).tolist() == [3, 8]


def test_the_flagship_finds_the_best_groups_that_keep_the_caps() -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        table = encode_simple(
            {
                "zip": [f"{a}{b}" for a, b in random.integers(1, 4, (9, 2)).tolist()],
                "age": random.integers(20, 40, 9).tolist(),
            },
            hierarchies={"zip": {"builder": "prefix"}},
            as_nodes=["zip"],
        )
        table = capped(table, zip=1)
        assert table.attributes[0].kind is Kind.TREE
        best = min((loss for groups in partitions(9, 2) if (loss := _loss(table, groups)) is not None), default=None)
        try:
            found = cluster_table(table, Requirement.of([KAnonymity(2)]), make_algorithm("shoal"), Context())
        except RequirementError:
            assert best is None
            continue
        assert best is not None
        assert _loss(table, found.groups.tolist()) == pytest.approx(best)
        assert found.lower_bound is not None
        assert found.lower_bound <= best + 1e-9


def _loss(table: EncodedTable, groups: list[int]) -> float | None:
    """The loss of a partition, None if it breaks the cap."""
    total = 0.0
    zips, ages = table.record_codes
    tree, number = table.attributes
    for group in set(groups):
        members = [record for record, own in enumerate(groups) if own == group]
        if len({int(tree.ancestors[tree.at_most or 0, zips[record]]) for record in members}) > 1:
            return None
        level = next(
            level for level in range(tree.levels) if len({int(tree.ancestors[level, zips[r]]) for r in members}) == 1
        )
        positions = [float(number.positions[ages[record]]) for record in members]
        total += len(members) * (float(tree.level_cost[level, zips[members[0]]]) + max(positions) - min(positions))
    return total


@pytest.mark.parametrize("model", [DistinctLDiversity(2, "label"), TCloseness(0.35, "label", "equal"), KAnonymity(9)])
def test_what_a_run_would_refuse_is_told_before(model: Model) -> None:
    requirement = Requirement.of([KAnonymity(4), model])
    told = []
    for seed in range(12):
        table = random_table(seed, 150, attributes=3, values=5)
        table = capped(table, a0=seed % 2, a1=0 if seed % 3 else 1)
        if not any(attribute.capped for attribute in table.attributes):
            continue
        before = impossible_with_caps(requirement, table, 0.05 * (seed % 4))
        try:
            cluster_table(table, requirement, make_algorithm("mondrian"), Context(), 0.05 * (seed % 4))
            refused = []
        except RequirementError as error:
            refused = list(error.problems)
        assert before == refused
        told.append(bool(before))
    assert any(told)
    assert not all(told)


@pytest.mark.parametrize("name", [name for name in algorithm_names() if name not in ("full-domain", "nonhomogeneous")])
def test_a_number_that_is_kept_stays_exact(name: str) -> None:
    """Also where an algorithm releases intervals of its own, which begin with the whole domain."""
    frame = pl.DataFrame({"weight": [0.1, 0.0] * 4, "age": [1, 2, 3, 4, 5, 6, 7, 8], "label": ["a", "b"] * 4})
    found = shoal.anonymize(
        frame, quasi=["age", "weight"], sensitive=["label"], class_column="label", keep=["weight"], k=2, algorithm=name
    )
    assert found.release["weight"].cast(pl.Float64).to_list() == frame["weight"].to_list()
