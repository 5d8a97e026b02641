"""All verdicts and metrics are the same on counted rows as on the records that they stand for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.hierarchies.tree import from_paths
from shoal.metrics.score import score
from shoal.models.registry import parse_model
from shoal.released.domain import make_domains
from shoal.tables.schema import Attribute, Role, Scale
from shoal.verification.check import verify_release
from shoal.verification.reading import Knowledge

TREE = from_paths(
    "illness", [("flu", "lung", "*"), ("cold", "lung", "*"), ("burn", "skin", "*"), ("rash", "skin", "*")]
)
MODELS = [
    "k-anonymity:4",
    "qid:age:6",
    "xy-anonymity:age->stay:2",
    "k-map:3",
    "l-diversity:illness:2",
    "distinct-l:illness:2",
    "entropy-l:illness:1.5",
    "recursive-cl:illness:3,2",
    "alpha-k:illness:0.6",
    "confidence:illness=flu:0.7",
    "t-closeness:stay:0.4:ordered",
    "t-closeness:illness:0.5:hierarchical",
    "beta-likeness:illness:2",
    "delta-disclosure:illness:1.5",
]


def table(records: int, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    ages = random.choice(["[20, 29]", "[30, 49]", "50", "*"], records)
    return pl.DataFrame(
        {
            "age": ages.tolist(),
            "town": np.where(ages == "*", "*", random.choice(["A", "{B, C}"], records)).tolist(),
            "illness": random.choice(["flu", "cold", "burn", "rash"], records, p=[0.5, 0.3, 0.1, 0.1]).tolist(),
            "stay": random.integers(1, 5, records),
            "person": random.integers(0, records // 2, records),
        }
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_every_verdict(seed: int, limit: float) -> None:
    release = table(300, seed)
    counted = release.group_by(release.columns).len("count").sample(fraction=1.0, shuffle=True, seed=seed)
    population = pl.DataFrame({"age": ["20", "25", "29", "31", "50", "50", "50"], "town": list("ABCABAB")})
    for text in [*MODELS, "k-anonymity:3:person"]:
        known = {"known": Knowledge({"illness": TREE}, population=population), "suppression_limit": limit}
        models = [parse_model(text)]
        expected = verify_release(release, ["age", "town"], models, **known)
        found = verify_release(
            counted.drop("count"), ["age", "town"], models, counts=counted["count"].to_numpy().astype(np.int64), **known
        )
        one, other = found.as_dict(), expected.as_dict()
        for check, wanted in zip(one["checks"], other["checks"], strict=True):
            assert check.pop("measured") == pytest.approx(wanted.pop("measured"), abs=1e-12)
        assert one == other, text


@pytest.mark.parametrize("seed", range(4))
def test_every_metric(seed: int) -> None:
    random = np.random.default_rng(seed)
    ages = random.integers(20, 60, 500)
    original = pl.DataFrame({"age": ages, "town": random.choice(list("ABC"), 500).tolist()})
    shown = np.where(ages < 30, "[20, 29]", np.where(ages < 50, "40.5", "[50, 55]"))  # some do not cover
    release = pl.DataFrame(
        {
            "age": shown.tolist(),
            "town": np.where(ages < 40, "*", original["town"].to_numpy()).tolist(),
            "label": random.choice(["yes", "no"], 500).tolist(),
        }
    )
    attributes = [
        Attribute("age", Role.QUASI_IDENTIFYING, Scale.INTEGER),
        Attribute("town", Role.QUASI_IDENTIFYING, Scale.CATEGORY),
    ]
    joined = original.rename({"age": "o_age", "town": "o_town"}).hstack(release)
    counted = joined.group_by(joined.columns).len("count").sample(fraction=1.0, shuffle=True, seed=seed)
    counts = counted["count"].to_numpy().astype(np.int64)
    before = counted.select(age="o_age", town="o_town")
    expected = score(
        original, release, ["age", "town"], make_domains(original, attributes), k=5, class_column="label"
    ).as_dict()
    domains = make_domains(before, attributes, weights=counts)
    found = score(
        before,
        counted.select("age", "town", "label"),
        ["age", "town"],
        domains,
        k=5,
        class_column="label",
        counts=counts,
    ).as_dict()
    totals, wanted = found.pop("totals"), expected.pop("totals")
    parts, wanted_parts = found.pop("per_attribute"), expected.pop("per_attribute")
    assert totals == pytest.approx(wanted, rel=1e-12)
    assert totals["gcp"] == wanted["gcp"]  # to the last bit: it is in the certificate
    for name, values in wanted_parts.items():
        assert parts[name] == pytest.approx(values, rel=1e-12)
    assert found == expected
