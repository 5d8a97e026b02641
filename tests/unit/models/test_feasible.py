from __future__ import annotations

import pytest

from shoal.errors import InputError, RequirementError
from shoal.models.base import Requirement
from shoal.models.feasible import impossible, raise_if_impossible
from shoal.models.registry import parse_models
from shoal.testing.tables import encode_simple

TABLE = encode_simple(
    {"age": [20, 21, 22, 23, 24, 25]}, sensitive={"disease": ["flu", "flu", "flu", "cold", "cold", "gout"]}
)
KINDS = {"*": {"worst": ["gout"], "bad": ["flu"], "harmless": ["cold", "hiccup"]}}  # weights 0, 1/2, 1
GROUPED = encode_simple(
    {"age": [20, 21, 22, 23, 24, 25]},
    sensitive={"disease": ["flu", "flu", "flu", "cold", "cold", "gout"]},
    hierarchies={"disease": KINDS},
)


def problems(*specs: str) -> list:
    return impossible(Requirement.of(parse_models(specs)), TABLE)


@pytest.mark.parametrize(
    ("spec", "reason", "hint"),
    [
        ("k-anonymity:7", "too-few-records", "largest k that can be met is 6"),
        ("l-diversity:disease:3", "too-frequent-value", "largest l that can be met is 2"),
        ("alpha-k:disease:0.4", "too-frequent-value", "smallest alpha 0.5"),
        ("distinct-l:disease:4", "too-few-values", "can be met is 3"),
        ("entropy-l:disease:2.9", "too-little-entropy", "largest l that can be met is 2.7494"),
        ("recursive-cl:disease:1,2", "too-frequent-value", "with this l, c must be more than 1"),
        ("recursive-cl:disease:1,2", "too-frequent-value", "no l can be met with this c"),
        ("recursive-cl:disease:2,3", "too-frequent-value", "largest l that can be met with this c is 2"),
        ("recursive-cl:disease:9,4", "too-few-values", "largest l that can be met with this c is 3"),
    ],
)
def test_impossible_models_name_what_can_be_met(spec: str, reason: str, hint: str) -> None:
    (problem,) = problems(spec)
    assert problem.reason == reason
    assert hint in (problem.hint or "")
    assert "flu" not in str(problem)


@pytest.mark.parametrize(
    ("spec", "reason", "hint"),
    [
        ("p-alpha:disease:4,0", "too-few-values", "largest p that can be met is 3"),
        ("p-alpha:disease:3,3.75", "too-little-weight", "largest whole alpha that can be met is 3"),
    ],
)
def test_categories_and_weights_that_no_group_has(spec: str, reason: str, hint: str) -> None:
    (problem,) = impossible(Requirement.of(parse_models([spec])), GROUPED)
    assert problem.reason == reason
    assert hint in (problem.hint or "")
    assert impossible(Requirement.of(parse_models(["p-alpha:disease:3,3.5"])), GROUPED) == []
    with pytest.raises(InputError, match="need a hierarchy"):
        impossible(Requirement.of(parse_models([spec])), TABLE)


@pytest.mark.parametrize(
    "spec",
    ["k-anonymity:6", "l-diversity:disease:2", "alpha-k:disease:0.5", "entropy-l:disease:2.7494",
     "recursive-cl:disease:2,2", "recursive-cl:disease:9,3",
     "t-closeness:disease:0", "delta-disclosure:disease:0.01", "beta-likeness:disease:0.01"],
)  # fmt: skip
def test_what_the_whole_table_meets_is_possible(spec: str) -> None:
    assert problems(spec) == []


def test_all_problems_at_once() -> None:
    with pytest.raises(RequirementError) as caught:
        raise_if_impossible(Requirement.of(parse_models(["k-anonymity:9", "distinct-l:disease:5"])), TABLE)
    assert caught.value.reasons == ("too-few-records", "too-few-values")
    assert caught.value.exit_code == 3
