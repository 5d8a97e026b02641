"""Dates whose form somebody has stated, such as `12/31/1950`.

They are read as what they are, and so released in the usual form: `1950-12-31`. Without a word such texts are
categories, which a release would list one by one; `tables/near_forms.py` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.errors import InputError, Problem
from shoal.tables.scales import TEXT_LIKE, is_missing

_ALLOWED = {"%Y", "%m", "%d", "%H", "%M", "%S", "%b", "%B", "%p", "%I", "%j", "%e", "%T", "%F", "%%"}


def in_usual_form(frame: pl.DataFrame, date_formats: Mapping[str, str], missing: Sequence[str]) -> pl.DataFrame:
    """The frame with these columns in the usual form; missing values stay as they are. Raises InputError with every
    column that does not have the form."""
    problems: list[Problem] = []
    changed = []
    for name, date_format in date_formats.items():
        if name not in frame.columns:  # told elsewhere
            continue
        column = frame[name]
        if not isinstance(column.dtype, TEXT_LIKE):
            problems.append(Problem("bad-form", "a form is stated for texts, and this column has a type", name))
            continue
        texts = column.cast(pl.String)
        usual = _dates(texts, date_format)
        absent = is_missing(texts, missing)
        wrong = texts.filter(usual.is_null() & ~absent).n_unique()
        if wrong:
            hint = "correct them, or name the texts that mean 'missing'"
            problems.append(
                Problem("bad-form", f"{wrong} distinct values do not have the form {date_format}", name, hint)
            )
        changed.append(usual.zip_with(~absent, texts).rename(name))
    if problems:
        raise InputError(problems)
    return frame.with_columns(changed)


def format_problem(date_format: str) -> str:
    """What is wrong with a stated form of dates; empty if nothing is."""
    parts = {date_format[place : place + 2] for place, sign in enumerate(date_format) if sign == "%"}
    if "%y" in parts:
        return "two figures of a year do not tell the century: write four, and %Y"
    if not parts <= _ALLOWED or not parts:
        return "it is written with %Y, %m, %d, %b, %H, %M, %S and the like, e.g. %m/%d/%Y"
    if not (
        "%F" in parts
        or {"%Y", "%j"} <= parts
        or ("%Y" in parts and parts & {"%m", "%b", "%B"} and parts & {"%d", "%e"})
    ):
        return "it needs a year, a month and a day, e.g. %m/%d/%Y"
    return ""


def _dates(texts: pl.Series, date_format: str) -> pl.Series:
    stripped = texts.str.strip_chars()
    if any(sign in date_format for sign in ("%H", "%I", "%T")):
        times = stripped.str.strptime(pl.Datetime("us"), date_format, strict=False)
        return times.dt.strftime("%Y-%m-%d %H:%M:%S")
    return stripped.str.strptime(pl.Date, date_format, strict=False).dt.strftime("%Y-%m-%d")
