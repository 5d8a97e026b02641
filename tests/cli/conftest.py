"""The command line through a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def reasons(self) -> set[str]:
        return {problem["reason"] for problem in self.json["problems"]}


def run_shoal(*arguments: str | Path, folder: Path) -> Outcome:
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "shoal.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=300,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shoal(tmp_path: Path):
    """Run `shoal` in a folder of its own."""

    def call(*arguments: str | Path) -> Outcome:
        return run_shoal(*arguments, folder=tmp_path)

    return call


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table whose every value is a word that must never be seen in a message."""
    rows = [f"{20 + n % 40},SECRETzip{n % 8},{'mf'[n % 2]},SECRETill{n % 5}" for n in range(120)]
    path = tmp_path / "people.csv"
    path.write_text("age,zip,sex,disease\n" + "\n".join(rows) + "\n")
    return path
