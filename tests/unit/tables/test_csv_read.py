from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.read import read_csv, read_csv_with_options


@pytest.fixture
def file(tmp_path: Path):
    def make(content: bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return make


def reasons(path: Path, options: CsvOptions | None = None) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_csv(path, options)
    return caught.value.reasons


def test_all_cells_are_text_as_they_came(file) -> None:
    frame = read_csv(file(b"zip,n,f\n00501,+7,1.50\n 2,1e3,NA\n"))
    assert frame.schema == {"zip": pl.String, "n": pl.String, "f": pl.String}
    assert frame.rows() == [("00501", "+7", "1.50"), (" 2", "1e3", "NA")]


def test_empty_cell_is_null_and_quoted_empty_cell_is_empty_text(file) -> None:
    assert read_csv(file(b'a,b\n,""\n')).rows() == [(None, "")]


@pytest.mark.parametrize("begin", ["x\x01", "x^", "x\u0682", "x\x9c"])
def test_a_text_that_begins_like_packed_data(file, begin: str) -> None:
    frame = read_csv(file(f"{begin}a,b\n1,2\n".encode()))
    assert (frame.columns, frame.rows()) == ([f"{begin}a", "b"], [("1", "2")])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_delimiter_and_line_end_are_found_out(file, delimiter: str, line_end: str) -> None:
    rows = [["a", "b", "c"], ["1", "x y", "3"], ["4", f'q"{delimiter}\n', "6"]]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    frame, found = read_csv_with_options(file(text.getvalue().encode()))
    assert found.delimiter == delimiter
    assert [list(frame.columns), *map(list, frame.rows())] == rows


@pytest.mark.parametrize(
    "content",
    [
        b"x,y,z;n\n1;2\n3;4\n",  # the first line looks like another delimiter
        b"a,b\n'1,2',3\n'4,5',6\n",  # another quote
        b'a,b\n1,x "y"\n2,z\n',  # quotes that polars would not take for plain characters
        b"a,b\n\n1,2\n",
    ],
)
def test_what_is_read_at_first_sight_counts_only_if_it_is_right(file, content: bytes) -> None:
    path = file(content)
    frame, found = read_csv_with_options(path)
    assert found.delimiter is not None
    with path.open(newline="") as text:
        rows = [row for row in csv.reader(text, delimiter=found.delimiter, quotechar=found.quote or None) if row]
    assert [list(frame.columns), *map(list, frame.rows())] == rows


def test_decimal_commas_do_not_mislead(file) -> None:
    frame = read_csv(file(b"a;b\n1,5;2,5\n3,5;4,5\n"))
    assert frame.rows() == [("1,5", "2,5"), ("3,5", "4,5")]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("cp1252", "cp1252"),
        ("latin-1", "cp1252"),
    ],
)
def test_encoding_is_found_out(file, encoding: str, found: str) -> None:
    text = "näme,city\nJosé Muñoz,Málaga\nMüller,Köln\n"
    frame, options = read_csv_with_options(file(text.encode(encoding)))
    assert options.encoding == found
    assert frame.columns == ["näme", "city"]
    assert frame.rows() == [("José Muñoz", "Málaga"), ("Müller", "Köln")]


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n\xff\xfe,1\n",
        b"a,b\n\xc3\x28,1\n",
        b"a,b\nabc\x81def,1\n",
        b"a,b\nM\xc3\xbcller,1\nM\xfcller,2\n",  # UTF-8 with one broken letter: no guess is safe
        b"a,b\ncaf\xe9\x00,1\n",
        "a,b\n1,\U0001f600\n".encode()[:-2] + b"\n",
    ],
)
def test_undecodable_bytes(file, content: bytes) -> None:
    assert reasons(file(content)) == ("undecodable",)


def test_given_encoding_is_taken_and_checked(file) -> None:
    path = file(b"a,b\n\xff,12\n")
    assert read_csv(path, CsvOptions(encoding="latin-1")).rows() == [("ÿ", "12")]
    assert reasons(path, CsvOptions(encoding="utf-8")) == ("undecodable",)
    assert reasons(path, CsvOptions(encoding="utf-16")) == ("undecodable",)
    assert reasons(path, CsvOptions(encoding="no-such")) == ("unknown-encoding",)
    assert reasons(path, CsvOptions(encoding="base64")) == ("unknown-encoding",)


def test_gzip_is_told_by_content(file) -> None:
    packed = gzip.compress(b"a,b\n1,2\n")
    assert read_csv(file(packed, "plain-name.csv")).rows() == [("1", "2")]
    assert reasons(file(packed[:-9])) == ("damaged-file",)
    assert reasons(file(b"\x1f\x8bnothing")) == ("damaged-file",)
    assert reasons(file(gzip.compress(b""))) == ("empty-file",)


def test_header_only_where_the_first_line_can_be_one(file) -> None:
    assert read_csv(file(b"1,2\n3,4\n")).rows() == [("1", "2"), ("3", "4")]
    assert read_csv(file(b"1,2\n3,4\n")).columns == ["column_1", "column_2"]
    assert read_csv(file(b"b,30,t,t\na,58,t,f\n")).height == 2  # repeated names with a number among them
    assert read_csv(file(b"x,2020,2021\na,1,2\n")).columns == ["x", "2020", "2021"]
    assert read_csv(file(b"1,2\n3,4\n"), CsvOptions(header=True)).columns == ["1", "2"]
    assert read_csv(file(b"a,b\n3,4\n"), CsvOptions(header=False)).rows() == [("a", "b"), ("3", "4")]
    assert read_csv(file(b",b\n3,4\n")).columns == ["", "b"]


def test_apostrophes_are_quotes_only_where_they_must_be(file) -> None:
    frame, found = read_csv_with_options(file(b"'a','b'\n'1,2','3''4'\n"))
    assert (found.quote, frame.columns, frame.rows()) == ("'", ["a", "b"], [("1,2", "3'4")])
    assert read_csv(file(b"a,b\n'1,2',3\n")).rows() == [("1,2", "3")]
    assert read_csv(file(b"a,b\n'tis,O'Neill\n'x',y\n")).rows() == [("'tis", "O'Neill"), ("'x'", "y")]


def test_quotes_within_bare_cells_are_plain_characters(file) -> None:
    content = b'a,b\n5" pipe,x\ny,6"" pipe\n "q",z"\n'
    expected = list(csv.reader(io.StringIO(content.decode(), newline="")))[1:]
    assert list(map(list, read_csv(file(content)).rows())) == expected
    assert read_csv(file(b'a,b\n"x,y"\n'), CsvOptions(quote="")).rows() == [('"x', 'y"')]


def test_blank_lines(file) -> None:
    assert read_csv(file(b"\n\r\na,b\n\n1,2\n\n3,4\n\n\n")).rows() == [("1", "2"), ("3", "4")]
    assert read_csv(file(b"\na\n1\n\n2\n")).rows() == [("1",), (None,), ("2",)]


def test_one_column_of_text_with_commas(file) -> None:
    assert read_csv(file(b"name\nDoe, J\nRoe\nPoe, A, B\n")).rows() == [("Doe, J",), ("Roe",), ("Poe, A, B",)]


@pytest.mark.parametrize(
    ("content", "bad", "line"),
    [
        (b"a,b\n1,2\n3\n", 1, 3),
        (b"a,b\n1,2,3\n3,4\n5\n", 2, 2),
        (b'a,b\n"1\n\n",2\n3,4,5\n', 1, 5),
        (b"a,b,c\r1,2,3\r3\r", 1, 3),
        (b"a\n1,2\n3,4\n", 2, 2),
        (b"a,b\n1,2\n   \n", 1, 3),
    ],
)
def test_ragged_rows_are_counted_with_the_first_line_number(file, content: bytes, bad: int, line: int) -> None:
    with pytest.raises(InputError) as caught:
        read_csv(file(content))
    (problem,) = caught.value.problems
    assert problem.reason == "ragged-rows"
    assert problem.message.startswith(f"{bad} records")
    assert problem.message.endswith(f"line {line}")


def test_broken_quotes(file) -> None:
    assert reasons(file(b'a,b\n"x"y,1\n')) == ("stray-quote",)
    assert reasons(file(b'a,b\n1,2\n"x,1\n')) == ("ragged-rows", "unclosed-quote")


def test_all_problems_of_a_file_at_once(file) -> None:
    assert reasons(file(b"age,zip,age\n1,2,3\n4,5\n")) == ("ragged-rows", "duplicate-column")
    assert reasons(file(b"age,zip,age,zip\n")) == ("duplicate-column", "duplicate-column", "no-records")


def test_nothing_to_read(file, tmp_path: Path) -> None:
    assert reasons(tmp_path / "missing.csv") == ("no-such-file",)
    assert reasons(tmp_path) == ("is-a-folder",)
    assert reasons(file(b"")) == ("empty-file",)
    assert reasons(file(b"\n\r\n\n")) == ("empty-file",)
    assert reasons(file(b"\xef\xbb\xbf")) == ("empty-file",)
    assert reasons(file(b"a,b\n")) == ("no-records",)
    assert reasons(file(b"a,b")) == ("no-records",)
    assert reasons(Path("/dev/null")) == ("unreadable",)
    assert reasons(Path("a\0b")) in [("unreadable",), ("no-such-file",)]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file(file) -> None:
    path = file(b"a,b\n1,2\n")
    path.chmod(0)
    assert reasons(path) == ("unreadable",)


def test_no_error_holds_a_cell(file) -> None:
    secret = "SECRETVALUE"
    for content in (f"a,b\n{secret},1\n{secret}\n", f'a,b\n"{secret}"x,1\n', f'a,b\n"{secret},1\n'):
        with pytest.raises(InputError) as caught:
            read_csv(file(content.encode()))
        assert secret not in str(caught.value)
        assert caught.value.__cause__ is None


def test_names_with_star_and_question_mark_are_not_patterns(file) -> None:
    file(b"a,b\n9,9\n", "table1.csv")
    assert read_csv(file(b"a,b\n1,2\n", "table*.csv")).rows() == [("1", "2")]


def test_content_that_looks_like_other_formats(file) -> None:
    assert read_csv(file(b"x\x01,b\n1,2\n")).columns == ["x\x01", "b"]
    assert read_csv(file(b"\xef\xbb\xbf\xef\xbb\xbfa,b\n1,2\n")).columns == ["\ufeffa", "b"]
    assert read_csv(file(b"# a,b\n# 1,2\n")).rows() == [("# 1", "2")]


def test_cells_that_span_the_pieces_of_the_parallel_reader(file) -> None:
    rows = [[str(i), "line\n" * (i % 50), '"' * (i % 3)] for i in range(40_000)]
    rows[777][1] = "x,\n" * 400_000
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["a", "b", "c"], *rows])
    frame = read_csv(file(text.getvalue().encode()))
    assert [[cell or "" for cell in row] for row in frame.rows()] == rows


@pytest.mark.data
def test_adult_is_read_as_the_csv_module_reads_it(data_folder: Path) -> None:
    path = data_folder / "adult" / "adult.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    frame = read_csv(path)
    assert frame.columns == header
    assert [[cell or "" for cell in row] for row in frame.rows()] == rows
