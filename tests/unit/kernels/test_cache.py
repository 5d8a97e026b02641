"""Compiled code is loaded only from folders that nobody else can have put anything into."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal.kernels import cache

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners and rights here")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "home"


@pytest.fixture
def temporary(home: Path) -> Path:
    """The folder in the temporary one; the home cannot be used, for it is a file."""
    home.write_text("")
    return Path(tempfile.gettempdir()) / f"shoal-numba-{os.getuid()}"


def test_the_home_folder_comes_first_and_is_private(home: Path) -> None:
    folder = Path(cache._writable_cache())
    assert folder.parent == home / "shoal" / "numba"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.iterdir()) == []
    assert cache._writable_cache() == str(folder)  # and the next run finds it


def test_the_usual_rights_of_a_home_folder_are_enough(home: Path) -> None:
    (home / "shoal" / "numba").mkdir(parents=True)
    for part in (home / "shoal", home / "shoal" / "numba"):
        part.chmod(0o755)
    assert Path(cache._writable_cache()).parent == home / "shoal" / "numba"


def test_without_a_home_that_can_be_written_a_private_temporary_folder_is_used(temporary: Path) -> None:
    folder = Path(cache._writable_cache())
    assert folder.parent == temporary
    assert stat.S_IMODE(temporary.stat().st_mode) == stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache._writable_cache() == str(folder)


@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root can write everywhere")
def test_a_home_without_the_right_to_write(home: Path) -> None:
    home.mkdir(mode=0o500)
    assert Path(cache._writable_cache()).parent.parent == Path(tempfile.gettempdir())


@pytest.mark.parametrize("part", ["shoal", "shoal/numba"])
def test_a_home_folder_that_others_can_write_is_left_alone(home: Path, part: str) -> None:
    (home / "shoal" / "numba").mkdir(parents=True)
    (home / part).chmod(0o777)
    assert Path(cache._writable_cache()).parent.parent == Path(tempfile.gettempdir())


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o755])
def test_a_planted_temporary_folder_is_left_alone(temporary: Path, mode: int) -> None:
    temporary.mkdir()
    temporary.chmod(mode)
    assert cache._writable_cache() == ""
    assert list(temporary.iterdir()) == []


def test_a_planted_folder_inside_is_left_alone(temporary: Path) -> None:
    inner = temporary / cache._state_of_kernels()
    inner.mkdir(parents=True)
    temporary.chmod(0o700)
    inner.chmod(0o777)
    assert cache._writable_cache() == ""


def test_a_link_is_left_alone(temporary: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    temporary.symlink_to(elsewhere)
    assert cache._writable_cache() == ""
    assert list(elsewhere.iterdir()) == []


def test_a_folder_of_another_user_is_left_alone(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary.mkdir(mode=0o700)
    real = os.lstat

    def foreign(path: Path) -> SimpleNamespace:
        return SimpleNamespace(st_mode=real(path).st_mode, st_uid=os.getuid() + 1)

    monkeypatch.setattr(cache.os, "lstat", foreign)
    assert cache._writable_cache() == ""


def test_systems_without_owners_keep_what_works(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getuid")
    assert Path(cache._writable_cache()).parent == temporary.with_name("shoal-numba")
