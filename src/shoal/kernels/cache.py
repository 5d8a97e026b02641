"""Where compiled kernels are remembered: a folder that is ours alone, can be written, and is never out of date.

numba raises when neither the package folder nor the home cache can be written (containers, executors), so a folder
is probed here, before the first kernel is defined. What lies in it is run as our own code, so nobody else may be able
to put anything there. numba also keeps the machine code of a kernel when only another kernel that it calls has
changed, or the level of optimization, so the folder is named after the state of the files in all folders `kernels` and
that level. This module can be asked whether there is anything to compile without loading the compiler.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def _state_of_kernels() -> str:
    """Changes whenever a kernel file does, or how much the compiler is asked to optimize."""
    digest = hashlib.sha256(os.environ.get("NUMBA_OPT", "").encode())
    for file in sorted(Path(__file__).parent.parent.glob("**/kernels/*.py")):
        found = file.stat()
        digest.update(f"{file} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _writable_cache() -> str:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return os.environ["NUMBA_CACHE_DIR"]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    state = _state_of_kernels()
    own = f"shoal-numba-{os.getuid()}" if hasattr(os, "getuid") else "shoal-numba"
    if _is_ours_to_write(home, ("shoal", "numba", state), _WRITABLE_BY_OTHERS):
        return str(home / "shoal" / "numba" / state)
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError:  # there is no folder that can be written at all
        return ""
    if _is_ours_to_write(temporary, (own, state), _OPEN_TO_OTHERS):
        return str(temporary / own / state)
    return ""


def _is_ours_to_write(root: Path, parts: tuple[str, ...], forbidden: int) -> bool:
    """Make the folders `parts`, one in the other, below a root that is not ours to judge; true if all can be trusted.

    Each is looked at before anything is made in it: whoever owns a folder can exchange all that lies below.
    """
    folder = root
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for part in parts:
            folder = folder / part
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                pass
            if not _is_private(folder, forbidden):
                return False
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def _is_private(folder: Path, forbidden: int) -> bool:
    """True for a real folder, not a link to one, that is ours and has none of the forbidden rights."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "getuid"):  # no owners and rights of this kind here; the temporary folder is the user's own
        return True
    return found.st_uid == os.getuid() and not found.st_mode & forbidden


CACHE_FOLDER = _writable_cache()  # empty if nothing can be remembered


def remembers() -> bool:
    """True if what is compiled is kept for the next run, and for other processes."""
    return bool(CACHE_FOLDER)


def must_compile(kernel: str = "") -> bool:
    """True if a kernel (file.function), or any at all, has not been compiled on this machine yet; it takes seconds."""
    return not CACHE_FOLDER or next(Path(CACHE_FOLDER).glob(f"kernels_*/{kernel}*.nbi"), None) is None
