"""Every registered algorithm keeps the contract."""

from __future__ import annotations

import pytest

from shoal.algorithms.registry import algorithm_class, algorithm_names, make_algorithm
from shoal.testing import CHECKS, contract_tables

TABLES = {table.name: table for table in contract_tables()}


@pytest.mark.parametrize("name", algorithm_names())
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_contract(name: str, check) -> None:
    for table in TABLES.values():
        check(make_algorithm(name), table)


@pytest.mark.parametrize("name", algorithm_names())
def test_algorithm_introduces_itself(name: str) -> None:
    kind = algorithm_class(name)
    assert kind.name == name
    assert kind.title
    assert kind.citation
