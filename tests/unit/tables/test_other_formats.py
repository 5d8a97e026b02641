"""Excel, SPSS, Stata and SAS files: types, leading zeros and dates are kept; missing packages are named."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.tables.formats import extras
from shoal.tables.formats.files import format_to_write, read_table, write_table

FRAME = pl.DataFrame(
    {
        "age": [34, None, 61],
        "zip": ["00501", "10115", "=1+1"],
        "born": [date(1990, 2, 3), date(1985, 12, 31), None],
        "score": [0.5, 1.25, None],
    }
)


def test_excel_comes_back_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel", reason="fastexcel is not installed")
    write_table(FRAME, tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").frame.equals(FRAME)
    write_table(FRAME, tmp_path / "again.xlsx")
    assert (tmp_path / "t.xlsx").read_bytes() == (tmp_path / "again.xlsx").read_bytes()


def test_a_release_from_excel_to_excel(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel", reason="fastexcel is not installed")
    people = pl.DataFrame({"age": [20 + n % 30 for n in range(90)], "zip": [f"0{n % 7}11" for n in range(90)]})
    write_table(people, tmp_path / "people.xlsx")
    job = shoal.Job(
        input=tmp_path / "people.xlsx", output=tmp_path / "out.xlsx", quasi=("age", "zip"), k=5, algorithm="mondrian"
    )
    result = shoal.run(job)
    written = read_table(tmp_path / "out.xlsx").frame
    assert written.sort("age", "zip").equals(result.release.sort("age", "zip"))  # the file is in an order of its own
    assert written.group_by("age", "zip").len()["len"].min() >= 5
    assert all(text.startswith(("0", "{", "*")) for text in written["zip"])


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_statistics_programs(tmp_path: Path, ending: str) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="pyreadstat is not installed")
    frame = FRAME.drop("born") if ending == ".xpt" else FRAME
    writer = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}[ending]
    getattr(pyreadstat, writer)(frame, str(tmp_path / f"t{ending}"))
    read = read_table(tmp_path / f"t{ending}").frame
    assert read["zip"].to_list() == frame["zip"].to_list()
    assert read["age"].to_list() == [34, None, 61]
    assert read["age"].dtype == pl.Int64
    if ending != ".xpt":
        assert read["born"].to_list() == frame["born"].to_list()
    with pytest.raises(InputError, match="can be read, but not written"):
        format_to_write(tmp_path / f"out{ending}")


@pytest.mark.parametrize("ending", [".xlsx", ".sav", ".dta", ".sas7bdat"])
def test_damaged_files(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"t{ending}").write_bytes(b"SECRET" * 50)
    with pytest.raises(InputError) as told:
        read_table(tmp_path / f"t{ending}")
    assert told.value.reasons == ("damaged-file",)
    assert "SECRET" not in str(told.value)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(InputError) as told:
        write_table(FRAME, tmp_path / "t.xlsx")
    assert told.value.problems[0].hint == 'pip install "shoal[excel]"'


def test_unknown_endings_in_words_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\.docx' is not a supported format"):
        read_table(_touched(tmp_path / "t.docx"))


def _touched(path: Path) -> Path:
    path.write_text("x")
    return path
