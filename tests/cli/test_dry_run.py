"""`--dry-run`, `--hierarchy` and `--rename-duplicates` of `shoal anonymize`."""

from __future__ import annotations

from pathlib import Path

ROLES = ("--quasi", "age,zip", "--sensitive", "disease", "--identifiers", "sex", "-k", "5", "--algorithm", "mondrian")


def test_a_dry_run_checks_everything_and_writes_nothing(shoal, people: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    outcome = shoal("anonymize", people, "-o", "out.csv", *ROLES, "--certificate", "c.json", "--dry-run", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["dry_run"]
    assert outcome.json["records"] == 120
    assert outcome.json["seconds"] > 0
    assert outcome.json["requirement"] == ["k-anonymity:5"]
    assert "about" in shoal("anonymize", people, "-o", "out.csv", *ROLES, "--dry-run").out
    assert shoal("anonymize", people, "-o", "out.csv", "--quasi", "nobody", "-k", "5", "--dry-run").code == 2
    impossible = ("--quasi", "age", "--sensitive", "disease", "--identifiers", "sex,zip", "-k", "500", "--dry-run")
    assert shoal("anonymize", people, "-o", "out.csv", *impossible).code == 3
    assert sorted(tmp_path.iterdir()) == before


def test_a_dry_run_looks_at_highest_levels(shoal, people: Path) -> None:
    ages = (*ROLES[:-2], "--hierarchy", "age=ranges", "--at-most", "age=0", "--algorithm", "mondrian", "--dry-run")
    outcome = shoal("anonymize", people, "-o", "out.csv", *ages, "--json")
    assert outcome.code == 3, outcome.err
    assert outcome.reasons == {"caps-too-strict"}


def test_a_dry_run_of_a_table_that_is_streamed(shoal, people: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    roles = (*ROLES[:-2], "--engine", "stream", "--dry-run")
    outcome = shoal("anonymize", people, "-o", "out.csv", *roles, "--json")
    assert outcome.code == 0, outcome.err
    assert (outcome.json["engine"], outcome.json["records"], outcome.json["quasi_identifiers"]) == ("stream", 120, 2)
    assert sorted(tmp_path.iterdir()) == before


def test_a_hierarchy_for_one_column(shoal, people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "zip.csv").write_text(
        "\n".join(f"SECRETzip{n};ODD;*" if n % 2 else f"SECRETzip{n};EVEN;*" for n in range(8))
    )
    mine = tmp_path / "mine.csv"
    mine.write_text("\n".join(f"SECRETzip{n};LOW;*" if n < 4 else f"SECRETzip{n};HIGH;*" for n in range(8)))
    both = ("--hierarchies", folder, "--hierarchy", f"zip={mine}")
    made = shoal("anonymize", people, "-o", "out.csv", *ROLES, *both, "--json")
    assert made.code == 0, made.err
    text = (tmp_path / "out.csv").read_text()
    assert "ODD" not in text
    built = shoal("anonymize", people, "-o", "two.csv", *ROLES, "--hierarchy", "zip=prefix", "--json")
    assert built.code == 0, built.err
    assert shoal("anonymize", people, "-o", "x.csv", *ROLES, "--hierarchy", "zip").code == 2


def test_duplicate_names(shoal, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,a\n" + "\n".join(f"{n % 3},{n % 4}" for n in range(60)) + "\n")
    options = ("--quasi", "a", "--sensitive", "a_2", "-k", "5", "--algorithm", "mondrian")
    assert shoal("anonymize", "t.csv", "-o", "o.csv", *options).code == 2
    assert shoal("anonymize", "t.csv", "-o", "o.csv", *options, "--rename-duplicates").code == 0
    assert (tmp_path / "o.csv").read_text().startswith("a,a_2\n")
