"""Every block on every page runs as it stands there, on small tables with the columns that it names.

A block of commands or of Python is run, one of YAML is a job, the console of the tutorial is compared line by line
(`test_pages.py`); other kinds do not exist. What needs a server, a cluster or another program is named in `ELSEWHERE`
and `OTHER_PROGRAMS`, with who runs it.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import textwrap
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import typer.main
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import shoal
from shoal.cli.examples import EXAMPLES
from shoal.cli.main import main, put_together
from shoal.sample.hospital import hospital_table
from shoal.tables.schema import Attribute, Role, Scale

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.S | re.M)
KINDS = {
    "sh": "commands, run here",
    "python": "run here",
    "yaml": "a job",
    "console": "commands with what they say, run by test_pages.py",
    "r": "a script of sdcMicro, for comparison",
    "text": "an excerpt of what a command says",
}
# What a page asks for that is run by other tests: a part of the line, and where.
ELSEWHERE = {
    "shoal serve": "a server: tests/web",
    "--anonymeter": "another environment: tests/oracle",
    "--processes all": "many runs: tests/cli/test_other_verbs.py",
    "postgresql://": "a server: tests/sql",
    "spark://": "a cluster: tests/spark",
}
OTHER_PROGRAMS = {
    "pip install": "extras, looked up below",
    "make": "targets, looked up below",
    "openssl": "the keys are laid out",
    "python3 -m venv": "another environment: tests/oracle",
}
PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md")))]
# With the real table, of which some hundred records will do.
OF_ADULT = {"docs/from_arx.md", "docs/from_sdcmicro.md", "docs/recodings.md"}
QUASI_OF_ADULT = ["education", "marital-status", "native-country", "occupation", "race", "sex", "workclass", "age"]


def blocks(page: str) -> list[tuple[str, str]]:
    """The kind and the text of every block."""
    found = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [(kind, textwrap.dedent(text)) for _, kind, text in found]


def texts(page: str, wanted: str) -> list[str]:
    return [text for kind, text in blocks(page) if kind == wanted]


def lines_of_commands(page: str) -> list[str]:
    lines = "\n".join(texts(page, "sh")).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def commands(page: str) -> list[list[str]]:
    """The lines that call shoal, as arguments, without those that other tests run."""
    lines = [line for line in lines_of_commands(page) if line.startswith("shoal ")]
    return [shlex.split(line, comments=True)[1:] for line in lines if not any(part in line for part in ELSEWHERE)]


def test_every_block_is_of_a_known_kind() -> None:
    assert {kind for page in PAGES for kind, _ in blocks(page)} <= set(KINDS)
    unknown = [
        (page, line)
        for page in PAGES
        for line in lines_of_commands(page)
        if not line.startswith("shoal ") and not any(line.startswith(program) for program in OTHER_PROGRAMS)
    ]
    assert unknown == []


def test_what_is_run_elsewhere_is_still_there() -> None:
    lines = [line for page in PAGES for line in lines_of_commands(page)]
    assert [part for part in (*ELSEWHERE, *OTHER_PROGRAMS) if not any(part in line for line in lines)] == []


# --------------------------------------------------------------------------------------------------------------------
# The files that the pages name


def patients(records: int) -> pl.DataFrame:
    """More than 1,000 are the people for whom `shoal init` takes k = 11."""
    table = hospital_table(records).select("name", "age", "sex", "postcode", "diagnosis")
    ward = pl.Series("ward", (["north", "south", "east"] * records)[:records])
    job = pl.Series("job", (["Craft", "Support", "Sales", "Army", "Nurse"] * records)[:records])
    return table.with_columns(ward, job, illness=pl.col("diagnosis"))


def survey(records: int, seed: int) -> pl.DataFrame:
    table = hospital_table(records, seed).select("name", "age", "sex", "postcode", "diagnosis")
    return table.rename({"postcode": "zip", "diagnosis": "disease"}).with_columns(ward=pl.lit("north"))


def two_seasons() -> tuple[pl.DataFrame, pl.DataFrame]:
    """The people of spring, and those of autumn, who are the same and some more."""
    table = survey(300, 5).select("age", "sex", "disease").with_row_index("id")
    return table.head(200), table


def workers(records: int) -> pl.DataFrame:
    table = hospital_table(records, 6).select("age", "sex", zip="postcode")
    education = pl.Series("education", (["none", "school", "college", "university"] * records)[:records])
    status = pl.Series("marital-status", (["single", "married", "widowed"] * records)[:records])
    occupation = pl.Series("occupation", (["Craft", "Support", "Sales", "Army", "Nurse"] * records)[:records])
    return table.with_columns(education, status, occupation)


def lay_out(folder: Path, records: int) -> None:
    table = patients(records)
    table.write_csv(folder / "patients.csv")
    stays = pl.concat([table, table]).with_columns(
        patient_id=pl.Series([f"p{n % records}" for n in range(2 * records)])
    )
    stays.write_csv(folder / "stays.csv")
    write(folder / "mine.csv", "Craft;Technical;*\nSupport;Technical;*\nSales;Rest;*\nArmy;Rest;*\nNurse;Technical;*\n")
    (folder / "hierarchies").mkdir()
    write(folder / "hierarchies/job.csv", "Craft;Technical;*\nSupport;Technical;*\nSales;Other;*\nArmy;Other;*\n")
    write(folder / "hierarchies/education.csv", "none;low;*\nschool;low;*\ncollege;high;*\nuniversity;high;*\n")
    project_of_arx(folder / "project.deid")
    workers(300).write_csv(folder / "people.csv")
    for name, season in zip(("spring", "autumn"), two_seasons(), strict=True):
        season.write_csv(folder / f"{name}.csv")
    keys(folder)
    large_tables(folder)
    databases(folder)


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def keys(folder: Path) -> None:
    key = Ed25519PrivateKey.generate()
    (folder / "private.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "public.pem").write_bytes(public)


def large_tables(folder: Path) -> None:
    people = hospital_table(300, 7).select("age", "sex", "postcode").with_columns(ward=pl.lit("north"))
    people.write_parquet(folder / "people.parquet")
    (folder / "parts").mkdir()
    for number in range(3):
        people.slice(100 * number, 100).write_parquet(folder / "parts" / f"{number}.parquet")


def databases(folder: Path) -> None:
    people = [(20 + n % 30, ["Ulm", "Bonn", "Jena"][n % 3], ["flu", "cold"][n % 2]) for n in range(120)]
    with sqlite3.connect(folder / "people.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, town TEXT, disease TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
    connection.close()
    with duckdb.connect(str(folder / "people.duckdb")) as opened:
        opened.execute("CREATE TABLE people (age INTEGER, town TEXT, disease TEXT)")
        opened.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
    write(folder / "patients.sql", "SELECT age, town FROM people WHERE age >= 20")


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


def part_of_adult(data: Path, folder: Path) -> None:
    """Some records of the real table with its hierarchies; and the same with ages by tens."""
    table = pl.read_csv(data / "adult/adult_arx.csv").sample(600, seed=1)
    table.write_csv(folder / "adult_arx.csv")
    tens = (pl.col("age") // 10 * 10).cast(pl.String) + "s"
    table.with_columns(tens.alias("age")).write_csv(folder / "adult_recoded.csv")
    for file in (data / "adult/hierarchies").glob("*.csv"):
        shutil.copy(file, folder / "hierarchies")
    (folder / "hierarchies/education.csv").unlink()  # a second one for the same column


# --------------------------------------------------------------------------------------------------------------------
# Commands


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OF_ADULT and commands(page)])
def test_commands_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, 1_100 if page == "README.md" else 200)
    run_commands(page, tmp_path, monkeypatch)


@pytest.mark.data
@pytest.mark.parametrize("page", sorted(OF_ADULT))
def test_commands_about_adult_run(
    page: str, data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out(tmp_path, 200)
    part_of_adult(data_folder, tmp_path)
    run_commands(page, tmp_path, monkeypatch)


def run_commands(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for arguments in commands(page):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        expected = 3 if arguments[:2] == ["hierarchies", "check"] else 0  # 3: a value is not covered
        assert end.value.code == expected, arguments


def examples() -> list[str]:
    """The examples of all verbs, in an order in which each finds what it needs."""
    lines = [line for verb in EXAMPLES for line in EXAMPLES[verb] if not any(part in line for part in NOT_HERE)]
    return sorted(lines, key=lambda line: not line.startswith(("shoal init", "shoal anonymize")))


# Examples that other tests run: a part of the line, and where.
NOT_HERE = {
    "shoal demo": "tests/cli/test_other_verbs.py",
    "shoal serve": "tests/web",
    "--algorithms all": "many runs: tests/cli/test_other_verbs.py",
    "shoal man": "a pipe: tests/cli/test_explain_and_doctor.py",
    "doctor --warm": "seconds of compiling: tools/make_dist.py",
    "experiment koc": "tests/cli/test_experiment.py",
}


def test_the_examples_of_the_help_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, 300)
    shutil.copy(tmp_path / "hierarchies/job.csv", tmp_path / "job.csv")
    shutil.copy(tmp_path / "stays.csv", tmp_path / "survey.csv")
    (tmp_path / "patients.csv").rename(tmp_path / "all.csv")
    columns = ["name", "age", "sex", "postcode", "diagnosis", "ward"]
    pl.read_csv(tmp_path / "all.csv", columns=columns).write_csv(tmp_path / "patients.csv")
    table = survey(300, 9).select("age", "sex", "disease")
    result = shoal.anonymize(table, quasi=["age", "sex"], sensitive=["disease"], k=10, algorithm="mondrian")
    result.save(tmp_path / "release-folder")
    monkeypatch.chdir(tmp_path)
    for line in examples():
        with pytest.raises(SystemExit) as end:
            main(shlex.split(line)[1:])
        assert end.value.code == 0, line


def parser() -> Any:
    return typer.main.get_command(put_together([]))


def test_verbs_and_options_that_the_pages_name_exist() -> None:
    verbs = parser().commands
    options = {name for verb in verbs.values() for name in names_of_options(verb)}
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for verb in re.findall(r"`shoal ([a-z][a-z-]+)", text):
            assert verb in verbs, (page, verb)
        for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", re.sub(r"(?m)^.*benchmarks\..*$", "", text)):
            assert option in options | OF_OTHERS, (page, option)


OF_OTHERS = {"--only-pages", "--page", "--user"}  # options of other programs that pages name


def names_of_options(command: Any) -> set[str]:
    found = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for inner in getattr(command, "commands", {}).values():
        found |= names_of_options(inner)
    return found


def test_extras_and_targets_that_the_pages_name_exist() -> None:
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for named in re.findall(r"shoal\[([a-z,]+)\]", text):
            assert set(named.split(",")) <= extras, (page, named)
        for line in lines_of_commands(page):
            assert not line.startswith("make ") or line.split()[1] in targets, (page, line)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [extra for extra in sorted(extras - {"dev", "docs"}) if f"`[{extra}]`" not in readme] == []


# --------------------------------------------------------------------------------------------------------------------
# Python and jobs


def names_for(page: str) -> dict[str, Any]:
    """What the Python of a page takes for granted."""
    if page in ("docs/evaluation.md", "docs/metrics.md"):
        table = survey(300, 2).select("age", "zip", "sex", "disease").with_columns(salary=pl.col("disease"))
        roles = {"quasi": ["age", "zip", "sex"], "sensitive": ["disease", "salary"]}
        result = shoal.anonymize(table, **roles, k=10, algorithm="mondrian")
        scales = {"age": Scale.INTEGER, "zip": Scale.CATEGORY}
        attributes = [Attribute(name, Role.QUASI_IDENTIFYING, scale) for name, scale in scales.items()]
        return {"original": table, "release": result.release, "hierarchies": {}, "attributes": attributes}
    if page == "docs/several_releases.md":
        spring, autumn = two_seasons()
        return {"shoal": shoal, "spring": spring, "autumn": autumn}
    if page == "docs/cluster_analysis.md":
        return {"frame": workers(300).drop("zip")}
    return {"shoal": shoal, "frame": survey(300, 3)}


# The examples of the architecture page are modules of their own: tests/docs/test_pages.py; so is the tutorial.
OF_THEIR_OWN = {"docs/architecture.md", "docs/tutorial.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OF_THEIR_OWN and texts(page, "python")])
def test_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, 200)
    monkeypatch.chdir(tmp_path)
    names = names_for(page)
    for block in texts(page, "python"):
        exec(compile(block, page, "exec", dont_inherit=True), names)


@pytest.mark.parametrize("page", [page for page in PAGES if texts(page, "yaml")])
def test_jobs_are_jobs(page: str) -> None:
    for block in texts(page, "yaml"):
        shoal.Job.make(**yaml.safe_load(block))
