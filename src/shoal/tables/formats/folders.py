"""A release that is a folder of files: it waits, hidden, beside its place, and gets its name once it was checked.

Renaming a folder is one step on a local or shared file system and on HDFS; an object store copies file by file, so a
folder is published on such file systems only. `_SUCCESS`, an empty file, says that all files are there: it is made
after the check, before the folder gets its name.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from shoal.errors import Problem
from shoal.tables.formats.files import sha256_of_file

DONE = "_SUCCESS"
_PART = "part-"


class FolderPlace:
    """The place of a folder, and the folder that waits for it."""

    def __init__(self, target: Path, scratch: Path) -> None:
        """`scratch` is a folder on the same file system that will be removed."""
        self.target = target
        self.waiting = scratch.resolve() / "release"
        self.notes: tuple[str, ...] = ()
        self.database: dict[str, str] = {}  # it is none

    def tidy(self) -> None:
        """Files are named by number alone: who wrote them, when and in which attempt is nobody's business."""
        for path in self.waiting.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif not path.name.startswith(_PART):
                path.unlink()
        for number, path in enumerate(sorted(self.waiting.iterdir())):
            path.rename(self.waiting / f"{_PART}{number:06d}{path.suffix}")

    def hashes(self) -> dict[str, str]:
        """Per file the hash of its bytes."""
        return file_hashes(self.waiting)

    def publish(self) -> None:
        """An older release goes aside first; it is removed when the new one is there, and comes back if it is not."""
        _give_rights(self.waiting)
        (self.waiting / DONE).touch()
        older = self.target.with_name(f".{secrets.token_hex(8)}.{self.target.name}"[:200])
        replaced = self.target.is_dir()
        if replaced:
            self.target.rename(older)
        try:
            self.waiting.rename(self.target)
        except OSError:
            if replaced:
                older.rename(self.target)
            raise
        if replaced:
            shutil.rmtree(older)


def is_release_folder(path: Path) -> bool:
    """Whether this is a release in a folder, whole: its files and the one that says so."""
    return path.is_dir() and (path / DONE).is_file()


def parts_of(folder: Path) -> list[Path]:
    """The files of a release in a folder, in their order."""
    return sorted(path for path in folder.iterdir() if path.name.startswith(_PART))


def file_hashes(folder: Path) -> dict[str, str]:
    """Per file of a release in a folder the hash of its bytes."""
    return {path.name: sha256_of_file(path) for path in parts_of(folder)}


def folder_problems(target: Path, replace: bool) -> list[Problem]:
    """What speaks against a folder as a place, before any work."""
    parent = Path(os.path.realpath(target)).parent
    if not parent.is_dir():
        return [Problem("no-such-folder", f"there is no folder '{target.parent}'", hint="make it first")]
    if not os.access(parent, os.W_OK | os.X_OK):
        return [Problem("not-writable", f"nothing can be written into '{target.parent}'", hint="choose another place")]
    if target.is_symlink():  # a folder is renamed, not written into
        return [Problem("not-writable", f"'{target}' is a link", hint="name the folder itself")]
    if not target.exists():
        return []
    if not _is_release(target):
        message = f"'{target}' is there already, and is no release in a folder"
        return [Problem("output-exists", message, hint="choose another name")]
    if not replace:
        message = f"the folder '{target}' holds a release already"
        return [Problem("output-exists", message, hint="give --replace, or choose another name")]
    return []


def _is_release(target: Path) -> bool:
    """An empty folder, or one with parts and the file that says they are all there: nothing else is ever removed."""
    try:
        names = [path.name for path in target.iterdir()]
    except OSError:
        return False
    return not names or (DONE in names and all(name == DONE or name.startswith(_PART) for name in names))


def _give_rights(folder: Path) -> None:
    """Those that the umask gives; folder and files waited for their owner alone."""
    umask = os.umask(0o077)
    os.umask(umask)
    for path in folder.iterdir():
        path.chmod(0o666 & ~umask)
        _flush(path)
    folder.chmod(0o777 & ~umask)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
