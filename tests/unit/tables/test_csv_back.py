"""What was written is read back as the general reader reads it, or not at all by the quick way."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.tables.distinct import text_codes, with_categories
from shoal.tables.formats.csv.back import read_csv_back
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.csv.write import write_csv
from shoal.tables.formats.files import Format, read_back, read_table, sha256_of_file, written_options

OPTIONS = CsvOptions(delimiter=",", quote='"', encoding="utf-8", header=True)
TEXTS = st.none() | st.text(st.sampled_from('ab,;"\n\r\t é\ufeff*[]{}=0'), max_size=6)
NAMES = st.lists(st.text(st.sampled_from('ab,"x\n '), min_size=1, max_size=3), min_size=1, max_size=3, unique=True)


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().cast(pl.String))


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(1, 5))
    return pl.DataFrame(
        {name: pl.Series(draw(st.lists(TEXTS, min_size=rows, max_size=rows)), dtype=pl.String) for name in draw(NAMES)}
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frame=frames(), delimiter=st.sampled_from(",;\t|"))
def test_the_same_as_the_general_reader(frame: pl.DataFrame, delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    options = CsvOptions(delimiter=delimiter, quote='"', encoding="utf-8", header=True)
    write_csv(frame, path, options)
    expected = read_table(path, options)
    assert texts(expected.frame).equals(frame) or frame.width == 1  # one column: null is written as an empty text
    back = read_csv_back(path, options, frame.columns[:1])
    assert texts(read_back(path, expected, frame.columns[:1]).frame).equals(texts(expected.frame))
    if back is None:  # the general reader decides; seldom, so it must have a reason
        marked = path.read_bytes()[:3] == b"\xef\xbb\xbf"
        assert marked or frame.width == 1 or any(set(name) & set('"\n') for name in frame.columns)
        return
    assert isinstance(back[0].dtypes[0], pl.Categorical)
    assert texts(back[0]).equals(texts(expected.frame))
    assert back[1] == expected.sha256


def test_plain_files_go_the_quick_way(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["[20, 29]", None, ""], "sex": ["m", 'f"x', "é"]})
    path = tmp_path / "t.csv"
    write_csv(frame, path, OPTIONS)
    back = read_csv_back(path, OPTIONS, ["age"])
    assert back is not None
    assert back[0].dtypes[1] == pl.String
    assert texts(back[0]).equals(frame)
    assert back[1] == sha256_of_file(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n1,2,3\n4,5\n",  # ragged, which polars fills up or cuts
        b"a,b\n1,2\n\n3,4\n",  # a blank line
        b'a,b\n1,"2\n',  # a quote that is never closed
        b"a,b\n1,2\r3,4\n",  # a line end that polars does not know
        b"\xef\xbb\xbfa,b\n1,2\n",
        b"a,b\n1,\xff\n",
    ],
)
def test_other_files_are_left_to_the_general_reader(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert read_csv_back(path, OPTIONS, ["a"]) is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow"])
def test_every_format_comes_back(suffix: str, tmp_path: Path) -> None:
    from shoal.tables.formats.files import write_table

    frame = pl.DataFrame({"age": ["1", "2", "1"], "sex": ["m", None, "f"]})
    path = tmp_path / f"t{suffix}"
    write_table(frame, path)
    back = read_back(path, None, ["age"])
    assert isinstance(back.frame.dtypes[0], pl.Categorical)
    assert texts(back.frame).equals(frame)
    assert back.sha256 == sha256_of_file(path)
    if back.format is Format.CSV:
        assert back.options_found == written_options(path)


def test_numbers_of_texts_do_not_depend_on_the_order_of_the_categories() -> None:
    column = pl.Series("x", ["b", None, "a", "b", "c", "a"])
    own = pl.Categories.random()
    pl.Series(["c", "a", "b"]).cast(pl.Categorical(own))  # numbered in another order before
    values, codes = text_codes(column.cast(pl.Categorical(own)))
    expected_values, expected_codes = text_codes(with_categories(column.to_frame(), ["x"])["x"])
    assert values.to_list() == expected_values.to_list() == ["b", "a", "c", None]
    assert codes.tolist() == expected_codes.tolist() == [0, 3, 1, 0, 2, 1]
