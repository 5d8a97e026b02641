"""Counted rows are encoded as the whole table would be."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.algorithms.base import Context
from shoal.algorithms.shoal.shoal import Shoal
from shoal.encode.counted import CountedRows, encode_counted
from shoal.encode.encode import EncodeOptions, encode_table
from shoal.engines.local import cluster_table
from shoal.models.base import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.recode.deals import deals_as_records, deals_of_items
from shoal.recode.release import RecodeOptions, recode, released_cells
from shoal.tables.distinct import code_columns
from shoal.tables.schema import Attribute, Role, Scale

ATTRIBUTES = [
    Attribute("age", Role.QUASI_IDENTIFYING, Scale.INTEGER),
    Attribute("town", Role.QUASI_IDENTIFYING, Scale.CATEGORY),
    Attribute("illness", Role.SENSITIVE, Scale.CATEGORY),
]
OPTIONS = EncodeOptions(missing=("?",), model_columns=("illness",))


def people(records: int, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": pl.Series(random.integers(0, 12, records)).cast(pl.String).replace("7", None),
            "town": random.choice(["A", "B", "C", "?", ""], records).tolist(),
            "illness": random.choice(["flu", "cold", "none"], records).tolist(),
        }
    )


def counted_rows(frame: pl.DataFrame) -> CountedRows:
    """A second way to count: a group-by of polars over the values."""
    coded = code_columns(frame, frame.columns)
    numbers = pl.DataFrame({name: column.codes for name, column in coded.items()})
    counted = numbers.group_by(frame.columns).len("count").sample(fraction=1.0, shuffle=True, seed=1)
    lines = np.vstack([counted[name].to_numpy() for name in frame.columns]).astype(np.int32)
    return CountedRows(
        {name: column.values for name, column in coded.items()}, lines, counted["count"].to_numpy().astype(np.int64)
    )


@pytest.mark.parametrize("seed", range(5))
def test_rows_weights_and_codes_are_those_of_the_whole_table(seed: int) -> None:
    frame = people(400, seed)
    whole, book = encode_table(frame, ATTRIBUTES, {}, OPTIONS)
    counted = encode_counted(counted_rows(frame), ATTRIBUTES, {}, OPTIONS)
    assert np.array_equal(counted.table.codes, whole.codes)
    assert np.array_equal(counted.table.weights, whole.weights)
    assert counted.table.records == 400
    assert dict(counted.codebook.missing_cells) == dict(book.missing_cells)
    expanded = counted.with_records()
    pairs = sorted(zip(whole.row_of_record.tolist(), whole.columns["illness"].codes.tolist(), strict=True))
    assert list(zip(expanded.row_of_record.tolist(), expanded.columns["illness"].codes.tolist(), strict=True)) == pairs


@pytest.mark.parametrize("recoding", ["range", "mean", "cell-suppression"])
def test_deals_release_what_records_release(recoding: str) -> None:
    frame = people(600, 3).drop("illness")
    attributes, options = ATTRIBUTES[:2], EncodeOptions(missing=("?",))
    requirement, algorithm = Requirement.of([KAnonymity(8)]), Shoal(effort="low")
    whole, book = encode_table(frame, attributes, {}, options)
    recoding_options = RecodeOptions(recoding)
    expected = recode(frame, whole, book, cluster_table(whole, requirement, algorithm, Context()), (), recoding_options)
    counted = encode_counted(counted_rows(frame), attributes, {}, options)
    found = algorithm.cluster_rows(counted.table, requirement, Context())
    assert found is not None
    deals = deals_of_items(found, counted)
    cells = released_cells(
        deals_as_records(deals, counted), counted.codebook, deals.clustering, recoding_options, deals.weight
    )
    released = pl.DataFrame({name: one.column() for name, one in zip(frame.columns, cells, strict=True)})
    expanded = released[np.repeat(np.arange(deals.count), deals.weight)]
    columns = released.columns
    assert (
        expanded.cast(pl.String)
        .sort(columns, nulls_last=True)
        .equals(expected.cast(pl.String).sort(columns, nulls_last=True))
    )
