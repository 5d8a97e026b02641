"""Bad input ends with exit code 2 (or 3), all problems at once, no traceback, no cell value, nothing written."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

BASE = ("--quasi", "age,zip,sex", "-k", "5", "--json")


def tree(folder: Path, text: str) -> Path:
    made = folder / "trees"
    made.mkdir()
    (made / "zip.csv").write_text(text)
    return made


def change(people: Path, text: str | bytes) -> None:
    people.write_bytes(text if isinstance(text, bytes) else text.encode())


def cover(rows: list[str]) -> str:
    return "\n".join(rows) + "\n"


ZIPS = [f"SECRETzip{n}" for n in range(8)]
PREPARE: dict[str, tuple[Callable[[Path, Path], tuple], int, set[str]]] = {
    "bad delimiter and bad k": (
        lambda f, p: (p, "-o", "out.csv", "--quasi", "age", "-k", "0", "--delimiter", "ab", "--json"),
        2,
        {"bad-option", "bad-k"},
    ),
    "missing file": (lambda f, p: (f / "nowhere.csv", "-o", "out.csv", *BASE), 2, {"no-such-file"}),
    "empty file": (lambda f, p: (change(p, ""), (p, "-o", "out.csv", *BASE))[1], 2, {"empty-file"}),
    "header only": (lambda f, p: (change(p, "age,zip,sex\n"), (p, "-o", "out.csv", *BASE))[1], 2, {"no-records"}),
    "ragged rows": (
        lambda f, p: (change(p, "age,zip,sex\n1,SECRET,m\n2,SECRET\n3,SECRET,m,4\n"), (p, "-o", "out.csv", *BASE))[1],
        2,
        {"ragged-rows"},
    ),
    "undecodable bytes": (
        lambda f, p: (
            change(p, b"age,zip,sex\n1,SECRET\x81\x8d,m\n"),
            (p, "-o", "o.csv", "--encoding", "utf-8", *BASE),
        )[1],
        2,
        {"undecodable"},
    ),
    "duplicate columns": (
        lambda f, p: (change(p, "age,zip,age\n1,SECRET,2\n"), (p, "-o", "out.csv", *BASE))[1],
        2,
        {"duplicate-column"},
    ),
    "unknown column": (
        lambda f, p: (p, "-o", "out.csv", "--quasi", "agee,zip", "-k", "5", "--json"),
        2,
        {"unknown-column"},
    ),
    "two roles": (lambda f, p: (p, "-o", "out.csv", "--sensitive", "zip", *BASE), 2, {"two-roles"}),
    "no quasi": (lambda f, p: (p, "-o", "out.csv", "-k", "5", "--json"), 2, {"no-quasi-identifier"}),
    "k of one": (lambda f, p: (p, "-o", "out.csv", "--quasi", "age", "-k", "1", "--json"), 2, {"bad-k"}),
    "k not a number": (lambda f, p: (p, "-o", "out.csv", "--quasi", "age", "-k", "ten", "--json"), 2, {"bad-k"}),
    "no k": (lambda f, p: (p, "-o", "out.csv", "--quasi", "age", "--json"), 2, {"no-model"}),
    "k too large": (
        lambda f, p: (p, "-o", "out.csv", "--quasi", "age", "-k", "121", "--json"),
        3,
        {"too-few-records"},
    ),
    "output is input": (lambda f, p: (p, "-o", "./people.csv", *BASE), 2, {"output-is-input"}),
    "certificate is the job file": (
        lambda f, p: (
            (f / "job.json").write_text('{"input": "people.csv", "output": "out.csv", "quasi": ["age"], "k": 5}'),
            ("--job", "job.json", "--certificate", "./job.json", "--model", "qid:zip:3", "--json"),
        )[1],
        2,
        {"output-is-input", "not-quasi-identifying"},
    ),
    "no output": (lambda f, p: (p, *BASE), 2, {"no-output"}),
    "output folder missing": (lambda f, p: (p, "-o", "nowhere/out.csv", *BASE), 2, {"no-such-folder"}),
    "output is a folder": (lambda f, p: ((f / "made").mkdir(), (p, "-o", "made", *BASE))[1], 2, {"not-writable"}),
    "output of unknown format": (lambda f, p: (p, "-o", "out.docx", *BASE), 2, {"unknown-format"}),
    "hierarchy lacks values": (
        lambda f, p: (p, "-o", "o.csv", "--hierarchies", tree(f, cover([f"{z};*" for z in ZIPS[:5]])), *BASE),
        2,
        {"uncovered-values"},
    ),
    "hierarchy with two roots": (
        lambda f, p: (p, "-o", "o.csv", "--hierarchies", tree(f, cover([f"{z};{z[-1] > '4'}" for z in ZIPS])), *BASE),
        2,
        {"two-roots"},
    ),
    "hierarchy folder missing": (
        lambda f, p: (p, "-o", "o.csv", "--hierarchies", "nowhere", *BASE),
        2,
        {"no-such-folder"},
    ),
    "numeric attribute full of text": (
        lambda f, p: (p, "-o", "o.csv", "--scale", "zip=integer", *BASE),
        2,
        {"not-a-number"},
    ),
    "unknown scale": (lambda f, p: (p, "-o", "o.csv", "--scale", "zip=number", *BASE), 2, {"bad-setting"}),
    "unknown algorithm": (lambda f, p: (p, "-o", "o.csv", "--algorithm", "mondriann", *BASE), 2, {"unknown-algorithm"}),
    "unknown model": (lambda f, p: (p, "-o", "o.csv", "--model", "l-diversty:disease:3", *BASE), 2, {"unknown-model"}),
    "model on an unknown column": (
        lambda f, p: (p, "-o", "o.csv", "--model", "l-diversity:diseas:3", *BASE),
        2,
        {"unknown-column"},
    ),
    "impossible l-diversity": (
        lambda f, p: (p, "-o", "o.csv", "--model", "l-diversity:disease:9", *BASE),
        3,
        {"too-frequent-value"},
    ),
    "infinite number": (
        lambda f, p: (change(p, "age,zip,sex\n1,a,m\ninf,b,m\n3,c,f\n4,d,f\n5,e,f\n"), (p, "-o", "o.csv", *BASE))[1],
        2,
        {"infinite-number"},
    ),
    "job with a typo": (
        lambda f, p: ((f / "job.yaml").write_text("qasi: [age]\nk: 5\n"), ("--job", "job.yaml", "--json"))[1],
        2,
        {"unknown-setting"},
    ),
    "job with a cycle": (
        lambda f, p: (
            (f / "job.yaml").write_text(
                "input: people.csv\noutput: out.csv\nquasi: [zip]\nk: 5\nhierarchies: {zip: {a: b, b: a}}\n"
            ),
            ("--job", "job.yaml", "--json"),
        )[1],
        2,
        {"cycle"},
    ),
}


@pytest.mark.parametrize("case", PREPARE)
def test_bad_input(case: str, shoal, people: Path, tmp_path: Path) -> None:
    prepare, code, reasons = PREPARE[case]
    (tmp_path / "out.csv").write_text("an older release")
    arguments = prepare(tmp_path, people)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    outcome = shoal("anonymize", "--drop-rest", *arguments)
    assert outcome.code == code, outcome.err
    assert reasons <= outcome.reasons
    assert "Traceback" not in outcome.err
    assert "SECRET" not in outcome.err + outcome.out
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_all_problems_at_once(shoal, people: Path) -> None:
    outcome = shoal(
        *(
            "anonymize",
            people,
            "--drop-rest",
            "-o",
            "nowhere/out.csv",
            "--quasi",
            "agee,zip",
            "--sensitive",
            "zip",
            "-k",
            "x",
        ),
        *("--algorithm", "magic", "--model", "odd:1", "--json"),
    )
    assert outcome.code == 2
    expected = {"no-such-folder", "unknown-column", "two-roles", "bad-k", "unknown-algorithm", "unknown-model"}
    assert expected <= outcome.reasons
    hints = [problem["hint"] for problem in outcome.json["problems"] if problem["column"] == "agee"]
    assert hints == ["did you mean 'age'?"]


def test_output_folder_not_writable(shoal, people: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if os.geteuid() == 0:
        target: Path = Path("/proc/out.csv")  # nobody can write there, not even root
    else:
        target = locked / "out.csv"
    outcome = shoal("anonymize", people, "--drop-rest", "-o", target, *BASE)
    assert outcome.code == 2
    assert outcome.reasons & {"not-writable", "no-such-folder"}


def test_nan_is_missing(shoal, tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"age,x\n" + b"NaN,1\n" * 3 + b"30,2\n" * 4 + b"31,3\n" * 3))
    outcome = shoal("anonymize", path, "--drop-rest", "-o", "out.csv", "--quasi", "age", "-k", "3", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["certificate"]["missing"]["cells"] == {"age": 3}
