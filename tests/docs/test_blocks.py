"""Every block of commands and of Python on the pages runs as it stands there, on small tables with its columns.

Commands that need a server, a browser or hours are named in `ELSEWHERE`, with the tests that run them.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import shoal
from shoal.sample.hospital import hospital_table

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
# What a page asks for that is run by other tests: a part of the line, and why it is not run here.
ELSEWHERE = {
    "shoal serve": "a server: tests/web",
    "--anonymeter": "another environment: tests/oracle",
    "--processes all": "many runs: tests/cli/test_other_verbs.py",
    " ...": "no whole command",
    "adult_arx.csv": "the real table: benchmarks.run",
    "adult_recoded.csv": "the real table: benchmarks.run",
}


def blocks(page: str, kinds: tuple[str, ...]) -> list[str]:
    return [text for kind, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")) if kind in kinds]


def commands(page: str) -> list[list[str]]:
    """The lines that call shoal, as arguments, without those that other tests run."""
    text = "\n".join(blocks(page, ("sh", ""))).replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.startswith("shoal ")]
    return [shlex.split(line, comments=True)[1:] for line in lines if not any(part in line for part in ELSEWHERE)]


def patients(records: int) -> pl.DataFrame:
    """More than 1,000 are the people for whom `shoal init` takes k = 11."""
    table = hospital_table(records).select("name", "age", "sex", "postcode", "diagnosis")
    ward = pl.Series("ward", (["north", "south", "east"] * records)[:records])
    job = pl.Series("job", (["Craft", "Support", "Sales", "Army", "Nurse"] * records)[:records])
    return table.with_columns(ward, job, illness=pl.col("diagnosis"))


def project_of_arx(path: Path) -> None:
    definition = "".join(
        f"<assigment><name>{name}</name><type>{role}_ATTRIBUTE</type><datatype>{kind}</datatype></assigment>"
        for name, role, kind in (("age", "QUASI_IDENTIFYING", "Integer"), ("illness", "SENSITIVE", "String"))
    )
    rows = "\n".join(f"{20 + n % 30},{'xyz'[n % 3]}" for n in range(120))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.xml", "<project><separator>,</separator></project>")
        archive.writestr("data/input.csv", f"age,illness\n{rows}\n")
        archive.writestr("input/definition.xml", f"<definition>{definition}</definition>")
        archive.writestr("input/config.xml", "<config><criteria><criterion>5-anonymity</criterion></criteria></config>")


def lay_out(folder: Path, records: int) -> None:
    """The files that the pages name."""
    table = patients(records)
    table.write_csv(folder / "patients.csv")
    stays = pl.concat([table, table]).with_columns(
        patient_id=pl.Series([f"p{n % records}" for n in range(2 * records)])
    )
    stays.write_csv(folder / "stays.csv")
    (folder / "mine.csv").write_text(
        "Craft;Technical;*\nSupport;Technical;*\nSales;Rest;*\nArmy;Rest;*\nNurse;Technical;*\n", encoding="utf-8"
    )
    (folder / "hierarchies").mkdir()
    (folder / "hierarchies" / "job.csv").write_text(
        "Craft;Technical;*\nSupport;Technical;*\nSales;Other;*\nArmy;Other;*\n", encoding="utf-8"
    )
    project_of_arx(folder / "project.deid")
    key = Ed25519PrivateKey.generate()
    (folder / "private.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "public.pem").write_bytes(public)


def call(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Exit code, and what was said about it, of the program as a user starts it."""
    command = [sys.executable, "-m", "shoal.cli.main", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


PAGES = [
    "README.md",
    *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md")) if page.name != "tutorial.md"),
]


# Pages about a part with tests of its own, which lay out what its commands need: servers, series, large tables.
OF_A_PART = {
    f"docs/{name}.md"
    for name in ("several_releases", "databases", "scale", "cluster_analysis", "workbench", "lower_bound", "recodings")
}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OF_A_PART and commands(page)])
def test_commands_run(page: str, tmp_path: Path) -> None:
    lay_out(tmp_path, 1_100 if page == "README.md" else 200)
    for arguments in commands(page):
        code, said = call(arguments, tmp_path)
        assert code == (3 if arguments[1] == "check" else 0), (arguments, said)  # 3: a value is not covered


def survey(records: int, seed: int) -> pl.DataFrame:
    table = hospital_table(records, seed).select("name", "age", "sex", "postcode", "diagnosis")
    return table.rename({"postcode": "zip", "diagnosis": "disease"}).with_columns(ward=pl.lit("north"))


def names_for(page: str) -> dict[str, Any]:
    """What the Python of a page takes for granted."""
    if page == "docs/evaluation.md":
        table = survey(300, 2).select("age", "zip", "sex", "disease")
        result = shoal.anonymize(table, quasi=["age", "zip", "sex"], sensitive="disease", k=10, algorithm="mondrian")
        return {"original": table, "release": result.release, "hierarchies": {}}
    return {"shoal": shoal, "frame": survey(300, 3)}


NEEDS_MORE = {
    "docs/scale.md": "a cluster: tests/spark",
    "docs/several_releases.md": "releases of people who leave and come: tests/unit/releases",
    "docs/databases.md": "a database: tests/sql",
    "docs/cluster_analysis.md": "files of hierarchies of a real table: tests/unit/cluster_release",
    "docs/metrics.md": "tests/unit/metrics",
}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in NEEDS_MORE and blocks(page, ("python",))])
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = names_for(page)
    for block in blocks(page, ("python",)):
        exec(compile(block, page, "exec", dont_inherit=True), names)


@pytest.mark.parametrize("page", ["docs/start.md"])
def test_jobs_are_jobs(page: str) -> None:
    import yaml

    for block in blocks(page, ("yaml",)):
        shoal.Job.make(**yaml.safe_load(block))


def test_what_is_run_elsewhere_is_still_there() -> None:
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    assert [part for part in ELSEWHERE if part not in text] == []
    assert all((ROOT / page).is_file() for page in NEEDS_MORE)
