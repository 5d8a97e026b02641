"""Run a command and see what it cost: seconds, processor seconds and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

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


def growth_exponent(sizes: list[int], seconds: list[float]) -> float | None:
    """The slope of log(seconds) over log(size): 1 is linear, 2 is quadratic."""
    if len(sizes) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-3)), 1)[0])
