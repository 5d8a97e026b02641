"""Run a command and see what it cost: seconds, processor seconds and peak memory."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cost:
    code: int
    seconds: float
    processor_seconds: float
    peak_megabytes: float
    out: str


def run_measured(command: list[str], timeout: float = 1200) -> Cost:
    """Run a command to its end (or stop it at the time limit: code -9) and measure this process alone."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        pid, status, usage = 0, 0, None
        while pid == 0:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                if time.perf_counter() - start > timeout:
                    process.kill()
                time.sleep(0.02)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        assert usage is not None
        return Cost(process.returncode, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read())


def shoal_command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "shoal.cli.main", *map(str, arguments)]


def results_file(name: str) -> Path:
    """A dated file in benchmarks/results/."""
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    return folder / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{name}.json"


def save_results(file: Path, **content: Any) -> None:
    """Write the figures of a benchmark, with the date and what they were measured on."""
    about = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
    }
    file.write_text(json.dumps({**about, **content}, indent=1) + "\n", encoding="utf-8")


def growth_exponent(sizes: list[int], seconds: list[float]) -> float | None:
    """The slope of log(seconds) over log(size): 1 is linear, 2 is quadratic."""
    if len(sizes) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-3)), 1)[0])
