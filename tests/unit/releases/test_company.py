"""As many records of each value as the neediest record asks for: the rule of the compiled search, by its definition."""

from __future__ import annotations

import numpy as np

from shoal.encode.encoded_table import EncodedAttribute, EncodedTable, Kind
from shoal.kernels import safety as kernels
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.safety import bind_safety, empty_row
from shoal.releases.company import Company, needs_of_classes, with_needs


def table_of(random: np.random.Generator, records: int) -> EncodedTable:
    levels = np.array([np.arange(records), np.zeros(records)], dtype=np.int32)
    attribute = EncodedAttribute(
        "x", Kind.INTERVAL, records, np.linspace(0, 1, records), levels, np.array([[0.0] * records, [1.0] * records])
    )
    codes = np.arange(records, dtype=np.int32)[None, :]
    return EncodedTable((attribute,), codes, np.ones(records, dtype=np.int64), np.arange(records, dtype=np.int32))


def test_a_class_asks_for_k_records_the_commonest_values_first() -> None:
    found = needs_of_classes(np.array([[7, 3], [2, 9], [12, 4], [6, 6], [5, 5]]), 10)
    assert found.tolist() == [[7, 3], [1, 9], [10, 0], [6, 4], [5, 5]]


def test_the_rule_is_its_definition_and_monotone() -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        records, values = int(random.integers(4, 25)), int(random.integers(1, 4))
        links = random.integers(0, values, records).astype(np.int32)
        needs = (random.integers(0, 4, (records, values)) * (random.random((records, 1)) < 0.5)).astype(np.int32)
        table = with_needs(table_of(random, records), links, needs)
        groups = random.integers(0, 3, records).astype(np.int32)
        expected = []
        for group in range(3):
            mine = groups == group
            asked = needs[mine].max(axis=0, initial=0)
            expected.append(sum(max(0, asked[v] - int((links[mine] == v).sum())) for v in range(values)))
        model = Company(values)
        assert model.deficits(table, groups, 3).tolist() == expected
        both = np.where(groups == 2, 1, groups).astype(np.int32)
        if not any(expected):
            assert not model.deficits(table, both, 2).any()
        safety = bind_safety(Requirement((KAnonymity(2), model)), table)
        assert safety.complete
        row = empty_row(safety)
        for record in np.flatnonzero(groups == 0):
            kernels.add_record(safety, row, record)
        size = int((groups == 0).sum())
        short = max(0, 2 - size) if size else 0
        assert kernels.group_deficit(safety, row, size) == short + (expected[0] if size else 0)
