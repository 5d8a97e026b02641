"""Global recodings against their definitions, told in plain Python: the scheme holds, and nothing finer is safe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from shoal.algorithms.base import Clustering, Context
from shoal.algorithms.registry import algorithm_class, algorithm_names, make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.engines.local import cluster_table
from shoal.models.base import Model, Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import DistinctLDiversity
from shoal.safe_groups.global_recoding import SCHEMES
from shoal.testing.random_tables import random_table

Recoding = list[dict[int, int]]  # per attribute: code -> level, of the codes that occur


def read_recoding(table: EncodedTable, found: Clustering) -> Recoding:
    """The level of each code, from the released boxes; fails if a value is released in two ways."""
    assert found.boxes is not None
    kept = np.ones(table.records, dtype=bool) if found.suppressed is None else ~found.suppressed
    recoding: Recoding = []
    for number, attribute in enumerate(table.attributes):
        of_code: dict[int, tuple[int, int]] = {}
        for record in np.flatnonzero(kept):
            box = found.boxes.box_of_record[record]
            code = int(table.record_codes[number, record])
            released = int(found.boxes.low[number, box]), int(found.boxes.high[number, box])
            assert of_code.setdefault(code, released) == released, "a value is released in two ways"
        levels = {}
        for code, (low, high) in of_code.items():
            fitting = [
                level
                for level in range(attribute.levels)
                if np.flatnonzero(attribute.ancestors[level] == attribute.ancestors[level, code]).tolist()
                == list(range(low, high + 1))
            ]
            assert fitting, "what is released is no node"
            levels[code] = fitting[0]
        recoding.append(levels)
    return recoding


def leaves(table: EncodedTable, number: int, level: int, code: int) -> frozenset[int]:
    line = table.attributes[number].ancestors[level]
    return frozenset(np.flatnonzero(line == line[code]).tolist())


def nodes_of(table: EncodedTable, number: int, levels: dict[int, int]) -> dict[int, frozenset[int]]:
    return {code: leaves(table, number, level, code) for code, level in levels.items()}


def unsafe(table: EncodedTable, recoding: Recoding, k: int, labels: int) -> int:
    """How many records are in classes that are too small or have too few labels."""
    nodes = [nodes_of(table, number, levels) for number, levels in enumerate(recoding)]
    of_record = [
        tuple(nodes[number].get(int(code), frozenset([-1])) for number, code in enumerate(codes))
        for codes in table.record_codes.T
    ]
    sizes = Counter(of_record)
    seen: dict[object, set[int]] = {}
    for own, label in zip(of_record, table.columns["label"].codes.tolist(), strict=True):
        seen.setdefault(own, set()).add(label)
    return sum(sizes[own] < k or len(seen[own]) < labels for own in of_record)


def finer(table: EncodedTable, recoding: Recoding, scheme: str) -> Iterator[Recoding]:
    """Every recoding that is one refinement away."""
    for number, levels in enumerate(recoding):
        nodes = nodes_of(table, number, levels)

        def changed(codes: list[int], level: int, number: int = number) -> Recoding:
            return [
                {code: level if code in codes and old > level else old for code, old in own.items()}
                if place == number
                else own
                for place, own in enumerate(recoding)
            ]

        if scheme == "full-domain":
            if max(levels.values()) > 0:
                yield changed(list(levels), max(levels.values()) - 1)
            continue
        for code, level in levels.items():
            mine = [other for other in levels if nodes[other] == nodes[code]]
            if scheme == "subtree" and level > 0:
                yield changed(mine, level - 1)
            if scheme == "sibling":
                for lower in range(level):
                    below = leaves(table, number, lower, code)
                    yield changed([other for other in mine if other in below], lower)


def holds_scheme(table: EncodedTable, recoding: Recoding, scheme: str) -> None:
    for number, levels in enumerate(recoding):
        nodes = nodes_of(table, number, levels)
        released = set(nodes.values())
        if scheme == "full-domain":
            top = max(levels.values())  # a node of one value stands lower where that is the same
            assert all(nodes[code] == leaves(table, number, top, code) for code in levels)
        if scheme == "subtree":
            assert all(not one & other for one in released for other in released if one != other)
        if scheme == "sibling":
            for code, node in nodes.items():
                assert node == min((one for one in released if code in one), key=len)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("labels", "limit"), [(1, 0.0), (2, 0.0), (1, 0.1)])
def test_the_scheme_holds_and_nothing_finer_is_safe(scheme: str, labels: int, limit: float) -> None:
    for seed in range(8):
        table = random_table(seed, 60, attributes=3, values=7)
        models: list[Model] = [KAnonymity(3)] + ([DistinctLDiversity(labels, "label")] if labels > 1 else [])
        found = cluster_table(
            table, Requirement.of(models), make_algorithm("mondrian"), Context(), limit, scheme=scheme
        )
        hidden = 0 if found.suppressed is None else int(found.suppressed.sum())
        assert hidden <= limit * table.records
        if hidden:
            continue  # what the hidden records would be released as is not told
        recoding = read_recoding(table, found)
        holds_scheme(table, recoding, scheme)
        assert unsafe(table, recoding, 3, labels) == 0
        for other in finer(table, recoding, scheme):
            if other != recoding and nodes_differ(table, recoding, other):
                assert unsafe(table, other, 3, labels) > limit * table.records


def nodes_differ(table: EncodedTable, one: Recoding, other: Recoding) -> bool:
    return any(nodes_of(table, n, one[n]) != nodes_of(table, n, other[n]) for n in range(table.width))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", [name for name in algorithm_names() if algorithm_class(name).class_based])
def test_every_algorithm_can_be_recoded_globally(scheme: str, name: str) -> None:
    table = random_table(3, 90, attributes=3, values=6)
    parameters = {"class_column": "label"} if name == "dbca-cm" else {}
    found = cluster_table(
        table, Requirement.of([KAnonymity(4)]), make_algorithm(name, **parameters), Context(), scheme=scheme
    )
    recoding = read_recoding(table, found)
    holds_scheme(table, recoding, scheme)
    assert np.bincount(found.groups).min() >= 4


def test_caps_hold_under_a_global_recoding() -> None:
    table = random_table(6, 200, attributes=3, values=6)
    table = replace(table, attributes=(replace(table.attributes[0], at_most=0), *table.attributes[1:]))
    for scheme in SCHEMES:
        found = cluster_table(
            table, Requirement.of([KAnonymity(3)]), make_algorithm("mondrian"), Context(), 0.1, scheme=scheme
        )
        assert set(read_recoding(table, found)[0].values()) == {0}
