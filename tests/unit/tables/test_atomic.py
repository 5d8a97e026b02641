from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.tables.formats.atomic import atomic_output, check_output, check_outputs


def reasons(path: Path | str, *inputs: Path | str) -> list[str]:
    return [problem.reason for problem in check_output(path, inputs)]


def test_moved_into_place_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "out.csv.gz"
    target.write_text("old")
    with atomic_output(target) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".")
        assert temporary.name.endswith(".csv.gz")
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_mode_follows_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        with atomic_output(tmp_path / "out.csv") as temporary:
            temporary.write_text("x")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == mode


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("existing", [True, False])
def test_nothing_is_left_behind(tmp_path: Path, error: type[BaseException], existing: bool) -> None:
    target = tmp_path / "out.csv"
    if existing:
        target.write_text("old")

    def fail() -> None:
        with atomic_output(target) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == (["out.csv"] if existing else [])
    assert not existing or target.read_text() == "old"


def test_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    with atomic_output(tmp_path / "link.csv") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


def test_devices_and_missing_folders_are_refused(tmp_path: Path) -> None:
    for path in ("/dev/null", tmp_path, tmp_path / "none" / "out.csv"):
        with pytest.raises(InputError) as caught, atomic_output(path):
            pass
        assert caught.value.reasons == ("not-writable",)


def test_long_names(tmp_path: Path) -> None:
    target = tmp_path / ("é" * 120 + ".csv")
    with atomic_output(target) as temporary:
        temporary.write_text("x")
    assert target.exists()


def test_output_that_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("x")
    assert reasons(tmp_path / "out.csv", tmp_path / "old.csv") == []
    assert reasons(tmp_path / "old.csv", tmp_path / "other.csv") == []
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    assert reasons(tmp_path / "none" / "out.csv") == ["no-such-folder"]
    (tmp_path / "file").write_text("x")
    assert reasons(tmp_path / "file" / "out.csv") == ["no-such-folder"]
    assert reasons(tmp_path) == ["not-writable"]
    assert reasons("/dev/null") == ["not-writable"]
    assert reasons(tmp_path / ("x" * 300)) == ["not-writable"]
    assert reasons("a\0b.csv", tmp_path / "file") == ["not-writable"]
    if Path("/proc/self").is_dir():  # not even root can make files there
        assert reasons("/proc/out.csv") == ["not-writable"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_and_file(tmp_path: Path) -> None:
    (tmp_path / "kept.csv").write_text("x")
    (tmp_path / "kept.csv").chmod(0o444)
    assert reasons(tmp_path / "kept.csv") == ["not-writable"]
    tmp_path.chmod(0o555)
    try:
        assert reasons(tmp_path / "out.csv") == ["not-writable"]
        tmp_path.chmod(0)
        assert reasons(tmp_path / "out.csv") == ["not-writable"]
    finally:
        tmp_path.chmod(0o755)


def test_output_is_input_by_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.csv"
    source.write_text("x")
    (tmp_path / "soft.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("in.csv", "./in.csv", "sub/../in.csv", "soft.csv", "hard.csv", source):
        assert reasons(name, source) == ["output-is-input"], name
    assert reasons("no/in.csv", "no/in.csv") == ["no-such-folder", "output-is-input"]


def test_two_outputs_with_one_path_and_inputs_in_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "age.csv").write_text("1;*\n")
    assert check_outputs((Path("a"), None, Path("b")), (None, Path("nowhere"), tmp_path / "trees")) == []
    twice = check_outputs((Path("a"), tmp_path / "a"))
    assert [problem.reason for problem in twice] == ["same-output"]
    inside = check_outputs((Path("trees/age.csv"),), (tmp_path / "trees",))
    assert [problem.reason for problem in inside] == ["output-is-input"]
