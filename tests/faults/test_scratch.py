"""Temporary folders with values of the input: closed to others, and removed even after a run that was killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.tables.formats.scratch import scratch_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and modes are those of POSIX")

RUN = """
import sys, time
from pathlib import Path
from shoal.tables.formats.scratch import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "rows").write_text("Secretname")
    print(folder, flush=True)
    time.sleep(60)
"""


def _started(beside: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", RUN, str(beside)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_killed_run_leaves_nothing_for_long(tmp_path: Path) -> None:
    (killed, left), (living, used) = _started(tmp_path), _started(tmp_path)
    try:
        assert stat.S_IMODE(left.stat().st_mode) == 0o700
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert (left / "rows").exists()  # nobody could remove it
        stranger = tmp_path / ".shoal-stranger"  # without a lock: not known to be one of ours
        stranger.mkdir()
        with scratch_folder(tmp_path) as folder:
            assert not left.exists()
            assert (used / "rows").exists()  # another run that is at work
            assert stranger.exists()
        assert not folder.exists()
    finally:
        living.send_signal(signal.SIGKILL)
        living.communicate()
    with scratch_folder(tmp_path):
        assert not used.exists()


def test_a_streaming_run_that_is_killed(tmp_path: Path) -> None:
    rows = "\n".join(f"Secretname{row},{row * 37 % 90},{row % 7}" for row in range(20_000))
    (tmp_path / "in.csv").write_text("name,age,town\n" + rows + "\n")
    command = [sys.executable, "-m", "shoal.cli.main", "anonymize", str(tmp_path / "in.csv"), "-q", "-k", "5"]
    command += ["-o", str(tmp_path / "out.csv"), "--quasi", "age,town", "--identifiers", "name", "--engine", "stream"]
    command += ["--effort", "low"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob(".shoal-*")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out.csv").exists() or process.returncode == 0
    for path in tmp_path.rglob("*"):
        assert path.name == "in.csv" or not path.is_file() or b"Secretname" not in path.read_bytes(), path
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob(".shoal-*"))
