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


EVALUATE = ("people.csv", "release.csv", "--quasi", "age,sex")


@pytest.fixture
def release(people: Path) -> Path:
    path = people.with_name("release.csv")
    path.write_text(people.read_text())
    return path


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        ((*EVALUATE, "-k", "0"), {"bad-k"}),
        ((*EVALUATE, "-k", "-3"), {"bad-k"}),
        ((*EVALUATE, "--seed", "-1"), {"bad-option"}),
        ((*EVALUATE, "--clusters", "0", "-k", "1"), {"bad-option", "bad-k"}),
        ((*EVALUATE[:3], "age,age,sex"), {"two-roles"}),
        ((*EVALUATE, "--report", "release.csv"), {"output-is-input"}),
        ((*EVALUATE, "--control", "other.csv", "--report", "other.csv"), {"output-is-input"}),
        ((*EVALUATE, "--external", "other.csv", "--report", "other.csv"), {"output-is-input"}),
        ((*EVALUATE, "--population", "other.csv", "--report", "other.csv"), {"output-is-input"}),
        ((*EVALUATE, "--report", "same", "--charts", "same"), {"same-output"}),
    ],
)
def test_evaluate(refused: Call, release: Path, options: tuple[str, ...], reasons: set[str]) -> None:
    release.with_name("other.csv").write_text(release.read_text())
    assert refused("evaluate", *options) == (2, reasons)


@pytest.mark.parametrize("size", ["0", "-1", "x"])
def test_inspect(refused: Call, people: Path, size: str) -> None:
    assert refused("inspect", people, "--size", size) == (2, {"bad-option"})


def test_verify_with_a_certificate_takes_nothing_else(
    refused: Call, release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = release.with_name("certificate.json")
    certificate.write_text(json.dumps({"quasi": ["sex"], "models": ["k-anonymity:5"], "hashes": {}}))
    options = {
        "-k": "100",
        "--quasi": "age",
        "--model": "l-diversity:disease:2",
        "--person": "zip",
        "--sensitive": "disease",
        "--suppression-limit": "0.5",
    }
    for name, value in options.items():
        assert refused("verify", release, "--certificate", certificate, name, value) == (2, {"bad-option"})
    everything = [part for pair in options.items() for part in pair]
    assert _run(["verify", str(release), "--certificate", str(certificate), *everything]) == 2
    said = capsys.readouterr().err
    assert all(f"{name} cannot be given" in said for name in options)


ANONYMIZE = ("-o", "out.csv", "--quasi", "age,sex")


@pytest.mark.parametrize(
    ("options", "code", "reasons"),
    [
        ((*ANONYMIZE, "-k", "5", "--effort", "inf"), 2, {"bad-parameter"}),
        ((*ANONYMIZE, "-k", "5", "--effort", "nan"), 2, {"bad-parameter"}),
        ((*ANONYMIZE, "-k", "5", "--parameter", "a=["), 2, {"unknown-parameter"}),
        ((*ANONYMIZE[:3], "age\nsex", "-k", "5"), 2, {"unknown-column"}),
        ((*ANONYMIZE, "-k", "9" * 20), 3, {"too-few-records"}),
        ((*ANONYMIZE, "--model", f"qid:age:{'9' * 20}"), 3, {"too-few-records"}),
        ((*ANONYMIZE, "--model", f"xy-anonymity:zip:{'9' * 20}"), 3, {"too-few-values"}),
        ((*ANONYMIZE, "--model", f"k-anonymity:{'9' * 20}:zip"), 3, {"too-few-values"}),
        ((*ANONYMIZE, "--model", f"k-map:{'9' * 20}", "--population", "people.csv"), 3, {"requirement-impossible"}),
    ],
)
def test_anonymize(refused: Call, people: Path, options: tuple[str, ...], code: int, reasons: set[str]) -> None:
    assert refused("anonymize", people, "--drop-rest", *options) == (code, reasons)


@pytest.mark.parametrize("algorithm", ["tdr", "dbca-cm"])
def test_a_class_column_that_is_not_there(refused: Call, people: Path, algorithm: str) -> None:
    options = ("--algorithm", algorithm, "--parameter", "class_column=0")
    assert refused("anonymize", people, "--drop-rest", *ANONYMIZE, "-k", "5", *options)[0] == 2


@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        ("1: 2\nk: 5\n", {"unknown-setting"}),
        ("yes: 2\nk: x\n", {"unknown-setting", "bad-k"}),
        ("algorithm: tdr\nk: 5\nquasi: [age]\nparameters: {class_column: 0}\n", {"bad-parameter"}),
    ],
)
def test_job_files(refused: Call, people: Path, tmp_path: Path, content: str, reasons: set[str]) -> None:
    (tmp_path / "job.yaml").write_text(content)
    assert refused("anonymize", people, "--drop-rest", "-o", "out.csv", "--job", "job.yaml") == (2, reasons)


@pytest.mark.parametrize(
    ("options", "code", "reasons"),
    [
        (("-k", "1"), 2, {"bad-k"}),
        (("-k", "1", "--patients", "0", "--seed", "-1"), 2, {"bad-k", "bad-option"}),
        (("-k", "5", "--patients", "3"), 3, {"too-few-records"}),
        (("--patients", "20", "--seed", "-1"), 2, {"bad-option"}),
    ],
)
def test_demo(refused: Call, tmp_path: Path, options: tuple[str, ...], code: int, reasons: set[str]) -> None:
    assert refused("demo", "-o", "new/demo", *options) == (code, reasons)
    assert not (tmp_path / "new").exists()


def test_demo_keeps_what_was_there(refused: Call, tmp_path: Path) -> None:
    (tmp_path / "demo" / "report.html").mkdir(parents=True)
    (tmp_path / "demo" / "patients.csv").write_text("mine\n")
    assert refused("demo", "-o", "demo", "--patients", "30", "-k", "5") == (2, {"not-writable"})
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {"report.html", "patients.csv"}


CLUSTER = ("-o", "out.csv", "--quasi", "age,sex")


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        ((*CLUSTER, "-k", "0"), {"bad-k"}),
        ((*CLUSTER, "-k", "1", "--clusters", "0", "--seed", "-1"), {"bad-k", "bad-option"}),
        ((*CLUSTER, "--clusters", "0"), {"bad-option"}),
        ((*CLUSTER, "--seed", "-1"), {"bad-option"}),
        ((*CLUSTER, "--sweep", "1,5"), {"bad-threshold"}),
        ((*CLUSTER[:3], "age,age"), {"two-roles"}),
        ((*CLUSTER, "--details", "out.csv"), {"same-output"}),
        ((*CLUSTER, "--report", "./out.csv"), {"same-output"}),
        ((*CLUSTER, "--details", "people.csv"), {"output-is-input"}),
        ((*CLUSTER, "--hierarchies", "trees", "--report", "trees/sex.csv"), {"output-is-input"}),
    ],
)
def test_cluster_release(
    refused: Call, people: Path, tmp_path: Path, options: tuple[str, ...], reasons: set[str]
) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("m;*\nf;*\n")
    assert refused("cluster-release", people, "--drop-rest", *options) == (2, reasons)


def test_the_job_file_is_not_overwritten(refused: Call, people: Path, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("input: people.csv\nquasi: [age]\nk: 5\noutput: out.csv\n")
    assert refused("anonymize", "--drop-rest", "--job", "job.yaml", "--report", "./job.yaml") == (
        2,
        {"output-is-input"},
    )
