"""Output files that are either whole or not there: written beside the target, moved into place at the end."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path

from shoal.errors import InputError, Problem

_LONGEST_NAME = 200  # most file systems stop at 255 bytes
_BINARY = getattr(os, "O_BINARY", 0)


class StagedFiles:
    """Files that appear together, in the order in which they are named, when `commit` is called; else none of them.

    Each waits as a hidden file in the folder of its place, which its owner alone can read and which ends like its
    place (formats are told by suffix). On any exception, an interrupt too, the waiting files are removed and existing
    outputs stay untouched. A symlink at a place is followed, so the link stays and its target is replaced. What the
    system refuses (a full disk, a missing right) comes out as an InputError that names the file.

    The files after the first speak about it. Older ones at their places are set aside before the first is moved: if the
    machine stops between two moves, nothing speaks about a file that is not there.
    """

    def __init__(self, places: Mapping[str, Path | str], private: Collection[str] = ()) -> None:
        """`private` names those that only their owner may read; the others get the mode that the umask gives,
        or that of the file they replace where it is narrower."""
        self._private = frozenset(private)
        self._places = {name: Path(os.path.realpath(path)) for name, path in places.items()}
        self._named = dict(places)
        self._moved: list[str] = []
        self.waiting: dict[str, Path] = {}

    def __enter__(self) -> StagedFiles:
        try:
            for name, target in self._places.items():
                _refuse_special(target, self._named[name])
                self.waiting[name] = _waiting_name(target)
                _make_private(self.waiting[name])
        except BaseException as error:
            self.__exit__(type(error), error)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        for name, waiting in self.waiting.items():
            if name not in self._moved:
                _remove(waiting)
        if isinstance(error, OSError) and self.waiting:
            raise InputError(self._refused(error)) from None

    def _refused(self, error: OSError) -> Problem:
        """What the system said, about the file it was said of, and what became of the others."""
        by_path = {os.fspath(path): name for name, path in self.waiting.items()}
        told = by_path.get(os.fspath(error.filename or ""))
        names = [told] if told is not None else [name for name in self._named if name not in self._moved]
        files = " and ".join(f"'{self._named[name]}'" for name in names)
        message = f"{files} cannot be written: {error.strerror or type(error).__name__}"
        if self._moved:
            message += f"; '{self._named[self._moved[0]]}' is written and checked all the same"
        return Problem("not-writable", message, hint="choose another place")

    def commit(self, first: Callable[[], None] | None = None) -> None:
        """Move the files. `first` does what they all speak about, if that is no file; it comes before any move."""
        if not self._places:
            if first is not None:
                first()
            return
        for name, waiting in self.waiting.items():
            _flush_to_disk(waiting)
            waiting.chmod(self._mode(name))
        with _only_one_moves(next(iter(self._places.values())).parent):
            self._move(first)

    def _mode(self, name: str) -> int:
        """What the umask gives, but never wider than the file that is replaced; a private one is its owner's."""
        mode = (0o600 if name in self._private else 0o666) & ~_umask()
        with suppress(OSError):
            mode &= stat.S_IMODE(self._places[name].stat().st_mode)
        return mode

    def _move(self, first: Callable[[], None] | None) -> None:
        folders = list(dict.fromkeys(target.parent for target in self._places.values()))
        older: dict[Path, Path] = {}
        published = False
        try:
            self._set_aside(older, list(self._places.values())[1 if first is None else 0 :])
            for folder in folders:
                _flush_folder(folder)
            if first is not None:
                first()
                published = True
            for name, target in self._places.items():
                self.waiting[name].replace(target)
                self._moved.append(name)
        except BaseException:
            for target, aside in older.items():
                if published or self._moved:  # what they were about is gone
                    _remove(aside)
                else:
                    aside.replace(target)
            raise
        for aside in older.values():
            _remove(aside)
        for folder in folders:
            _flush_folder(folder)

    @staticmethod
    def _set_aside(older: dict[Path, Path], targets: list[Path]) -> None:
        """Move away what stands in the places, and note where to, one by one: the next step may fail."""
        for target in targets:
            if target.exists():
                aside = _waiting_name(target)
                target.replace(aside)
                older[target] = aside


@contextmanager
def _only_one_moves(folder: Path) -> Iterator[None]:
    """Two runs with the same output move their files one after the other, so that release and certificate belong
    together. Where folders cannot be locked there is no lock."""
    try:
        import fcntl
    except ImportError:  # no such thing on this system
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _waiting_name(target: Path) -> Path:
    return target.with_name(f".{secrets.token_hex(8)}.{_short(target.name)}")


def _make_private(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o600))


def _remove(path: Path) -> None:
    """As far as the system lets us: what the caller is told is what went wrong before."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


@contextmanager
def atomic_output(path: Path | str, *, private: bool = False) -> Iterator[Path]:
    """Yield the hidden temporary path of one file; it is moved into place if the block succeeds.

    A private one can be read by its owner alone.
    """
    with StagedFiles({"file": path}, ("file",) if private else ()) as files:
        yield files.waiting["file"]
        files.commit()


def make_folder(folder: Path) -> None:
    """Make a folder, and those that it is in, if they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a possible path"
        message = f"the folder '{folder}' cannot be made: {reason}"
        raise InputError(Problem("not-writable", message, hint="choose another place")) from None


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
