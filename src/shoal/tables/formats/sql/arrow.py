"""Frames as the Arrow columns that drivers know."""

from __future__ import annotations

from typing import Any

import polars as pl


def plain_arrow(frame: pl.DataFrame) -> Any:
    """An Arrow table whose texts are plain strings: drivers know no large strings, views or dictionaries."""
    import pyarrow as pa

    table = frame.to_arrow()
    fields = [field.with_type(pa.string()) if _is_text(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind))
