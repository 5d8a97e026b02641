"""Numbers with a decimal comma: read as numbers on request, and only where all values are such numbers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.cli.main import main
from shoal.errors import InputError
from shoal.tables.formats.csv.decimal_comma import has_decimal_comma, with_points
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.read import read_csv, read_csv_with_options


@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=20))
def test_any_numbers_come_back(numbers: list[object]) -> None:
    german = [f"{number:,.2f}".translate(str.maketrans(",.", ".,")) for number in numbers]
    frame, names = with_points(pl.DataFrame({"a": german}))
    assert names == ["a"]
    assert frame["a"].to_list() == [f"{number:.2f}" for number in numbers]


@pytest.mark.parametrize(
    "texts",
    [["1,5", "x"], ["1.5", "2.5"], ["1", "2"], ["007,5"], ["1,5,2"], ["12.34,5"], [None, ""], ["1,5", "2 kg"], ["a,b"]],
)
def test_other_columns_stay(texts: list[str | None]) -> None:
    assert not has_decimal_comma(pl.Series("a", texts, dtype=pl.String))
    assert not has_decimal_comma(pl.Series("a", [1.5, 2.5]))


TABLE = "Alter;Größe;Ort\n" + "".join(f"{30 + n % 5};{160 + n % 20},{n % 10};Ort {n % 3}\n" for n in range(60))


def test_files_are_read_so_on_request(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TABLE, encoding="utf-8")
    assert read_csv(path)["Größe"][1] == "161,1"
    frame, found = read_csv_with_options(path, CsvOptions(decimal_comma=True))
    assert frame["Größe"][1] == "161.1"
    assert (found.delimiter, found.decimal_comma) == (";", None)  # what is written has points


def test_missing_texts_are_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1,5;x\nk.A.;y\n", encoding="utf-8")
    assert read_csv(path, CsvOptions(decimal_comma=True))["a"].to_list() == ["1,5", "k.A."]
    read = read_csv(path, CsvOptions(decimal_comma=True, missing=("k.A.",)))
    assert read["a"].to_list() == ["1.5", "k.A."]


def test_a_release_has_ranges_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE, encoding="utf-8")
    settings = {"input": tmp_path / "a.csv", "output": tmp_path / "b.csv", "quasi": ["Alter", "Größe"], "keep": ["Ort"]}
    job = shoal.Job.make(**settings, k=5, algorithm="mondrian", csv={"decimal_comma": True})
    result = shoal.run(job)
    assert result.certificate["passed"]
    assert result.certificate["job"]["csv"] == {"decimal_comma": True}
    written = pl.read_csv(tmp_path / "b.csv", separator=";", infer_schema=False)
    assert written["Größe"].str.contains(r"^\[1\d\d\.\d, 1\d\d\.\d\]$").all()


def test_streams_refuse_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE, encoding="utf-8")
    settings = {"input": tmp_path / "a.csv", "output": tmp_path / "b.csv", "quasi": ["Alter"], "drop_rest": True}
    with pytest.raises(InputError, match="decimal comma"):
        shoal.run(shoal.Job.make(**settings, k=5, csv={"decimal_comma": True}, engine="stream"))


def test_inspect_and_init_find_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TABLE, encoding="utf-8")
    with pytest.raises(SystemExit, match="0"):
        main(["inspect", str(path)])
    assert "taken for words: Größe. To read them: --decimal-comma" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(SystemExit, match="0"):
        main(["init", str(path), "-o", str(tmp_path / "job.yaml")])
    assert yaml.safe_load((tmp_path / "job.yaml").read_text(encoding="utf-8"))["csv"] == {"decimal_comma": True}
