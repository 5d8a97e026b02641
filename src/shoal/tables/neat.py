"""How numbers and moments with a type are written in a range: no `.0` and no midnight where no value needs them."""

from __future__ import annotations

import polars as pl

_EXACT_BELOW = 2.0**53


def neat_texts(values: pl.Series, texts: pl.Series) -> pl.Series:
    """The texts of distinct values, shorter where all of them allow it; a text that came as text stays as it is.

    `texts` are the same values as polars writes them, null where missing.
    """
    if isinstance(values.dtype, pl.Datetime):
        return _moments(values, texts)
    if values.dtype.is_float():
        present = values.drop_nulls().drop_nans()
        whole = bool(((present == present.round()) & (present.abs() < _EXACT_BELOW)).all())
        return texts.str.strip_suffix(".0") if whole else texts
    return texts


def _moments(values: pl.Series, texts: pl.Series) -> pl.Series:
    present = values.drop_nulls()
    if values.dtype.time_zone is None and bool((present.dt.truncate("1d") == present).all()):  # type: ignore[attr-defined]
        return texts.str.head(10)
    if bool((present.dt.truncate("1s") == present).all()):
        return texts.str.replace(r"\.0+", "")
    return texts
