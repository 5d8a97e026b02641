"""`shoal verify --with`: releases that hold alone, and not together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli.main import main


@pytest.fixture
def releases(tmp_path: Path) -> tuple[Path, Path]:
    random = np.random.default_rng(2)
    people = pl.DataFrame({"age": random.integers(18, 90, 300), "zip": random.integers(0, 60, 300)})
    paths = []
    for algorithm in ("shoal", "mondrian"):
        paths.append(tmp_path / f"{algorithm}.csv")
        shoal.anonymize(people, quasi=["age", "zip"], k=10, algorithm=algorithm).release.write_csv(paths[-1])
    return paths[0], paths[1]


def verified(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    with pytest.raises(SystemExit) as left:
        main(["verify", *words, "--quasi", "age,zip", "--json"])
    return left.value.code, json.loads(capsys.readouterr().out)


def test_two_releases_that_hold_alone_fail_together(
    releases: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    earlier, later = releases
    assert verified(capsys, str(later), "-k", "10")[0] == 0
    code, found = verified(capsys, str(later), "-k", "10", "--with", str(earlier))
    assert code == 3
    assert not found["ok"]
    assert min(check["smallest_anonymity"] for check in found["together"]["checks"] if not check["passed"]) < 10


def test_several_releases_need_k(releases: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    earlier, later = releases
    code, found = verified(capsys, str(later), "--with", str(earlier))
    assert code == 2
    assert not found["ok"]


def test_the_verdict_is_told_in_words(releases: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    earlier, later = releases
    with pytest.raises(SystemExit) as left:
        main(["verify", str(later), "--quasi", "age,zip", "-k", "10", "--with", str(earlier)])
    assert left.value.code == 3
    assert "FAILS" in capsys.readouterr().out


def test_persons_with_several_records_are_refused(
    releases: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    earlier, later = releases
    code, found = verified(capsys, str(later), "-k", "10", "--person", "age", "--with", str(earlier))
    assert code == 2
    assert "persons with several records" in json.dumps(found)


def test_a_series_with_hierarchies_is_read_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(4)
    people = pl.DataFrame({"age": random.integers(18, 80, 120), "zip": random.choice(["Bonn", "Ulm", "Rom"], 120)})
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "zip.csv").write_text("Bonn;Germany;*\nUlm;Germany;*\nRom;Italy;*\n")
    for wave, rows in ((1, 60), (2, 120)):
        people[:rows].write_csv(tmp_path / f"t{wave}.csv")
        shoal.run(
            shoal.Job.make(
                input=tmp_path / f"t{wave}.csv",
                output=tmp_path / f"r{wave}.csv",
                quasi=["age", "zip"],
                k=10,
                effort="low",
                hierarchies=tmp_path / "trees",
                series=tmp_path / "series.json",
            )
        )
    words = (str(tmp_path / "r2.csv"), "-k", "10", "--series", str(tmp_path / "series.json"))
    code, found = verified(capsys, *words)
    assert code == 2
    assert "hierarchy" in json.dumps(found)
    code, found = verified(capsys, *words, "--hierarchies", str(tmp_path / "trees"))
    assert code == 0
    assert found["together"]["taken_as_values"] == []
