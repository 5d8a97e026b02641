"""Tables of databases that are read and written piece by piece: the release, rows and certificate of a local run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.contract.test_engines import JOBS, TINY, people, streamed
from tests.sql.conftest import execute, fetch
from tests.sql.test_postgresql import FILL, KEPT, TYPES

import shoal
from shoal.errors import InputError
from shoal.job.engine import settle_engine
from shoal.progress import Progress, Watch
from shoal.tables.formats.sql.address import parse_address
from shoal.tables.formats.sql.pieces import SqlPieces
from shoal.tables.formats.sql.tables import SqlTarget, open_relation, read_sql

KINDS = ("sqlite", "duckdb", "postgresql")


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres"))
    return f"{request.param}://{tmp_path}/data.{request.param}"


def with_people(address: str, frame: pl.DataFrame | None = None) -> str:
    frame = people(5) if frame is None else frame
    typed = frame.with_columns(pl.col("age").cast(pl.Int64), pl.col("income").cast(pl.Float64))
    with SqlTarget(parse_address(f"{address}?table=people"), replace=False) as target:
        target.stage(typed.sample(fraction=1.0, shuffle=True, seed=3), None)
        target.commit()
    return f"{address}?table=people&key=income"


def make_job(source: Any, output: Any, certificate: Path, **settings: Any) -> shoal.Job:
    roles: dict[str, Any] = {"quasi": ("age", "town", "job"), "sensitive": ("illness",), "identifiers": ("name",)}
    kept = {"keep": ("income",), "allow": ("income",), "drop_rest": True, "effort": "low"}
    chosen = {**roles, **kept, **settings}
    chosen["keep"] = tuple(name for name in chosen["keep"] if name not in chosen["quasi"])
    return shoal.Job.make(input=source, output=output, certificate=certificate, **chosen)


@pytest.mark.parametrize("name", ["k", "persons", "suppression and a model"])
def test_a_stream_from_table_to_table_is_a_local_run(database: str, tmp_path: Path, name: str) -> None:
    source, settings = with_people(database), JOBS[name]
    jobs = {
        engine: make_job(source, f"{database}?table={engine}", tmp_path / f"{engine}.json", engine=engine, **settings)
        for engine in ("local", "stream")
    }
    whole = shoal.run(jobs["local"])
    found = streamed(jobs["stream"])
    frames = [read_sql(parse_address(f"{database}?table={engine}")).frame for engine in jobs]
    assert frames[0].equals(frames[1], null_equal=True)
    certificates = [json.loads((tmp_path / f"{engine}.json").read_text()) for engine in jobs]
    assert certificates[0].pop("database")["table"] == "local"
    assert certificates[1].pop("database")["table"] == "stream"
    assert certificates[0]["hashes"] == certificates[1]["hashes"]
    for one in certificates:
        one.pop("self_hash")
    assert certificates[0] == certificates[1]
    assert found.verification == whole.verification
    with pytest.raises(InputError, match="exists already"):
        streamed(jobs["stream"])


def test_a_table_is_streamed_into_a_file_and_back(database: str, tmp_path: Path) -> None:
    source = with_people(database)
    for engine, run in (("local", shoal.run), ("stream", streamed)):
        run(make_job(source, tmp_path / f"{engine}.csv", tmp_path / "c.json", k=5, engine=engine))
    assert (tmp_path / "local.csv").read_bytes() == (tmp_path / "stream.csv").read_bytes()
    place = f"{database}?table=again"
    roles = {"identifiers": (), "k": 5, "engine": "stream"}
    streamed(make_job(tmp_path / "local.csv", place, tmp_path / "c.json", **roles))
    back = read_sql(parse_address(place)).frame.cast(pl.String)
    given = pl.read_csv(tmp_path / "local.csv", infer_schema=False)
    assert sorted(back.rows(), key=str) == sorted(given.select(back.columns).rows(), key=str)


def test_rows_come_in_the_order_of_a_table_in_memory(database: str, tmp_path: Path) -> None:
    address = parse_address(with_people(database, pl.concat([people(seed, 400) for seed in range(3)])))
    pieces = SqlPieces(address, open_relation(address), tmp_path / "waits", TINY)
    found = pl.concat(list(pieces.read()))
    whole = read_sql(address).frame
    assert found.equals(whole, null_equal=True)
    assert dict(found.schema) == pieces.schema() == dict(whole.schema)
    assert len(list((tmp_path / "waits" / "ready").iterdir())) > 10
    assert (tmp_path / "waits").stat().st_mode & 0o77 == 0


def test_types_come_back_from_a_stream(postgres: str, tmp_path: Path) -> None:
    execute(postgres, TYPES, FILL)
    roles = {"quasi": ("age", "zip", "sex", "born"), "identifiers": ("id",), "keep": KEPT, "allow": KEPT}
    source = f"{postgres}?table=public.patients&key=id"
    for engine, run in (("local", shoal.run), ("stream", streamed)):
        place = f"{postgres}?table=research.{engine}"
        run(shoal.Job.make(input=source, output=place, engine=engine, k=5, effort="low", sensitive=(), **roles))
    one, other = (read_sql(parse_address(f"{postgres}?table=research.{engine}")) for engine in ("local", "stream"))
    assert one.columns == other.columns
    assert {"numeric(10,2)", "uuid", "money", "inet", "interval", "integer[]"} <= {each.kind for each in other.columns}
    assert one.frame.equals(other.frame, null_equal=True)


def test_a_stream_that_breaks_leaves_the_old_table(postgres: str, tmp_path: Path) -> None:
    execute(postgres, "CREATE TABLE research.release (old int)")
    source = with_people(postgres)
    job = make_job(
        source, f"{postgres}?table=research.release", tmp_path / "c.json", engine="stream", replace=True, k=5
    )
    staged = "SELECT 1 AS one FROM pg_tables WHERE tablename LIKE 'shoal%'"

    def cut(event: Progress) -> None:
        if event.stage == "verify" and event.fraction > 0.4:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname"
            fetch(postgres, f"{ended} = current_database() AND backend_type = 'client backend'")

    with pytest.raises(InputError) as lost:
        streamed(job, watch=Watch(cut))
    assert "terminat" not in str(lost.value)
    assert fetch(postgres, "SELECT count(*) AS n FROM research.release") == [{"n": 0}]
    assert fetch(postgres, staged)
    streamed(job)
    assert not fetch(postgres, staged)
    assert fetch(postgres, "SELECT count(*) AS n FROM research.release") == [{"n": 260}]
    assert "shoal_staging_release" in json.dumps(json.loads((tmp_path / "c.json").read_text())["notes"])
    assert not list(tmp_path.glob("scratch/*/*"))


def test_auto_streams_a_table_that_is_too_large(database: str, tmp_path: Path) -> None:
    job = make_job(with_people(database), f"{database}?table=out", tmp_path / "c.json", k=5)
    assert settle_engine(job.model_copy(update={"memory": "1GB"})).engine == "local"
    assert settle_engine(job.model_copy(update={"memory": "20KB"})).engine == "stream"


def test_columns_of_sqlite_whose_first_values_are_missing(tmp_path: Path) -> None:
    import sqlite3

    rows = [(None, None, None) if n < 2000 else (f"text {n}", n / 2, n) for n in range(2500)]
    with sqlite3.connect(tmp_path / "late.db") as connection:
        connection.execute("CREATE TABLE t (a TEXT, b REAL, c INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    frame = read_sql(parse_address(f"sqlite://{tmp_path}/late.db?table=t&key=c")).frame
    assert frame.schema == {"a": pl.String, "b": pl.Float64, "c": pl.Int64}
    assert frame.null_count().row(0) == (2000, 2000, 2000)
    assert [path.name for path in tmp_path.iterdir()] == ["late.db"]
