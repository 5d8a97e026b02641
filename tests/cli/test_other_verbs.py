"""demo, evaluate and compare through a real process."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from shoal.algorithms.registry import algorithm_names
from shoal.cli.main import _run
from shoal.cli.output import print_error, print_note, print_table, print_text
from shoal.errors import InputError, Problem
from shoal.evaluation.evaluate import EvaluationOptions, evaluate_release
from shoal.tables.formats.files import read_table


def test_demo(shoal, tmp_path: Path) -> None:
    outcome = shoal("demo", "--patients", "400", "-k", "5")
    assert outcome.code == 0, outcome.err
    for word in ("Records", "k reached", "Information lost per attribute", "before", "after"):
        assert word in outcome.out
    folder = tmp_path / "shoal-demo"
    assert {path.name for path in folder.iterdir()} == {
        *("patients.csv", "job.yaml", "release.csv", "certificate.json", "report.html")
    }
    assert json.loads((folder / "certificate.json").read_text())["smallest_class"] >= 5
    report = (folder / "report.html").read_text()
    assert "<html" in report
    assert "http://" not in report.split("<script")[0]
    again = shoal("anonymize", "--drop-rest", "--job", "shoal-demo/job.yaml", "-o", "again.csv", "--quiet")
    assert again.code == 0, again.err
    assert (tmp_path / "again.csv").read_bytes() == (folder / "release.csv").read_bytes()


def test_evaluate_our_release(shoal, people: Path, tmp_path: Path) -> None:
    made = shoal("anonymize", people, "--drop-rest", "-o", "out.csv", "--quasi", "age,zip,sex", "-k", "5", "--json")
    found = shoal("evaluate", people, "out.csv", "--quasi", "age,zip,sex", "--report", "report.html", "--json")
    assert found.code == 0, found.err
    assert found.json["scores"]["totals"]["gcp"] == pytest.approx(made.json["metrics"]["gcp"])
    assert found.json["risk"]["after"]["smallest_class"] == made.json["smallest_class"]
    assert "SECRET" not in found.out
    assert (tmp_path / "report.html").stat().st_size < 3_000_000


def interval(age: int) -> str:
    """As ARX writes it: the upper end is not included."""
    low = age // 20 * 20
    return f"[{low}, {low + 20}["


def test_evaluate_a_foreign_release(shoal, people: Path, tmp_path: Path) -> None:
    with people.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "arx.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "zip", "sex", "disease"])
        writer.writerows([interval(int(row["age"])), "*", row["sex"], row["disease"]] for row in rows)
    found = shoal("evaluate", people, "arx.csv", "--json")
    assert found.code == 0, found.err
    assert set(found.json["quasi"]) == {"age", "zip"}
    per_attribute = found.json["scores"]["per_attribute"]["gcp"]
    assert per_attribute["zip"] == 1.0
    assert 0.4 < per_attribute["age"] < 0.6
    assert not any(found.json["scores"]["unreadable"].values())


def test_compare(shoal, people: Path, tmp_path: Path) -> None:
    arguments = (
        *("compare", people, "--quasi", "age,zip,sex", "--algorithms", "mondrian,k-member", "-k", "3,6"),
        *("--csv", "table.csv", "--chart", "chart.html", "--resume", "runs.jsonl", "--json"),
        *("--charts", "charts"),
    )
    outcome = shoal(*arguments)
    assert outcome.code == 0, outcome.err
    runs = {(run["algorithm"], run["k"]): run for run in outcome.json["runs"]}
    assert set(runs) == {(name, k) for name in ("mondrian", "k-member") for k in (3, 6)}
    for (_, k), record in runs.items():
        assert record["smallest_class"] >= k
        assert record["peak_megabytes"] > 10
    with (tmp_path / "table.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 4
    assert "<html" in (tmp_path / "chart.html").read_text()
    assert {"loss-GCP.png", "privacy-and-usefulness.svg"} <= {path.name for path in (tmp_path / "charts").iterdir()}
    again = shoal(*arguments)
    assert again.json == outcome.json  # taken from the file of finished runs, times and all


def test_compare_says_what_is_wrong(shoal, people: Path) -> None:
    outcome = shoal("compare", people, "--quasi", "agee", "--algorithms", "mondrain", "-k", "3,x", "--json")
    assert outcome.code == 2
    assert "bad-k" in outcome.reasons


def test_release_without_classes(shoal, people: Path, tmp_path: Path) -> None:
    arguments = (
        "anonymize",
        people,
        "--drop-rest",
        "-o",
        "out.csv",
        "--quasi",
        "age,zip,sex",
        "-k",
        "5",
        "--algorithm",
        "nonhomogeneous",
    )
    outcome = shoal(*arguments, "--json")
    assert outcome.code == 0, outcome.err
    certificate = outcome.json["certificate"]
    assert certificate["class_based"] is False
    assert "not k-anonymous" in certificate["notes"][0]
    (tmp_path / "c.json").write_text(json.dumps(certificate))
    again = shoal("verify", "out.csv", "--certificate", "c.json")
    assert (again.code, "Nothing but the hash" in again.out) == (0, True), again.out
    refused = shoal(*arguments, "--model", "l-diversity:disease:2", "--json")
    assert refused.code == 2
    assert refused.reasons == {"needs-classes"}


def test_verify_is_told_what_means_missing(shoal, tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text("age,disease\n30,?\n30,\n30,NaN\n")
    arguments = ("verify", "release.csv", "--quasi", "age", "--model", "distinct-l:disease:2", "--json")
    outcomes = [shoal(*arguments), shoal(*arguments, "--missing", "?")]
    assert [(outcome.code, outcome.json["checks"][0]["measured"]) for outcome in outcomes] == [(0, 2.0), (3, 1.0)]


def test_cluster_release(shoal, people: Path, tmp_path: Path) -> None:
    outcome = shoal(
        *("cluster-release", people, "--keep-rest", "-o", "out.csv", "--quasi", "age,zip,sex", "-k", "5"),
        *("--clusters", "2"),
        *("--scale", "zip=category", "--sweep", "5,20", "--charts", "charts"),
        *("--details", "details.json", "--report", "page.html", "--labels", "--json"),
    )
    assert outcome.code == 0, outcome.err
    assert [row["h"] for row in outcome.json["sweep"]] == [5, 20]
    assert outcome.json["sweep"][0]["f_measure"] == outcome.json["comparison"]["f_measure"]
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"contingency.png", "contingency.svg", "quality-against-h.png", "quality-against-h.svg"} <= names
    details = json.loads((tmp_path / "details.json").read_text())
    assert {"taxonomies", "cut", "steps", "comparison", "verification", "sweep"} <= set(details)
    assert "Other settings" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "out.csv").read_text().splitlines()[0].endswith(",cluster")
    bad = shoal("cluster-release", people, "--keep-rest", "-o", "o.csv", "--quasi", "age", "--sweep", "5,x", "--json")
    assert (bad.code, bad.reasons) == (2, {"bad-option"})


def test_evaluate_with_control_certificate_and_charts(shoal, people: Path, tmp_path: Path) -> None:
    made = shoal(
        "anonymize",
        people,
        "--drop-rest",
        "-o",
        "out.csv",
        "--quasi",
        "age,zip,sex",
        "-k",
        "5",
        "--certificate",
        "c.json",
        "--key",
        "key.csv",
    )
    assert made.code == 0, made.err
    found = shoal(
        *("evaluate", people, "out.csv", "--quasi", "age,zip,sex", "-k", "5", "--control", people, "--party", "age"),
        *("--key", "key.csv"),
        *("--certificate", "c.json", "--report", "report.html", "--charts", "charts", "--clusters", "2", "--json"),
    )
    assert found.code == 0, found.err
    attack = found.json["attack"]
    assert attack["linkability"]["parties"] == [["age"], ["zip", "sex"]]
    assert attack["linkability"]["risk"]["value"] == 0.0  # the control is the table itself
    assert attack["linkability"]["highest"] <= 0.2 + 1e-9
    page = (tmp_path / "report.html").read_text()
    assert "What was checked" in page
    assert ("can have a loss (GCP) below" in page) == (
        "lower_bound" in json.loads((tmp_path / "c.json").read_text())["loss"]
    )
    names = {path.name for path in (tmp_path / "charts").iterdir()}
    assert {"loss.png", "loss.svg", "clusters.png", "risk-curve.svg"} <= names
    (tmp_path / "other.csv").write_text((tmp_path / "out.csv").read_text() + "\n")
    other = shoal("evaluate", people, "other.csv", "--quasi", "age,zip,sex", "--certificate", "c.json", "--json")
    assert other.reasons == {"other-release"}
    lacking = shoal("evaluate", people, "out.csv", "--anonymeter", "no-such-python", "--json")
    assert (lacking.code, lacking.reasons) == (2, {"no-anonymeter"})


def test_compare_takes_finished_runs_only_from_the_same_comparison(shoal, people: Path, tmp_path: Path) -> None:
    arguments = ("compare", people, "--quasi", "age,zip,sex", "--algorithms", "mondrian", "-k", "5")
    resume = ("--resume", "runs.jsonl", "--json")
    shoal(*arguments, *resume)
    strict = ("--model", "distinct-l:disease:5")
    resumed, alone = shoal(*arguments, *strict, *resume), shoal(*arguments, *strict, "--json")
    assert resumed.json["runs"][0]["gcp"] == alone.json["runs"][0]["gcp"]
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 2


def test_compare_all_leaves_out_what_cannot_take_the_models(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taken: list[str] = []
    monkeypatch.setattr(
        "shoal.comparison.compare_algorithms.compare_algorithms", lambda job, names, *_, **__: taken.extend(names) or []
    )
    arguments = ["compare", str(people), "--quasi", "age", "--algorithms", "all", "-k", "2"]
    assert _run(arguments) == 0
    assert set(taken) == set(algorithm_names())
    taken.clear()
    assert _run([*arguments, "--model", "l-diversity:disease:2"]) == 0
    assert set(taken) == set(algorithm_names()) - {"nonhomogeneous"}
    assert "nonhomogeneous does not make: left out" in " ".join(capsys.readouterr().err.split())


def test_a_certificate_tells_how_the_risk_is_counted(shoal, people: Path, tmp_path: Path) -> None:
    made = shoal(
        *(
            "anonymize",
            people,
            "--drop-rest",
            "-o",
            "out.csv",
            "--quasi",
            "age,zip,sex",
            "-k",
            "5",
            "--certificate",
            "c.json",
        ),
        *("--algorithm", "nonhomogeneous", "--json"),
    )
    assert made.code == 0, made.err
    arguments = ("evaluate", people, "out.csv", "--quasi", "age,zip,sex", "--certificate", "c.json")
    found = shoal(*arguments, "--json")
    assert found.json["risk"]["basis"] == "candidates"
    options = EvaluationOptions(class_based=False, parts=("risk",))
    tables = (read_table(people).frame, read_table(tmp_path / "out.csv").frame)
    counted = evaluate_release(*tables, ["age", "zip", "sex"], options)
    assert found.json["risk"]["after"] == counted.risk["after"]
    assert found.json["risk"]["after"]["highest"] <= 1 / 5
    assert "fewest records that fit a person" in shoal(*arguments).out


def test_everything_suppressed_is_shown(shoal, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("a,b\n" + "".join(f"x{n},y{n}\n" for n in range(4)))
    made = shoal("anonymize", "few.csv", "-o", "out.csv", "--quasi", "a,b", "-k", "4", "--suppression-limit", "1")
    assert made.code == 0, made.err
    assert "Smallest group (k reached) -" in " ".join(made.out.split())
    assert (tmp_path / "out.csv").read_text() == "a,b\n" + "*,*\n" * 4


def test_an_option_of_the_file_leaves_the_others_of_the_job(shoal, tmp_path: Path) -> None:
    rows = "".join(f"{20 + n % 2}|é{n % 2}|x\n" for n in range(20))
    (tmp_path / "odd.csv").write_bytes(rows.encode("latin-1"))
    job = 'input: odd.csv\nquasi: [column_1]\nk: 2\ncsv: {delimiter: "|", header: false, encoding: utf-8}\n'
    (tmp_path / "job.yaml").write_text(job)
    made = shoal("anonymize", "--drop-rest", "--job", "job.yaml", "--encoding", "latin-1", "-o", "out.csv", "--json")
    assert made.code == 0, made.err
    csv_settings = made.json["certificate"]["job"]["csv"]
    assert csv_settings == {"delimiter": "|", "header": False, "encoding": "latin-1"}


def test_names_between_colons_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("of :id:", ("in :a:",), [("xy-anonymity:id:3",)])
    print_text("written: :a:")
    print_note("failed: :a:")
    print_error(InputError(Problem("bad", "in :a:", "the :id: column", "not :a:")))
    said = capsys.readouterr()
    for text in ("of :id:", "in :a:", "xy-anonymity:id:3", "written: :a:"):
        assert text in said.out
    for text in ("failed: :a:", "in :a:", "the :id: column", "not :a:"):
        assert text in said.err


def test_models_explained_as_json(shoal) -> None:
    found = shoal("models", "--explain", "k-map", "--json").json
    assert (found["name"], found["monotone"]) == ("k-map", True)
    assert found["stops"]


def test_no_verb_overwrites_what_it_reads(shoal, people: Path, tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    tree = tmp_path / "trees" / "zip.csv"
    tree.write_text("".join(f"SECRETzip{n};*\n" for n in range(8)))
    (tmp_path / "everybody.csv").write_bytes(people.read_bytes())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    common = ("--quasi", "age,zip,sex", "--hierarchies", "trees", "--json")
    for arguments in (
        ("evaluate", people, people, "--population", "everybody.csv", "--report", "everybody.csv"),
        ("evaluate", people, people, "--report", tree),
        ("compare", people, "--csv", tree),
        ("cluster-release", people, "--drop-rest", "-o", tree),
        ("cluster-release", people, "--drop-rest", "-o", "out.csv", "--details", tree),
    ):
        outcome = shoal(*arguments, *common)
        assert (outcome.code, outcome.reasons) == (2, {"output-is-input"}), outcome.err
    outcome = shoal(
        "cluster-release", people, "--drop-rest", "-o", "out.xyz", "--quasi", "age", "--sweep", "x", "--json"
    )
    assert (outcome.code, outcome.reasons) == (2, {"unknown-format", "bad-option"})
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("arguments", "reasons"),
    [
        (
            ("cluster-release", "--drop-rest", "-o", "o.csv", "-k", "0", "--clusters", "0", "--seed", "-1"),
            {"bad-k", "bad-option"},
        ),
        (("cluster-release", "--drop-rest", "-o", "o.csv", "-k", "9", "--details", "./o.csv"), {"same-output"}),
        (("inspect", "--size", "0"), {"bad-option"}),
        (("compare", "--algorithms", "", "--processes", "0"), {"bad-option", "no-algorithm"}),
        (
            ("compare", "--csv", "o.csv", "--chart", "o.csv", "--resume", "people.csv"),
            {"same-output", "output-is-input"},
        ),
        (("evaluate", "people.csv", "--seed", "-1", "-k", "0"), {"bad-k", "bad-option"}),
        (("anonymize", "--drop-rest", "-o", "o.csv", "-k", "5", "--scale", "age=integer,age=date"), {"bad-option"}),
        (
            (
                "anonymize",
                "--drop-rest",
                "-o",
                "o.csv",
                "-k",
                "5",
                "--algorithm",
                "mondrian",
                "--parameter",
                "strict=[",
            ),
            {"bad-parameter"},
        ),
        (
            ("anonymize", "--drop-rest", "-o", "o.csv", "-k", "5", "--algorithm", "cb", "--parameter", "rounds=2.5"),
            {"bad-parameter"},
        ),
    ],
)
def test_what_would_be_ignored_is_refused(
    shoal, people: Path, tmp_path: Path, arguments: tuple[str, ...], reasons: set[str]
) -> None:
    before = people.read_bytes()
    verb, *others = arguments
    outcome = shoal(verb, people, *others, "--quasi", "age,sex", "--json")
    assert (outcome.code, outcome.reasons) == (2, reasons), outcome.err
    assert people.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_certificate_says_what_is_checked(shoal, people: Path, tmp_path: Path) -> None:
    call = (
        "anonymize",
        people,
        "--drop-rest",
        "-o",
        "out.csv",
        "--quasi",
        "age,sex",
        "-k",
        "3",
        "--algorithm",
        "mondrian",
    )
    assert shoal(*call, "--certificate", "c.json").code == 0
    outcome = shoal("verify", "out.csv", "--certificate", "c.json", "-k", "50", "--quasi", "age,zip", "--json")
    assert outcome.code == 2
    assert [problem["reason"] for problem in outcome.json["problems"]] == ["bad-option", "bad-option"]


def test_an_option_of_csv_leaves_the_others_of_the_job_file(shoal, people: Path, tmp_path: Path) -> None:
    settings = {"input": "people.csv", "output": "out.csv", "quasi": ["age"], "k": 3, "csv": {"delimiter": ";"}}
    (tmp_path / "job.json").write_text(json.dumps(settings))
    outcome = shoal("anonymize", "--drop-rest", "--job", "job.json", "--encoding", "utf-8", "--json")
    assert (outcome.code, outcome.reasons) == (2, {"unknown-column"})  # under this delimiter there is one column only
    people.write_text(people.read_text().replace(",", ";"))
    assert shoal("anonymize", "--drop-rest", "--job", "job.json", "--encoding", "utf-8", "--json").code == 0
