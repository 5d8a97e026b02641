"""No category is released that no released record has."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.tables.formats.arrow import read_arrow, write_arrow
from shoal.tables.formats.parquet import read_parquet, write_parquet
from shoal.tables.frames.frames import to_polars

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

LEVELS = ["low", "SECRET", "middle", "high"]
VALUES = ["high", "high", "low", "low", None, None]
USED = ["low", "high"]


def released(frame: Any) -> Any:
    kept = [name for name in to_polars(frame)[0].columns if name != "q"]
    return shoal.anonymize(frame, quasi=["q"], keep=kept, allow=kept, k=2).release


@pytest.mark.parametrize("ordered", [True, False])
def test_pandas_categories(ordered: bool) -> None:
    column = pd.Categorical(VALUES, categories=LEVELS, ordered=ordered)
    release = released(pd.DataFrame({"q": column, "kept": column}))
    for name in ("q", "kept"):
        assert release[name].cat.categories.tolist() == USED
        assert release[name].cat.ordered == ordered
        assert release[name].astype(object).where(release[name].notna(), None).tolist() == VALUES
    assert b"SECRET" not in pickle.dumps(release)


def test_pandas_categories_of_numbers() -> None:
    column = pd.Categorical([3, 3, 1, 1], categories=[1, 2, 3], ordered=True)
    release = released(pd.DataFrame({"q": column, "kept": column}))
    assert release["kept"].cat.categories.tolist() == [1, 3]
    assert release["kept"].tolist() == [3, 3, 1, 1]


def test_pandas_dictionaries_of_arrow() -> None:
    dtype = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    whole = pd.DataFrame({"q": pd.Series(["SECRET", *VALUES], dtype=dtype)})
    release = released(whole.iloc[1:])
    assert release["q"].dtype == dtype
    assert release["q"].tolist() == ["high", "high", "low", "low", pd.NA, pd.NA]
    assert b"SECRET" not in pickle.dumps(release)


def test_polars_enums() -> None:
    column = pl.Series(VALUES, dtype=pl.Enum(LEVELS))
    lists = pl.Series([["low"]] * 6, dtype=pl.List(pl.Enum(LEVELS)))
    structs = pl.Series([{"x": "low"}] * 6, dtype=pl.Struct({"x": pl.Enum(LEVELS)}))
    release = released(pl.DataFrame({"q": column, "kept": column, "lists": lists, "structs": structs}))
    assert release.schema["q"] == release.schema["kept"] == pl.Enum(USED)
    assert release["kept"].to_list() == VALUES
    assert release["lists"].to_list() == [["low"]] * 6
    assert release["structs"].to_list() == [{"x": "low"}] * 6
    assert "SECRET" not in repr(dict(release.schema))
    file = io.BytesIO()
    release.write_ipc(file)
    assert b"SECRET" not in file.getvalue()


def test_polars_categoricals_hold_only_what_occurs() -> None:
    whole = pl.DataFrame({"q": pl.Series(["SECRET", *VALUES], dtype=pl.Categorical)})
    release = released(whole[1:])
    assert release.schema["q"] == pl.Categorical
    for write in (release.write_ipc, release.write_parquet):
        file = io.BytesIO()
        write(file)
        assert b"SECRET" not in file.getvalue()
    assert release["q"].to_arrow().dictionary.to_pylist() == ["high", "low"]


@pytest.mark.parametrize("ordered", [True, False])
def test_arrow_dictionaries(ordered: bool) -> None:
    codes = pa.array([3, 3, 0, 0, None, None], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS), ordered=ordered)
    other = pa.DictionaryArray.from_arrays(codes, pa.array(list(reversed(LEVELS))), ordered=ordered)
    empty = pa.DictionaryArray.from_arrays(pa.array([None] * 6, pa.int8()), pa.array(LEVELS))
    inner = pa.ListArray.from_arrays(pa.array(range(7)), pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS)))
    table = pa.table({"q": column, "kept": column, "empty": empty, "inner": inner})
    release = released(table)
    for name in ("q", "kept"):
        assert release.schema.field(name).type == table.schema.field(name).type
        assert release[name].to_pylist() == VALUES
        assert [chunk.dictionary.to_pylist() for chunk in release[name].chunks] == [USED]
    assert release["empty"].chunk(0).dictionary.to_pylist() == []
    assert release["inner"].to_pylist() == [[value] for value in VALUES]
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, release.schema) as writer:
        writer.write_table(release)
    assert b"SECRET" not in sink.getvalue()
    frame, way_back = to_polars(pa.table({"q": pa.chunked_array([column, other] if not ordered else [column])}))
    restored = way_back.restore(frame)
    assert restored["q"].to_pylist() == VALUES + ([] if ordered else ["low", "low", "high", "high", None, None])


def test_enums_in_files(tmp_path: Path) -> None:
    frame = pl.DataFrame({"q": pl.Series(VALUES, dtype=pl.Enum(LEVELS))})
    write_parquet(frame, tmp_path / "t.parquet")
    write_arrow(frame, tmp_path / "t.arrow")
    assert b"SECRET" not in (tmp_path / "t.parquet").read_bytes()
    assert b"SECRET" not in (tmp_path / "t.arrow").read_bytes()
    for read in (read_parquet(tmp_path / "t.parquet"), read_arrow(tmp_path / "t.arrow")):
        assert read["q"].to_list() == VALUES
        assert read.schema["q"] == pl.Enum(USED)
