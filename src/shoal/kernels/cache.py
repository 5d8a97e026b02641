"""Where compiled kernels are remembered: a folder that can be written, and is never out of date.

numba raises when neither the package folder nor the home cache can be written (containers, executors), so a folder
is probed here, before the first kernel is defined. It also keeps the machine code of a kernel when only another kernel
that it calls has changed, or the level of optimization, so the folder is named after the state of all kernel files and
that level. This module can be asked whether there is anything to compile without loading the compiler.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def _state_of_kernels() -> str:
    """Changes whenever a kernel file does, or how much the compiler is asked to optimize."""
    digest = hashlib.sha256(os.environ.get("NUMBA_OPT", "").encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        found = file.stat()
        digest.update(f"{file} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _writable_cache() -> str:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return os.environ["NUMBA_CACHE_DIR"]
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    state = _state_of_kernels()
    own = f"shoal-numba-{os.getuid()}" if hasattr(os, "getuid") else "shoal-numba"
    for folder in (Path(home) / "shoal" / "numba" / state, Path(tempfile.gettempdir()) / own / state):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            probe = folder / f".probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        return str(folder)
    return ""


CACHE_FOLDER = _writable_cache()  # empty if nothing can be remembered


def remembers() -> bool:
    """True if what is compiled is kept for the next run, and for other processes."""
    return bool(CACHE_FOLDER)


def must_compile(kernel: str = "") -> bool:
    """True if a kernel (file.function), or any at all, has not been compiled on this machine yet; it takes seconds."""
    return not CACHE_FOLDER or next(Path(CACHE_FOLDER).glob(f"kernels_*/{kernel}*.nbi"), None) is None
