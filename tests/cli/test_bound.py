"""`shoal anonymize --prices` and `shoal verify --bound`: a lower bound that anybody with the original can check."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli.main import main

QUASI = ("age", "zip", "sex", "income", "size")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of all kinds of columns, its release, certificate and prices."""
    tmp_path = tmp_path_factory.mktemp("bound")
    random = np.random.default_rng(4)
    table = pl.DataFrame(
        {
            "age": random.integers(18, 80, 400),
            "zip": [f"1{one:02d}" for one in random.integers(0, 40, 400)],
            "sex": random.choice(["f", "m", "x"], 400),
            "income": [None if one < 3 else int(one) for one in random.integers(0, 30, 400)],
            "size": random.choice(["S", "M", "L"], 400),
        }
    )
    table.write_csv(tmp_path / "people.csv")
    trees = tmp_path / "trees"
    trees.mkdir()
    lines = [f"1{one:02d};1{one // 10}*;*" for one in range(40)]
    (trees / "zip.csv").write_text("\n".join(lines) + "\n")
    job = {
        "input": "people.csv",
        "output": "release.csv",
        "quasi": list(QUASI),
        "k": 4,
        "hierarchies": "trees",
        "scales": {"zip": "category"},
        "orders": {"size": ["S", "M", "L"]},
        "priorities": {"age": 2.0},
        "certificate": "release.json",
        "prices": "prices.npz",
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    shoal.run(shoal.Job.load(tmp_path / "job.json"))
    return tmp_path


def verified(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    prices = [] if "--bound" in words else ["--bound", str(folder / "prices.npz")]
    names = ["--hierarchies", str(folder / "trees"), "--original", str(folder / "people.csv")]
    with pytest.raises(SystemExit) as left:
        main(["verify", str(folder / "release.csv"), *prices, *names, *words, "--json"])
    return left.value.code, json.loads(capsys.readouterr().out)


def test_prices_prove_the_bound_of_the_certificate(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = verified(made, capsys, "--certificate", str(made / "release.json"))
    assert code == 0
    assert found["bound"]["holds"]
    loss = json.loads((made / "release.json").read_text())["loss"]
    assert 0 < found["bound"]["bound"] <= loss["weighted_gcp"]
    assert loss["weighted_lower_bound"] >= found["bound"]["bound"] - 1e-8
    assert "No release of this table" in loss["bound_says"]


def test_prices_that_are_higher_are_refused(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with np.load(made / "prices.npz") as content:
        prices, about = content["prices"], content["about"]
    np.savez(made / "higher.npz", prices=prices + 0.03 * np.abs(prices), about=about)
    words = ("--certificate", str(made / "release.json"), "--bound", str(made / "higher.npz"))
    code, found = verified(made, capsys, *words)
    assert code == 3
    assert not found["bound"]["holds"]
    assert found["bound"]["excess"] > 1e-4


def test_prices_of_larger_groups_prove_nothing(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--quasi", ",".join(QUASI), "-k", "3")
    code, found = verified(made, capsys, *words)
    assert code == 3
    assert "groups of at least 4 records" in found["bound"]["reason"]


def test_what_is_no_file_of_prices_is_told(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (made / "broken.npz").write_bytes(b"not an archive")
    for name, reason in (("broken.npz", "unreadable-prices"), ("nowhere.npz", "no-such-file")):
        words = ("--certificate", str(made / "release.json"), "--bound", str(made / name))
        code, found = verified(made, capsys, *words)
        assert code == 2
        assert [problem["reason"] for problem in found["problems"]] == [reason]


def test_an_algorithm_without_prices_writes_nothing(made: Path) -> None:
    job = shoal.Job.load(made / "job.json")
    out = made / "other.csv"
    changed = job.model_copy(update={"algorithm": "mondrian", "output": out, "prices": made / "other.npz"})
    with pytest.raises(shoal.InputError):
        shoal.run(changed)
    assert not out.exists()


def test_the_same_run_writes_the_same_prices(made: Path) -> None:
    before = (made / "prices.npz").read_bytes()
    shoal.run(shoal.Job.load(made / "job.json").model_copy(update={"threads": 2}))
    assert (made / "prices.npz").read_bytes() == before
