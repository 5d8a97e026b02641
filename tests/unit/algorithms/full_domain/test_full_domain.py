"""Full-domain generalization against every node of the lattice, told apart in plain Python, and against ARX."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.algorithms.base import Context
from shoal.algorithms.full_domain import search
from shoal.algorithms.full_domain.full_domain import FullDomain
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import DistinctLDiversity
from shoal.testing.random_tables import random_table

Node = tuple[int, ...]


def classes_of(table: EncodedTable, node: Node, axes: list[int] | None = None) -> list[tuple[int, ...]]:
    """The lifted values of every record."""
    used = range(table.width) if axes is None else axes
    return [
        tuple(int(table.attributes[axis].ancestors[node[axis], table.codes[axis, row]]) for axis in used)
        for row in table.row_of_record
    ]


def hidden_records(table: EncodedTable, node: Node, k: int, diverse: int) -> list[bool]:
    """The records of classes that are too small or have too few labels."""
    of_record = classes_of(table, node)
    sizes = Counter(of_record)
    labels: dict[tuple[int, ...], set[int]] = {}
    for own, label in zip(of_record, table.columns["label"].codes.tolist(), strict=True):
        labels.setdefault(own, set()).add(label)
    return [sizes[own] < k or len(labels[own]) < diverse for own in of_record]


def loss_of(table: EncodedTable, node: Node, hidden: list[bool], objective: str) -> float:
    of_record = classes_of(table, node)
    if objective == "discernibility":
        sizes = Counter(of_record)
        return float(sum(table.records if out else sizes[own] for own, out in zip(of_record, hidden, strict=True)))
    total = 0.0
    for axis, attribute in enumerate(table.attributes):
        codes = [int(table.codes[axis, row]) for row in table.row_of_record]
        count_of_code = Counter(codes)
        for code, out in zip(codes, hidden, strict=True):
            level = attribute.levels - 1 if out else node[axis]
            if objective == "gcp":
                cost = float(attribute.level_cost[level, code]) / table.width
            elif objective == "entropy":
                line = attribute.ancestors[level]
                together = sum(n for other, n in count_of_code.items() if line[other] == line[code])
                cost = log2(together / count_of_code[code])
            elif objective == "height":
                cost = float(level)
            else:
                cost = level / max(1, attribute.levels - 1) / table.width
            total += cost * attribute.weight
    return total / table.records


def every_node(table: EncodedTable) -> list[Node]:
    return list(product(*(range(attribute.levels) for attribute in table.attributes)))


@pytest.mark.parametrize("objective", ["gcp", "entropy", "precision", "height", "discernibility"])
@pytest.mark.parametrize(("limit", "diverse"), [(0.0, 1), (0.15, 1), (0.0, 2), (0.15, 2)])
def test_no_node_of_the_lattice_is_better(objective: str, limit: float, diverse: int) -> None:
    for seed in range(6):
        table = random_table(seed, 40, attributes=3, values=7, weights=seed % 2 == 1)
        models: list[Any] = [KAnonymity(3)] + ([DistinctLDiversity(diverse, "label")] if diverse > 1 else [])
        algorithm = FullDomain(objective=objective, all_minimal=True)
        found = algorithm.cluster(table, Requirement.of(models), Context(suppression_limit=limit))
        losses = {}
        for node in every_node(table):
            hidden = hidden_records(table, node, 3, diverse)
            if sum(hidden) <= limit * table.records:
                losses[node] = loss_of(table, node, hidden, objective)
        assert found.details["optimal"]
        assert found.details["loss"] == pytest.approx(min(losses.values()), abs=1e-9)
        chosen = tuple(found.details["levels"].values())
        assert losses[chosen] == pytest.approx(min(losses.values()), abs=1e-9)
        minimal = {
            node for node in losses if not any(other != node and all(map(int.__le__, other, node)) for other in losses)
        }
        listed = {tuple(entry["levels"].values()): entry["loss"] for entry in found.details["minimal"]}
        assert set(listed) == minimal
        assert all(listed[node] == pytest.approx(losses[node], abs=1e-9) for node in minimal)
        suppressed = np.zeros(table.records, dtype=bool) if found.suppressed is None else found.suppressed
        assert suppressed.tolist() == hidden_records(table, chosen, 3, diverse)


def test_without_the_list_the_same_node_is_found_with_fewer_checks() -> None:
    for seed in range(6):
        table = random_table(seed, 60, attributes=4, values=9)
        requirement = Requirement.of([KAnonymity(4)])
        short = FullDomain().cluster(table, requirement, Context())
        full = FullDomain(all_minimal=True).cluster(table, requirement, Context())
        assert short.details["levels"] == full.details["levels"]
        assert short.details["checked"] <= full.details["checked"]


def test_a_set_of_quasi_identifiers_is_judged_on_its_own() -> None:
    for seed in range(6):
        table = random_table(seed, 40, attributes=3, values=6)
        models = [shoal.Qid(("a0", "a1"), 4), shoal.Qid(("a1", "a2"), 3)]
        found = FullDomain().cluster(table, Requirement.of(models), Context())
        losses = [
            loss_of(table, node, [False] * table.records, "gcp")
            for node in every_node(table)
            if min(Counter(classes_of(table, node, [0, 1])).values()) >= 4
            and min(Counter(classes_of(table, node, [1, 2])).values()) >= 3
        ]
        assert found.details["loss"] == pytest.approx(min(losses), abs=1e-9)


def test_a_lattice_that_is_too_large_gives_a_minimal_node_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.algorithms.full_domain.full_domain.MOST_NODES", 4)
    assert search.MOST_NODES > 4
    table = random_table(3, 50, attributes=3, values=8)
    found = FullDomain().cluster(table, Requirement.of([KAnonymity(3)]), Context())
    node = tuple(found.details["levels"].values())
    assert not found.details["optimal"]
    assert min(Counter(classes_of(table, node)).values()) >= 3
    for axis in range(table.width):
        if node[axis]:
            lower = (*node[:axis], node[axis] - 1, *node[axis + 1 :])
            assert min(Counter(classes_of(table, lower)).values()) < 3


def test_what_is_released_is_what_the_levels_say() -> None:
    frame = pl.DataFrame(
        {
            "zip": ["1234", "1235", "1299", "1298", "7777", "7778", "9000"],
            "sex": ["m", "f", "m", "f", "m", "m", "f"],
        }
    )
    result = shoal.anonymize(
        frame,
        quasi=["zip", "sex"],
        k=2,
        hierarchies={"zip": {"builder": "prefix"}},
        scales={"zip": "category"},
        algorithm="full-domain",
        suppression_limit=0.2,
    )
    levels = result.details["levels"]
    assert levels == {"zip": 2, "sex": 0}  # 12**, 77**; the last record stands alone
    cells = result.release["zip"].to_list()
    stars = sum(cell == "*" for cell in cells)
    assert stars == 1
    assert result.certificate["records"]["suppressed"] == 1
    assert result.metrics["gcp"] == pytest.approx(result.details["loss"])


@pytest.mark.parametrize(
    ("k", "bits", "levels"),
    [(5, 407289.5388925293, (1, 2, 1, 1, 3, 2, 2, 1, 1)), (100, 453196.8932458743, (0, 4, 1, 1, 3, 2, 2, 1, 1))],
)
def test_the_optimum_of_arx_on_adult(data_folder: Path, k: int, bits: float, levels: Node) -> None:
    """The expected numbers are those of ARX's own test of k-anonymity on this table, without suppression."""
    folder = data_folder / "adult" / "hierarchies"
    frame = pl.read_csv(data_folder / "adult" / "adult_arx.csv")
    quasi = list(frame.columns)
    files = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in quasi if name != "salary-class"}
    result = shoal.anonymize(
        frame,
        quasi=quasi,
        k=k,
        hierarchies={**files, "salary-class": str(folder / "adult_hierarchy_income.csv")},
        algorithm="full-domain",
        objective="entropy",
        recoding="nodes",
    )
    assert result.details["optimal"]
    assert result.details["loss"] * frame.height == pytest.approx(bits, rel=1e-12)
    assert tuple(result.details["levels"][name] for name in quasi) == levels


def test_the_optimum_of_arx_on_adult_with_entropy_diversity(data_folder: Path) -> None:
    folder = data_folder / "adult" / "hierarchies"
    frame = pl.read_csv(data_folder / "adult" / "adult_arx.csv")
    quasi = [name for name in frame.columns if name != "occupation"]
    files = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in quasi if name != "salary-class"}
    result = shoal.anonymize(
        frame,
        quasi=quasi,
        sensitive=["occupation"],
        models=[shoal.EntropyLDiversity(5, "occupation")],
        hierarchies={**files, "salary-class": str(folder / "adult_hierarchy_income.csv")},
        algorithm="full-domain",
        objective="entropy",
        recoding="nodes",
    )
    assert result.details["loss"] * frame.height == pytest.approx(324620.5269918695, rel=1e-12)
    assert tuple(result.details["levels"][name] for name in quasi) == (1, 1, 1, 1, 3, 2, 2, 1)
