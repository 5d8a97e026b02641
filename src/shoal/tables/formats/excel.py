"""Excel files (needs the extra `excel`): the first sheet, with the types that its cells have.

Texts stay texts, so leading zeros are kept, and dates come as dates. What is written holds no formula and no link,
whatever a text looks like, and no time of writing, so that the same table gives the same bytes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.extras import need

MOST_ROWS = 1_048_575  # of a sheet, without its header
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def read_excel(path: Path | str) -> pl.DataFrame:
    """The first sheet of a workbook. Raises InputError if it is damaged or something else."""
    need("excel", "fastexcel", what="to read Excel files")
    try:
        frame = pl.read_excel(path, engine="calamine", infer_schema_length=None, drop_empty_cols=False)
    except Exception as error:  # calamine, fastexcel and polars raise each their own, and may quote cells
        message = f"'{path}' is not an Excel file that can be read ({type(error).__name__})"
        raise InputError(Problem("damaged-file", message, hint="check the file; its first sheet is read")) from None
    return frame.with_columns(_as_dates(column) for column in frame)


def _as_dates(column: pl.Series) -> pl.Series:
    """Excel knows only moments; a column of which all lie at midnight is one of days."""
    if not isinstance(column.dtype, pl.Datetime):
        return column
    days = column.dt.date()
    return days if (days.cast(column.dtype) == column).fill_null(True).all() else column


def write_excel(frame: pl.DataFrame, path: Path | str) -> None:
    """Write one sheet."""
    need("excel", "xlsxwriter", what="to write Excel files")
    if frame.height > MOST_ROWS:
        hint = "write CSV or Parquet"
        raise InputError(Problem("too-large", f"an Excel sheet holds {MOST_ROWS:,} records at most", hint=hint))
    import xlsxwriter

    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = BytesIO()  # what xlsxwriter cannot write it raises as its own error, and leaves files open
    with xlsxwriter.Workbook(book, {"in_memory": True, **plain}) as workbook:
        workbook.set_properties({"created": _LONG_AGO})
        frame.write_excel(workbook, worksheet="release", autofilter=False, table_style=None)
    Path(path).write_bytes(book.getbuffer())
