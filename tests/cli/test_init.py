"""`shoal init` writes a job that runs as it is; `shoal hierarchies` makes, checks and changes hierarchies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal as shoal_library
from shoal import Job
from shoal.inspection.inspect import inspect_table
from shoal.job.first_job import suggest_job, write_job
from shoal.job.job import CsvSettings
from shoal.tables.formats.files import read_table


@pytest.fixture
def stays(tmp_path: Path) -> Path:
    random = np.random.default_rng(2)
    records = 600
    frame = pl.DataFrame(
        {
            "patient nr": random.integers(5_000, 5_200, records),
            "alter": random.integers(20, 80, records),
            "plz": random.choice(["10115", "10117", "20095", "80331"], records),
            "geschlecht": random.choice(["m", "w", "?"], records),
            "country": random.choice(["Germany", "France", "Poland", "Turkey", "Atlantis"], records),
            "icd": random.choice([f"{letter}{n}" for letter in "EIJ" for n in range(10, 15)], records),
            "yes": random.integers(0, 400, records),
            "station:": ["A"] * records,
            "befund # text": [f"die Patientin {n} sagte dies und das" for n in range(records)],
        }
    )
    frame.write_csv(tmp_path / "stays.csv", separator=";")
    return tmp_path / "stays.csv"


def test_a_job_that_runs(shoal, stays: Path) -> None:
    outcome = shoal("init", stays)
    assert outcome.code == 0, outcome.err
    job = Job.load(stays.with_name("job.yaml"))
    assert job.person == "patient nr"
    assert set(job.quasi) == {"alter", "plz", "geschlecht", "country"}
    assert set(job.identifiers) == {"yes", "befund # text"}
    assert job.sensitive == ("icd",)
    assert job.missing == ("?",)
    assert job.scales == {"plz": "category"}
    assert job.hierarchies == {"plz": {"builder": "prefix"}, "country": {"builder": "regions"}}
    assert job.models == ("l-diversity:icd:2",)
    assert job.k == 5
    made = shoal("anonymize", "--job", "job.yaml", "--algorithm", "mondrian", "--json")
    assert made.code == 0, made.err
    assert made.json["certificate"]["checks"][0]["passed"]
    names = pl.read_csv(stays.with_name("stays.release.csv"), separator=";").columns
    assert set(names) == {"alter", "plz", "geschlecht", "country", "icd", "station:"}


def test_options(shoal, stays: Path) -> None:
    outcome = shoal("init", stays, "-o", "sub.yaml", "-k", "20", "--person", "patient nr", "--delimiter", ";")
    assert outcome.code == 0, outcome.err
    text = stays.with_name("sub.yaml").read_text()
    assert "k: 20" in text
    assert 'csv: {delimiter: ";"}' in text
    assert "DECIDE YOURSELF" in text


def test_a_job_file_is_not_overwritten(shoal, stays: Path) -> None:
    place = stays.with_name("job.yaml")
    place.write_text("mine")
    assert shoal("init", stays, "-k", "1", "--json").code == 2
    outcome = shoal("init", stays)
    assert outcome.code == 2
    assert "--force" in outcome.err
    assert place.read_text() == "mine"
    assert shoal("init", stays, "--force").code == 0


def test_hierarchies(shoal, stays: Path) -> None:
    suggested = shoal("hierarchies", "suggest", stays, "--json")
    assert suggested.json["country"]["builder"] == {"builder": "regions"}
    made = shoal("hierarchies", "export", stays, "-o", "trees", "--columns", "country,alter")
    assert made.code == 0, made.err
    folder = stays.with_name("trees")
    assert sorted(path.name for path in folder.iterdir()) == ["alter.csv", "country.csv"]
    assert shoal("hierarchies", "check", stays, "--hierarchies", "trees").code == 0
    assert shoal("hierarchies", "export", stays, "-o", "trees").code == 2  # they are there already

    tree = folder / "country.csv"
    assert shoal("hierarchies", "edit", tree, "--remove", "Atlantis", "-o", tree).code == 0
    lacking = shoal("hierarchies", "check", stays, "--hierarchy", f"country={tree}", "--json")
    assert lacking.code == 3
    assert lacking.json["columns"]["country"]["uncovered"] == 1
    assert "Atlantis" not in lacking.out
    shown = shoal("hierarchies", "check", stays, "--hierarchy", f"country={tree}", "--show-values")
    assert "Atlantis" in shown.out
    assert shoal("hierarchies", "edit", tree, "--add", "Atlantis=Europe", "-o", tree).code == 0
    assert shoal("hierarchies", "check", stays, "--hierarchy", f"country={tree}").code == 0


def test_hierarchies_refused(shoal, stays: Path) -> None:
    assert shoal("hierarchies", "check", stays).code == 2
    stays.with_name("plain.yaml").write_text("quasi: [age, sex]\nk: 5\n")
    none = shoal("hierarchies", "check", stays, "--job", "plain.yaml")
    assert none.code == 0, none.err
    assert "names no hierarchy" in none.out
    assert shoal("hierarchies", "suggest", stays, "--columns", "nobody").code == 2
    both = shoal("hierarchies", "check", stays, "--hierarchies", ".", "--hierarchy", "plz=x.csv")
    assert both.code == 2


def test_without_a_known_quasi_identifier_numbers_are_taken_for_such(shoal, tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    frame = pl.DataFrame({name: random.integers(0, 60, 300) for name in ("AAX", "BBX", "CCX")})
    frame.write_csv(tmp_path / "table.csv")
    outcome = shoal("init", "table.csv", "--show")
    assert outcome.code == 0, outcome.err
    (tmp_path / "job.yaml").write_text(outcome.out)
    job = Job.load(tmp_path / "job.yaml")
    assert set(job.quasi) == {"AAX", "BBX", "CCX"}
    assert "DECIDE YOURSELF: nothing tells which columns others may know" in outcome.out


TABLES = ("adult/adult", "cahousing/cahousing", "census1080/census1080", "cmc/cmc", "crx/crx", "mgm/mgm")


@pytest.mark.data
@pytest.mark.parametrize("table", [*TABLES, "german_credit/german_credit"])
def test_a_first_job_of_a_real_table_runs(table: str, data_folder: Path, tmp_path: Path) -> None:
    data = data_folder / f"{table}.csv"
    frame = read_table(data).frame
    found = inspect_table(frame, largest=1)
    text = write_job(suggest_job(found, frame), data, tmp_path / "job.yaml", CsvSettings(), found)
    (tmp_path / "job.yaml").write_text(text)
    job = Job.load(tmp_path / "job.yaml").model_copy(update={"algorithm": "mondrian", "report": None})
    assert shoal_library.run(job).certificate["passed"]
