"""Numbers with a decimal comma (`3,5` and `1.234,50`), as much of Europe writes them, become `3.5` and `1234.50`.

Only on request, and only in columns whose values all are such numbers: cells of a CSV file are published as they came,
and these are published with a point.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from shoal.tables.scales import is_missing

_WHOLE = r"[+-]?(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)"  # no needless zero: that is a code
_NUMBER = rf"^\s*{_WHOLE}(?:,[0-9]+)?\s*$"


def has_decimal_comma(texts: pl.Series, missing: Collection[str] = ()) -> bool:
    """Whether all texts are numbers, and some of them have a comma."""
    if not isinstance(texts.dtype, pl.String):
        return False
    present = texts.filter(~is_missing(texts, missing))
    if present.is_empty() or not present.str.contains(",", literal=True).any():
        return False
    return bool(present.str.contains(_NUMBER).all())


def with_points(frame: pl.DataFrame, missing: Collection[str] = ()) -> tuple[pl.DataFrame, list[str]]:
    """The table with such columns rewritten, and their names."""
    names = [name for name in frame.columns if has_decimal_comma(frame[name], missing)]
    return frame.with_columns(_rewritten(frame[name], missing) for name in names), names


def _rewritten(texts: pl.Series, missing: Collection[str]) -> pl.Series:
    absent = is_missing(texts, missing)
    points = texts.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return points.zip_with(~absent, texts)
