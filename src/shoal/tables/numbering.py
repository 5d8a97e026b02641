"""Values as numbers while a table goes by piece by piece: the same value has the same number in every piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.tables.distinct import CodeArray, code_column

_NOT_A_NUMBER = object()  # all NaN are one value


class Numbering:
    """The distinct values of one column, numbered by first appearance. Memory: that of the distinct values."""

    def __init__(self, values: pl.Series | None = None) -> None:
        self._number: dict[Any, int] = {}
        self._parts: list[pl.Series] = []
        if values is not None:
            self._add(values)

    def number(self, column: pl.Series) -> CodeArray:
        """(records,) the numbers of a piece; values that were not there before get the next ones."""
        coded = code_column(column)
        self._add(coded.values)
        return self._numbers(coded.values)[coded.codes]

    def known(self, column: pl.Series) -> CodeArray:
        """(records,) the numbers of a piece, -1 for values that were never numbered."""
        coded = code_column(column)
        return self._numbers(coded.values)[coded.codes]

    def values(self, dtype: pl.DataType, name: str) -> pl.Series:
        """All values by number."""
        return pl.concat(self._parts).rename(name) if self._parts else pl.Series(name, [], dtype=dtype)

    def _add(self, values: pl.Series) -> None:
        fresh = []
        for place, value in enumerate(_keys(values)):
            if value not in self._number:
                self._number[value] = len(self._number)
                fresh.append(place)
        if fresh:
            self._parts.append(values.gather(fresh).rename(""))

    def _numbers(self, values: pl.Series) -> CodeArray:
        get = self._number.get
        return np.array([get(value, -1) for value in _keys(values)], dtype=np.int32)


def _keys(values: pl.Series) -> list[Any]:
    if values.dtype.is_temporal():  # Python knows no nanoseconds
        values = values.to_physical()
    found = values.to_list()
    if values.dtype.is_float():
        return [_NOT_A_NUMBER if value is not None and value != value else value for value in found]
    return found
