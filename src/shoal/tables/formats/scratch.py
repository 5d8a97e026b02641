"""A folder for what does not fit into memory: ours alone, gone at the end, and after a killed run gone with the next.

It holds values of the input. A run that is killed cannot remove it, so each folder holds a locked file for as long as
its run lives, and whoever makes a new one beside it removes those whose lock nobody holds.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import InputError, Problem

_PREFIX = ".shoal-"
_LOCK = "in-use"


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A private folder in the folder `beside`, for the time of the block.

    What the system refuses (a full disk, a missing right) comes out as an InputError that names the folder.
    """
    _remove_left_ones(beside)
    try:
        with tempfile.TemporaryDirectory(dir=beside, prefix=_PREFIX) as name:
            folder = Path(name)
            descriptor = os.open(folder / "begins", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            try:
                _lock(descriptor)
                (folder / "begins").replace(folder / _LOCK)  # seen by others only once it is locked
                yield folder
            finally:
                with suppress(OSError):  # closed it is, whatever the system says
                    os.close(descriptor)
    except OSError as error:
        message = f"temporary files in '{beside}' cannot be written: {error.strerror or type(error).__name__}"
        raise InputError(Problem("not-writable", message, hint="choose another place for the output")) from None


def _remove_left_ones(beside: Path) -> None:
    """Folders of runs that are no more. Where files cannot be locked nothing is removed."""
    with suppress(OSError):
        for folder in beside.glob(f"{_PREFIX}*"):
            if _is_ours(folder) and (folder / _LOCK).is_file() and _is_left(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _is_left(lock: Path) -> bool:
    descriptor = os.open(lock, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        return _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Whether the lock is ours now."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
