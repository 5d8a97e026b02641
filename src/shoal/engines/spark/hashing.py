"""A hash of a table that is the same however its rows are ordered and cut into files.

It is the sum, modulo 2^256, of the SHA-256 of every row (its JSON, with columns by number), hashed once more together
with names, types and the number of rows. It shows what was changed by accident or without care; whoever wants to make
two tables of one sum on purpose may find a way, so the files of a release have hashes of their bytes besides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import polars as pl

# times as exact as they are: by default Spark writes milliseconds
_TIMES = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"}
_WORDS, _DIGITS, _BITS = 8, 8, 32  # a SHA-256 is eight words of 32 bits, whose sums fit into 64 bits


def rows_hash(rows: Any, schema: Mapping[str, pl.DataType]) -> str:
    """The hash of the rows of a frame of Spark with the columns c0, c1, ..."""
    from pyspark.sql import functions

    row = functions.sha2(functions.to_json(functions.struct(*rows.columns), _TIMES), 256)
    words = [
        functions.conv(functions.substring(row, 1 + _DIGITS * number, _DIGITS), 16, 10).cast("bigint")
        for number in range(_WORDS)
    ]
    found = rows.select(*(word.alias(f"v{number}") for number, word in enumerate(words)))
    totals = found.agg(
        *(functions.sum(f"v{number}").alias(f"w{number}") for number in range(_WORDS)), functions.count("*").alias("n")
    ).toArrow()
    values = {name: int(totals.column(name)[0].as_py() or 0) for name in totals.column_names}
    whole = sum(values[f"w{number}"] << (_BITS * (_WORDS - 1 - number)) for number in range(_WORDS)) % (1 << 256)
    told = repr([[(name, str(kind)) for name, kind in schema.items()], values["n"], f"{whole:064x}"])
    return hashlib.sha256(told.encode()).hexdigest()
