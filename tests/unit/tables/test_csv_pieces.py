"""A CSV file read piece by piece is the table that is read at once, and its problems are the same."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.pieces import CsvPieces
from shoal.tables.formats.csv.read import read_csv_with_options
from shoal.tables.formats.files import sha256_of_file

CELLS = st.one_of(
    st.sampled_from(["", '""', '"a""b"', '"x,y"', '"two\nlines"', '"cr\r\nlf"', "plain", 'in"side', "é", "7"]),
    st.text("abc 1,\"'\n\r;", max_size=6).map(lambda text: '"' + text.replace('"', '""') + '"'),
)


def read_pieces(path: Path, size: int, options: CsvOptions | None = None) -> tuple[pl.DataFrame, CsvPieces]:
    pieces = CsvPieces(path, options, size, 1) if options is not None else CsvPieces(path, CsvOptions(), size)
    return pl.concat(list(pieces)), pieces


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    blank=st.booleans(),
    size=st.integers(1, 60),
)
def test_pieces_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], end: str, last: bool, blank: bool, size: int
) -> None:
    lines = ["one,two,three", *(",".join(row) for row in rows)]
    text = (end + end if blank else end).join(lines) + (end if last else "")
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_bytes(text.encode())
    options = CsvOptions(delimiter=",", quote='"', header=True)
    whole, found = read_csv_with_options(path, options)
    frame, pieces = read_pieces(path, size, options)
    assert frame.equals(whole, null_equal=True)
    assert pieces.options == found
    assert pieces.sha256 == sha256_of_file(path)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "a\n1\n\n3\n",  # one column: a blank line is an empty cell
        "a;b\n1;2\n3;4\n",
        "1,2\n3,4\n",  # no header
        "\ufeffa,b\n1,2\n",
        "a,b\n1,2",
    ],
)
def test_form_is_found_out_as_for_a_whole_file(tmp_path: Path, text: str, size: int) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    whole, options = read_csv_with_options(path)
    frame, pieces = read_pieces(path, size)
    assert frame.equals(whole, null_equal=True)
    assert pieces.options == options


@pytest.mark.parametrize("size", [1, 9, 1000])
@pytest.mark.parametrize(
    "text",
    ["a,b\n1,2\n3\n4,5,6\n", 'a,b\n"1"x,2\n3,4\n5,"6"y\n', 'a,b\n1,2\n3,"4\n5,6\n', "a,b\n", "", "a,a\n1,2\n", "\n\n"],
)
def test_problems_are_those_of_the_whole_file(tmp_path: Path, text: str, size: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    options = CsvOptions(delimiter=",", quote='"')
    with pytest.raises(InputError) as whole:
        read_csv_with_options(path, options)
    with pytest.raises(InputError) as pieces:
        read_pieces(path, size, options)
    assert pieces.value.problems == whole.value.problems


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8"])
def test_other_encodings_and_packed_files(tmp_path: Path, encoding: str) -> None:
    text = "name,n\n" + "".join(f"Zoë {number},{number}\n" for number in range(50))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text.encode(encoding)))
    options = CsvOptions(encoding=encoding, delimiter=",", quote='"')
    whole, found = read_csv_with_options(path, options)
    frame, pieces = read_pieces(path, 13, options)
    assert frame.equals(whole)
    assert pieces.options == found
    assert pieces.sha256 == sha256_of_file(path)


def test_what_is_no_utf8_needs_its_encoding_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\nZoë,1\n".encode("cp1252"))
    with pytest.raises(InputError) as caught:
        read_pieces(path, 100)
    assert [problem.reason for problem in caught.value.problems] == ["undecodable"]
