"""`shoal explain`, `shoal doctor`, completion, progress lines and examples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli.examples import EXAMPLES
from shoal.cli.main import _FILES
from shoal.cli.output import ProgressLines
from shoal.progress import Progress

CERTIFICATE = {
    "certificate": 1,
    "job": {"sensitive": ["disease", "drug"], "identifiers": ["name"], "k": 5},
    "hashes": {},
    "quasi": ["age", "zip"],
    "models": ["k-anonymity:5", "l-diversity:disease:3"],
    "records": {"input": 1234, "released": 1234, "suppressed": 7},
    "classes": 80,
    "smallest_class": 5,
    "passed": True,
    "checks": [{"model": "k-anonymity:5", "passed": True, "measure": "smallest class", "measured": 5.0}],
    "loss": {"gcp": 0.125, "lower_bound": 0.1},
    "class_based": True,
}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(CERTIFICATE))
    return path


def test_explain(shoal, certificate: Path) -> None:
    outcome = shoal("explain", certificate)
    assert outcome.code == 0, outcome.err
    assert "1,234 records are released." in outcome.out
    assert "at least 4 others" in outcome.out
    assert "12.5% of the detail" in outcome.out
    assert "No model looks at drug" in outcome.out  # nor does it name disease, which l-diversity looks at
    assert "a guess is right once in 5" in outcome.out
    told = shoal("explain", certificate, "--json").json
    assert len(told) == 5


def test_explain_in_german(shoal, certificate: Path) -> None:
    outcome = shoal("explain", certificate, "--language", "de")
    assert "1.234 Datensätze" in outcome.out
    assert shoal("explain", certificate, "--language", "xx").code == 2


def test_explain_something_else(shoal, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert shoal("explain", "x.json").code == 2
    assert shoal("explain", "none.json").code == 2


def test_doctor(shoal) -> None:
    found = shoal("doctor", "--json").json
    assert found["versions"]["polars"] != "missing"
    assert found["extras"]["report"]["install"] == 'pip install "shoal[report]"'
    assert shoal("doctor").code == 0


def test_every_verb_has_examples() -> None:
    assert set(_FILES) <= set(EXAMPLES)


def test_the_manual_page(shoal) -> None:
    outcome = shoal("man")
    assert outcome.code == 0, outcome.err
    assert all(
        f".SH SHOAL {verb.upper()}".replace("-", "\\-") in outcome.out for verb in _FILES if verb != "hierarchies"
    )
    assert ".B \\-\\-suppression\\-limit" in outcome.out
    if shutil.which("man") is not None:
        shown = subprocess.run(["man", "-l", "-"], input=outcome.out, capture_output=True, text=True, check=True)
        assert "shoal init patients.csv -o first.yaml -k 20" in shown.stdout


def test_help_shows_them_and_completion_works(tmp_path: Path) -> None:
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    call = [sys.executable, "-m", "shoal.cli.main"]
    helped = subprocess.run([*call, "init", "--help"], capture_output=True, text=True, env=environment, check=True)
    assert "shoal init patients.csv -o first.yaml" in helped.stdout
    assert "\x1b[" not in helped.stdout
    told = {**environment, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # there may be no shell above the tests
    shown = subprocess.run([*call, "--show-completion", "bash"], capture_output=True, text=True, env=told, check=True)
    assert "COMPLETE" in shown.stdout


def test_progress_lines(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ProgressLines()
    for fraction in (0.0, 0.1, 0.2):
        lines.show(Progress("read", fraction))
    lines.show(Progress("cluster", 0.0, loss=0.5))
    told = capsys.readouterr().err.splitlines()
    assert [line.split("] ")[1] for line in told] == ["Reading", "Clustering, loss 0.5000"]
