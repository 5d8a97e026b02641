"""One plan, one number: what result, certificate, report, `compare` and `evaluate` tell is the same for any job."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal import anonymize, evaluate
from shoal.cli.main import main
from shoal.comparison.compare_algorithms import run_task
from shoal.comparison.frontier import Task
from shoal.job.job import Job
from shoal.pipeline.result import Result
from shoal.pipeline.run import run

SIZES = ("small", "medium", "large", "huge")


def random_table(random: np.random.Generator, records: int) -> pl.DataFrame:
    """Columns of every scale: numbers, codes that look like numbers, dates, words with an order, flat categories."""
    missing = random.random(records) < 0.1
    ages = [("?" if gone else str(age)) for gone, age in zip(missing, random.integers(0, 90, records), strict=True)]
    return pl.DataFrame(
        {
            "age": ages,
            "zip": [str(code) for code in random.integers(10, 60, records)],
            "size": random.choice(SIZES[: random.integers(2, 5)], records).tolist(),
            "born": [f"19{year}-0{month}-11" for year, month in random.integers((50, 1), (99, 9), (records, 2))],
            "colour": random.choice(["red", "green", "blue", "black"], records).tolist(),
            "illness": random.choice(["flu", "cold", "none"], records).tolist(),
        }
    )


def random_job(random: np.random.Generator, folder: Path) -> dict[str, Any]:
    """Settings of every kind that changes what a cell loses."""
    maybe = lambda: bool(random.integers(2))  # noqa: E731
    scales = {"zip": "category"} if maybe() else {}
    hierarchies: dict[str, Any] = {}
    if maybe():
        hierarchies["colour"] = {"any": {"warm": ["red"], "cold": ["green", "blue", "black"]}}
    if scales and maybe():
        hierarchies["zip"] = {"builder": "prefix"}
    recodings: dict[str, str] = {}
    if "zip" in hierarchies and maybe():
        recodings["zip"] = "nodes"
    if maybe():
        recodings["born"] = str(random.choice(["mean", "midpoint"]))
    settings: dict[str, Any] = {
        "input": str(folder / "people.csv"),
        "quasi": random.permutation(["age", "zip", "size", "born", "colour"])[: random.integers(2, 6)].tolist(),
        "sensitive": ["illness"],
        "drop_rest": True,
        "k": int(random.integers(2, 5)),
        "missing": ["?"],
        "algorithm": str(random.choice(["mondrian", "shoal", "k-member"])),
        "scales": scales,
        "orders": {"size": SIZES} if maybe() else {},
        "hierarchies": hierarchies,
        "recodings": recodings,
        "suppression_limit": 0.1 if maybe() else 0.0,
    }
    quasi = settings["quasi"]
    for name in ("scales", "orders", "hierarchies", "recodings"):
        settings[name] = {column: value for column, value in settings[name].items() if column in quasi}
    if maybe():
        settings["priorities"] = {quasi[0]: 2.0, quasi[1]: 0.5}
    return settings


def report_gcp(report: str) -> set[float]:
    """Every number of the page that it calls by the name of the loss."""
    cards = re.findall(r'<div class="name">Loss \(GCP\)</div><div class="value">([0-9.]+)<', report)
    rows = re.findall(r"<td[^>]*>gcp</td>\s*<td[^>]*>([0-9.]+)<", report)
    return {float(text) for text in [*cards, *rows]}


@pytest.mark.parametrize("seed", range(24))
def test_the_loss_is_one_number(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(seed)
    random_table(random, 60).write_csv(tmp_path / "people.csv")
    settings = random_job(random, tmp_path)
    paths = {name: tmp_path / f"{name}.{end}" for name, end in (("output", "csv"), ("certificate", "json"))}
    key = tmp_path / "key.csv"
    job = Job.make(**settings, **paths, report=tmp_path / "report.html", key=key)
    job.save(tmp_path / "job.yaml")
    result = run(job)
    gcp = result.metrics["gcp"]
    certificate = json.loads(paths["certificate"].read_text())
    assert certificate["loss"]["gcp"] == gcp
    assert run_task(
        job.model_copy(update={"output": None, "report": None, "certificate": None, "key": None}), task(job), True
    )["gcp"] == pytest.approx(gcp, rel=1e-12)

    report = (tmp_path / "report.html").read_text()
    assert "could not be read" not in report
    shown = report_gcp(report)
    assert shown, "the report tells the loss"
    assert all(abs(number - gcp) < 6e-4 for number in shown)

    original, release = str(tmp_path / "people.csv"), str(paths["output"])
    assert_same(evaluated(capsys, original, release, "--job", str(tmp_path / "job.yaml")), result)
    if not settings["hierarchies"]:
        by_certificate = evaluated(
            capsys, original, release, "--certificate", str(paths["certificate"]), "--missing", "?", "--key", str(key)
        )
        assert_same(by_certificate, result)


def assert_same(found: dict[str, Any], result: Result) -> None:
    """Every loss and every risk."""
    totals = found["scores"]["totals"]
    assert set(totals) - {"weighted_gcp"} <= set(result.metrics)
    told = {name: value for name, value in result.metrics.items() if name in totals}
    assert {name: totals[name] for name in told} == pytest.approx(told, rel=1e-12)
    for side, risk in result.risk.items():
        assert {name: found["risk"][side][name] for name in risk} == pytest.approx(risk, rel=1e-12)


@pytest.mark.parametrize("person", [None, "born"])
def test_the_risk_is_one_number_where_records_are_suppressed(person: str | None) -> None:
    random = np.random.default_rng(5)
    people = random_table(random, 60).with_columns(pl.Series("age", [str(30 + row % 6) for row in range(60)]))
    people = people.with_columns(pl.Series("zip", ["99" if row > 56 else "10" for row in range(60)]))
    known: dict[str, Any] = {"quasi": ["age", "zip"], "scales": {"zip": "category"}, "person": person}
    limits = [0.0, 0.1]
    for limit in limits:
        result = anonymize(people, k=4, suppression_limit=limit, drop_rest=True, algorithm="mondrian", **known)
        found = evaluate(people, result.release, certificate=result.certificate, **known).as_dict()
        assert_same(found, result)
        assert_same(result.evaluate().as_dict(), result)
    assert result.certificate["records"]["suppressed"] == 3
    assert result.risk["after"]["average"] > 3 / 60 / 60


def task(job: Job) -> Task:
    assert job.k is not None
    return Task(job.algorithm, job.k, job.seed)


def evaluated(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["evaluate", *words, "--json"])
    assert left.value.code == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found
