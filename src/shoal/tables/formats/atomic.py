"""Output files that are either whole or not there: written beside the target, moved into place at the end."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

from shoal.errors import InputError, Problem

_LONGEST_NAME = 200  # most file systems stop at 255 bytes
_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def atomic_output(path: Path | str) -> Iterator[Path]:
    """Yield a hidden temporary path in the folder of `path`; move it into place if the block succeeds.

    The temporary file can be read by its owner alone and ends like `path` (formats are told by suffix). On any
    exception, an interrupt too, it is removed and an existing output stays untouched. A symlink at `path` is
    followed, so the link stays and its target is replaced.
    """
    target = Path(os.path.realpath(path))
    _refuse_special(target, path)
    temporary = target.with_name(f".{secrets.token_hex(8)}.{_short(target.name)}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600))
    except OSError as error:
        raise InputError(_not_writable(Path(path), error.strerror)) from None
    try:
        yield temporary
        _flush_to_disk(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def check_output(path: Path | str, inputs: Iterable[Path | str] = ()) -> list[Problem]:
    """Everything that speaks against writing to `path`, before any work is done."""
    path = Path(path)
    try:
        problems = _place_problems(path)
    except (OSError, ValueError) as error:  # a folder that may not be entered, a name too long, a NUL in it
        problems = [_not_writable(path, getattr(error, "strerror", None) or "it is not a possible path")]
    return problems + overwritten(path, inputs)


def overwritten(path: Path, inputs: Iterable[Path | str]) -> list[Problem]:
    """A problem if writing to `path` would replace one of the inputs."""
    if not any(is_same(path, Path(source)) for source in inputs):
        return []
    hint = "choose another name; the input is never overwritten"
    return [Problem("output-is-input", f"the output '{path}' is also an input", hint=hint)]


def check_outputs(paths: Iterable[Path | str | None], inputs: Iterable[Path | str | None] = ()) -> list[Problem]:
    """The same for all outputs of a call, which must also be different files. None is an output that is not wanted.

    An input may be a folder, which stands for the files in it.
    """
    wanted = [Path(path) for path in paths if path is not None]
    sources = [file for path in inputs if path is not None for file in _files_of(Path(path))]
    problems = [problem for path in wanted for problem in check_output(path, sources)]
    return [*problems, *check_different(wanted)]


def check_different(paths: Iterable[Path | str | None]) -> list[Problem]:
    """A problem if two of these places are the same: one output would replace the other."""
    places = [Path(path) for path in paths if path is not None]
    if not any(is_same(one, other) for one, other in combinations(places, 2)):
        return []
    return [Problem("same-output", "two outputs of this call have the same path", hint="choose different names")]


def _files_of(path: Path) -> list[Path]:
    try:
        return [file for file in path.iterdir() if file.is_file()] if path.is_dir() else [path]
    except (OSError, ValueError):
        return [path]  # what is wrong with an input is told by who reads it


def _place_problems(path: Path) -> list[Problem]:
    if path.is_dir():
        return [Problem("not-writable", f"the output '{path}' is a folder", hint="name a file in it")]
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        return [Problem("no-such-folder", f"there is no folder '{path.parent}'", hint="make it first")]
    if path.exists() and not path.is_file():
        return [Problem("not-writable", f"the output '{path}' is not a regular file", hint="name a file")]
    obstacle = _obstacle(path, folder)
    return [_not_writable(path, obstacle)] if obstacle else []


def _obstacle(path: Path, folder: Path) -> str | None:
    """Why a file cannot be made here. It is tried, since permissions tell little to root or on odd file systems."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return error.strerror or type(error).__name__
    if path.exists() and not os.access(path, os.W_OK):
        return "the existing file is read-only"
    return None


def is_same(path: Path, source: Path) -> bool:
    """Whether two paths lead to one file; False for paths that lead nowhere."""
    try:
        if os.path.realpath(path) == os.path.realpath(source):
            return True
        return path.samefile(source)  # hard links, other spellings on case-insensitive file systems
    except (OSError, ValueError):
        return False


def _not_writable(path: Path, reason: str | None) -> Problem:
    return Problem("not-writable", f"'{path}' cannot be written: {reason}", hint="choose another place")


def _refuse_special(target: Path, path: Path | str) -> None:
    """Replacing a device such as /dev/null by a file would harm the system."""
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        raise InputError(_not_writable(Path(path), "it is not a regular file"))


def _short(name: str) -> str:
    """The end of a name, which holds the suffixes, short enough to have something put in front."""
    while len(os.fsencode(name)) > _LONGEST_NAME:
        name = name[1:]
    return name


def _umask() -> int:
    current = os.umask(0o077)  # the only way to read it is to set it
    os.umask(current)
    return current


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | _BINARY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        return  # some network file systems cannot; the file itself is safe
    finally:
        os.close(descriptor)
