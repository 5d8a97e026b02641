"""Which types of columns Spark holds as they are, and what it calls them."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.errors import Problem

_NAMES: dict[pl.DataType, str] = {
    pl.Int8(): "tinyint",
    pl.Int16(): "smallint",
    pl.Int32(): "int",
    pl.Int64(): "bigint",
    pl.Float32(): "float",
    pl.Float64(): "double",
    pl.Boolean(): "boolean",
    pl.String(): "string",
    pl.Binary(): "binary",
    pl.Date(): "date",
    pl.Datetime("us"): "timestamp_ntz",
    pl.Datetime("us", "UTC"): "timestamp",
}
_HINT = "cast it, for example to text, or use the engine 'stream'"


def spark_type(kind: pl.DataType) -> str | None:
    """What Spark calls a type; None if it has no such type."""
    if isinstance(kind, pl.Decimal):
        return f"decimal({kind.precision},{kind.scale})"
    return _NAMES.get(kind)


def polars_type(name: str) -> pl.DataType | None:
    """The type behind one of Spark's names; None if there is none here."""
    if name.startswith("decimal("):
        precision, scale = (int(part) for part in name[8:-1].split(","))
        return pl.Decimal(precision, scale)
    if name.startswith(("char(", "varchar(")):
        return pl.String()
    return next((kind for kind, known in _NAMES.items() if known == name), None)


def unknown_types(schema: Mapping[str, pl.DataType]) -> list[Problem]:
    """One problem for every column that Spark would not hold as it is."""
    return [
        Problem("cannot-stream", f"Spark has no type for columns of type {kind}", name, _HINT)
        for name, kind in schema.items()
        if spark_type(kind) is None
    ]


def ddl(schema: Mapping[str, pl.DataType]) -> str:
    """A schema as Spark reads it; every type has to be known."""
    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind in schema.items())
