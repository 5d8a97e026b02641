"""One decorator for all kernels, with a compile cache that is always writable and never out of date.

numba raises when neither the package folder nor the home cache can be written (containers, executors), so a folder
is probed here, before the first kernel is defined. It also keeps the machine code of a kernel when only another kernel
that it calls has changed, so the folder is named after the state of all kernel files. Kernels release the GIL; none
uses numba's own threads, which abort on concurrent calls: parallel work is cut into fixed pieces and run on a thread
pool by the caller.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def _state_of_kernels() -> str:
    """Changes whenever a kernel file does."""
    digest = hashlib.sha256()
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


_cache_folder = _writable_cache()
if _cache_folder:
    setattr(numba.config, "CACHE_DIR", _cache_folder)  # noqa: B010  (the module's own types do not know it)


def remembers() -> bool:
    """True if what is compiled is kept for the next run, and for other processes."""
    return bool(_cache_folder)


def must_compile(kernel: str = "") -> bool:
    """True if a kernel (file.function), or any at all, has not been compiled on this machine yet; it takes seconds."""
    return not _cache_folder or next(Path(_cache_folder).glob(f"kernels_*/{kernel}*.nbi"), None) is None


def kernel(function: Function) -> Function:
    """Compile on first use, remember on disk, release the GIL while running."""
    return cast(Function, numba.njit(cache=bool(_cache_folder), nogil=True)(function))
