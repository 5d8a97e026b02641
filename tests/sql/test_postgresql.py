"""A release from PostgreSQL to PostgreSQL: checked as the database gives it back, whole or not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from tests.sql.conftest import PASSWORD, execute, fetch

import shoal
from shoal.errors import InputError, ShoalError
from shoal.progress import Progress
from shoal.tables.formats.sql.address import parse_address
from shoal.tables.formats.sql.stores import open_store
from shoal.tables.formats.sql.tables import SqlTarget, read_sql, staging_name

TYPES = """
CREATE TABLE patients (
  id int PRIMARY KEY, age int, zip char(5), sex text, cost numeric(10,2), number uuid, bill money, host inet,
  stay interval, seen timestamptz, born date, tags int[], alive boolean, weight float8, at time, note jsonb, raw bytea,
  small smallint, big bigint, part real, word varchar(10), local timestamp)
"""
FILL = """
INSERT INTO patients SELECT n, 20 + n % 40, '1' || (1000 + n % 7)::text, CASE n % 2 WHEN 0 THEN 'f' ELSE 'm' END,
  n * 1.10, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, (n % 3)::money, '10.0.0.1/8',
  '1 day 2 hours', '2020-01-01 10:00+02', DATE '1980-01-01' + n % 50, '{1,2}', n % 2 = 0, n / 7.0, '10:00:01',
  '{"a": 1}', '\\x00ff', n % 100, 9007199254740993, 1.5, 'word', '2020-01-01 10:00'
FROM generate_series(1, 200) n
"""
KEPT = [
    "cost",
    "number",
    "bill",
    "host",
    "stay",
    "seen",
    "tags",
    "alive",
    "weight",
    "at",
    "note",
    "raw",
    "small",
    "big",
]
KEPT += ["part", "word", "local"]


def make_job(postgres: str, **changes: object) -> shoal.Job:
    settings: dict[str, object] = {
        "input": f"{postgres}?table=public.patients&key=id",
        "output": f"{postgres}?table=research.release",
        "quasi": ["age", "zip", "sex", "born"],
        "identifiers": ["id"],
        "keep": KEPT,
        "allow": KEPT,
        "k": 5,
        "algorithm": "mondrian",
    }
    return shoal.Job.make(**{**settings, **changes})


@pytest.fixture
def patients(postgres: str) -> str:
    execute(postgres, TYPES, FILL)
    return postgres


def test_a_release_goes_from_table_to_table(patients: str, tmp_path: Path) -> None:
    result = shoal.run(make_job(patients, certificate=tmp_path / "certificate.json"))
    found = read_sql(parse_address(f"{patients}?table=research.release"))
    assert found.frame.height == 200
    assert found.frame.group_by("age", "zip", "sex", "born").len()["len"].min() >= 5
    assert sorted(found.frame.select("age", "zip", "sex").rows()) == sorted(
        result.release.select("age", "zip", "sex").cast(pl.String).rows()
    )
    kinds = {column.name: column.kind for column in found.columns}
    assert kinds["cost"] == "numeric(10,2)"
    assert kinds["number"] == "uuid"
    assert kinds["bill"] == "money"
    assert kinds["stay"] == "interval"
    assert kinds["tags"] == "integer[]"
    assert kinds["age"] == "text"
    before = read_sql(parse_address(f"{patients}?table=public.patients"))
    for name in KEPT:  # every value as it was
        assert sorted(map(str, before.frame[name].to_list())) == sorted(map(str, found.frame[name].to_list())), name
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    assert certificate["database"] == {"kind": "postgresql", "table": "research.release"}
    assert "127.0.0.1" not in json.dumps(certificate)
    again = shoal.run(make_job(patients, replace=True))
    assert again.certificate["hashes"]["release"] == certificate["hashes"]["release"]


def test_tables_are_listed_with_their_schema(patients: str) -> None:
    execute(patients, 'CREATE VIEW research."a.b" AS SELECT 1 AS one')
    with closing(open_store(parse_address(patients), to_write=False)) as store:
        names = store.tables()
    assert names == ["public.patients", 'research."a.b"']
    assert read_sql(parse_address(patients).with_table(names[1])).frame.to_dict(as_series=False) == {"one": [1]}


def test_the_order_of_the_server_means_nothing(patients: str) -> None:
    first = shoal.run(make_job(patients))
    execute(patients, "CREATE TABLE other AS SELECT * FROM patients ORDER BY md5(id::text)", "DROP TABLE patients")
    execute(patients, "ALTER TABLE other RENAME TO patients")
    second = shoal.run(make_job(patients, replace=True, input=f"{patients}?table=public.patients&key=id"))
    assert first.certificate["hashes"]["release"] == second.certificate["hashes"]["release"]


def test_a_query_is_read_too(patients: str, tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text("SELECT age, sex, cost * 2 AS twice FROM public.patients WHERE id <= 60;")
    job = make_job(
        patients, input=patients, query=tmp_path / "query.sql", quasi=["age", "sex"], identifiers=[], keep=["twice"],
        allow=["twice"], output=tmp_path / "out.csv",
    )  # fmt: skip
    shoal.run(job)
    assert pl.read_csv(tmp_path / "out.csv").height == 60


def test_nothing_is_written_by_reading(patients: str, tmp_path: Path) -> None:
    execute(
        patients,
        "CREATE TABLE seen (n int)",
        "CREATE FUNCTION note(n int) RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO seen VALUES (n) RETURNING n'",
    )
    (tmp_path / "query.sql").write_text("SELECT note(age) AS age FROM public.patients")
    job = make_job(
        patients, input=patients, query=tmp_path / "query.sql", quasi=["age"], identifiers=[], keep=[], allow=[],
        output=tmp_path / "out.csv",
    )  # fmt: skip
    with pytest.raises(InputError, match="25006"):
        shoal.run(job)
    assert fetch(patients, "SELECT count(*) AS n FROM seen") == [{"n": 0}]


def test_a_lost_connection_leaves_the_old_table(patients: str) -> None:
    execute(patients, "CREATE TABLE research.release (old int)")

    def cut(event: Progress) -> None:
        if event.stage == "evaluate" and event.fraction == 0:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname"
            fetch(patients, f"{ended} = current_database() AND backend_type = 'client backend'")

    with pytest.raises(InputError) as lost:
        shoal.run(make_job(patients, replace=True), progress=cut)
    assert "terminat" not in str(lost.value)  # the server's words
    assert fetch(patients, "SELECT count(*) AS n FROM research.release") == [{"n": 0}]
    shoal.run(make_job(patients, replace=True))
    assert not fetch(patients, "SELECT 1 AS one FROM pg_tables WHERE tablename LIKE 'shoal%'")


def test_every_table_waits_under_a_name_of_its_own(patients: str) -> None:
    long = "n" * 62
    names = [f"{long}a", f"{long}b", "é" * 31]
    staged = {staging_name(name) for name in names}
    assert len(staged) == 3
    assert all(len(name.encode()) <= 63 for name in staged)
    shoal.run(make_job(patients, output=f"{patients}?table=research.{names[0]}"))
    assert fetch(patients, f"SELECT count(*) AS n FROM research.{names[0]}") == [{"n": 200}]
    with pytest.raises(InputError, match="63 bytes"):
        shoal.run(make_job(patients, output=f"{patients}?table=research.{long}ab"))


def test_an_existing_table_is_replaced_only_if_asked(patients: str) -> None:
    execute(patients, "CREATE TABLE research.release (old int)", "INSERT INTO research.release VALUES (1)")
    execute(patients, "CREATE INDEX by_old ON research.release (old)", "GRANT SELECT ON research.release TO public")
    with pytest.raises(InputError, match="exists already"):
        shoal.run(make_job(patients))
    assert fetch(patients, "SELECT old FROM research.release") == [{"old": 1}]
    notes = shoal.run(make_job(patients, replace=True)).certificate["notes"]
    assert any("by_old" in note for note in notes)
    assert any("SELECT to public" in note for note in notes)


def test_a_table_with_views_is_not_replaced(patients: str) -> None:
    execute(patients, "CREATE TABLE research.release (old int)", "CREATE VIEW seen AS SELECT * FROM research.release")
    with pytest.raises(InputError, match="seen would be lost"):
        shoal.run(make_job(patients, replace=True))


def test_a_failed_check_leaves_the_old_table(patients: str, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(patients, "CREATE TABLE research.release (old int)")
    stage = SqlTarget.stage

    def another(self: SqlTarget, frame: pl.DataFrame, like: object) -> pl.DataFrame:
        changed = frame.with_columns(age=pl.Series([f"age {n}" for n in range(frame.height)]))
        return stage(self, changed, like)

    monkeypatch.setattr(SqlTarget, "stage", another)
    with pytest.raises(ShoalError, match="fails"):
        shoal.run(make_job(patients, replace=True))
    assert fetch(patients, "SELECT count(*) AS n FROM research.release") == [{"n": 0}]
    assert not fetch(patients, "SELECT 1 AS one FROM pg_tables WHERE tablename LIKE 'shoal%'")


KILLED = """
import os, signal, sys
import shoal
from shoal.progress import Watch
def watch(event):
    if event.stage == "evaluate":
        os.kill(os.getpid(), signal.SIGKILL)
shoal.run(shoal.Job.load(sys.argv[1]), watch=Watch(watch))
"""


def test_a_killed_run_leaves_the_old_table_and_the_next_run_cleans_up(patients: str, tmp_path: Path) -> None:
    execute(patients, "CREATE TABLE research.release (old int)")
    make_job(patients, replace=True).save(tmp_path / "job.yaml")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "job.yaml")], check=False, env=os.environ)
    assert ended.returncode == -9
    assert fetch(patients, "SELECT count(*) AS n FROM research.release") == [{"n": 0}]
    left = fetch(patients, "SELECT tablename FROM pg_tables WHERE tablename LIKE 'shoal%'")
    assert left == [{"tablename": "shoal_staging_release"}]
    notes = shoal.run(make_job(patients, replace=True)).certificate["notes"]
    assert any("shoal_staging_release" in note for note in notes)
    assert not fetch(patients, "SELECT 1 AS one FROM pg_tables WHERE tablename LIKE 'shoal%'")
    assert fetch(patients, "SELECT count(*) AS n FROM research.release") == [{"n": 200}]


def test_readers_never_see_an_empty_table(patients: str) -> None:
    shoal.run(make_job(patients))
    seen: set[int] = set()
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            try:
                seen.add(int(fetch(patients, "SELECT count(*) AS n FROM research.release")[0]["n"]))  # type: ignore[call-overload]
            except Exception:  # between two names a reader may be told that the table it began with is gone
                continue

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(3):
        shoal.run(make_job(patients, replace=True))
    ended.set()
    reader.join()
    assert seen == {200}


def test_two_writers_of_one_table(patients: str) -> None:
    address = parse_address(f"{patients}?table=research.release")
    with SqlTarget(address, replace=False), pytest.raises(InputError, match="another run"):
        SqlTarget(address, replace=False)
    with SqlTarget(address, replace=False):
        pass  # the first has let go of it


def test_nothing_of_what_the_driver_says_is_passed_on(
    patients: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = patients.replace("owner@", f"owner:{PASSWORD}@")
    bad = [
        [f"{secret}?table=public.patients"],
        [f"{patients}?table=public.patients&password={PASSWORD}"],
        [f"{patients.replace('postgres', 'nowhere', 2)}?table=public.patients"],
        [f"{patients}?table=public.nothing"],
        [patients.replace("owner", "stranger") + "?table=public.patients"],
        [f"postgresql://owner:p%zz{PASSWORD}@127.0.0.1/x?table=y"],
    ]
    for arguments in bad:
        command = [sys.executable, "-m", "shoal.cli.main", "anonymize", *arguments, "-o", str(tmp_path / "out.csv")]
        ended = subprocess.run(
            [*command, "--quasi", "age", "-k", "5", "--drop-rest"], check=False, capture_output=True, text=True
        )
        assert ended.returncode == 2, ended.stderr
        assert PASSWORD not in ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
        assert not (tmp_path / "out.csv").exists()
