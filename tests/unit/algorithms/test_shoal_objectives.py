"""What the flagship makes small besides GCP, and how its search is ended early."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.objectives import OBJECTIVES, objective_table
from shoal.algorithms.shoal.shoal import Shoal
from shoal.encode.encoded_table import EncodedColumn, EncodedTable, Kind
from shoal.errors import InputError
from shoal.hierarchies.weights import whd
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import Progress, StopRequest
from shoal.testing.tables import encode_simple

K = 5
TREE = {"*": {"north": ["a", "b", "c"], "south": {"coast": ["d", "e"], "hills": ["f", "g", "h"]}}}


@pytest.fixture(scope="module")
def table() -> EncodedTable:
    random = np.random.default_rng(4)
    records = 400
    made = encode_simple(
        {
            "age": random.integers(20, 24, records).tolist(),
            "place": random.choice(list("abcdefgh"), records).tolist(),
            "colour": random.choice(["red", "green", "blue", "grey"], records).tolist(),
        },
        hierarchies={"place": TREE},
    )
    label = random.integers(0, 2, records).astype(np.int32)
    return replace(made, columns={"label": EncodedColumn("label", label, 2)})


def groups_of(table: EncodedTable, objective: str) -> np.ndarray:
    algorithm = Shoal(effort=0.5, objective=objective, class_column="label" if objective == "class" else None)
    return algorithm.cluster(table, Requirement.of([KAnonymity(K)]), Context()).groups


def distortion(table: EncodedTable, groups: np.ndarray) -> float:
    """Uniform weighted hierarchical distance, from its definition."""
    total = 0.0
    for group in range(groups.max() + 1):
        codes = table.codes[:, table.row_of_record[groups == group]]
        for line, one in zip(codes, table.attributes, strict=True):
            if one.kind is Kind.INTERVAL:
                total += (one.positions[line.max()] - one.positions[line.min()]) * line.size
                continue
            level = next(level for level in range(one.levels) if np.unique(one.ancestors[level, line]).size == 1)
            total += whd(one.levels - 1)[level] * line.size
    return total


def discernibility(groups: np.ndarray) -> int:
    return int((np.bincount(groups) ** 2).sum())


def minority(table: EncodedTable, groups: np.ndarray) -> int:
    """Records whose label is not the most frequent one of their group."""
    label = table.columns["label"].codes
    return sum(
        int((groups == group).sum()) - max(Counter(label[groups == group].tolist()).values())
        for group in range(groups.max() + 1)
    )


def test_each_objective_is_best_at_its_own_measure(table: EncodedTable) -> None:
    found = {objective: groups_of(table, objective) for objective in OBJECTIVES if objective != "squares"}
    for groups in found.values():
        assert np.bincount(groups).min() >= K
    assert distortion(table, found["distortion"]) < distortion(table, found["gcp"])
    assert discernibility(found["discernibility"]) < discernibility(found["gcp"])
    assert minority(table, found["class"]) < minority(table, found["gcp"])


def test_the_label_parts_equal_rows_and_keeps_the_records(table: EncodedTable) -> None:
    with_label = objective_table(table, "class", "label")
    assert with_label.width == table.width + 1
    assert with_label.records == table.records
    np.testing.assert_array_equal(with_label.record_codes[:-1], table.record_codes)
    np.testing.assert_array_equal(with_label.record_codes[-1], table.columns["label"].codes)
    assert with_label.weights.sum() == table.records


def test_bad_objectives(table: EncodedTable) -> None:
    with pytest.raises(ValueError, match="objective"):
        Shoal(objective="beauty")
    with pytest.raises(ValueError, match="class label"):
        Shoal(objective="class")
    with pytest.raises(InputError, match="no such class label"):
        Shoal(objective="class", class_column="labell").cluster(table, Requirement.of([KAnonymity(K)]), Context())


def test_a_search_that_is_stopped_gives_the_best_so_far(table: EncodedTable) -> None:
    stop = StopRequest()
    seen: list[float] = []

    def watch(now: Progress) -> None:
        seen.append(now.loss if now.loss is not None else math.inf)
        if len(seen) == 3:
            assert stop.ask()
            assert not stop.ask()  # a second time it has to be interrupted

    found = Shoal(effort=5.0).cluster(table, Requirement.of([KAnonymity(K)]), Context(progress=watch, stop=stop))
    assert np.bincount(found.groups).min() >= K
    assert found.details["loss"] <= min(seen) + 1e-12
    assert "ended early" in found.details["notes"][0]
    assert len(seen) < 6


def test_nobody_listens_before_and_after_a_search(table: EncodedTable) -> None:
    stop = StopRequest()
    assert not stop.ask()
    found = Shoal(effort=0.1).cluster(table, Requirement.of([KAnonymity(K)]), Context(stop=stop))
    assert not stop.ask()
    assert found.details["notes"] == []
