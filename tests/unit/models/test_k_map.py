from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.algorithms.base import Clustering, Context
from shoal.encode.encoded_table import EncodedTable, Kind
from shoal.errors import InputError
from shoal.models.base import Requirement
from shoal.models.k_map import KMap
from shoal.safe_groups.repair import repair
from shoal.testing.tables import encode_simple


def make_tables() -> tuple[EncodedTable, int]:
    """A population of 300, and a sample of 60 of them in the same codes."""
    random = np.random.default_rng(2)
    everyone = encode_simple(
        {
            "age": random.integers(20, 60, 300).tolist(),
            "town": random.choice(["Ahl", "Berg", "Cott", "Dorf", "Eich"], 300).tolist(),
            "colour": random.choice(list("rgbw"), 300).tolist(),
        },
        hierarchies={"town": {"*": {"north": ["Ahl", "Berg", "Cott"], "south": ["Dorf", "Eich"]}}},
    )
    codes = everyone.record_codes[:, :60].copy()
    sample = replace(
        everyone,
        codes=codes,
        weights=np.ones(60, dtype=np.int64),
        record_rows=np.arange(60, dtype=np.int32),
        population=everyone.record_codes,
    )
    return sample, 60


def fitting(table: EncodedTable, members: np.ndarray) -> int:
    """How many of the population fit a group, read from the meaning of each kind of attribute."""
    assert table.population is not None
    fits = np.ones(table.population.shape[1], dtype=bool)
    for number, attribute in enumerate(table.attributes):
        codes, people = table.record_codes[number, members], table.population[number]
        if attribute.kind is Kind.FLAT:
            fits &= np.isin(people, codes)
        elif attribute.kind is Kind.TREE:
            line = next(line for line in attribute.ancestors if len(set(line[codes])) == 1)
            fits &= line[people] == line[codes[0]]
        else:
            fits &= (people >= codes.min()) & (people <= codes.max())
    return int(fits.sum())


def test_deficits_agree_with_counting() -> None:
    table, records = make_tables()
    groups = (np.arange(records) // 3).astype(np.int32)
    expected = [max(0, 60 - fitting(table, np.flatnonzero(groups == group))) for group in range(20)]
    assert KMap(60).deficits(table, groups, 20).tolist() == expected
    assert 0 < sum(number > 0 for number in expected) < 20


def test_groups_are_repaired_by_merging() -> None:
    table, records = make_tables()
    start = Clustering((np.arange(records) // 2).astype(np.int32))
    found = repair(table, start, Requirement.of([KMap(80)]), Context())
    count = int(found.groups.max()) + 1
    assert 1 < count < 30
    assert all(fitting(table, np.flatnonzero(found.groups == group)) >= 80 for group in range(count))


def test_it_needs_a_population() -> None:
    table, records = make_tables()
    with pytest.raises(InputError) as caught:
        KMap(2).deficits(replace(table, population=None), np.zeros(records, dtype=np.int32), 1)
    assert caught.value.reasons == ("missing-population",)
