"""Everything that writes, as a command: what it is given, what it writes, and what lay there before.

A way is prepared once, in a folder of its own; before every run the outputs are as they were then.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROLES = ("--quasi", "age,sex", "--sensitive", "disease", "--identifiers", "name", "-q")
MONDRIAN = ("-k", "3", "--algorithm", "mondrian")
Run = Callable[[list[str]], tuple[object, str]]


@dataclass(frozen=True)
class Way:
    """`arguments` with {table} and {out} in it; `before` is run first, with the same."""

    arguments: tuple[str, ...]
    old: tuple[str, ...] = ()  # files that lie there already and hold something else
    before: tuple[tuple[str, ...], ...] = ()


def _release(name: str, *more: str) -> tuple[str, ...]:
    return ("anonymize", "{table}", "-o", f"{{out}}/{name}", *ROLES, *MONDRIAN, *more)


_BESIDE = ("--key", "{out}/key.csv", "--certificate", "{out}/certificate.json")
_PACKED = "{out}/../packed"
_SERIES = ("--series", "{out}/series.json")
_M_INVARIANT = ("m-invariant", "{table}", "-o", "{out}/release.csv", "--quasi", "age,sex", "--sensitive", "disease")

WAYS = {
    "excel": Way(_release("release.xlsx"), ("release.xlsx",)),
    "packed": Way(_release("release.csv.gz"), ("release.csv.gz",)),
    "private files": Way(
        _release("release.csv", *_BESIDE, "--public-certificate", "{out}/public.json"),
        ("release.csv", "key.csv", "certificate.json", "public.json"),
    ),
    "prices": Way(
        (*_release("release.csv"), "--algorithm", "shoal", "--effort", "low", "--prices", "{out}/prices.npz"),
        ("release.csv", "prices.npz"),
    ),
    "stream": Way(
        (*_release("release.csv"), "--algorithm", "shoal", "--effort", "low", "--engine", "stream"), ("release.csv",)
    ),
    "series": Way(_release("second.csv", *_SERIES), ("second.csv",), (_release("first.csv", *_SERIES),)),
    "cluster-release": Way(
        ("cluster-release", "{table}", "-o", "{out}/release.csv", *ROLES, "-k", "5", "--clusters", "2"),
        ("release.csv",),
    ),
    "publish-versions": Way(
        ("publish-versions", "{table}", "-o", "{out}/versions", *ROLES, "-k", "5", "--clusters", "2,3")
    ),
    "m-invariant": Way(
        (
            *(*_M_INVARIANT, "--person-key", "number", "--counterfeits", "{out}/counterfeits.csv"),
            *("--persons", "{out}/persons.parquet"),
        ),
        ("release.csv", "counterfeits.csv", "persons.parquet"),
    ),
    "sqlite": Way(
        ("anonymize", "{table}", "-o", "sqlite:///{out}/base.sqlite?table=release", "--replace", *ROLES, *MONDRIAN),
        (),
        (("anonymize", "{table}", "-o", "sqlite:///{out}/base.sqlite?table=release", *ROLES, "-k", "9"),),
    ),
    "duckdb": Way(
        ("anonymize", "{table}", "-o", "duckdb:///{out}/base.duckdb?table=release", "--replace", *ROLES, *MONDRIAN),
        (),
        (("anonymize", "{table}", "-o", "duckdb:///{out}/base.duckdb?table=release", *ROLES, "-k", "9"),),
    ),
    "pack": Way(
        ("pack", _PACKED, "-o", "{out}/evidence.zip", "--force"),
        ("evidence.zip",),
        (("anonymize", "{table}", "-o", f"{_PACKED}/r.csv", "--certificate", f"{_PACKED}/c.json", *ROLES, *MONDRIAN),),
    ),
    "hierarchies": Way(
        ("hierarchies", "export", "{table}", "-o", "{out}/trees", "--columns", "age,sex", "--force"), ("trees/age.csv",)
    ),
    "init": Way(("init", "{table}", "-o", "{out}/job.yaml", "--force"), ("job.yaml",)),
}  # fmt: skip

# What differs from run to run although nothing is wrong: salts, and how many versions lie there already.
VARYING = ("certificate.json", "public.json", "series.json")


def make_table(path: Path, secret: str) -> None:
    lines = ["number,name,age,sex,disease"]
    lines += [f"{row},{secret}{row},{20 + row * 7 % 40},{'fm'[row % 2]},{'abc'[row % 3]}" for row in range(60)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def prepare(way: Way, folder: Path, run: Run, secret: str) -> dict[str, bytes]:
    """Make what has to be there; returns the outputs as they are before every run."""
    outputs = folder / "outputs"
    outputs.mkdir()
    (folder / "packed").mkdir()
    make_table(folder / "table.csv", secret)
    for name in way.old:
        (outputs / name).parent.mkdir(parents=True, exist_ok=True)
        (outputs / name).write_bytes(b"the old " + name.encode())
    for arguments in way.before:
        code, said = run(filled(arguments, folder))
        assert code == 0, said
    return contents(outputs)


def filled(arguments: tuple[str, ...], folder: Path) -> list[str]:
    given = [text.replace("{table}", str(folder / "table.csv")) for text in arguments]
    given = [text.replace("{out}", str(folder / "outputs")) for text in given]
    return [*given, "--drop-rest"] if arguments[0] in ("anonymize", "cluster-release", "publish-versions") else given


def contents(outputs: Path) -> dict[str, bytes]:
    files = (path for path in outputs.rglob("*") if path.is_file())
    return {str(path.relative_to(outputs)): path.read_bytes() for path in sorted(files)}


def digests(outputs: Path) -> dict[str, str]:
    """One text for what each file says: its bytes, the rows of a database, or `whole` for what varies."""
    found = {}
    for name, content in contents(outputs).items():
        if name.endswith((".wal", "-journal")):
            continue  # the database's own, which it reads when it is opened again
        if name.endswith(".sqlite"):
            found[name] = _rows_of_sqlite(outputs / name)
        elif name.endswith(".duckdb"):
            found[name] = _rows_of_duckdb(outputs / name)
        elif Path(name).name in VARYING and not content.startswith(b"the old"):
            json.loads(content)
            found[name] = "whole"
        else:
            found[name] = hashlib.sha256(content).hexdigest()
    return found


def _rows_of_sqlite(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = connection.execute("SELECT * FROM release ORDER BY 1, 2, 3").fetchall()
    connection.close()
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def _rows_of_duckdb(path: Path) -> str:
    import duckdb

    connection = duckdb.connect(str(path))
    rows = connection.execute("SELECT * FROM release ORDER BY 1, 2, 3").fetchall()
    connection.close()
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def tables_of(outputs: Path) -> list[str]:
    """All tables of the databases there: what waits under another name must be gone after the next run."""
    import duckdb

    found = []
    for path in outputs.glob("*.sqlite"):
        with sqlite3.connect(path) as connection:
            found += [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        connection.close()
    for path in outputs.glob("*.duckdb"):
        base = duckdb.connect(str(path))
        found += [name for (name,) in base.execute("SELECT table_name FROM information_schema.tables").fetchall()]
        base.close()
    return found
