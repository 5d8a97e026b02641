"""The type of a column may list categories that no record has; a release must not.

An Enum, a pandas category and an Arrow dictionary name their categories beside the records. What was generalized away
or belongs to records that are not there would be published with the type. (A polars Categorical is written with the
categories that occur, so it can stay.)
"""

from __future__ import annotations

from typing import Any

import polars as pl
from polars.datatypes import DataTypeClass


def without_unused_categories(frame: pl.DataFrame) -> pl.DataFrame:
    """An equal frame whose Enums have only the categories that occur, in the order they had."""
    return frame.with_columns(used_categories(column) for column in frame)


def used_categories(column: pl.Series) -> pl.Series:
    """The column with the categories that occur; Enums within lists and structs become texts."""
    if isinstance(column.dtype, pl.Enum):
        used = set(column.unique().drop_nulls().cast(pl.String))
        if len(used) == len(column.dtype.categories):
            return column
        kept = [category for category in column.dtype.categories if category in used]
        return column.cast(pl.String).cast(pl.Enum(kept))
    plain = _without_enums(column.dtype)
    return column if plain == column.dtype else column.cast(plain)


def used_dictionary(column: Any) -> Any:
    """A pyarrow column of a dictionary type as one chunk, with the entries that occur, in the order they had.

    A dictionary may name a value twice, or a missing one: these become one entry, and a missing cell.
    """
    import numpy as np
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    entries = _with_one_zero(whole.dictionary).dictionary_encode()  # by first appearance
    codes = entries.indices.take(whole.indices)
    used = np.unique(codes.drop_null().to_numpy(zero_copy_only=False)).astype(np.int64)
    place = np.zeros(len(entries.dictionary) + 1, dtype=np.int64)
    place[used] = np.arange(len(used))
    absent = codes.is_null().to_numpy(zero_copy_only=False)
    places = place[codes.fill_null(0).to_numpy(zero_copy_only=False)]
    indices = pa.array(places, mask=absent).cast(whole.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, entries.dictionary.take(pa.array(used)), ordered=whole.type.ordered)


def _with_one_zero(values: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.add(values, pa.scalar(0.0, values.type)) if pa.types.is_floating(values.type) else values


def has_inner_dictionary(kind: Any) -> bool:
    """Whether a pyarrow type has a dictionary somewhere below its top."""
    import pyarrow as pa

    inner = [kind.field(number).type for number in range(kind.num_fields)]
    return any(pa.types.is_dictionary(one) or has_inner_dictionary(one) for one in inner)


def _without_enums(dtype: pl.DataType | DataTypeClass) -> pl.DataType | DataTypeClass:
    if isinstance(dtype, pl.Enum):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_without_enums(dtype.inner))
    if isinstance(dtype, pl.Array):
        return pl.Array(_without_enums(dtype.inner), dtype.size)
    if isinstance(dtype, pl.Struct):
        return pl.Struct({field.name: _without_enums(field.dtype) for field in dtype.fields})
    return dtype
