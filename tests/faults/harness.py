"""Runs in a process of its own with faults.c preloaded: one job again and again, each time with another call failing.

Arguments: the shared library, a working folder, a format or `ways` for everything in WAYS, and `all` to let every
call of those fail in four ways (else every third in one). Prints one JSON line for every run: which call
failed and how, the exit code, what the output folder holds afterwards, and what was said.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ways import WAYS, digests, filled, prepare, tables_of

from shoal.cli.main import main

ERRORS = (errno.ENOSPC, errno.EACCES, errno.EPIPE, errno.EINTR)
SECRET = "Secretname"  # in a column that is dropped: nothing of it may be left anywhere


def make_input(path: Path) -> None:
    lines = ["name,age,sex,disease"]
    lines += [f"{SECRET}{row},{20 + row * 7 % 40},{'fm'[row % 2]},{'abc'[row % 3]}" for row in range(60)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(arguments: list[str]) -> tuple[Any, str]:
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        try:
            main(arguments)
        except SystemExit as end:
            return end.code, screen.getvalue()
    return "no exit", screen.getvalue()


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def told_secrets(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


class Faults:
    """The library that lets a call fail, and a folder that it watches."""

    def __init__(self, library: str, outputs: Path) -> None:
        self._library = ctypes.CDLL(library)
        self._library.faults_log.restype = ctypes.c_char_p
        self._library.faults_end.restype = ctypes.c_long
        self._outputs = outputs
        tempfile.tempdir = os.fspath(outputs)  # so that temporary files are watched too

    def run(self, arguments: list[str], number: int, error: int) -> dict[str, Any]:
        """A run in which call `number` fails with `error`; -1: none does."""
        self._library.faults_begin(os.fsencode(self._outputs), ctypes.c_long(number), ctypes.c_int(error))
        code, said = run(arguments)
        calls = self._library.faults_end()
        names = self._library.faults_log().decode().split()
        return {
            "call": names[number] if 0 <= number < len(names) else None,
            "number": number,
            "calls": calls,
            "error": errno.errorcode.get(error),
            "code": code,
            "secrets": told_secrets(self._outputs),
            "said": said if len(said) < 1000 else said[:400] + said[-400:],
        }


def work() -> None:
    folder, suffix = Path(sys.argv[2]), sys.argv[3]
    source, outputs = folder / "table.csv", folder / "outputs"
    outputs.mkdir()
    faults = Faults(sys.argv[1], outputs)
    make_input(source)
    release, certificate = outputs / f"release.{suffix}", outputs / "certificate.json"
    arguments = ["anonymize", str(source), "-o", str(release), "--certificate", str(certificate), "-k", "3", "-q"]
    arguments += ["--quasi", "age,sex", "--sensitive", "disease", "--identifiers", "name", "--algorithm", "mondrian"]
    old = {release: b"the old release", certificate: b"the old certificate"}

    def attempt(number: int, error: int) -> dict[str, Any]:
        for path in outputs.iterdir():
            path.unlink()
        for path, content in old.items():
            path.write_bytes(content)
        return {**faults.run(arguments, number, error), "files": hashes(outputs)}

    run([*arguments, "--help"])
    attempt(-1, 0)  # loads and compiles everything
    first = attempt(-1, 0)
    print(json.dumps(first), flush=True)
    for number in range(first["calls"]):
        for error in ERRORS:
            print(json.dumps(attempt(number, error)), flush=True)


def work_one_way(name: str, folder: Path, every: bool) -> None:
    """The same for anything that writes, as one line: what lay there before, a good run, and all others."""
    way, outputs = WAYS[name], folder / "outputs"
    folder.mkdir()
    old = prepare(way, folder, run, SECRET)
    before = digests(outputs)
    arguments = filled(way.arguments, folder)
    faults = Faults(sys.argv[1], outputs)

    def attempt(number: int, error: int) -> dict[str, Any]:
        shutil.rmtree(outputs)
        outputs.mkdir()
        for file, content in old.items():
            (outputs / file).parent.mkdir(parents=True, exist_ok=True)
            (outputs / file).write_bytes(content)
        found = {**faults.run(arguments, number, error), "files": digests(outputs)}
        if found["code"] != 0 and tables_of(outputs):
            found["again"] = (run(arguments)[0], digests(outputs), tables_of(outputs))
        return found

    attempt(-1, 0)
    good = attempt(-1, 0)
    if every:
        faults_wanted = [(number, error) for number in range(good["calls"]) for error in ERRORS]
    else:
        some = range(len(name) % 3, good["calls"], 3)
        faults_wanted = [(number, ERRORS[number % len(ERRORS)]) for number in some]
    faulty = [attempt(number, error) for number, error in faults_wanted]
    tempfile.tempdir = None
    print(json.dumps({"way": name, "old": before, "good": good, "faulty": faulty}), flush=True)


if __name__ == "__main__":
    if sys.argv[3] == "ways":
        for number, name in enumerate(WAYS):
            work_one_way(name, Path(sys.argv[2]) / str(number), "all" in sys.argv[4:])
    else:
        work()
