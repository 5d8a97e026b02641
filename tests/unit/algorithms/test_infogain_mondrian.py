"""InfoGain Mondrian against a plain tree of cuts."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.mondrian.infogain import InfoGainMondrian
from shoal.algorithms.registry import make_algorithm
from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.testing.random_tables import random_table


def uncertainty(labels: list[int]) -> float:
    return -sum(labels.count(label) * log(labels.count(label) / len(labels)) for label in set(labels))


def plain_pieces(table: EncodedTable, labels: list[int], members: list[int], k: int) -> list[list[int]]:
    """The definition: every allowed cut, the one of least uncertainty, then the most even, then the first."""
    best: tuple[float, int, int, int] | None = None
    for attribute, codes in enumerate(table.record_codes):
        for code in sorted({int(codes[record]) for record in members})[:-1]:
            low = [record for record in members if codes[record] <= code]
            high = [record for record in members if codes[record] > code]
            if min(len(low), len(high)) < k:
                continue
            cost = sum(uncertainty([labels[record] for record in half]) for half in (low, high))
            found = (round(cost, 7), abs(len(low) - len(high)), attribute, code)
            best = found if best is None or found < best else best
    if best is None:
        return [members]
    codes = table.record_codes[best[2]]
    halves = ([r for r in members if codes[r] <= best[3]], [r for r in members if codes[r] > best[3]])
    return [piece for half in halves for piece in plain_pieces(table, labels, half, k)]


@pytest.mark.parametrize("column", ["label", None])
def test_the_pieces_are_those_of_the_definition(column: str | None) -> None:
    for seed in range(8):
        table = random_table(seed, 80, attributes=3, values=9)
        labels = table.columns["label"].codes.tolist() if column else [0] * 80
        found = InfoGainMondrian(class_column=column).cluster(table, Requirement.of([KAnonymity(4)]), Context()).groups
        expected = plain_pieces(table, labels, list(range(80)), 4)
        assert sorted(np.flatnonzero(found == g).tolist() for g in range(int(found.max()) + 1)) == sorted(expected)


def test_it_keeps_more_of_a_label_than_medians_do() -> None:
    random = np.random.default_rng(2)
    table = random_table(9, 600, attributes=3, values=30)
    codes = table.record_codes[1]
    column = table.columns["label"]
    labels = (codes > np.quantile(codes, 0.8)).astype(np.int32) ^ (random.random(600) < 0.05)
    guided = type(table)(
        table.attributes,
        table.codes,
        table.weights,
        table.row_of_record,
        {"label": type(column)("label", labels.astype(np.int32), 2)},
    )
    left = {}
    for name in ("infogain-mondrian", "mondrian"):
        parameters = {"class_column": "label"} if name == "infogain-mondrian" else {}
        groups = make_algorithm(name, **parameters).cluster(guided, Requirement.of([KAnonymity(10)]), Context()).groups
        left[name] = sum(uncertainty(labels[groups == g].tolist()) for g in range(int(groups.max()) + 1))
    assert left["infogain-mondrian"] < left["mondrian"]
