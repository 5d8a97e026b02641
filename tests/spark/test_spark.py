"""Spark gives the cells of a local run, however the table is cut: in one process, and on a real cluster."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
from tests.contract.test_blocks import in_blocks
from tests.contract.test_engines import JOBS, make_job, people, write_table
from tests.contract.test_engines_and_models import TYPED, typed_people

import shoal
from shoal.engines.spark.engine import SparkEngine
from shoal.engines.spark.session import open_session
from shoal.errors import InputError, ShoalError
from shoal.pipeline.verify_files import verify_certified

# Java that begins fast: these runs are short
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.driver.extraJavaOptions": QUICK}
FILES_DIFFER = ("hashes", "self_hash", "csv", "files", "job")  # CSV in, Parquet out


@pytest.fixture(scope="module", autouse=True)
def _spark_is_there() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed (the extra 'spark')")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed (package openjdk-17-jre-headless)")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with open_session("local[2]", SETTINGS) as opened:
        yield opened


def spark_job(folder: Path, ending: str, **settings: Any) -> shoal.Job:
    job = make_job(folder, ending, "spark", **settings)
    return job.model_copy(update={"output": folder / "spark", "replace": True})


def released(folder: Path) -> pl.DataFrame:
    assert (folder / "_SUCCESS").is_file()
    return pl.read_parquet(sorted(folder.glob("part-*.parquet")))


def local(folder: Path, ending: str) -> pl.DataFrame:
    path = folder / f"local.{ending}"
    return pl.read_csv(path, infer_schema=False) if ending == "csv" else pl.read_parquet(path)


@pytest.mark.parametrize(
    ("name", "ending"), [("k", "csv"), ("persons", "parquet"), ("suppression and a model", "parquet")]
)
def test_the_cells_and_the_certificate_of_a_local_run(session: Any, tmp_path: Path, name: str, ending: str) -> None:
    write_table(people(len(name)), tmp_path / f"in.{ending}")
    whole = shoal.run(make_job(tmp_path, ending, "local", **JOBS[name]))
    found = shoal.run(spark_job(tmp_path, ending, **JOBS[name]))
    assert released(tmp_path / "spark").equals(local(tmp_path, ending), null_equal=True)
    certificates = [json.loads((tmp_path / f"{engine}.json").read_text()) for engine in ("local", "spark")]
    same = [{key: value for key, value in one.items() if key not in FILES_DIFFER} for one in certificates]
    assert same[0] == same[1]
    assert found.metrics == pytest.approx(whole.metrics, rel=1e-9)
    assert found.verification == whole.verification
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    if name == "k":
        assert verify_certified(tmp_path / "spark", certificates[1])["passed"]
        released(tmp_path / "spark")[1:].write_parquet(tmp_path / "spark" / "part-000000.parquet")
        assert not verify_certified(tmp_path / "spark", certificates[1])["passed"]


def test_how_the_table_is_cut_means_nothing(session: Any, tmp_path: Path) -> None:
    frame = people(3)
    write_table(frame, tmp_path / "in.parquet")
    shoal.run(make_job(tmp_path, "parquet", "local", k=5))
    one = shoal.run(spark_job(tmp_path, "parquet", k=5))
    parts = tmp_path / "many [a-b] parts"
    parts.mkdir()
    for number, start in enumerate(range(0, frame.height, 13)):
        write_table(frame[start : start + 13], parts / f"part {number:02d}.parquet")
    session.conf.set("spark.sql.shuffle.partitions", "3")
    many = shoal.run(spark_job(tmp_path, "parquet", k=5).model_copy(update={"input": parts}))
    session.conf.set("spark.sql.shuffle.partitions", "2")
    assert many.certificate["hashes"] == one.certificate["hashes"]
    assert released(tmp_path / "spark").equals(local(tmp_path, "parquet"), null_equal=True)


def test_a_frame_of_spark_is_released_into_a_folder(session: Any, tmp_path: Path) -> None:
    frame = people(4).with_columns(pl.col("age").cast(pl.Int64))
    frame.write_parquet(tmp_path / "in.parquet")
    given = session.read.parquet((tmp_path / "in.parquet").as_uri())
    roles = {"quasi": ["age", "town", "job"], "sensitive": ["illness"], "identifiers": ["name"], "drop_rest": True}
    hashes = set()
    for parts in (1, 20):
        place = tmp_path / f"out{parts}"
        result = shoal.anonymize(given.repartition(parts), **roles, k=5, effort="low", output=place)
        hashes.add(result.certificate["hashes"]["release"])
        assert result.release.count() == frame.height
        assert result.release.columns == ["age", "town", "job", "illness"]
    assert len(hashes) == 1
    whole = shoal.anonymize(frame, **roles, k=5, effort="low").release
    sizes = [one.group_by("age", "town", "job").len().sort(pl.all()) for one in (released(place), whole)]
    assert sizes[0].equals(sizes[1], null_equal=True)
    with pytest.raises(InputError) as refused:
        shoal.anonymize(given, **roles, k=5)
    assert refused.value.reasons == ("cannot-stream",)


def test_what_cannot_be_done_is_told_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(people(1), tmp_path / "in.parquet")
    monkeypatch.setattr("shoal.engines.spark.session.open_session", lambda *_: pytest.fail("Spark was started"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    job = spark_job(tmp_path, "parquet", k=5)
    changes: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({"algorithm": "mondrian", "effort": None}, ("cannot-stream",)),
        ({"report": tmp_path / "report.html"}, ("cannot-stream",)),
        ({"output": tmp_path / "out.csv"}, ("cannot-stream",)),
        ({"output": tmp_path / "full"}, ("output-exists",)),
        ({"output": tmp_path / "nowhere" / "out"}, ("no-such-folder",)),
    ]
    for change, reasons in changes:
        with pytest.raises(InputError) as refused:
            shoal.run(job.model_copy(update=change))
        assert set(refused.value.reasons) == set(reasons), change
    assert (tmp_path / "full" / "mine.txt").exists()


def test_a_release_is_replaced_only_if_asked(session: Any, tmp_path: Path) -> None:
    write_table(people(1), tmp_path / "in.parquet")
    place = tmp_path / "spark"
    place.mkdir()
    (place / "part-000000.parquet").touch()
    (place / "_SUCCESS").touch()
    with pytest.raises(InputError) as refused:
        shoal.run(spark_job(tmp_path, "parquet", k=5).model_copy(update={"replace": False}))
    assert refused.value.reasons == ("output-exists",)
    assert (place / "part-000000.parquet").stat().st_size == 0


def test_types_that_spark_would_change_are_refused(session: Any, tmp_path: Path) -> None:
    odd = people(1).with_columns(pl.lit([1, 2]).alias("list"), pl.col("age").cast(pl.UInt16))
    odd.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(InputError) as refused:
        shoal.run(spark_job(tmp_path, "parquet", k=5, allow=("note", "income", "list")))
    assert {(problem.reason, problem.column) for problem in refused.value.problems} == {
        ("cannot-stream", "list"),
        ("cannot-stream", "age"),
    }


def test_every_type_that_spark_has_passes_as_it_is(session: Any, tmp_path: Path) -> None:
    typed_people().write_parquet(tmp_path / "in.parquet", row_group_size=50)
    shoal.run(shoal.Job.make(input=tmp_path / "in.parquet", output=tmp_path / "local.parquet", **TYPED))
    shoal.run(shoal.Job.make(engine="spark", input=tmp_path / "in.parquet", output=tmp_path / "spark", **TYPED))
    found, whole = released(tmp_path / "spark"), pl.read_parquet(tmp_path / "local.parquet")
    assert found.schema == whole.schema
    assert found.equals(whole, null_equal=True)


@pytest.mark.parametrize(
    "kind", [pl.UInt8, pl.Time, pl.Duration("us"), pl.Datetime("ns"), pl.Datetime("us", "Europe/Berlin"),
             pl.Categorical, pl.Enum(["a"]), pl.List(pl.Int64), pl.Struct({"x": pl.Int64})], ids=str,
)  # fmt: skip
def test_other_types_are_refused_in_words_before_spark_is_started(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkEngine, "distinct", lambda *_: pytest.fail("records were read"))
    monkeypatch.setattr("shoal.engines.spark.session.open_session", lambda *_: nullcontext())
    odd = pl.Series("odd", [None] * 240, dtype=kind)
    typed_people().with_columns(odd).write_parquet(tmp_path / "in.parquet")
    job = shoal.Job.make(
        engine="spark", input=tmp_path / "in.parquet", output=tmp_path / "spark", **{**TYPED, "allow": ()}
    )
    with pytest.raises(InputError) as refused:
        shoal.run(job)
    told = [problem for problem in refused.value.problems if problem.column == "odd"]
    assert [problem.reason for problem in told] == ["cannot-stream"]
    assert "no type" in told[0].message
    assert "cast" in str(told[0].hint)


def test_blocks_are_clustered_by_executors_where_the_driver_cannot_hold_the_rows(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups, and so cells, are those of the engine that lets the rows wait on the disk of one machine."""
    frame = people(5, 900)
    write_table(frame, tmp_path / "in.parquet")
    in_blocks(make_job(tmp_path, "parquet", "stream", k=4), 60)
    monkeypatch.setattr("shoal.pipeline.engines.most_distinct_rows", lambda _: 60)
    result = shoal.run(spark_job(tmp_path, "parquet", k=4))
    assert released(tmp_path / "spark").equals(pl.read_parquet(tmp_path / "stream.parquet"), null_equal=True)
    assert any("blocks" in note for note in result.certificate["notes"])
    certificates = [json.loads((tmp_path / f"{engine}.json").read_text()) for engine in ("stream", "spark")]
    assert certificates[0]["loss"] == certificates[1]["loss"]
    with pytest.raises(InputError) as refused:
        shoal.run(spark_job(tmp_path, "parquet", k=4, models=("distinct-l:illness:2",)))
    assert refused.value.reasons == ("too-many-distinct-rows",)


CONNECT = """
import sys
import polars as pl
from pyspark.sql import SparkSession
import shoal

from shoal.engines.spark.session import open_session

job = shoal.Job.load(sys.argv[1])
with open_session(None, dict(job.spark.config)) as session:
    print(type(session).__module__)
    shoal.run(job)
    given = session.read.parquet("file://" + str(job.input))
    print(type(given).__module__)
    roles = dict(quasi=["age", "town", "job"], sensitive=["illness"], identifiers=["name"], drop_rest=True)
    found = shoal.anonymize(given, **roles, k=5, effort="low", output=sys.argv[2])
    print(found.release.count())
"""


def test_spark_connect_gives_the_same_cells(tmp_path: Path) -> None:
    """A client of a server that has neither RDDs nor a context; the server is begun on this machine."""
    pytest.importorskip("grpc", reason="grpcio is not installed (pyspark[connect])")
    frame = people(3)
    write_table(frame, tmp_path / "in.parquet")
    shoal.run(make_job(tmp_path, "parquet", "local", k=5))
    job = spark_job(tmp_path, "parquet", k=5)
    job = shoal.Job.make(**{**job.model_dump(by_alias=True), "spark": {"config": SETTINGS}})
    job.save(tmp_path / "job.yaml")
    environment = {**os.environ, "SPARK_REMOTE": "local[2]", "SPARK_TESTING": "1"}  # a port that is free
    command = [sys.executable, "-c", CONNECT, str(tmp_path / "job.yaml"), str(tmp_path / "frame")]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=900, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["pyspark.sql.connect.session", "pyspark.sql.connect.dataframe", str(frame.height)]
    assert ended.stderr == ""
    assert released(tmp_path / "spark").equals(local(tmp_path, "parquet"), null_equal=True)


def test_an_input_that_changes_meanwhile_leaves_nothing(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = people(1)
    write_table(frame, tmp_path / "in.parquet")
    counted = SparkEngine.distinct

    def count_and_change(self: SparkEngine, *given: Any) -> Any:
        found = counted(self, *given)
        write_table(
            frame.with_columns(pl.lit("99").alias("age"), pl.lit("SECRET").alias("town")), tmp_path / "in.parquet"
        )
        return found

    monkeypatch.setattr(SparkEngine, "distinct", count_and_change)
    with pytest.raises(ShoalError) as refused:
        shoal.run(spark_job(tmp_path, "parquet", k=5))
    assert "SECRET" not in str(refused.value)
    told = capfd.readouterr()
    assert told.out + told.err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet"]


# --- a real cluster -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A master and two workers on loopback, from the package alone; executors have no home that can be written to."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("cluster")
    environment = {
        **os.environ, "SPARK_HOME": str(home), "SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": QUICK, "SPARK_DAEMON_MEMORY": "256m", "HOME": "/proc/nobody",
        "PYTHONPATH": str(Path(shoal.__file__).parents[1]),
    }  # fmt: skip
    program, address = home / "bin" / "spark-class", f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    master = [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    worker = [f"{deploy}.worker.Worker", "-c", "1", "-m", "1g", "--webui-port", "0", "-d"]
    commands = [master, *([*worker, str(folder / name), address] for name in ("one", "two"))]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([program, *command], env=environment, cwd=folder, **silent) for command in commands]
    try:
        yield address, folder
    finally:
        for process in processes:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
            process.wait()


# kills an executor once the release is being written
RUN = """
import os, sys, threading, time
from pathlib import Path
import psutil
import shoal
from shoal.progress import Watch

begun = threading.Event()
killed = []

def kill():
    begun.wait()
    folder = Path(sys.argv[1]).parent
    while not list(folder.glob(".shoal-*/release/_temporary")):
        time.sleep(0.01)
    found = psutil.process_iter(["cmdline", "cwd"])
    executors = [one for one in found if (one.info["cwd"] or "").startswith(sys.argv[2]) and
                 "CoarseGrainedExecutorBackend" in " ".join(one.info["cmdline"] or ())]
    executors[0].kill()
    killed.append(executors[0].pid)

thread = threading.Thread(target=kill, daemon=True)
thread.start()
watch = Watch(lambda event: begun.set() if event.stage == "write" else None)
shoal.run(shoal.Job.load(sys.argv[1]), watch=watch)
thread.join(10)
print(len(killed))
"""


def test_a_cluster_that_loses_an_executor_gives_the_same_cells(cluster: tuple[str, Path], tmp_path: Path) -> None:
    frame = pl.concat([people(seed) for seed in range(20)])
    write_table(frame, tmp_path / "in.parquet")
    shoal.run(make_job(tmp_path, "parquet", "local", k=5))
    config = {
        "spark.executor.memory": "512m", "spark.sql.shuffle.partitions": "4", "spark.executor.extraJavaOptions": QUICK,
        "spark.driver.extraJavaOptions": QUICK, "spark.sql.files.maxPartitionBytes": "20000",
        "spark.sql.adaptive.enabled": "false", "spark.driver.host": "127.0.0.1",
    }  # fmt: skip
    job = spark_job(tmp_path, "parquet", k=5)
    job = shoal.Job.make(**{**job.model_dump(by_alias=True), "spark": {"master": cluster[0], "config": config}})
    job.save(tmp_path / "job.yaml")
    command = [sys.executable, "-c", RUN, str(tmp_path / "job.yaml"), str(cluster[1])]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stderr
    assert (ended.stdout, ended.stderr) == ("1\n", "")  # one executor was killed; Spark's log is not shown
    found = released(tmp_path / "spark")
    assert found.equals(local(tmp_path, "parquet"), null_equal=True)


def test_without_a_cluster_the_command_says_so_in_few_words(tmp_path: Path) -> None:
    write_table(people(1), tmp_path / "in.parquet")
    command = [sys.executable, "-m", "shoal.cli.main", "anonymize", str(tmp_path / "in.parquet"), "-o", "out"]
    command += ["--quasi", "age,town", "--drop-rest", "-k", "5", "--spark-master", "nonsense://127.0.0.1"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 2
    assert "Spark could not do it" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "org.apache" not in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet"]
