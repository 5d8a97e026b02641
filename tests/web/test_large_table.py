"""A table of a million records: answers are small, and pictures say that they are samples."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.web.files import plain
from shoal.web.table_answers import PICTURED, Table

RECORDS = 1_000_000
LARGEST_ANSWER = 2_000_000  # bytes


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("large") / "million.parquet"
    pl.DataFrame(
        {
            "age": random.integers(0, 100, RECORDS),
            "postcode": np.char.zfill(random.integers(0, 5000, RECORDS).astype(str), 5).tolist(),
            "sex": random.choice(["female", "male"], RECORDS).tolist(),
            "education": random.choice([f"level {n}" for n in range(12)], RECORDS).tolist(),
            "patient": np.arange(RECORDS),
            "diagnosis": random.choice([f"illness {n}" for n in range(60)], RECORDS).tolist(),
        }
    ).write_parquet(path)
    return path


def test_the_first_view_is_small(million: Path) -> None:
    pytest.importorskip("starlette", reason="the workbench needs starlette: pip install 'shoal[web]'")
    table = Table()
    table.open({"table": str(million)})
    overview = table.overview({})
    assert len(table.rows({"start": RECORDS // 2})["rows"]) > 0
    risk = table.risk({"quasi": ["age", "postcode", "sex", "education"]})
    assert overview["pictured"] == PICTURED
    assert risk["profile"]["records"] == RECORDS
    answers = [overview, risk, table.rows({"count": 10_000}), table.values({"column": "patient", "count": 10_000_000})]
    for answer in answers:
        assert len(json.dumps(plain(answer))) < LARGEST_ANSWER


def test_in_the_browser(serve: Callable[..., Any], visit: Callable[..., Any], million: Path) -> None:
    seen = visit(serve(million))
    sizes: list[int] = []
    seen.page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", "0"))))
    seen.page.get_by_role("link", name="million").click()
    seen.see("Pictures are drawn from 100,000 records")
    seen.see("Who stands alone")
    seen.see("Rows 1 to 25 of 1,000,000")
    seen.step("Hierarchies")
    seen.page.get_by_role("heading", name="Hierarchies").wait_for()
    assert 0 < max(sizes) < LARGEST_ANSWER
    seen.is_clean()
