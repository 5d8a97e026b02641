"""Runs in a process of its own with faults.c preloaded: one job again and again, each time with another call failing.

Arguments: the shared library, a working folder, and the format of the release. Prints one JSON line for every run:
which call failed and how, the exit code, what the output folder holds afterwards, and what was said.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

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
    return [path.name for path in folder.iterdir() if SECRET.encode() in path.read_bytes()]


def work() -> None:
    library = ctypes.CDLL(sys.argv[1])
    library.faults_log.restype = ctypes.c_char_p
    library.faults_end.restype = ctypes.c_long
    folder, suffix = Path(sys.argv[2]), sys.argv[3]
    source, outputs = folder / "table.csv", folder / "outputs"
    outputs.mkdir()
    tempfile.tempdir = os.fspath(outputs)  # so that temporary files are watched too
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
        library.faults_begin(os.fsencode(outputs), ctypes.c_long(number), ctypes.c_int(error))
        code, said = run(arguments)
        calls = library.faults_end()
        names = library.faults_log().decode().split()
        return {
            "call": names[number] if 0 <= number < len(names) else None,
            "number": number,
            "calls": calls,
            "error": errno.errorcode.get(error),
            "code": code,
            "files": hashes(outputs),
            "secrets": told_secrets(outputs),
            "said": said[-400:],
        }

    run([*arguments, "--help"])
    attempt(-1, 0)  # loads and compiles everything
    first = attempt(-1, 0)
    print(json.dumps(first), flush=True)
    for number in range(first["calls"]):
        for error in ERRORS:
            print(json.dumps(attempt(number, error)), flush=True)


if __name__ == "__main__":
    work()
