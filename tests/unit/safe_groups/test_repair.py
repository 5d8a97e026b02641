from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms.base import Clustering, Context
from shoal.encode.encoded_table import EncodedTable
from shoal.errors import RequirementError
from shoal.models.base import Requirement
from shoal.models.registry import parse_models
from shoal.models.safety import bind_safety
from shoal.safe_groups.repair import repair
from shoal.safe_groups.repair_blocks import Workbench, cut_blocks
from shoal.testing.tables import encode_simple


def make_table(records: int = 600) -> EncodedTable:
    """Ages, towns and colours; the disease depends on the age, so that neighbours share it."""
    random = np.random.default_rng(5)
    ages = random.integers(20, 80, records)
    disease = np.where(random.random(records) < 0.6, ages // 20, random.integers(1, 5, records))
    return encode_simple(
        {
            "age": ages.tolist(),
            "town": random.choice(["Ahl", "Berg", "Cott", "Dorf"], records).tolist(),
            "colour": random.choice(list("rgbw"), records).tolist(),
        },
        hierarchies={"town": {"*": {"north": ["Ahl", "Berg"], "south": ["Cott", "Dorf"]}}},
        sensitive={
            "disease": disease.astype(str).tolist(),
            "patient": random.integers(0, records // 2, records).tolist(),
        },
    )


TABLE = make_table()
BY_AGE = Clustering((np.argsort(np.argsort(TABLE.record_codes[0], kind="stable")) // 5).astype(np.int32))


def requirement(*specs: str) -> Requirement:
    return Requirement.of(parse_models(specs))


@pytest.mark.parametrize(
    "specs",
    [
        ("k-anonymity:5", "l-diversity:disease:2"),
        ("k-anonymity:8",),
        ("k-anonymity:5", "distinct-l:disease:4"),
        ("k-anonymity:5", "entropy-l:disease:2.5"),
        ("k-anonymity:5", "recursive-cl:disease:2,2"),
        ("k-anonymity:5", "t-closeness:disease:0.15"),
        ("k-anonymity:5", "beta-likeness:disease:1"),
        ("k-anonymity:5", "delta-disclosure:disease:1"),
        ("k-anonymity:5:patient", "alpha-k:disease:0.5"),
        ("k-anonymity:3", "xy-anonymity:patient:6"),
    ],
)
def test_every_group_is_safe_afterwards(specs: tuple[str, ...]) -> None:
    wanted = requirement(*specs)
    before = BY_AGE.groups.copy()
    assert (wanted.deficits(TABLE, BY_AGE.groups, 120) > 0).any()
    found = repair(TABLE, BY_AGE, wanted, Context())
    count = int(found.groups.max()) + 1
    assert (wanted.deficits(TABLE, found.groups, count) == 0).all()
    assert count > 1
    assert (np.bincount(found.groups) > 0).all()
    assert (BY_AGE.groups == before).all()


def test_safe_groups_come_back_as_they_are() -> None:
    assert repair(TABLE, BY_AGE, requirement("k-anonymity:5"), Context()) is BY_AGE


def test_threads_do_not_change_the_result() -> None:
    wanted = requirement("k-anonymity:5", "l-diversity:disease:2")
    one = repair(TABLE, BY_AGE, wanted, Context(threads=1))
    two = repair(TABLE, BY_AGE, wanted, Context(threads=2))
    assert (one.groups == two.groups).all()


def total_loss(groups: np.ndarray) -> float:
    return Workbench.of(TABLE, bind_safety(requirement("k-anonymity:5"), TABLE), Context()).loss(groups)


def test_what_a_mild_model_costs_the_last_exchange_of_neighbours_wins_back() -> None:
    found = repair(TABLE, BY_AGE, requirement("k-anonymity:5", "alpha-k:disease:0.9"), Context())
    assert total_loss(found.groups) < total_loss(BY_AGE.groups)


def test_an_impossible_requirement_says_what_is_possible() -> None:
    with pytest.raises(RequirementError, match="can be met is 4"):
        repair(TABLE, BY_AGE, requirement("distinct-l:disease:9"), Context())


def test_outliers_are_suppressed_only_when_allowed_and_only_when_it_pays() -> None:
    ages = [20, 20, 20, 20, 90] + [30] * 4 + [31] * 4
    table = encode_simple({"age": ages, "sex": ["m"] * 13})
    start = Clustering(np.array([0] * 5 + [1] * 8, dtype=np.int32))
    wanted = requirement("k-anonymity:4")
    assert repair(table, start, wanted, Context()).suppressed is None
    found = repair(table, start, wanted, Context(), suppression_limit=0.2)
    assert found.suppressed is not None
    assert np.flatnonzero(found.suppressed).tolist() == [4]
    assert found.groups.tolist() == [0, 0, 0, 0, 2] + [1] * 8
    assert repair(table, start, wanted, Context(), suppression_limit=0.05).suppressed is None


def test_blocks_are_a_partition_of_neighbours() -> None:
    centres = np.random.default_rng(0).random((1000, 3))
    blocks = cut_blocks(centres, 64)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(1000))
    assert max(block.shape[0] for block in blocks) <= 64
    assert np.mean([centres[block].std(axis=0).max() for block in blocks]) < 0.2
