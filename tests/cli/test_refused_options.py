"""Options that cannot be honoured are refused: exit code 2, before any work, and no file is made or changed.

Called inside this process, since there are many of them; the verbs themselves run in processes of their own elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.cli.main import _run

Call = Callable[..., tuple[int, set[str]]]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Exit code and reasons of a call, which must leave the folder as it was."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str | Path) -> tuple[int, set[str]]:
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        code = _run([*map(str, arguments), "--json"])
        after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert after == before
        said = json.loads(capsys.readouterr().out)
        assert "SECRET" not in json.dumps(said)
        return code, {problem["reason"] for problem in said["problems"]}

    return call


COMPARE = ("--quasi", "age,sex", "--algorithms", "mondrian")


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        ((*COMPARE, "-k", "1,5"), {"bad-k"}),
        ((*COMPARE, "-k", "5,-3,x"), {"bad-k"}),
        (("--quasi", "age", "--algorithms", ""), {"no-algorithm"}),
        ((*COMPARE, "--processes", "-3"), {"bad-option"}),
        ((*COMPARE, "--processes", "0"), {"bad-option"}),
        ((*COMPARE, "--resume", "people.csv"), {"output-is-input"}),
        ((*COMPARE, "--resume", "nowhere/runs.jsonl"), {"no-such-folder"}),
        ((*COMPARE, "--resume", "."), {"not-writable"}),
        ((*COMPARE, "--csv", "same", "--chart", "same"), {"same-output"}),
        ((*COMPARE, "--csv", "same", "--resume", "./same"), {"same-output"}),
        ((*COMPARE, "--csv", "same", "--charts", "same"), {"same-output"}),
        ((*COMPARE, "--seed", "-1"), {"bad-setting"}),
        ((*COMPARE[:2], "--algorithms", "mondrian,nonhomogeneous", "--person", "zip"), {"needs-classes"}),
    ],
)
def test_compare(refused: Call, people: Path, options: tuple[str, ...], reasons: set[str]) -> None:
    assert refused("compare", people, *options) == (2, reasons)


def test_compare_keeps_hierarchy_files(refused: Call, people: Path, tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("m;*\nf;*\n")
    named = ("--hierarchies", "trees", "--csv", "trees/sex.csv")
    assert refused("compare", people, *COMPARE, *named) == (2, {"output-is-input"})
