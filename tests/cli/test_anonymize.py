"""The main path through a real process: release, certificate, verification, tampering."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

QUASI = "age,zip,sex"


@pytest.fixture
def released(shoal, people: Path, tmp_path: Path):
    outcome = shoal(
        *("anonymize", people, "--keep-rest", "-o", "out.csv", "--quasi", QUASI, "--sensitive", "disease", "-k", "5"),
        *("--certificate", "certificate.json", "--json"),
    )
    assert outcome.code == 0, outcome.err
    return outcome


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_release_is_k_anonymous_by_the_csv_module(released, people: Path, tmp_path: Path) -> None:
    rows = rows_of(tmp_path / "out.csv")
    sizes = Counter((row["age"], row["zip"], row["sex"]) for row in rows)
    assert min(sizes.values()) >= 5
    assert min(sizes.values()) == released.json["smallest_class"]
    original = rows_of(people)
    assert sorted(row["disease"] for row in rows) == sorted(row["disease"] for row in original)  # kept


def test_outliers_are_suppressed_up_to_the_limit(shoal, tmp_path: Path) -> None:
    rows = [f"{20 + n % 5},{'mf'[n % 2]}" for n in range(200)]
    outliers = ["90,m", "1,f", "150,m"]
    (tmp_path / "in.csv").write_text("\n".join(["age,sex", *rows, *outliers]) + "\n")
    asked = ("in.csv", "--quasi", "age,sex", "-k", "5", "--algorithm", "mondrian")
    limit = ("--suppression-limit", "0.05")
    outcome = shoal("anonymize", *asked, *limit, "-o", "out.csv", "--certificate", "c.json", "--json")
    assert outcome.code == 0, outcome.err
    hidden = [row for row in rows_of(tmp_path / "out.csv") if set(row.values()) == {"*"}]
    assert outcome.json["certificate"]["records"] == {"input": 203, "released": 203, "suppressed": len(hidden)}
    assert 0 < len(hidden) <= 10
    assert outcome.json["smallest_class"] >= 5
    assert shoal("verify", "out.csv", "--certificate", "c.json").code == 0
    assert shoal("verify", "out.csv", "--quasi", "age,sex", "-k", "5").code == (0 if len(hidden) >= 5 else 3)


@pytest.mark.parametrize("options", [("--no-header",), ("--delimiter", "^")])
def test_a_certificate_knows_how_the_file_is_written(shoal, tmp_path: Path, options: tuple[str, ...]) -> None:
    between = "^" if "^" in options else ","
    rows = [f"a{n % 3}{between}b{n % 2}" for n in range(40)]
    names = "column_1,column_2" if "--no-header" in options else "x,y"
    header = [] if "--no-header" in options else [names.replace(",", between)]
    (tmp_path / "in.csv").write_text("\n".join([*header, *rows]) + "\n")
    asked = ("anonymize", "in.csv", "-o", "out.csv", "--quasi", names, "-k", "3", "--algorithm", "mondrian")
    assert shoal(*asked, *options, "--certificate", "c.json").code == 0
    checked = shoal("verify", "out.csv", "--certificate", "c.json")
    assert checked.code == 0, checked.err


@pytest.mark.parametrize(
    "content",
    [
        '{"quasi": 1, "models": 2, "hashes": 3}',
        '{"quasi": ["a"], "models": ["k-anonymity:2"], "hashes": {}, "job": null}',
        '{"quasi": ["a"], "models": [5], "hashes": {}}',
        "[]",
    ],
)
def test_a_file_that_is_no_certificate(shoal, people: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "c.json").write_text(content)
    outcome = shoal("verify", people, "--certificate", "c.json", "--json")
    assert (outcome.code, outcome.reasons) == (2, {"unreadable-certificate"})


def test_a_quote_that_is_the_delimiter(shoal, people: Path) -> None:
    outcome = shoal(
        "anonymize", people, "--keep-rest", "-o", "out.csv", "--quasi", QUASI, "-k", "5", "--quote", ",", "--json"
    )
    assert outcome.code == 2


def test_certificate_holds_no_value(released, tmp_path: Path) -> None:
    text = (tmp_path / "certificate.json").read_text()
    assert "SECRET" not in text
    certificate = json.loads(text)
    assert certificate == released.json["certificate"]
    assert certificate["passed"] is True
    assert set(certificate["hashes"]) == {"input", "release", "job"}


def test_verify_release_and_tampered_copy(released, shoal, tmp_path: Path) -> None:
    assert shoal("verify", "out.csv", "--quasi", QUASI, "-k", "5").code == 0
    assert shoal("verify", "out.csv", "--certificate", "certificate.json").code == 0
    assert shoal("verify", "out.csv", "--quasi", QUASI, "-k", "50").code == 3
    lines = (tmp_path / "out.csv").read_text().splitlines()
    cells = lines[1].split(",")
    tampered = [lines[0], ",".join(["77", *cells[1:]]) if '"' not in lines[1] else '77,x,m,"y"', *lines[2:]]
    (tmp_path / "tampered.csv").write_text("\n".join(tampered) + "\n")
    failed = shoal("verify", "tampered.csv", "--quasi", QUASI, "-k", "5", "--json")
    assert failed.code == 3
    assert failed.json["checks"][0]["smallest_offending_class"] == 1
    other = shoal("verify", "tampered.csv", "--certificate", "certificate.json", "--json")
    assert other.code == 3
    assert other.json["same_file"] is False


def test_threads_do_not_change_bytes(shoal, people: Path, tmp_path: Path) -> None:
    for threads in ("1", "2"):
        outcome = shoal(
            *(
                "anonymize",
                people,
                "--keep-rest",
                "-o",
                f"out{threads}.csv",
                "--quasi",
                QUASI,
                "-k",
                "4",
                "--threads",
                threads,
            ),
            *("--certificate", f"certificate{threads}.json", "--quiet"),
        )
        assert outcome.code == 0, outcome.err
        assert outcome.out == ""
    assert (tmp_path / "out1.csv").read_bytes() == (tmp_path / "out2.csv").read_bytes()
    assert (tmp_path / "certificate1.json").read_bytes() == (tmp_path / "certificate2.json").read_bytes()


def test_odd_values_pass_through(shoal, tmp_path: Path) -> None:
    odd = [
        "=1+1",
        "<script>alert(1)</script>",
        "two\nlines",
        'a "quote"',
        "nul\0byte",
        "\N{FISH}",
        "x" * 100_000,
        "a,b",
        "{",
        "*",
    ]
    with (tmp_path / "odd.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["group", "kept"])
        writer.writerows([value, other] for value in odd for other in odd)
    outcome = shoal(
        *("anonymize", "odd.csv", "--keep-rest", "-o", "out.csv", "--quasi", "group", "-k", "4", "--json"),
        *("--order", "input"),
        *("--report", "report.html", "--certificate", "c.json"),
    )
    assert outcome.code == 0, outcome.err
    limit = csv.field_size_limit(10_000_000)
    try:
        rows = rows_of(tmp_path / "out.csv")
    finally:
        csv.field_size_limit(limit)
    assert [row["kept"] for row in rows] == odd * len(odd)
    assert [row["group"] for row in rows] == [value for value in odd for _ in odd]  # all exact: each occurs ten times
    assert "<script>alert" not in (tmp_path / "report.html").read_text()


def test_job_file_is_the_same_as_options(shoal, people: Path, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(f"input: people.csv\noutput: a.csv\nquasi: [{QUASI}]\nk: 6\nseed: 3\n")
    assert shoal("anonymize", "--keep-rest", "--job", "job.yaml", "--quiet").code == 0
    assert (
        shoal(
            "anonymize", people, "--keep-rest", "-o", "b.csv", "--quasi", QUASI, "-k", "6", "--seed", "3", "--quiet"
        ).code
        == 0
    )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_microaggregation(shoal, people: Path, tmp_path: Path) -> None:
    outcome = shoal(
        "anonymize", people, "--keep-rest", "-o", "m.csv", "--quasi", "age", "-k", "5", "--recoding", "mean", "--json"
    )
    assert outcome.code == 0, outcome.err
    ages = [float(row["age"]) for row in rows_of(tmp_path / "m.csv")]
    assert min(Counter(ages).values()) >= 5
    original = [float(row["age"]) for row in rows_of(people)]
    assert sum(ages) == pytest.approx(sum(original))


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing(stop: signal.Signals, tmp_path: Path) -> None:
    rows = "\n".join(f"{n},{n * 7919 % 100_003},{n * 104_729 % 99_991}" for n in range(60_000))
    (tmp_path / "big.csv").write_text("a,b,c\n" + rows + "\n")
    command = [sys.executable, "-m", "shoal.cli.main", "anonymize", "big.csv", "-o", "out.csv", "--quasi", "a,b,c"]
    command += ["-k", "3", "--algorithm", "k-member", "--debug"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("encode:"):  # what comes next is the clustering
            break
    time.sleep(1)
    process.send_signal(stop)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing was written" in err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["big.csv"]


def test_lists(shoal) -> None:
    for verb in ("algorithms", "models", "metrics"):
        outcome = shoal(verb, "--json")
        assert outcome.code == 0, outcome.err
        assert outcome.json[verb]


def test_inspect(shoal, people: Path) -> None:
    outcome = shoal("inspect", people, "--json")
    assert outcome.code == 0, outcome.err
    assert {column["name"]: column["role"] for column in outcome.json["columns"]}["disease"] == "sensitive"
    assert "SECRET" not in outcome.out


def test_k_map_against_a_population(shoal, people: Path, tmp_path: Path) -> None:
    lines = people.read_text().splitlines()
    (tmp_path / "everybody.csv").write_text("\n".join([lines[0], *lines[1:] * 4]) + "\n")
    arguments = ("--quasi", "age,zip,sex", "--model", "k-map:8", "--population", "everybody.csv", "--json")
    made = shoal("anonymize", people, "--keep-rest", "-o", "out.csv", "--algorithm", "mondrian", *arguments)
    assert made.code == 0, made.err
    assert made.json["certificate"]["checks"][0]["measured"] >= 8
    assert made.json["smallest_class"] < 8  # the population hides people, not the table alone
    assert shoal("verify", "out.csv", *arguments).code == 0


def test_persons_with_several_records(shoal, tmp_path: Path) -> None:
    rows = "\n".join(f"p{n // 4},{20 + n // 4 % 9},{'mf'[n // 4 % 2]}" for n in range(160))
    (tmp_path / "visits.csv").write_text("patient,age,sex\n" + rows + "\n")
    made = shoal(
        "anonymize",
        "visits.csv",
        "-o",
        "out.csv",
        "--quasi",
        "age,sex",
        "-k",
        "5",
        "--order",
        "input",
        "--person",
        "patient",
        "--json",
    )
    assert made.code == 0, made.err
    released = rows_of(tmp_path / "out.csv")
    assert "patient" not in released[0]
    persons: dict[tuple[str, str], set[int]] = {}
    for place, row in enumerate(released):
        persons.setdefault((row["age"], row["sex"]), set()).add(place // 4)
    assert min(len(members) for members in persons.values()) >= 5


def test_a_certificate_that_hides_a_named_value_can_be_checked_again(shoal, people: Path, tmp_path: Path) -> None:
    arguments = ("--quasi", "age,zip,sex", "-k", "5", "--model", "alpha-k:disease=SECRETill1:0.6", "--quiet")
    made = shoal(
        "anonymize",
        people,
        "--keep-rest",
        "-o",
        "out.csv",
        "--algorithm",
        "mondrian",
        "--certificate",
        "c.json",
        *arguments,
    )
    assert made.code == 0, made.err
    assert "SECRET" not in (tmp_path / "c.json").read_text()
    again = shoal("verify", "out.csv", "--certificate", "c.json", "--json")
    assert again.code == 0, again.err
    assert len(again.json["checks"]) == 2
    assert again.json["notes"] == []
