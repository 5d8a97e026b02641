from __future__ import annotations

import datetime as dt
import hashlib
import io
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.errors import InputError
from shoal.tables.formats.arrow import read_arrow, write_arrow
from shoal.tables.formats.csv.options import CsvOptions
from shoal.tables.formats.files import Format, read_table, sha256_of_file, write_table, written_options
from shoal.tables.formats.parquet import read_parquet, write_parquet

TYPED = pl.DataFrame(
    {
        "i": [1, None, 3],
        "f": [1.5, float("nan"), None],
        "s": ["x", "", None],
        "b": [True, None, False],
        "d": [dt.date(2020, 1, 2), None, dt.date(1999, 12, 31)],
        "t": pl.Series([dt.datetime(2020, 1, 2, 3, 4, 5), None, None]).dt.replace_time_zone("Europe/Berlin"),
        "c": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
        "e": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "high"])),
        "n": pl.Series([Decimal("1.10"), None, Decimal("-2.25")], dtype=pl.Decimal(10, 2)),
        "l": [[1, 2], None, []],
    }
)
TEXTS = pl.DataFrame({"a": ["007", "x;y"], "b": ["", None]}, schema={"a": pl.String, "b": pl.String})


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.arrow", "t.feather", "t.ipc", "T.PARQUET"])
def test_typed_formats_keep_types_and_have_the_same_bytes_each_time(tmp_path: Path, name: str) -> None:
    write_table(TYPED, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    read = read_table(tmp_path / name)
    assert_frame_equal(read.frame, TYPED)
    assert read.options_found is None
    assert read.sha256 == hashlib.sha256(first).hexdigest()
    write_table(pl.concat([TYPED.head(1), TYPED.tail(2)], rechunk=False), tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.txt", "t.tsv.gz", "t.CSV"])
def test_text_formats(tmp_path: Path, name: str) -> None:
    write_table(TEXTS, tmp_path / name)
    read = read_table(tmp_path / name)
    assert read.format is Format.CSV
    assert_frame_equal(read.frame, TEXTS)
    assert read.options_found is not None
    assert read.options_found.delimiter == ("\t" if ".tsv" in name else ",")


def test_text_is_written_like_the_table_it_came_from(tmp_path: Path) -> None:
    content = b'5;6,5;"a;b"\r\n7;8,5;c\r\n'
    (tmp_path / "in.csv").write_bytes(content)
    read = read_table(tmp_path / "in.csv", CsvOptions(header=False, missing=("?",)))
    write_table(read.frame, tmp_path / "out.csv", read)
    assert (tmp_path / "out.csv").read_bytes() == content.replace(b"\r\n", b"\n")
    options = written_options(tmp_path / "out.csv", read)
    assert options == CsvOptions(delimiter=";", encoding="utf-8", quote='"', header=False, missing=("?",))
    assert_frame_equal(read_table(tmp_path / "out.csv", options).frame, read.frame)


@pytest.mark.parametrize("name", ["t.docx", "t", "t.parquet.gz", "t.gz", ".csv.zip"])
def test_unknown_formats(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    for call in (lambda: read_table(tmp_path / name), lambda: write_table(TEXTS, tmp_path / name)):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.reasons == ("unknown-format",)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty-file"), (b"SECRET,b", "damaged-file"), (b"PAR1xxPAR1", "damaged-file"), (b"ARROW1", "damaged-file")],
    ids=["empty", "text", "short parquet", "short arrow"],
)
def test_damaged_files(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(tmp_path / name)
    assert caught.value.reasons == (reason,)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_cut_off_and_without_records(tmp_path: Path, name: str) -> None:
    write_table(TYPED, tmp_path / name)
    (tmp_path / f"cut.{name}").write_bytes((tmp_path / name).read_bytes()[:-20])
    write_table(TYPED.clear(), tmp_path / name)
    for path, reason in ((tmp_path / name, "no-records"), (tmp_path / f"cut.{name}", "damaged-file")):
        with pytest.raises(InputError) as caught:
            read_table(path)
        assert caught.value.reasons == (reason,)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none.parquet", "no-such-file"), (tmp_path, "is-a-folder")):
        with pytest.raises(InputError) as caught:
            read_table(path)
        assert caught.value.reasons == (reason,)


def test_arrow_streams_are_read_too(tmp_path: Path) -> None:
    stream = io.BytesIO()
    TEXTS.write_ipc_stream(stream)
    (tmp_path / "t.arrow").write_bytes(stream.getvalue())
    assert_frame_equal(read_table(tmp_path / "t.arrow").frame, TEXTS)


def test_other_libraries_read_what_is_written(tmp_path: Path) -> None:
    feather = pytest.importorskip("pyarrow.feather")
    parquet = pytest.importorskip("pyarrow.parquet")
    write_arrow(TEXTS, tmp_path / "t.feather")
    write_parquet(TEXTS, tmp_path / "t.parquet")
    assert feather.read_table(tmp_path / "t.feather").to_pylist() == TEXTS.to_dicts()
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == TEXTS.to_dicts()
    feather.write_feather(feather.read_table(tmp_path / "t.feather"), tmp_path / "other.feather")
    assert_frame_equal(read_arrow(tmp_path / "other.feather"), TEXTS)
    parquet.write_table(parquet.read_table(tmp_path / "t.parquet"), tmp_path / "other.parquet")
    assert_frame_equal(read_parquet(tmp_path / "other.parquet"), TEXTS)


def test_hash(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256_of_file(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
