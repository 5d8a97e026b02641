"""Caps, global recodings, full-domain generalization and dropped records, through a real process."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

ASKED = ("--quasi", "age,zip,sex", "--sensitive", "disease", "-k", "5", "--algorithm", "mondrian")


@pytest.fixture
def trees(tmp_path: Path) -> str:
    folder = tmp_path / "trees"
    folder.mkdir()
    ages = [f"{age};{age // 5 * 5}-;{age // 10 * 10}s;*" for age in range(20, 60)]
    (folder / "age.csv").write_text("\n".join(ages) + "\n")
    zips = [f"SECRETzip{n};{'north' if n < 4 else 'south'};*" for n in range(8)]
    (folder / "zip.csv").write_text("\n".join(zips) + "\n")
    return "trees"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def decades(text: str) -> set[int]:
    """The decades that a released age covers."""
    ends = text.strip("[]").split(", ")
    return set(range(int(ends[0]) // 10, int(ends[-1]) // 10 + 1))


def test_a_cap_is_never_passed(shoal, people: Path, trees: str, tmp_path: Path) -> None:
    outcome = shoal(
        *("anonymize", people, "-o", "out.csv", *ASKED, "--hierarchies", trees),
        *("--at-most", "age=2,sex=0", "--certificate", "c.json", "--json"),
    )
    assert outcome.code == 0, outcome.err
    rows = rows_of(tmp_path / "out.csv")
    assert {row["sex"] for row in rows} == {"m", "f"}
    assert all(len(decades(row["age"])) == 1 for row in rows)
    assert any(len(row["age"]) > 2 for row in rows)
    told = json.loads((tmp_path / "c.json").read_text())["columns"]
    assert (told["age"]["at_most"], told["sex"]["at_most"]) == (2, 0)
    assert shoal("verify", "out.csv", "--certificate", "c.json").code == 0


def test_caps_that_cannot_be_kept_are_told_with_the_reason(shoal, people: Path, trees: str) -> None:
    outcome = shoal(
        "anonymize", people, "-o", "out.csv", *ASKED, "--hierarchies", trees, "--at-most", "age=0,zip=0", "--json"
    )
    assert outcome.code == 3
    assert outcome.reasons == {"caps-too-strict"}
    assert "120 of 120 records" in outcome.json["problems"][0]["message"]
    assert "SECRET" not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        (("--at-most", "age=7"), {"no-such-level"}),
        (("--at-most", "disease=1"), {"bad-cap"}),
        (("--at-most", "nobody=1"), {"unknown-column"}),
        (("--at-most", "age=1", "--recode", "age=cell-suppression"), {"bad-recoding"}),
        (("--recoding", "subtree", "--recode", "age=mean"), {"bad-recoding"}),
        (("--suppressed", "hide"), {"bad-setting"}),
        (("--suppressed", "drop", "--model", "t-closeness:disease:0.5"), {"not-for-drop"}),
        (("--all",), {"unknown-parameter"}),
    ],
)
def test_what_cannot_be_meant_is_refused(
    shoal, people: Path, trees: str, tmp_path: Path, options: tuple[str, ...], reasons: set[str]
) -> None:
    outcome = shoal("anonymize", people, "-o", "out.csv", *ASKED, "--hierarchies", trees, *options, "--json")
    assert outcome.code == 2
    assert outcome.reasons == reasons
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "sibling"])
def test_a_value_is_released_the_same_way_everywhere(
    shoal, people: Path, trees: str, tmp_path: Path, scheme: str
) -> None:
    outcome = shoal(
        "anonymize", people, "-o", "out.csv", *ASKED, "--hierarchies", trees, "--recoding", scheme, "--json"
    )
    assert outcome.code == 0, outcome.err
    original, released = rows_of(people), rows_of(tmp_path / "out.csv")
    by_disease = Counter(row["disease"] for row in released)
    assert by_disease == Counter(row["disease"] for row in original)
    assert min(Counter((row["age"], row["zip"], row["sex"]) for row in released).values()) >= 5
    labels = {row["zip"] for row in released}
    if scheme != "sibling":  # no label and a value below it
        assert not ({"north", "*"} & labels and any(f"SECRETzip{n}" in labels for n in range(4)))


def test_the_best_levels_and_all_minimal_ones(shoal, people: Path, trees: str) -> None:
    asked = ("anonymize", people, "-o", "out.csv", "--quasi", "age,zip,sex", "--sensitive", "disease", "-k", "5")
    outcome = shoal(*asked, "--hierarchies", trees, "--algorithm", "full-domain", "--all", "--json")
    assert outcome.code == 0, outcome.err
    details = outcome.json["details"]
    assert details["optimal"]
    assert details["loss"] == min(node["loss"] for node in details["minimal"])
    assert outcome.json["metrics"]["gcp"] == pytest.approx(details["loss"])
    shown = shoal(*asked, "--hierarchies", trees, "--algorithm", "full-domain", "--all")
    assert "Levels of the hierarchies" in shown.out
    assert shown.out.count("minimal") == len(details["minimal"])


def test_suppressed_records_can_be_left_out(shoal, tmp_path: Path) -> None:
    rows = [f"{20 + n % 5},{'mf'[n % 2]},p{n}" for n in range(200)]
    (tmp_path / "in.csv").write_text("\n".join(["age,sex,person", *rows, "90,m,q", "1,f,r", "150,m,s"]) + "\n")
    asked = ("in.csv", "--quasi", "age,sex", "--person", "person", "-k", "5", "--algorithm", "mondrian")
    outcome = shoal(
        *("anonymize", *asked, "--suppression-limit", "0.05", "--suppressed", "drop", "-o", "out.csv"),
        *("--certificate", "c.json", "--report", "report.html", "--json"),
    )
    assert outcome.code == 0, outcome.err
    released = rows_of(tmp_path / "out.csv")
    told = outcome.json["certificate"]["records"]
    assert told["dropped"] == 203 - len(released) > 0
    assert told["suppressed"] == 0
    assert "*" not in {cell for row in released for cell in row.values()}
    assert shoal("verify", "out.csv", "--quasi", "age,sex", "-k", "5").code == 0
    starred = shoal("anonymize", *asked, "--suppression-limit", "0.05", "-o", "star.csv", "--json")
    assert starred.json["metrics"]["gcp"] == pytest.approx(outcome.json["metrics"]["gcp"])
