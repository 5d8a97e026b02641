"""Frames as the Arrow columns that drivers know."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import polars as pl


def plain_arrow(frame: pl.DataFrame) -> Any:
    """An Arrow table whose texts are plain strings: drivers know no large strings, views or dictionaries."""
    import pyarrow as pa

    table = frame.to_arrow()
    fields = [field.with_type(pa.string()) if _is_text(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))


@contextmanager
def arrow_stream(pieces: Iterable[pl.DataFrame]) -> Iterator[Any]:
    """The pieces as a reader of Arrow batches, made as the driver asks for them; there is one piece at least.

    What the pieces raise comes out of the block as it is, not in the words of the driver that was reading.
    """
    import pyarrow as pa

    rest = iter(pieces)
    first = plain_arrow(next(rest))
    failure: list[BaseException] = []

    def batches() -> Iterator[Any]:
        try:
            for table in chain([first], map(plain_arrow, rest)):
                yield from table.to_batches()
        except BaseException as error:
            failure.append(error)
            raise

    try:
        yield pa.RecordBatchReader.from_batches(first.schema, batches())
    except Exception:
        if failure:
            raise failure[0] from None
        raise


def as_frame(arrow: Any) -> pl.DataFrame:
    """An Arrow table or batch as a frame."""
    import pyarrow as pa

    table = pa.Table.from_batches([arrow]) if isinstance(arrow, pa.RecordBatch) else arrow
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found


def as_texts(pieces: Iterable[pl.DataFrame], names: Container[str]) -> Iterator[pl.DataFrame]:
    """The pieces with some of their columns as texts: the database makes what it knows of these."""
    for piece in pieces:
        yield piece.with_columns(pl.col(name).cast(pl.String) for name in piece.columns if name in names)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind))
