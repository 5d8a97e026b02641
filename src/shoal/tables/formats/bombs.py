"""Packed files that are small and unpack to more than any machine holds: noticed before, or while, they are unpacked.

Text packs to a tenth or a fiftieth, seldom to a hundredth; what is made to fill the memory packs to a thousandth. So a
file is refused that unpacks to more than 250 times its size, once that is more than 100 MB.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from shoal.errors import InputError, Problem

MOST_TIMES = 250
NEVER_MIND = 100_000_000  # bytes that every machine has


def check_unpacked(path: Path | str, packed: int, unpacked: int) -> None:
    """Raise InputError if so many bytes are too many for a file of that size."""
    if unpacked > max(NEVER_MIND, MOST_TIMES * packed):
        message = f"'{path}' unpacks to more than {MOST_TIMES} times its size"
        raise InputError(Problem("too-large", message, hint="if it is a table indeed, unpack it before"))


def check_archive(path: Path | str, *, largest: int | None = None) -> list[str]:
    """The names of the members of a zip archive, if what it says of their sizes is within bounds.

    Raises zipfile.BadZipFile, OSError or ValueError for other files. What is unpacked never is more than what the
    archive says: the reader stops there.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    check_unpacked(path, Path(path).stat().st_size, unpacked)
    if largest is not None and unpacked > largest:
        raise InputError(Problem("too-large", f"'{path}' unpacks to {unpacked:,} bytes, {largest:,} at most are read"))
    return [member.filename for member in members]
