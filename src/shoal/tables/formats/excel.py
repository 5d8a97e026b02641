"""Excel files (needs the extra `excel`): the first sheet, with the types that its cells have.

Texts stay texts, so leading zeros are kept, and dates come as dates. What is written holds no formula and no link,
whatever a text looks like, and no time of writing, so that the same table gives the same bytes.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.bombs import check_archive
from shoal.tables.formats.extras import need

MOST_ROWS = 1_048_575  # of a sheet, without its header
MOST_CELLS = 50_000_000  # what every machine can hold
MOST_BETWEEN = 20  # empty cells for each that is not, beyond that
_PLACE = re.compile(rb"""\br=["']([A-Z]{1,3})([0-9]{1,9})["']""")
_BLOCK = 1 << 20
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def read_excel(path: Path | str) -> pl.DataFrame:
    """The first sheet of a workbook. Raises InputError if it is damaged or something else."""
    need("excel", "fastexcel", what="to read Excel files")
    _check_size(path)
    try:
        frame = pl.read_excel(path, engine="calamine", infer_schema_length=None, drop_empty_cols=False)
    except Exception as error:  # calamine, fastexcel and polars raise each their own, and may quote cells
        message = f"'{path}' is not an Excel file that can be read ({type(error).__name__})"
        raise InputError(Problem("damaged-file", message, hint="check the file; its first sheet is read")) from None
    return frame.with_columns(_as_dates(column) for column in frame)


def _check_size(path: Path | str) -> None:
    """Raise InputError if the workbook unpacks to too much, or has cells so far apart that what is between fills the
    memory. Other damage is told by who reads it."""
    try:
        names = check_archive(path)
        sheets = [name for name in names if name.startswith("xl/worksheets/") and name.endswith(".xml")]
        for name in sheets:
            rows, columns, cells = _extent(path, name)
            if rows * columns > max(MOST_CELLS, MOST_BETWEEN * cells):
                message = f"a sheet of '{path}' has few cells, spread over {rows:,} rows and {columns:,} columns"
                raise InputError(Problem("too-large", message, hint="delete what stands far away from the table"))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zlib.error):
        return


def _extent(path: Path | str, sheet: str) -> tuple[int, int, int]:
    """The last row and column of the cells of a sheet, and how many cells it has."""
    rows = columns = cells = 0
    with zipfile.ZipFile(path) as archive, archive.open(sheet) as file:
        rest = b""
        while block := file.read(_BLOCK):
            text = rest + block
            end = text.rfind(b"<") + 1 if len(block) == _BLOCK else len(text)
            found = _PLACE.findall(text, 0, end)
            cells += len(found)
            rows = max(rows, max((int(row) for _, row in found), default=0))
            columns = max(columns, max((_column_number(letters) for letters in {one for one, _ in found}), default=0))
            rest = text[end:]
    return rows, columns, cells


def _column_number(letters: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


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
