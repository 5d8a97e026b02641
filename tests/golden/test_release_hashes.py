"""The release of every algorithm, with and without models, as a hash: a change of any released byte must be meant.

Only the public functions are used, so that nothing inside has to stay where it is. To store the hashes anew after a
change that is meant: `python -m pytest tests/golden --store-goldens`.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.algorithms.registry import algorithm_names
from shoal.sample.hospital import hospital_hierarchies, hospital_roles, hospital_table

STORED = Path(__file__).parent / "releases.json"
PATIENTS = 600
MODELS: dict[str, dict[str, Any]] = {
    "plain": {},
    "l-diversity": {"models": ["l-diversity:diagnosis:3"]},
    "t-closeness": {"models": ["t-closeness:length_of_stay:0.4:ordered"]},
    "alpha-k": {"models": ["alpha-k:diagnosis:0.5"]},
    "suppression": {"suppression_limit": 0.05, "models": ["distinct-l:diagnosis:3"]},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "flat": {"hierarchies": {}},
    "nodes": {"recoding": "nodes"},
    "means": {"recoding": "mean"},
    "midpoints": {"recodings": {"age": "midpoint"}, "algorithm": "mondrian"},
    "cell-suppression": {"recoding": "cell-suppression"},
    "value-suppression": {"recoding": "value-suppression", "algorithm": "mondrian"},
    "weights": {"priorities": {"age": 3.0, "sex": 0.5}},
    "order-of-importance": {"priorities": ("sex", "age"), "algorithm": "cb"},
    "scale": {"scales": {"age": "category"}},
    "missing": {"missing": ("student", "retired")},
    "person": {"person": "name", "identifiers": ()},
    "sets": {"k": None, "models": ["qid:age+sex+postcode:10", "qid:age+occupation:5"]},
    "sets-tdr": {
        "k": None,
        "quasi": ("age", "sex", "postcode", "occupation"),
        "models": ["qid:age+sex+postcode:10", "qid:age+occupation:5"],
        "allow": ("admission_date", "cost"),
        "algorithm": "tdr",
    },
    "orders": {"orders": {"sex": ("female", "male")}},
    "discernibility": {"objective": "discernibility"},
    "high": {"effort": "high"},
    "seed": {"seed": 7},
    "beta": {"models": ["beta-likeness:diagnosis:6"]},
    "entropy": {"models": ["entropy-l:diagnosis:3"]},
    "two-models": {"models": ["recursive-cl:diagnosis:2,2", "confidence:diagnosis=asthma:0.6"]},
    "squares": {
        "objective": "squares",
        "quasi": ("age",),
        "recoding": "mean",
        "hierarchies": {},
        "allow": ("admission_date", "cost"),
    },
}


@cache
def patients() -> pl.DataFrame:
    return hospital_table(PATIENTS, seed=3)


def released(**settings: Any) -> pl.DataFrame:
    roles = hospital_roles()
    named: dict[str, Any] = {
        setting: tuple(name for name, role in roles.items() if str(role) == str(wanted))
        for setting, wanted in (
            ("quasi", "quasi-identifying"),
            ("sensitive", "sensitive"),
            ("identifiers", "identifying"),
        )
    }
    settings = {
        **named,
        "keep_rest": True,
        "allow": ("cost",),
        "k": 5,
        "hierarchies": hospital_hierarchies(),
        **settings,
    }
    settings["sensitive"] = tuple(name for name in settings["sensitive"] if name not in settings["quasi"])
    settings["hierarchies"] = {
        name: spec
        for name, spec in settings["hierarchies"].items()
        if name in (*settings["quasi"], *settings["sensitive"])
    }
    return shoal.anonymize(patients(), **settings).release


def cases() -> dict[str, dict[str, Any]]:
    found = {
        f"{name}/{models}": {"algorithm": name, **settings}
        for name in algorithm_names()
        for models, settings in MODELS.items()
        if name != "nonhomogeneous" or models == "plain"
    }
    return {**found, **SETTINGS}


@pytest.mark.parametrize("case", cases())
def test_the_release_is_the_stored_one(case: str, request: pytest.FixtureRequest) -> None:
    found = hashlib.sha256(released(**cases()[case]).write_csv().encode()).hexdigest()
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else {}
    if request.config.getoption("--store-goldens"):
        stored[case] = found
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert found == stored.get(case)


@pytest.mark.parametrize("interval_text", ["closed", "half-open"])
def test_the_release_for_cluster_analysis_is_the_stored_one(interval_text: str, request: pytest.FixtureRequest) -> None:
    made = shoal.publish_for_clustering(
        patients(),
        quasi=["age", "sex", "postcode", "occupation"],
        identifiers=["name"],
        keep_rest=True,
        allow=["admission_date", "cost"],
        hierarchies={name: hospital_hierarchies()[name] for name in ("postcode", "occupation")},
        h=20,
        interval_text=interval_text,
    )
    case = f"cluster-release/{interval_text}"
    found = hashlib.sha256(made.release.write_csv().encode()).hexdigest()
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else {}
    if request.config.getoption("--store-goldens"):
        stored[case] = found
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    assert found == stored.get(case)
