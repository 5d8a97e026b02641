"""SQLite and DuckDB, and the addresses of tables."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.tables.formats.sql.address import Database, parse_address
from shoal.tables.formats.sql.stores import open_store
from shoal.tables.formats.sql.tables import SqlTarget, read_sql


@pytest.fixture
def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + n % 30 for n in range(120)],
            "town": [("A", "B", "C")[n % 3] for n in range(120)],
            "height": [1.5 + n % 7 / 10 for n in range(120)],
            "disease": [("flu", "cold", None)[n % 3] for n in range(120)],
        }
    )


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_of_a_database_gives_the_release_of_a_csv_file(kind: str, people: pl.DataFrame, tmp_path: Path) -> None:
    people.write_csv(tmp_path / "people.csv")
    place = f"{kind}://{tmp_path}/data.{kind}"
    with SqlTarget(parse_address(f"{place}?table=people"), replace=False) as target:
        target.stage(people.sample(fraction=1.0, shuffle=True, seed=1), None)
        target.commit()
    settings = {"quasi": ["age", "town", "height"], "sensitive": ["disease"], "k": 4, "algorithm": "mondrian"}
    shoal.run(shoal.Job.make(input=tmp_path / "people.csv", output=tmp_path / "out.csv", **settings))
    shoal.run(shoal.Job.make(input=f"{place}?table=people", output=f"{place}?table=released", **settings))
    from_file = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    with closing(open_store(parse_address(place), to_write=False)) as store:
        assert store.tables() == ["people", "released"]
    from_table = read_sql(parse_address(f"{place}?table=released")).frame.cast(pl.String)
    assert sorted(from_file.rows(), key=str) == sorted(from_table.rows(), key=str)
    with pytest.raises(InputError, match="exists already"):
        shoal.run(shoal.Job.make(input=f"{place}?table=people", output=f"{place}?table=released", **settings))


@pytest.mark.parametrize("kind", ["DB-API", "ADBC", "DuckDB"])
def test_rows_of_an_open_connection_come_in_a_fixed_order(kind: str, people: pl.DataFrame, tmp_path: Path) -> None:
    mixed = people.sample(fraction=1.0, shuffle=True, seed=2)
    if kind == "DuckDB":
        import duckdb

        connection = duckdb.connect()
        connection.register("frame", mixed.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    else:
        import sqlite3

        import adbc_driver_sqlite.dbapi

        with SqlTarget(parse_address(f"sqlite://{tmp_path}/data.db?table=people"), replace=False) as target:
            target.stage(mixed, None)
            target.commit()
        opener = sqlite3 if kind == "DB-API" else adbc_driver_sqlite.dbapi
        connection = opener.connect(str(tmp_path / "data.db"))
    with closing(connection):
        found = shoal.read_sql(connection, "SELECT * FROM people", key="town")
        assert found.equals(people.sort("town", "age", "height", "disease", nulls_last=True), null_equal=True)
        with pytest.raises(InputError) as refused:
            shoal.read_sql(connection, "SELECT 'SECRET' FROM nowhere")
        assert "SECRET" not in str(refused.value)
        with pytest.raises(InputError, match="did you mean 'town'"):
            shoal.read_sql(connection, "SELECT * FROM people", key="twon")


def test_a_relation_of_duckdb_is_a_frame(people: pl.DataFrame) -> None:
    import duckdb
    import pyarrow as pa

    with closing(duckdb.connect()) as connection:
        connection.register("frame", people.to_arrow())
        given = connection.sql("SELECT age, town FROM frame")
        released = shoal.anonymize(given, quasi=["age", "town"], k=4, algorithm="mondrian").release
    assert isinstance(released, pa.Table)
    assert released.num_rows == people.height


def test_two_writers_of_one_sqlite_file(people: pl.DataFrame, tmp_path: Path) -> None:
    address = parse_address(f"sqlite://{tmp_path}/data.db?table=people")
    with SqlTarget(address, replace=False), pytest.raises(InputError, match="another run"):
        SqlTarget(address, replace=False)


def test_odd_columns_of_sqlite_come_as_texts(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "odd.db") as connection:
        connection.execute("CREATE TABLE t (a, b INTEGER, c TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, 2, "x"), ("one", 3, None), (None, 4, "y")])
    frame = read_sql(parse_address(f"sqlite://{tmp_path}/odd.db?table=t&key=b")).frame
    assert frame.to_dict(as_series=False) == {"a": ["1", "one", None], "b": [2, 3, 4], "c": ["x", None, "y"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("postgresql://user:word@host/db?table=t", "password-in-address"),
        ("postgresql://host/db?table=t&password=word", "password-in-address"),
        ("oracle://host/db?table=t", "unknown-database"),
        ("sqlite://host/file?table=t", "bad-address"),
        ("sqlite:///file.db?tabel=t", "bad-address"),
        ("postgresql://host/db?table=a.b.c", "bad-address"),
        ("postgresql://[host/db?table=t", "bad-address"),
    ],
)
def test_addresses_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_address(text)
    assert refused.value.reasons == (reason,)
    assert "word@" not in str(refused.value)


def test_the_parts_of_an_address() -> None:
    found = parse_address('postgresql://me@host:5/db?sslmode=require&table="odd.schema".patients&key=id,visit')
    assert (found.schema, found.table, found.key) == ("odd.schema", "patients", ("id", "visit"))
    assert found.place == "postgresql://me@host:5/db?sslmode=require"
    assert parse_address(found.text) == found
    assert parse_address("duckdb:///a/b.duckdb?table=t").place == "/a/b.duckdb"
    assert parse_address("sqlite:///./b.db?table=t").database is Database.SQLITE


def test_a_job_keeps_an_address(tmp_path: Path) -> None:
    job = shoal.Job.make(input="postgresql://host/db?table=a.b&key=id", quasi=["x"], k=2)
    job.save(tmp_path / "job.yaml")
    assert shoal.Job.load(tmp_path / "job.yaml") == job
    with pytest.raises(InputError, match="must not hold a password"):
        shoal.Job.make(input="postgresql://u:SECRET@host/db?table=a.b")


def test_settings_of_databases_need_a_database(people: pl.DataFrame, tmp_path: Path) -> None:
    people.write_csv(tmp_path / "people.csv")
    job = shoal.Job.make(
        input=tmp_path / "people.csv", output=tmp_path / "o.csv", query=tmp_path / "q.sql", replace=True, quasi=["age"],
        keep_rest=True, k=2,
    )  # fmt: skip
    with pytest.raises(InputError) as refused:
        shoal.run(job)
    assert {"query-without-database", "replace-without-database"} <= set(refused.value.reasons)
