"""`shoal inspect` takes what `anonymize` takes."""

from __future__ import annotations

from pathlib import Path


def test_options_of_the_file(shoal, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("34|a|10115\n35|?|20095\n36|b|?\n")
    outcome = shoal("inspect", "t.txt", "--no-header", "--delimiter", "|", "--scale", "column_1=category", "--json")
    assert outcome.code == 0, outcome.err
    columns = outcome.json["columns"]
    assert [column["scale"] for column in columns] == ["category", "category", "category"]
    assert columns[2]["missing_texts"] == ["?"]
    again = shoal("inspect", "t.txt", "--no-header", "--delimiter", "|", "--missing", "?", "--json").json["columns"]
    assert [column["scale"] for column in again] == ["integer", "category", "integer"]
    assert again[2]["missing"] == 1


def test_duplicate_names_are_renamed_on_request(shoal, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,a,a_2\n1,x,y\n2,x,z\n")
    refused = shoal("inspect", "t.csv", "--json")
    assert refused.code == 2
    assert "--rename-duplicates" in refused.err
    outcome = shoal("inspect", "t.csv", "--rename-duplicates", "--json")
    assert [column["name"] for column in outcome.json["columns"]] == ["a", "a_3", "a_2"]


def test_text_for_people(shoal, tmp_path: Path) -> None:
    rows = "\n".join(f"{n // 2},{20 + n % 50},{'?' if n % 9 == 0 else n % 17}" for n in range(200))
    (tmp_path / "t.csv").write_text(f"patient,age,q\n{rows}\n")
    outcome = shoal("inspect", "t.csv")
    assert outcome.code == 0, outcome.err
    assert "--person patient" in outcome.out
    assert "--missing '?'" in outcome.out
    assert "Decide yourself: q" in outcome.out


def test_what_says_the_same_is_told_in_one_line(shoal, tmp_path: Path) -> None:
    rows = "\n".join(
        f"{n // 2},K{n // 2},M{n // 2}@x.org,{20 + n % 50},{n % 50 % 10},{'mf'[n % 2]}" for n in range(300)
    )
    (tmp_path / "t.csv").write_text(f"patient,kkNr,mail,age,alter,sex\n{rows}\n")
    told = shoal("inspect", "t.csv").out
    assert "'patient', 'kkNr' and 'mail' say the same" in told
    assert told.count("'age' tells") == 1
    assert "'age' tells 'alter' and 'sex'" in told
    assert "'patient' tells" not in told  # it is dropped, whatever it tells


def test_combinations_that_add_nothing_are_not_shown(shoal, tmp_path: Path) -> None:
    rows = "\n".join(f"{n % 90},2020-01-01 10:{n // 60:02d}:{n % 60:02d},{n % 2}" for n in range(400))
    (tmp_path / "t.csv").write_text(f"age,arrival,sex\n{rows}\n")
    found = shoal("inspect", "t.csv", "--json").json
    assert [entry["columns"] for entry in found["telling"]] == [["arrival"]]
    assert len(found["combinations"]) == 7
    assert "+ arrival" not in shoal("inspect", "t.csv").out


def test_all_problems_at_once(shoal, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n")
    outcome = shoal("inspect", "t.csv", "--size", "0", "--scale", "a=wild", "--json")
    assert outcome.code == 2
    assert {problem["reason"] for problem in outcome.json["problems"]} == {"bad-option", "bad-setting"}
