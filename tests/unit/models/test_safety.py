from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import InputError
from shoal.kernels.safety import add_record, exchange_deficit, fill_rows, group_deficit, remove_record
from shoal.models.base import Requirement
from shoal.models.registry import parse_models
from shoal.models.safety import bind_safety, empty_row, find_value_codes
from shoal.testing.tables import encode_simple

RANDOM = np.random.default_rng(3)
TABLE = encode_simple(
    {"age": RANDOM.integers(20, 60, 200).tolist()},
    sensitive={
        "disease": RANDOM.choice(["a", "b", "c", "d"], 200, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "income": RANDOM.integers(0, 30, 200).tolist(),
    },
)
SPECS = ["k-anonymity:5", "l-diversity:disease:2", "t-closeness:income:0.2:ordered", "distinct-l:disease:3"]
REQUIREMENT = Requirement.of(parse_models(SPECS))


def test_rows_that_follow_moves_say_the_same_as_counting_anew() -> None:
    safety = bind_safety(REQUIREMENT, TABLE)
    groups = RANDOM.integers(0, 12, 200).astype(np.int32)
    rows = np.zeros((12, empty_row(safety).shape[0]), dtype=np.int32)
    fill_rows(safety, groups, rows)
    for _ in range(50):
        record, target = int(RANDOM.integers(200)), int(RANDOM.integers(12))
        remove_record(safety, rows[groups[record]], record)
        add_record(safety, rows[target], record)
        groups[record] = target
    sizes = np.bincount(groups, minlength=12)
    told = [group_deficit(safety, rows[group], int(sizes[group])) for group in range(12)]
    assert told == pytest.approx(REQUIREMENT.deficits(TABLE, groups, 12))


def test_asking_about_an_exchange_leaves_the_row_alone() -> None:
    safety = bind_safety(REQUIREMENT, TABLE)
    row = empty_row(safety)
    for record in range(8):
        add_record(safety, row, record)
    before = row.copy()
    asked = exchange_deficit(safety, row, 8, 3, 50)
    assert (row == before).all()
    members = np.array([record if record != 3 else 50 for record in range(8)])
    groups = np.ones(200, dtype=np.int32)
    groups[members] = 0
    assert asked == pytest.approx(REQUIREMENT.deficits(TABLE, groups, 2)[0])


def test_wide_columns_can_be_left_out() -> None:
    safety = bind_safety(REQUIREMENT, TABLE, widest=10)
    assert not safety.complete
    assert empty_row(safety).shape[0] == 4 + 1
    assert bind_safety(REQUIREMENT, TABLE).complete


def test_missing_knowledge_is_an_input_error() -> None:
    for spec, reason in (
        ("t-closeness:disease:0.2:ordered", "unordered-column"),
        ("t-closeness:disease:0.2:hierarchical", "missing-hierarchy"),
        ("alpha-k:disease=zzz:0.2", "unknown-value"),
        ("l-diversity:nowhere:2", "missing-column"),
    ):
        with pytest.raises(InputError) as caught:
            bind_safety(Requirement.of(parse_models([spec])), TABLE)
        assert caught.value.reasons == (reason,)
        assert "zzz" not in str(caught.value)


def test_values_are_found_by_text_or_digest() -> None:
    (digest,) = (parse_models(["alpha-k:s=b:0.5"])[0].public_spec().split("=")[1].split(":")[0],)
    assert find_value_codes("s", ["a", "b", None], ["b", digest, "x"]) == {"b": 1, digest: 1, "x": -1}
