from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.read import read_csv
from shoal.tables.formats.csv.write import write_csv

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(
    alphabet="ab,;\t|\"'\r\n \0=", max_size=8
)
# None is an empty cell; "" is an empty text
CELL = st.none() | TEXT


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    names = draw(st.lists(TEXT, min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(st.lists(CELL, min_size=len(names), max_size=len(names)), min_size=1, max_size=6))
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=tables(), delimiter=st.sampled_from([",", ";", "\t", "|"]), header=st.booleans())
@example(frame=pl.DataFrame({"\ufeffa": ["x"]}), delimiter=",", header=True)
@example(frame=pl.DataFrame({"a": ["\ufeffx"]}), delimiter=",", header=False)
@example(frame=pl.DataFrame({"x\x01": ["1"]}), delimiter=",", header=True)
@example(frame=pl.DataFrame({"": [None, ""]}, schema={"": pl.String}), delimiter=",", header=True)
def test_any_text_comes_back_and_the_csv_module_agrees(tmp_path, frame, delimiter: str, header: bool) -> None:
    path = tmp_path / "table.csv"
    write_csv(frame, path, CsvOptions(delimiter=delimiter, header=header))
    options = CsvOptions(delimiter=delimiter, quote='"', header=header, encoding="utf-8")
    back = read_csv(path, options)
    if frame.width == 1:
        frame = frame.fill_null("")  # the stated exception
    assert back.rows() == frame.rows()
    assert not header or back.columns == frame.columns
    with path.open(newline="", encoding="utf-8") as lines:
        text = lines.read()
    if text.startswith("\ufeff"):
        text = text[1:]
    second = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    expected = [[cell or "" for cell in row] for row in frame.rows()]
    assert second == ([list(frame.columns)] if header else []) + expected


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(TEXT, min_size=3, max_size=3), min_size=1, max_size=6),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_the_csv_module_writes_is_read(tmp_path, rows, line_end: str, quoting: int) -> None:
    path = tmp_path / "table.csv"
    if line_end != "\r\n" and quoting == csv.QUOTE_MINIMAL:
        rows = [[cell.replace("\r", "").replace("\n", "") for cell in row] for row in rows]  # it leaves these bare
    with path.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines, lineterminator=line_end, quoting=quoting).writerows(rows)
    options = CsvOptions(delimiter=",", quote='"', header=False, encoding="utf-8")
    if rows[0][0].startswith("\ufeff"):
        return  # a leading mark is no content
    assert [[cell or "" for cell in row] for row in read_csv(path, options).rows()] == rows


def test_awkward_values_pass_unharmed(tmp_path: Path) -> None:
    values = [
        "=1+1",
        "@x",
        "<script>alert(1)</script>",
        'a "quoted" b',
        "two\nlines",
        "cr\rlf\r\n",
        "nul\0nul",
        "😀é漢",
    ]
    frame = pl.DataFrame({"<b>": [*values, "x" * 100_000], "=n": [*reversed(values), "y,\n" * 33_333]})
    write_csv(frame, tmp_path / "t.csv")
    assert read_csv(tmp_path / "t.csv").equals(frame)


def test_only_what_needs_quotes_has_them_and_nulls_are_empty(tmp_path: Path) -> None:
    write_csv(pl.DataFrame({"a": ["x", None, "", "[1, 2]"], "b;": ["1", "2", "3", " s "]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'a,b;\nx,1\n,2\n"",3\n"[1, 2]", s \n'
    write_csv(pl.DataFrame({"a": ["x", None]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'a\nx\n""\n'


def test_gzip_has_the_same_bytes_whatever_the_name_and_time(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})
    write_csv(frame, tmp_path / "one.csv.gz")
    write_csv(frame, tmp_path / "two.csv.gz")
    packed = (tmp_path / "one.csv.gz").read_bytes()
    assert packed == (tmp_path / "two.csv.gz").read_bytes()
    assert packed[4:8] == bytes(4)
    assert gzip.decompress(packed) == b"a,b\n1,x\n2,y\n"
    assert read_csv(tmp_path / "one.csv.gz").equals(frame)


def test_typed_columns_are_written_plainly(tmp_path: Path) -> None:
    frame = pl.DataFrame({"i": [1, None], "f": [1.5, 2.0], "b": [True, None], "d": [dt.date(2020, 1, 2), None]})
    write_csv(frame, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "i,f,b,d\n1,1.5,true,2020-01-02\n,2.0,,\n"


def test_nested_columns_are_refused_together(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        write_csv(pl.DataFrame({"a": [[1]], "b": [{"x": 1}], "c": [1]}), tmp_path / "t.csv")
    assert [problem.column for problem in caught.value.problems] == ["a", "b"]
    assert not (tmp_path / "t.csv").exists()


def test_bad_options() -> None:
    with pytest.raises(InputError) as caught:
        CsvOptions(delimiter="ab", quote="\n")
    assert caught.value.reasons == ("bad-option", "bad-option")
    with pytest.raises(InputError):
        CsvOptions(delimiter='"', quote='"')
