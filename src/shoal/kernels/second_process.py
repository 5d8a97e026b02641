"""A second process that compiles some kernels on the first run, while this one compiles others.

numba compiles one kernel at a time in a process, whatever the number of threads. What the other process has compiled
is found in the compile cache. It sees nothing of the data: it runs a module that makes its own little example.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

from shoal.kernels.cache import must_compile, remembers

_running: dict[str, subprocess.Popen[bytes]] = {}


def compile_beside(module: str, kernel: str) -> None:
    """Run a module in another process if `kernel` (file.function) has not been compiled on this machine yet."""
    if module in _running or (os.cpu_count() or 1) < 2 or not remembers() or not must_compile(kernel):
        return
    try:
        _running[module] = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # no second process here: the kernels are compiled in this one
        return
    atexit.register(_end, module)


def wait_for(module: str) -> None:
    """Come back when the other process has ended; at once if there is none. How it ended makes no difference."""
    if module in _running:
        _running.pop(module).wait()


def _end(module: str) -> None:
    """Leave no process behind when this one ends before it needed the kernels."""
    if module in _running:
        process = _running.pop(module)
        process.terminate()
        process.wait()
