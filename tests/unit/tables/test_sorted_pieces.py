"""Rows that are sorted on disk have the order of the whole table; values that are counted by hashes, their counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.job.kept import value_sizes
from shoal.tables.distinct import code_column
from shoal.tables.hashed_counts import HashedCounts
from shoal.tables.row_order import published_order
from shoal.tables.sorted_pieces import EvenSample, SortedPieces
from shoal.tables.value_sizes import SizeCounter

TEXTS = st.one_of(st.none(), st.sampled_from(["", "a", "ab", "a\x00", "a\x00b", "b", "é", "*", "[1, 2]"]))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS, st.one_of(st.none(), st.integers(-5, 12))), min_size=1, max_size=60),
    bucket=st.integers(1, 20),
    piece=st.integers(1, 15),
    every=st.integers(1, 5),
)
def test_the_order_is_that_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int]], bucket: int, piece: int, every: int
) -> None:
    schema = {"one": pl.String, "two": pl.String, "three": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    beside = pl.DataFrame({"number": np.arange(frame.height)})
    folder = tmp_path_factory.mktemp("sort")
    with SortedPieces(folder, frame.gather_every(every), frame.height, bucket) as sorted_rows:
        for start in range(0, frame.height, piece):
            sorted_rows.add(frame[start : start + piece], beside[start : start + piece])
        found = list(sorted_rows.pieces(3))
    shown, numbers = (pl.concat(parts) for parts in zip(*found, strict=True))
    assert shown.equals(frame[published_order(frame)], null_equal=True)
    assert frame[numbers["number"].to_numpy()].equals(shown, null_equal=True)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("most", [3, 50, 10_000])
def test_counts_by_hashes(tmp_path: Path, most: int) -> None:
    values = pl.Series(np.random.default_rng(1).integers(0, 400, 2_000))
    with HashedCounts(tmp_path, most) as counter:
        for start in range(0, 2_000, 130):
            counter.add(values[start : start + 130].hash())
        sizes, how_many = counter.sizes()
    expected = values.value_counts()["count"].value_counts(name="values").sort("count")
    assert sizes.tolist() == expected["count"].to_list()
    assert how_many.tolist() == expected["values"].to_list()
    assert list(tmp_path.iterdir()) == []


def test_sizes_of_values_are_those_of_the_whole_column(tmp_path: Path) -> None:
    column = pl.Series("a", ["x", "y", None, "", "?", "x", "z", "?", None, "x"])
    with SizeCounter(tmp_path, ["?"]) as counter:
        for start in range(0, 10, 3):
            counter.add(column[start : start + 3])
        found = counter.result()
    expected = value_sizes(code_column(column), ["?"])
    assert found.sizes.tolist() == expected.sizes.tolist()
    assert found.values.tolist() == expected.values.tolist()
    assert (
        (found.present_values, found.present_records) == (expected.present_values, expected.present_records) == (3, 5)
    )


def test_an_even_sample_has_enough_rows() -> None:
    for records in (7, 100, 1_000):
        sample = EvenSample(20)
        for start in range(0, records, 13):
            sample.add(pl.DataFrame({"row": np.arange(start, min(records, start + 13))}))
        found = sample.result()["row"].to_numpy()
        assert min(records, 20) <= found.shape[0] <= 40
        assert np.unique(np.diff(found)).shape[0] <= 1
