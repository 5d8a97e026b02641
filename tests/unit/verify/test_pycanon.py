"""Verdicts on adult releases against pycanon, which runs in an environment of its own (SHOAL_ORACLE_PYTHON)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.models.registry import parse_models
from shoal.verify.check import verify_release

QUASI = ["sex", "age", "race", "marital-status"]
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def oracle() -> str:
    named = os.environ.get("SHOAL_ORACLE_PYTHON", str(TESTS.parent / ".venv-oracle" / "bin" / "python"))
    if not Path(named).is_file():
        pytest.skip(f"no Python with pycanon at {named}: name one in SHOAL_ORACLE_PYTHON")
    asked = subprocess.run([named, "-c", "import pycanon"], capture_output=True, check=False)
    if asked.returncode:
        pytest.skip(f"pycanon is not installed for {named}")
    return named


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> pl.DataFrame:
    return pl.read_csv(data_folder / "adult" / "adult_complete.csv", infer_schema_length=None).head(4000)


def ask(oracle: str, release: pl.DataFrame, sensitive: str, folder: Path) -> dict[str, float]:
    release.write_csv(folder / "release.csv")
    (folder / "questions.json").write_text(json.dumps({"quasi": QUASI, "sensitive": sensitive}), encoding="utf-8")
    script = TESTS / "oracle" / "pycanon_check.py"
    call = [oracle, "-W", "ignore", str(script), str(folder / "release.csv"), str(folder / "questions.json")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(release: pl.DataFrame, sensitive: str, distance: str = "") -> dict[str, float | None]:
    specs = {
        "k": "k-anonymity:2",
        "alpha": f"alpha-k:{sensitive}:0.5",
        "distinct_l": f"distinct-l:{sensitive}:2",
        "entropy_l": f"entropy-l:{sensitive}:2",
        "t": f"t-closeness:{sensitive}:0.2{distance}",
        "basic_beta": f"beta-likeness:{sensitive}:1",
        "delta": f"delta-disclosure:{sensitive}:1",
    }
    checks = verify_release(release, QUASI, parse_models(list(specs.values()))).checks
    return {name: check.measured for name, check in zip(specs, checks, strict=True)}


@pytest.mark.data
@pytest.mark.parametrize(
    ("sensitive", "distance", "k"),
    [("occupation", "", 10), ("income", "", 400), ("hours-per-week", ":ordered", 25)],
)
def test_measures_are_those_of_pycanon(
    oracle: str, adult: pl.DataFrame, tmp_path: Path, sensitive: str, distance: str, k: int
) -> None:
    kept = adult.select(*QUASI, sensitive)
    result = shoal.anonymize(kept, quasi=QUASI, sensitive=[sensitive], k=k, algorithm="mondrian")
    ours, theirs = measure(result.release, sensitive, distance), ask(oracle, result.release, sensitive, tmp_path)
    assert ours["k"] == theirs["k"] == theirs["alpha_k"] >= k
    assert ours["alpha"] == pytest.approx(theirs["alpha"])
    assert ours["distinct_l"] == theirs["distinct_l"]
    assert int(ours["entropy_l"] or 0) == theirs["entropy_l"]  # pycanon rounds down
    assert ours["t"] == pytest.approx(theirs["t"])
    assert ours["basic_beta"] == pytest.approx(theirs["basic_beta"])
    if ours["delta"] is not None:  # pycanon looks only at the values that a class has
        assert ours["delta"] == pytest.approx(theirs["delta"])
    assert (ours["delta"] is not None) == (sensitive == "income")
