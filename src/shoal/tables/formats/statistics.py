"""Files of SPSS, Stata and SAS (needs the extra `stats`): read only, with the values that they hold.

Labels of values are not put in the place of values; a release is written as CSV, Parquet, Arrow or Excel.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.formats.extras import need

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_statistics(path: Path | str) -> pl.DataFrame:
    """The table in such a file. Raises InputError if it is damaged or something else."""
    need("stats", "pyreadstat", what="to read files of SPSS, Stata and SAS")
    import pyreadstat

    reader = getattr(pyreadstat, READERS[Path(path).suffix.lower()])
    try:
        frame: pl.DataFrame = reader(str(path), output_format="polars")[0]
    except Exception as error:  # the reader has errors of its own, and its messages may quote content
        message = f"'{path}' is not a file of SPSS, Stata or SAS that can be read ({type(error).__name__})"
        raise InputError(Problem("damaged-file", message, hint="check the file")) from None
    return (
        frame.with_columns(_tidy(column) for column in frame)
        if isinstance(frame, pl.DataFrame)
        else pl.DataFrame(frame)
    )


def _tidy(column: pl.Series) -> pl.Series:
    """These programs keep all numbers as floats: a column of whole numbers becomes one; moments at midnight, days."""
    if column.dtype.is_float():
        present = column.drop_nulls().drop_nans()
        if present.len() and (present == present.round()).all() and present.abs().max() < 2**53:  # type: ignore[operator]
            return column.fill_nan(None).cast(pl.Int64)
    if isinstance(column.dtype, pl.Datetime):
        days = column.dt.date()
        if (days.cast(column.dtype) == column).fill_null(True).all():
            return days
    return column
