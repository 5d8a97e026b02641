"""Suppressed records that are left out: the caller's kind of frame comes back with the rows that are left."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

import shoal

AGES = [20, 20, 21, 21, 95]
WARDS = ["b", "a", "b", "a", "c"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"age": AGES, "ward": WARDS}, index=list("vwxyz")),
        pd.DataFrame({"age": AGES, "ward": pd.Categorical(WARDS)}).convert_dtypes(),
        pl.DataFrame({"age": AGES, "ward": WARDS}),
        pl.DataFrame({"age": AGES, "ward": WARDS}).to_arrow(),
    ],
    ids=["pandas", "nullable", "polars", "pyarrow"],
)
def test_records_that_are_left_out_are_gone_from_the_frame(frame: Any) -> None:
    result = shoal.anonymize(
        frame,
        quasi=["age"],
        keep=["ward"],
        allow=["ward"],
        k=2,
        algorithm="mondrian",
        suppression_limit=0.2,
        suppressed="drop",
    )
    assert type(result.release) is type(frame)
    shown = pl.DataFrame({name: [str(cell) for cell in _cells(result.release, name)] for name in ("age", "ward")})
    assert shown["ward"].to_list() == WARDS[:4]
    assert shown["age"].to_list() == ["20", "20", "21", "21"]
    assert result.certificate["records"] == {"input": 5, "released": 4, "suppressed": 0, "dropped": 1}


def _cells(frame: Any, name: str) -> list[Any]:
    return frame.column(name).to_pylist() if hasattr(frame, "to_pylist") else list(frame[name])
