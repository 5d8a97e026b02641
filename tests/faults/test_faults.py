"""What can go wrong around a run: the disk, the rights, the machine, other runs. After each of these the old release is
whole, or a new one that was checked; nothing half, nothing of the input left behind, and the exit code says it.

`SHOAL_KILLS=200 pytest tests/faults` kills more often, `SHOAL_FAULTS=all` lets every call of everything that writes
fail in four ways, instead of every third in one. `make faults` does both.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REMOVING = ("unlink", "rmdir")  # what cannot be removed stays, and is hidden
SECRET = b"Secretname"
KILLS = int(os.environ.get("SHOAL_KILLS", "20"))
EVERY = ["all"] if os.environ.get("SHOAL_FAULTS") == "all" else []

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the faults are made with Linux' means")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that lets system calls fail, compiled here."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler: system calls cannot be made to fail")
    built = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", built, HERE / "faults.c", "-ldl"], check=True)
    return built


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_every_system_call_fails_once(library: Path, tmp_path: Path, suffix: str) -> None:
    command = [sys.executable, HERE / "harness.py", library, tmp_path, suffix]
    done = subprocess.run(command, env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    good, *faulty = [json.loads(line) for line in done.stdout.splitlines()]
    assert good["code"] == 0
    assert good["calls"] > 20
    assert len(faulty) == 4 * good["calls"]
    release = f"release.{suffix}"
    old = hashlib.sha256(b"the old release").hexdigest()
    old_certificate = hashlib.sha256(b"the old certificate").hexdigest()
    for attempt in faulty:
        files, what = attempt["files"], f"{attempt['call']} {attempt['error']}: {attempt['said']}"
        assert attempt["code"] in (0, 2), what
        assert attempt["secrets"] == [], what
        assert set(files) - {release, "certificate.json"} == set() or attempt["call"] == "unlink", what
        if attempt["code"] == 0:
            assert files[release] == good["files"][release], what
            assert files["certificate.json"] not in (old, old_certificate), what
        else:
            assert "cannot be written" in attempt["said"], what
            if files[release] == old:
                assert files["certificate.json"] == old_certificate, what
            else:  # the release was moved, what speaks about it could not be
                assert files[release] == good["files"][release], what
                assert "certificate.json" not in files, what
                assert "is written" in attempt["said"], what
    interrupted = [
        attempt for attempt in faulty if attempt["error"] == "EINTR" and attempt["call"] in ("write", "open")
    ]
    assert {attempt["code"] for attempt in interrupted} == {0}  # who is interrupted tries again


def test_everything_that_writes(library: Path, tmp_path: Path) -> None:
    """Whatever fails: each file is the old one or the new one, and whoever ends with 0 has written all of them."""
    command = [sys.executable, HERE / "harness.py", library, tmp_path, "ways", *EVERY]
    settings = {**os.environ, "LD_PRELOAD": str(library), "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) >= 14
    for way in found:
        old, good, faulty = way["old"], way["good"], way["faulty"]
        assert good["code"] == 0, good["said"]
        assert len(faulty) >= (good["calls"] * 4 if EVERY else 3), way["way"]
        for attempt in faulty:
            files = attempt["files"]
            what = f"{way['way']}: {attempt['call']} {attempt['number']} {attempt['error']}: {attempt['said']}"
            assert attempt["code"] in (0, 2), what
            assert attempt["secrets"] == [], what
            for file, content in files.items():
                known = (old.get(file), good["files"].get(file))
                assert content in known or (known == (None, None) and attempt["call"] in REMOVING), f"{file}\n{what}"
            if attempt["code"] == 0:
                assert files.items() >= good["files"].items(), what
            else:
                assert "error" in attempt["said"], what
            if "again" in attempt:  # whatever waits in a database is gone after the next run
                assert attempt["again"] == [0, good["files"], ["release"]], what


def _prepared(folder: Path, rows: int = 60) -> Path:
    outputs = folder / "outputs"
    outputs.mkdir()
    lines = ["name,age,sex,disease"]
    lines += [f"Secretname{row},{20 + row * 7 % 40},{'fm'[row % 2]},{'abc'[row % 3]}" for row in range(rows)]
    (folder / "table.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return outputs


def _start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / "situations.py"), *map(str, arguments)]
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def _whole(outputs: Path) -> set[str]:
    """The outputs are whole and belong together; their hidden companions hold nothing of the input."""
    assert not [path for path in outputs.iterdir() if SECRET in path.read_bytes()]
    release, certificate = outputs / "release.csv", outputs / "certificate.json"
    if not release.exists():
        return set()
    found = hashlib.sha256(release.read_bytes()).hexdigest()
    if certificate.exists():
        assert json.loads(certificate.read_text(encoding="utf-8"))["hashes"]["release"] == found
    return {found}


def test_killed_at_any_moment(tmp_path: Path) -> None:
    outputs = _prepared(tmp_path)
    draw = random.Random(7)
    seen: set[str] = set()
    for _ in range(KILLS):
        process = _start("loop", tmp_path)
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        time.sleep(draw.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        seen |= _whole(outputs)
    assert len(seen) <= 2  # one release for each k, and never anything else
    assert seen or KILLS < 5


def test_two_runs_on_one_output(tmp_path: Path) -> None:
    outputs = _prepared(tmp_path)
    both = [_start("once", tmp_path, k) for k in (3, 4)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
    said = []
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=300)[0] for process in both]
    assert [text.splitlines()[-1] for text in said] == ["0", "0"], said
    assert _whole(outputs)
    assert sorted(path.name for path in outputs.iterdir()) == ["certificate.json", "release.csv"]


@pytest.mark.parametrize(("kind", "most"), [("files", 1), ("files", 2), ("memory", 1_000_000)])
def test_a_limit_of_the_system(tmp_path: Path, kind: str, most: int) -> None:
    outputs = _prepared(tmp_path, 200_000 if kind == "memory" else 60)
    (outputs / "release.csv").write_text("the old release")
    process = _start("limit", tmp_path, kind, most)
    said, errors = process.communicate(timeout=300)
    ended = said.splitlines()[-1] if said else "killed"
    if ended == "0":  # it was enough
        assert _whole(outputs)
        return
    assert (outputs / "release.csv").read_text() == "the old release", said
    assert [path.name for path in outputs.iterdir()] == ["release.csv"], said
    assert ended in ("1", "2") or (ended == "killed" and process.returncode != 0), said + errors[-500:]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody who may do less")
def test_a_folder_that_may_not_be_written() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        outputs = _prepared(folder)
        (outputs / "release.csv").write_text("the old release")
        outputs.chmod(0o555)
        process = _start("nobody", folder)
        said, errors = process.communicate(timeout=300)
        assert said.splitlines()[-1:] == ["2"], said + errors[-1000:]
        assert "Permission denied" in said or "read-only" in said
        assert (outputs / "release.csv").read_text() == "the old release"
        assert [path.name for path in outputs.iterdir()] == ["release.csv"]


def test_no_home_and_the_plainest_locale(tmp_path: Path) -> None:
    outputs = _prepared(tmp_path)
    table = tmp_path / "table.csv"
    table.write_text(table.read_text(encoding="utf-8").replace(",f,", ",weiblich\u00e4\u2713,"), encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if name != "HOME" and not name.startswith("LC_")}
    process = _start("once", tmp_path, 3, env={**plain, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"})
    said, errors = process.communicate("go\n", timeout=300)
    assert said.splitlines()[-1] == "0", said + errors[-500:]
    assert _whole(outputs)
