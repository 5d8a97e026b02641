"""A real PostgreSQL, started by an ordinary user on loopback, for the tests of this folder."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "SECRET-of-the-owner"


def _program(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _as_user(command: list[str]) -> list[str]:
    """The server refuses to run as root."""
    if os.getuid() != 0:
        return command
    return ["setpriv", f"--reuid={_user().pw_uid}", f"--regid={_user().pw_gid}", "--clear-groups", "--", *command]


def _user() -> pwd.struct_passwd:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return pwd.getpwnam("postgres" if "postgres" in names else "nobody")


@pytest.fixture(scope="session")
def server() -> Iterator[dict[str, str]]:
    if _program("initdb") is None or _program("pg_ctl") is None:
        pytest.skip("PostgreSQL is not installed (package postgresql)")
    with started_server() as found:
        yield found


@contextmanager
def started_server() -> Iterator[dict[str, str]]:
    """The environment and address of a server with the user `owner`; the password is in a file of its own."""
    initdb, control = str(_program("initdb")), str(_program("pg_ctl"))
    with tempfile.TemporaryDirectory(prefix="shoal-postgres-") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if os.getuid() == 0:
            for path in (folder, folder / "password"):
                os.chown(path, _user().pw_uid, _user().pw_gid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        data = str(folder / "data")
        first = [initdb, "-D", data, "-A", "scram-sha-256", "-U", "owner", "--locale=C", "-E", "UTF8"]
        _run([*first, f"--pwfile={folder / 'password'}"], folder)
        _run([control, "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start"], folder)
        passwords = folder / "passwords"
        passwords.write_text(f"127.0.0.1:{port}:*:owner:{PASSWORD}\n")
        passwords.chmod(0o600)
        try:
            yield {"PGPASSFILE": str(passwords), "address": f"postgresql://owner@127.0.0.1:{port}/postgres"}
        finally:
            _run([control, "-D", data, "-m", "immediate", "stop"], folder)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(_as_user(command), check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def postgres(server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the server, with an empty database behind it."""
    monkeypatch.setenv("PGPASSFILE", server["PGPASSFILE"])
    execute(server["address"], "DROP SCHEMA IF EXISTS public CASCADE", "CREATE SCHEMA public")
    execute(server["address"], "DROP SCHEMA IF EXISTS research CASCADE", "CREATE SCHEMA research")
    return server["address"]


def execute(address: str, *statements: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        connection.commit()


def fetch(address: str, query: str) -> list[dict[str, object]]:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetch_arrow_table().to_pylist()
