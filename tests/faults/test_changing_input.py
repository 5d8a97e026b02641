"""A table that somebody writes to while it is read is refused: nobody knows what was read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.tables.formats import files
from shoal.tables.formats.files import Reading


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("way", ["written to", "replaced"])
def test_a_file_that_changes_is_refused(tmp_path: Path, suffix: str, way: str) -> None:
    frame = pl.DataFrame({"a": [1, 2, 3]})
    path, other = tmp_path / f"table.{suffix}", tmp_path / f"other.{suffix}"
    files.write_table(frame, path)
    files.write_table(frame, other)
    reading = Reading(path)
    if way == "replaced":
        other.replace(path)
    else:
        with path.open("ab") as file:
            file.write(b"7\n")
    with pytest.raises(InputError) as caught:
        reading.result()
    assert set(caught.value.reasons) <= {"input-changed", "damaged-file"}  # what was read half may be damaged


def test_a_file_that_stays_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a\n1\n2\n")
    assert Reading(path).result().frame.height == 2
