"""A session of Spark: the one that is running, or one of our own; and what Spark says, in our words.

Spark writes its log and whole stack traces to the screen, and its messages may hold cells of the table. A session that
is started here is silent, and what it raises comes out as an InputError with the name of the error alone.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from shutil import which
from typing import Any

from shoal.errors import InputError, InternalError, Problem, ShoalError

# Times are instants, names differ by case, and files say what other readers understand.
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
_OWN = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.app.name": "shoal",
}
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j", "py4j.clientserver")
_CHANGED = "input-changed"


@contextmanager
def open_session(master: str | None, config: Mapping[str, str], frame: Any = None) -> Iterator[Any]:
    """The session of a frame, the one that is running, or a new one that ends with the block.

    `master` is Spark's address of a cluster (`spark://...`, `local[2]`, `yarn`), or `sc://...` for Spark Connect;
    without one the environment decides (SPARK_REMOTE, SPARK_HOME and its defaults), else all processors of this
    machine.
    """
    _need_spark(frame is None and _is_remote(master))
    with quiet(), in_our_words():
        running = frame.sparkSession if frame is not None else _running(master)
        if running is None:
            session = _remote(master, config) if _is_remote(master) else _classic(master, config)
        else:
            session = _separate(running)
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        try:
            yield session
        finally:
            if running is None:
                session.stop()


def _need_spark(remote: bool) -> None:
    missing = [name for name in ("pyspark", "pandas", "pyarrow") if find_spec(name) is None]
    hint = 'pip install "shoal[spark]", and Java 17'
    if remote:
        missing += [name for name in ("grpc", "grpc_status", "zstandard") if find_spec(name) is None]
        hint = 'pip install "shoal[spark]" "pyspark[connect]"'
    if missing:
        message = f"the engine 'spark' needs {' and '.join(missing)}"
        raise InputError(Problem("missing-extra", message, hint=hint))


def _running(master: str | None) -> Any:
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    if found is not None and master is not None and found.conf.get("spark.master", master) != master:
        message = "a session of Spark with another master is running in this program"
        raise InputError(Problem("other-master", message, hint="stop it, or leave out the master"))
    return found


def _separate(running: Any) -> Any:
    """A session with settings of its own on the same cluster, where there is such a thing."""
    try:
        return running.newSession()
    except Exception as error:  # Spark Connect has none: then the settings are made in the session itself
        if not type(error).__module__.startswith("pyspark"):
            raise
        return running


def _is_remote(master: str | None) -> bool:
    return master.startswith("sc://") if master is not None else "SPARK_REMOTE" in os.environ


def _remote(master: str | None, config: Mapping[str, str]) -> Any:
    """A client of a server of Spark Connect; SPARK_REMOTE may name a master instead, and the server is begun here."""
    from pyspark.sql import SparkSession

    address = master or os.environ["SPARK_REMOTE"]
    ours = {} if address.startswith("sc://") else _settings(address)
    builder = SparkSession.builder.remote(address)
    for name, value in {**ours, **config}.items():
        builder = builder.config(name, value)
    if not ours:
        return builder.getOrCreate()
    with _our_interrupt(), _our_python(config.get("spark.pyspark.python")), _silent_java({**ours, **config}):
        return builder.getOrCreate()


def _settings(master: str | None) -> dict[str, str]:
    """What a session of our own begins with."""
    settings = dict(_OWN)
    if (master or "local").startswith("local"):
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return settings


@contextmanager
def _silent_java(config: Mapping[str, str]) -> Iterator[None]:
    """Java for a server of Spark Connect that is begun in this program: its log is not shown, its page not served."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    named = os.environ.pop("SPARK_REMOTE", None)  # Java would take itself for a client
    try:
        if SparkContext._gateway is None:
            conf = SparkConf().setAll(list(config.items()))
            launch: Callable[..., Any] = launch_gateway
            gateway = launch(conf, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})
            SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
    finally:
        if named is not None:
            os.environ["SPARK_REMOTE"] = named
    yield


def _classic(master: str | None, config: Mapping[str, str]) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    settings = {**_settings(master), **({"spark.master": master} if master is not None else {}), **config}
    conf = SparkConf().setAll(list(settings.items()))
    if conf.get("spark.master") is None:
        conf.setMaster("local[*]")
    with _our_interrupt(), _our_python(settings.get("spark.pyspark.python")):
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        launch: Callable[..., Any] = launch_gateway
        gateway = SparkContext._gateway or launch(conf, silent)
        return SparkSession(SparkContext(conf=conf, gateway=gateway))


@contextmanager
def _our_python(named: str | None) -> Iterator[None]:
    """Executors run the Python that is named, else the one that runs here: Spark itself takes the first in the path."""
    if "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = named or sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


@contextmanager
def _our_interrupt() -> Iterator[None]:
    """Spark takes the handler of Ctrl-C for itself; ours knows what to do with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def quiet() -> Iterator[None]:
    """No log of Spark's Python side, and no warning about versions of pandas: only Arrow columns are used here."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger.disabled, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*pandas.*", category=FutureWarning)
            warnings.filterwarnings("ignore", module="pyspark.*")
            warnings.filterwarnings("ignore", category=ResourceWarning)
            yield
    finally:
        for logger, (disabled, propagate) in zip(loggers, before, strict=True):
            logger.disabled, logger.propagate = disabled, propagate


@contextmanager
def in_our_words() -> Iterator[None]:
    """What Spark raises inside this block, without its texts: they may hold cells of the table."""
    try:
        yield
    except (ShoalError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # py4j, grpc and pyspark have classes of their own
        if not _is_theirs(error):
            raise
        raise _translated(error) from None


def _is_theirs(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j", "grpc") or isinstance(error, ConnectionError)


def _translated(error: Exception) -> ShoalError:
    text = str(error)
    if _CHANGED in text:
        message = "the input was changed while it was read, or gives other records every time"
        return InternalError(Problem(_CHANGED, message))
    condition = _condition(error)
    if condition == "JAVA_GATEWAY_EXITED" and "JAVA_HOME" not in os.environ and which("java") is None:
        hint = "install Java 17 (openjdk-17-jre-headless), or set JAVA_HOME"
        return InputError(Problem("no-java", "Spark needs Java, and there is none here", hint=hint))
    if "ModuleNotFoundError" in text and "shoal" in text:
        hint = "install the package where the executors run, and name their Python with PYSPARK_PYTHON"
        return InputError(Problem("no-package", "the executors of Spark do not have this package", hint=hint))
    hint = "Spark's own log says more; look at the master, the memory of the executors and the rights to the folders"
    return InputError(Problem("spark-failed", f"Spark could not do it ({condition})", hint=hint))


def _condition(error: Exception) -> str:
    """The name that Spark gives an error, or that of its class: letters only, nothing of the table."""
    ask: Callable[[], Any] | None = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    named = ask() if ask is not None else None
    if isinstance(named, str) and re.fullmatch(r"[A-Z0-9_.]+", named):
        return named
    return type(error).__name__
