"""`--priority` in both forms, through a real process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CALL = ("--quasi", "age,zip,sex", "-k", "4", "--json")


def test_an_order_keeps_its_first_column_best(shoal, people: Path) -> None:
    losses = {}
    for order in ("age,zip,sex", "zip,sex,age"):
        outcome = shoal(
            "anonymize", people, "--drop-rest", "-o", "out.csv", *CALL, "--priority", order, "--certificate", "c.json"
        )
        assert outcome.code == 0, outcome.err
        assert outcome.json["certificate"]["job"]["priorities"] == order.split(",")
        losses[order[:3]] = outcome.json["per_attribute"]["age"]["gcp"]
    assert losses["age"] < losses["zip"]


def test_weights_still_work(shoal, people: Path) -> None:
    outcome = shoal(
        "anonymize", people, "--drop-rest", "-o", "out.csv", *CALL, "--priority", "age=1,zip=0.5", "--priority", "sex=0"
    )
    assert outcome.code == 0, outcome.err
    assert outcome.json["certificate"]["job"]["priorities"] == {"age": 1.0, "zip": 0.5, "sex": 0.0}


def test_a_job_file_holds_an_order(shoal, people: Path, tmp_path: Path) -> None:
    job = {"input": "people.csv", "output": "a.csv", "quasi": ["age", "zip", "sex"], "k": 4, "priorities": ["zip"]}
    (tmp_path / "job.json").write_text(json.dumps(job))
    assert shoal("anonymize", "--drop-rest", "--job", "job.json", "--quiet").code == 0
    assert shoal("anonymize", people, "--drop-rest", "-o", "b.csv", *CALL, "--priority", "zip").code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("verb", ["anonymize", "compare"])
@pytest.mark.parametrize(
    ("given", "reasons"),
    [
        ("age,nope,age,disease", {"unknown-column", "bad-priority"}),
        ("age,zip=1,nope", {"bad-option", "unknown-column"}),
        ("age=1,age=2,nope=x", {"bad-priority", "unknown-column"}),
        ("age=-1,sex=nan", {"bad-priority"}),
    ],
)
def test_every_mistake_is_told_at_once(shoal, people: Path, verb: str, given: str, reasons: set[str]) -> None:
    output = ("--drop-rest", "-o", "out.csv") if verb == "anonymize" else ("--algorithms", "mondrian")
    outcome = shoal(verb, people, *output, *CALL, "--priority", given)
    assert outcome.code == 2
    assert outcome.reasons == reasons
    assert "SECRET" not in outcome.out + outcome.err
    if given.startswith("age,nope"):
        columns = [problem["column"] for problem in outcome.json["problems"]]
        assert sorted(columns) == ["age", "disease", "nope"]


def test_compare_takes_priorities_and_names_where_they_cannot_act(shoal, people: Path) -> None:
    outcome = shoal("compare", people, *CALL, "--algorithms", "mondrian,topdown", "--priority", "age,zip")
    assert outcome.code == 0, outcome.err
    assert "topdown" in outcome.err
    runs = {run["algorithm"]: run for run in outcome.json["runs"]}
    assert runs["mondrian"]["weighted_gcp"] < runs["mondrian"]["gcp"]
    assert "weighted_gcp" not in runs["topdown"]
