"""Verdicts on adult releases against pycanon, which runs in an environment of its own (SHOAL_ORACLE_PYTHON)."""

from __future__ import annotations

import json
import math
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.models.registry import parse_models
from shoal.verification.check import verify_release
from shoal.verification.classes import count_values, find_classes, value_numbers

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
    shares = Shares.of(result.release, sensitive)
    if ours["delta"] is not None:
        assert ours["delta"] == pytest.approx(theirs["delta"])
    assert (ours["delta"] is not None) == (sensitive == "income")
    # pycanon's delta leaves out the values that a class lacks
    assert float(np.abs(np.log(shares.in_class / shares.in_table)).max()) == pytest.approx(theirs["delta"])
    # pycanon's enhanced beta bounds the largest gain by the largest -ln p of the table, not each gain by its own
    assert min(ours["basic_beta"], -math.log(shares.in_table.min())) == pytest.approx(theirs["enhanced_beta"])
    # pycanon's c starts from the rarest value of a class; it is rounded to the next whole number
    assert theirs["recursive_l"] == ours["distinct_l"]
    if theirs["recursive_l"] > 1:
        assert shares.largest_ratio_from_the_rarest(int(theirs["recursive_l"])) == theirs["recursive_c"]


@dataclass(frozen=True)
class Shares:
    """Every value that a class has: its share there and in the table, and the number of records."""

    classes: np.ndarray
    counts: np.ndarray
    in_class: np.ndarray
    in_table: np.ndarray

    @classmethod
    def of(cls, release: pl.DataFrame, sensitive: str) -> Shares:
        classes = find_classes(release, QUASI)
        numbers, distinct = value_numbers(release[sensitive])
        found = count_values(classes, numbers, len(distinct))
        table = found.totals / release.height
        return cls(found.classes, found.counts, found.counts / classes.sizes[found.classes], table[found.values])

    def largest_ratio_from_the_rarest(self, least: int) -> int:
        ratios = []
        for number in range(int(self.classes.max()) + 1):
            rising = np.sort(self.counts[self.classes == number])
            ratios.append(math.floor(rising[0] / rising[least - 1 :].sum() + 1))
        return max(ratios)


@pytest.mark.data
def test_recursive_diversity_is_that_of_pycanon_where_rarest_and_commonest_coincide(
    oracle: str, adult: pl.DataFrame, tmp_path: Path
) -> None:
    """Classes in which every value is equally frequent: both readings of the definition give the same c."""
    kept = adult.select(*QUASI, "occupation")
    release = shoal.anonymize(kept, quasi=QUASI, sensitive=["occupation"], k=60, algorithm="mondrian").release
    ranked = release.with_columns(
        pl.len().over(*QUASI, "occupation").alias("count"), pl.int_range(pl.len()).over(*QUASI, "occupation").alias("n")
    )
    balanced = ranked.filter((pl.col("count") >= 4) & (pl.col("n") < 4)).select(*QUASI, "occupation")
    theirs = ask(oracle, balanced, "occupation", tmp_path)
    least = int(theirs["recursive_l"])
    assert least > 2
    found = verify_release(balanced, QUASI, parse_models([f"recursive-cl:occupation:9,{least}"])).checks[0]
    assert found.measured is not None
    assert math.floor(found.measured + 1) == theirs["recursive_c"]
    c = theirs["recursive_c"]
    wanted = parse_models([f"recursive-cl:occupation:{c},{least}", f"recursive-cl:occupation:{found.measured},{least}"])
    assert [check.passed for check in verify_release(balanced, QUASI, wanted).checks] == [True, False]
