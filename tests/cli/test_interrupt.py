"""Ctrl-C while the search refines its groups, at a real terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECONDS = 240


class Terminal:
    """A process at a pseudo-terminal, and what it showed there."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self.master, slave = pty.openpty()
        command = [sys.executable, "-m", "shoal.cli.main", *arguments]
        environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self.seen = ""

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + SECONDS
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} was never shown"
            assert self._read(), f"the process ended before it showed {text!r}: {self.seen[-500:]}"

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], 1.0)
        if not ready:
            return self.process.poll() is None
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # Linux says so when the other side is closed
            return False
        self.seen += piece.decode(errors="replace")
        return bool(piece)

    def end(self) -> int:
        while self._read():
            pass
        os.close(self.master)
        return self.process.wait(timeout=SECONDS)


@pytest.fixture
def started(tmp_path: Path):
    """A run of hours, with its search under way."""

    def start(*arguments: str) -> Terminal:
        rows = "\n".join(f"{n % 91},{n * 7919 % 103},{n * 104_729 % 97}" for n in range(3000))
        (tmp_path / "people.csv").write_text("a,b,c\n" + rows + "\n")
        command = ["anonymize", "people.csv", "-o", "out.csv", "--quasi", "a,b,c", "-k", "4", "--effort", "1000"]
        terminal = Terminal([*command, "--certificate", "proof.json", *arguments], tmp_path)
        terminal.wait_for("loss 0.")
        terminal.process.send_signal(signal.SIGINT)
        return terminal

    return start


def test_the_best_so_far_is_released_and_the_certificate_says_so(started, tmp_path: Path) -> None:
    terminal = started("--on-interrupt", "best")
    assert terminal.end() == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3001
    certificate = json.loads((tmp_path / "proof.json").read_text())
    assert certificate["smallest_class"] >= 4
    assert any("ended early" in note for note in certificate["notes"])


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 130)])
def test_the_user_is_asked(started, tmp_path: Path, answer: str, code: int) -> None:
    terminal = started()
    terminal.wait_for("Release the best")
    os.write(terminal.master, f"{answer}\n".encode())
    assert terminal.end() == code
    assert (tmp_path / "out.csv").exists() is (code == 0)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_nothing_means_nothing(started, tmp_path: Path) -> None:
    terminal = started("--on-interrupt", "nothing")
    assert terminal.end() == 130
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_an_interrupt_that_comes_out_as_another_error_is_one() -> None:
    from shoal.cli.interrupt import OnInterrupt, stop_on_interrupt
    from shoal.cli.output import ProgressBar

    def disturbed(refused: bool) -> None:
        with stop_on_interrupt(OnInterrupt.NOTHING, ProgressBar(True)) as stop:
            if refused:
                stop.refuse()
            raise RuntimeError("the compiler was disturbed")

    with pytest.raises(KeyboardInterrupt):
        disturbed(True)
    with pytest.raises(RuntimeError):
        disturbed(False)
